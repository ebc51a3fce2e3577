//! Systematic: base runs without faults, then each fault at each of their effect boundaries, one run
//! each; at depth 2 then pairs of them, near ones first.
//!
//! In the manner of bounded black-box crash testing (Mohan et al., OSDI 2018) and of Jepsen's and
//! Molly's observation that few faults at the right instants show most bugs. What is near in the run is
//! mostly near by cause, so pairs come in the order of their distance.

use super::boundaries::{Boundary, boundaries, faults_at};
use super::shrink::Lists;
use super::strategy::{Case, Strategy};
use super::{Experiment, Faulty, Outcome as _, Tracing};
use crate::fault::Fault;
use crate::time::Instant;

/// How many faults a case has at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// One.
    One,
    /// One, then two.
    Two,
}

/// A run without faults, and what can be done to it.
#[derive(Debug)]
struct Base<P> {
    seed: u64,
    plan: P,
    boundaries: u64,
    faults: Vec<Fault>,
}

/// Faults at every boundary of some base runs.
#[derive(Debug)]
pub struct Systematic<P> {
    bases: Vec<Base<P>>,
    /// The single faults, as base run and place: the same place of each base run, then the next place.
    singles: Vec<(usize, usize)>,
    depth: Depth,
}

impl<P: Lists> Systematic<P> {
    /// Looks for the boundaries of the base runs of these seeds.
    pub fn new<E>(experiment: &E, seeds: impl Iterator<Item = u64>, depth: Depth) -> Self
    where
        E: Faulty + Experiment<Plan = P>,
    {
        let bases: Vec<Base<P>> = seeds.map(|seed| base(experiment, seed)).collect();
        let mut singles: Vec<(usize, usize)> = Vec::new();
        for (nth, base) in bases.iter().enumerate() {
            singles.extend((0..base.faults.len()).map(|at| (nth, at)));
        }
        singles.sort_by_key(|(nth, at)| (*at, *nth));
        Self { bases, singles, depth }
    }

    fn singles(&self) -> u64 {
        self.singles.len() as u64
    }

    fn pairs(&self) -> u64 {
        let pairs = |base: &Base<P>| {
            let faults = base.faults.len() as u64;
            faults * faults.saturating_sub(1) / 2
        };
        self.bases.iter().map(pairs).sum()
    }

    /// The pair of a number: all pairs of neighbours of all base runs, then all at distance two, ...
    fn pair(&self, mut number: u64) -> Option<(&Base<P>, usize, usize)> {
        let longest = self.bases.iter().map(|base| base.faults.len()).max()?;
        for distance in 1..longest {
            for base in &self.bases {
                let here = base.faults.len().saturating_sub(distance) as u64;
                if number < here {
                    return Some((base, number as usize, number as usize + distance));
                }
                number -= here;
            }
        }
        None
    }
}

fn base<E: Faulty>(experiment: &E, seed: u64) -> Base<E::Plan>
where
    E::Plan: Lists,
{
    let plan = E::Plan::of(experiment.draw(seed).items().to_vec(), Vec::new(), Vec::new());
    let outcome = experiment.run(seed, &plan, Tracing::On);
    let menu = experiment.menu();
    let (mut count, mut faults) = (0, Vec::new());
    if let (Some(trace), Some(menu)) = (outcome.trace(), &menu) {
        let until = Instant::from_nanos(menu.window.end);
        let places: Vec<Boundary> = boundaries(trace, outcome.nodes(), until);
        count = places.len() as u64;
        faults = places.iter().flat_map(|place| faults_at(place, menu)).collect();
    }
    Base { seed, plan, boundaries: count, faults }
}

impl<E: Experiment> Strategy<E> for Systematic<E::Plan>
where
    E::Plan: Lists + Sync,
{
    fn count(&self) -> Option<u64> {
        Some(match self.depth {
            Depth::One => self.singles(),
            Depth::Two => self.singles() + self.pairs(),
        })
    }

    fn case(&self, number: u64) -> Case<E::Plan> {
        let with = |base: &Base<E::Plan>, faults: Vec<Fault>| Case {
            seed: base.seed,
            plan: E::Plan::of(base.plan.items().to_vec(), faults, Vec::new()),
        };
        if let Some((nth, at)) = self.singles.get(number as usize) {
            let base = &self.bases[*nth];
            return with(base, vec![base.faults[*at].clone()]);
        }
        match self.pair(number - self.singles()) {
            Some((base, one, two)) => with(base, vec![base.faults[one].clone(), base.faults[two].clone()]),
            None => with(&self.bases[0], Vec::new()),
        }
    }

    fn about(&self) -> String {
        let boundaries: u64 = self.bases.iter().map(|base| base.boundaries).sum();
        let (runs, singles) = (self.bases.len(), self.singles());
        let pairs = match self.depth {
            Depth::One => String::new(),
            Depth::Two => format!(" and {} pairs of them", self.pairs()),
        };
        format!("{boundaries} effect boundaries in {runs} base runs, {singles} faults at them{pairs}")
    }
}
