//! Exhaustive, for tiny bounds: the first few records of a seed, and every set of at most so many
//! faults and delays at its effect boundaries, each once. The count is known before it begins.
//!
//! Orders are those that delays of single messages give: each message of the base run may come after
//! everything that it raced with.

use super::boundaries::{boundaries, delay_at, faults_at};
use super::shrink::Lists;
use super::strategy::{Case, Strategy};
use super::{Experiment, Faulty, Outcome as _, Tracing};
use crate::fault::Fault;
use crate::schedule::Delay;
use crate::time::Instant;

/// By how much a delayed message is later, in jitters: it comes after everything that it races with.
const DELAY: u64 = 4;

/// Something that can be done to the base run.
#[derive(Clone, Debug)]
enum Entry {
    Fault(Fault),
    Delay(Delay),
}

/// Every small set of entries over a tiny run.
#[derive(Debug)]
pub struct Exhaustive<P> {
    seed: u64,
    plan: P,
    entries: Vec<Entry>,
    most: u32,
}

impl<P: Lists> Exhaustive<P> {
    /// The first `items` items of the seed, and sets of at most `most` entries.
    pub fn new<E>(experiment: &E, seed: u64, items: usize, most: u32) -> Self
    where
        E: Faulty + Experiment<Plan = P>,
    {
        let mut first = experiment.draw(seed).items().to_vec();
        first.sort_by_key(P::due);
        first.truncate(items);
        let plan = P::of(first, Vec::new(), Vec::new());
        let outcome = experiment.run(seed, &plan, Tracing::On);
        let mut entries = Vec::new();
        if let (Some(trace), Some(menu)) = (outcome.trace(), experiment.menu()) {
            let places = boundaries(trace, outcome.nodes(), Instant::from_nanos(menu.window.end));
            let faults = places.iter().flat_map(|place| faults_at(place, &menu));
            entries.extend(faults.map(Entry::Fault));
            let delays = places.iter().filter_map(|place| delay_at(place, menu.jitter.times(DELAY)));
            entries.extend(delays.map(Entry::Delay));
        }
        Self { seed, plan, entries, most }
    }
}

/// How many sets of `k` there are of `n`.
fn choose(n: u64, k: u64) -> u64 {
    (0..k).fold(1u64, |sets, at| sets.saturating_mul(n.saturating_sub(at)) / (at + 1))
}

/// The set of `size` entries of `n` with this number, in the order of the combinatorial number system
/// (Knuth, TAOCP 4A, 7.2.1.3).
fn set(mut number: u64, n: usize, size: u32) -> Vec<usize> {
    let mut chosen = Vec::new();
    let mut top = n as u64;
    for left in (1..=u64::from(size)).rev() {
        let mut element = top - 1;
        while choose(element, left) > number {
            element -= 1;
        }
        number -= choose(element, left);
        chosen.push(element as usize);
        top = element;
    }
    chosen.reverse();
    chosen
}

impl<E: Experiment> Strategy<E> for Exhaustive<E::Plan>
where
    E::Plan: Lists + Sync,
{
    fn count(&self) -> Option<u64> {
        let n = self.entries.len() as u64;
        Some((0..=u64::from(self.most)).map(|size| choose(n, size)).fold(0, u64::saturating_add))
    }

    fn case(&self, number: u64) -> Case<E::Plan> {
        let (mut left, mut size) = (number, 0);
        while size < self.most && left >= choose(self.entries.len() as u64, u64::from(size)) {
            left -= choose(self.entries.len() as u64, u64::from(size));
            size += 1;
        }
        let (mut faults, mut delays) = (Vec::new(), Vec::new());
        for at in set(left, self.entries.len(), size) {
            match &self.entries[at] {
                Entry::Fault(fault) => faults.push(fault.clone()),
                Entry::Delay(delay) => delays.push(delay.clone()),
            }
        }
        Case { seed: self.seed, plan: E::Plan::of(self.plan.items().to_vec(), faults, delays) }
    }

    fn about(&self) -> String {
        let items = self.plan.items().len();
        let (entries, most) = (self.entries.len(), self.most);
        format!("{items} records, {entries} faults and delays, every set of at most {most}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_comes_once() {
        for (n, size) in [(1, 1), (5, 1), (6, 2), (7, 3), (4, 4)] {
            let all: std::collections::BTreeSet<Vec<usize>> =
                (0..choose(n, size)).map(|number| set(number, n as usize, size as u32)).collect();
            assert_eq!(all.len() as u64, choose(n, size));
            assert!(
                all.iter().all(|set| set.is_sorted_by(|one, two| one < two) && set.len() == size as usize)
            );
            assert!(all.iter().flatten().all(|at| (*at as u64) < n));
        }
    }
}
