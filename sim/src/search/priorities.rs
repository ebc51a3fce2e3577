//! Priorities: what a seed draws, and links that are slower than others.
//!
//! In the manner of PCT (Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of
//! Finding Bugs", ASPLOS 2010): every link gets a random priority, by which its messages are delayed
//! from the start; at d - 1 points, each a message of some link, that link falls behind all others.
//! The depth d is 1 to 3. How many messages each link carries is measured on a base run, since the
//! points are drawn evenly over all of them. Such a schedule is not fair: overrides end with the
//! faults, so that liveness is judged on fair ones.

use std::collections::BTreeMap;

use super::shrink::Lists;
use super::strategy::{Case, Strategy};
use super::{Faulty, Outcome as _, Tracing};
use crate::random::{Key, Purpose, Stream};
use crate::schedule::{Delay, Which};
use crate::time::Span;
use crate::trace::{Happening, Trace};

/// By how much the slowest link is slower, in quarters of the jitter that messages have anyway: one of
/// these for a seed. More would be no schedule but a fault, and time-outs would run out.
const REACH: [u64; 4] = [1, 2, 4, 8];

/// The largest depth.
const DEPTH: u64 = 3;

/// Priorities over the links of an experiment.
#[derive(Debug)]
pub struct Priorities<'a, E> {
    experiment: &'a E,
    links: Vec<Link>,
    jitter: Span,
}

/// A direction of a link, and how many messages it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    from: String,
    to: String,
    messages: u32,
}

impl<'a, E: Faulty> Priorities<'a, E>
where
    E::Plan: Lists,
{
    /// Measures a run of the seed without faults.
    pub fn new(experiment: &'a E, seed: u64) -> Self {
        let items = experiment.draw(seed).items().to_vec();
        let calm = E::Plan::of(items, Vec::new(), Vec::new());
        let outcome = experiment.run(seed, &calm, Tracing::On);
        let links = outcome.trace().map_or_else(Vec::new, |trace| links(trace, outcome.nodes()));
        let jitter = experiment.menu().map_or(Span::ZERO, |menu| menu.jitter);
        Self { experiment, links, jitter }
    }

    fn delays(&self, draw: &mut Stream) -> Vec<Delay> {
        let quarters = draw.pick(&REACH).copied().unwrap_or(0);
        let reach = Span::from_nanos(self.jitter.as_nanos() / 4).times(quarters);
        let mut ranks: Vec<u64> = (0..self.links.len() as u64).collect();
        let mut delays = Vec::new();
        for link in &self.links {
            let rank = ranks.swap_remove(draw.below(ranks.len() as u64) as usize);
            let by = Span::from_nanos(reach.as_nanos() / self.links.len() as u64 * rank / 1_000 * 1_000);
            if by > Span::ZERO {
                delays.push(delay(link, Which::From(1), by));
            }
        }
        let messages: u64 = self.links.iter().map(|link| u64::from(link.messages)).sum();
        for _ in 1..draw.between(1, DEPTH) {
            let mut point = draw.below(messages);
            for link in &self.links {
                if point < u64::from(link.messages) {
                    delays.push(delay(link, Which::From(point as u32 + 1), reach.times(2)));
                    break;
                }
                point -= u64::from(link.messages);
            }
        }
        delays
    }
}

fn delay(link: &Link, which: Which, by: Span) -> Delay {
    Delay { from: link.from.clone(), to: link.to.clone(), which, by }
}

/// The links of a run with how many messages each carried, in the order of their names.
fn links(trace: &Trace, names: &[String]) -> Vec<Link> {
    let mut count: BTreeMap<(String, String), u32> = BTreeMap::new();
    let name = |node: crate::NodeId| names.get(usize::from(node.number())).cloned();
    for line in &trace.lines {
        if let (Happening::Send { to, .. }, Some(from)) = (line.happening, line.node)
            && let (Some(from), Some(to)) = (name(from), name(to))
        {
            *count.entry((from, to)).or_default() += 1;
        }
    }
    count.into_iter().map(|((from, to), messages)| Link { from, to, messages }).collect()
}

impl<E: Faulty> Strategy<E> for Priorities<'_, E>
where
    E::Plan: Lists,
{
    fn case(&self, number: u64) -> Case<E::Plan> {
        let plan = self.experiment.draw(number);
        let delays = self.delays(&mut Key::new(number).stream(Purpose::Schedule, 0));
        let delays = plan.delays().iter().cloned().chain(delays).collect();
        Case { seed: number, plan: E::Plan::of(plan.items().to_vec(), plan.faults().to_vec(), delays) }
    }
}
