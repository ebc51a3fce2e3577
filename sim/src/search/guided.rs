//! Guided: plans that reached something new are kept, and changed in one list at a time.
//!
//! New is a probe that no plan has reached, or an order of two kinds of events on a node (one came
//! right after the other) that none has shown. A case changes one list of a plan that was kept, or is
//! fresh from the seeds. It learns in rounds, in the order of case numbers, so that the result is the
//! same at any number of threads.

use std::collections::BTreeSet;

use super::shrink::Lists;
use super::strategy::{Case, Strategy};
use super::{Experiment, Outcome as _, Tracing};
use crate::fault::{Fault, Trigger, When};
use crate::random::{Key, Purpose, Stream};
use crate::time::Instant;

/// How many cases there are in a round.
const ROUND: u64 = 128;

/// One case in so many is fresh.
const FRESH: u64 = 4;

/// The most plans that are kept; the oldest go.
const KEPT: usize = 256;

/// What was learnt so far.
pub struct Guided<'a, E: Experiment> {
    experiment: &'a E,
    kept: Vec<Case<E::Plan>>,
    probes: BTreeSet<&'static str>,
    orders: BTreeSet<u64>,
}

impl<'a, E: Experiment> Guided<'a, E> {
    /// Nothing was learnt yet.
    pub fn new(experiment: &'a E) -> Self {
        Self { experiment, kept: Vec::new(), probes: BTreeSet::new(), orders: BTreeSet::new() }
    }
}

impl<E: Experiment> Strategy<E> for Guided<'_, E>
where
    E::Plan: Lists + Sync,
{
    fn case(&self, number: u64) -> Case<E::Plan> {
        let mut draw = Key::new(number).stream(Purpose::Mutation, 0);
        let fresh = || Case { seed: number, plan: self.experiment.draw(number) };
        if draw.below(FRESH) == 0 {
            return fresh();
        }
        let Some(kept) = draw.pick(&self.kept) else { return fresh() };
        let other = self.experiment.draw(number);
        let plan = changed(&kept.plan, &other, &mut draw);
        // Half of the cases look at another schedule of the same plan.
        let seed = if draw.below(2) == 0 { kept.seed } else { number };
        Case { seed, plan }
    }

    fn round(&self) -> Option<u64> {
        Some(ROUND)
    }

    fn learn(&mut self, _: u64, case: &Case<E::Plan>, outcome: &E::Outcome) {
        let before = (self.probes.len(), self.orders.len());
        self.probes.extend(outcome.probes().iter().map(|(probe, _)| *probe));
        self.orders.extend(outcome.orders());
        if (self.probes.len(), self.orders.len()) != before {
            if self.kept.len() == KEPT {
                self.kept.remove(0);
            }
            self.kept.push(case.clone());
        }
    }

    fn tracing(&self) -> Tracing {
        Tracing::Orders
    }

    fn about(&self) -> String {
        let (kept, orders) = (self.kept.len(), self.orders.len());
        format!("{kept} plans kept, {orders} orders of two events seen")
    }
}

/// A plan with one of its lists changed; `other` is where new entries come from.
fn changed<P: Lists>(plan: &P, other: &P, draw: &mut Stream) -> P {
    let (mut items, mut faults) = (plan.items().to_vec(), plan.faults().to_vec());
    match draw.below(8) {
        0 => items = other.items().to_vec(),
        1 if !faults.is_empty() => {
            faults.remove(draw.below(faults.len() as u64) as usize);
        }
        2..=4 if !faults.is_empty() => {
            let at = draw.below(faults.len() as u64) as usize;
            faults[at] = moved(&faults[at], draw);
        }
        5 if !faults.is_empty() => {
            let at = draw.below(faults.len() as u64) as usize;
            faults.push(moved(&faults[at], draw));
        }
        _ => faults.extend(draw.pick(other.faults()).cloned()),
    }
    P::of(items, faults, plan.delays().to_vec())
}

/// The same fault, a little earlier or later.
fn moved(fault: &Fault, draw: &mut Stream) -> Fault {
    let back = draw.below(2) == 0;
    let when = match &fault.when {
        When::At(time) => {
            let by = 1u64 << draw.between(17, 30);
            let nanos = time.as_nanos();
            let moved = if back { nanos.saturating_sub(by) } else { nanos.saturating_add(by) };
            When::At(Instant::from_nanos(moved.max(1)))
        }
        When::Before(trigger) => When::After(trigger.clone()),
        When::After(trigger) => {
            let nth = if back { trigger.nth.saturating_sub(1).max(1) } else { trigger.nth + 1 };
            When::Before(Trigger { nth, ..trigger.clone() })
        }
    };
    Fault { when, ..fault.clone() }
}
