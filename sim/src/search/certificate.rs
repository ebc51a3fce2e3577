//! Evidence that what is left of a plan is the cause: how often the run fails with each entry and
//! without it, over many schedules, and the stretch of events in which each fault bites.
//!
//! Counts are reported, not only a verdict: a fault without which 40 of 100 schedules still fail makes
//! the failure likelier, it does not cause it.

use super::shrink::{Budget, Diagnose, Lists};
use super::{Outcome as _, Tracing};
use crate::digest;
use crate::fault::{Fault, When};
use crate::time::{Instant, Span};
use crate::trace::{Happening, Line, Trace};

/// Plans with at most this many faults and delays have all their subsets tried.
pub const MOST_IN_LATTICE: usize = 6;

/// How many events on each side of a fault are tried for its window.
const WINDOW: usize = 60;

/// In how many schedules a plan fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// So many fail.
    pub failing: u32,
    /// Of so many.
    pub of: u32,
}

/// The evidence for a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// With the whole plan.
    pub whole: Share,
    /// Without each fault, in the order of the plan.
    pub without_fault: Vec<Share>,
    /// Without each delay.
    pub without_delay: Vec<Share>,
    /// Without each item of the workload, where they are few.
    pub without_item: Vec<Share>,
    /// For each set of faults and delays (bit n is entry n of the faults followed by the delays), where
    /// these are two to six.
    pub lattice: Vec<(u32, Share)>,
    /// Where each fault may begin for this seed to fail; none where it never begins.
    pub windows: Vec<Option<Window>>,
}

/// The stretch of a run in which a fault bites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// It may begin from this event on.
    pub first: Edge,
    /// And until just before this one.
    pub last: Edge,
}

/// One end of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// When the event happens.
    pub time: Instant,
    /// The number of the node.
    pub node: Option<crate::NodeId>,
    /// The event in words.
    pub words: String,
}

/// The seed of another schedule for the same plan; the schedule 0 is that of the seed itself.
pub fn other_schedule(seed: u64, nth: u32) -> u64 {
    // Below 2^53, as seeds that people pass on are.
    if nth == 0 { seed } else { digest(&[seed, u64::from(nth)]) >> 11 }
}

/// Gathers the evidence for a plan that fails with this symptom, over so many schedules. Where the
/// budget ends first, what is missing is left out.
pub fn certify<E>(
    experiment: &E,
    seed: u64,
    plan: &E::Plan,
    symptom: &E::Symptom,
    schedules: u32,
    budget: Budget<'_>,
) -> Certificate
where
    E: Diagnose,
    E::Plan: Lists,
{
    let mut work = Work { experiment, seed, symptom, schedules, runs: 0, budget };
    let (items, faults, delays) = (plan.items(), plan.faults(), plan.delays());
    let share = |work: &mut Work<'_, E>, items: Vec<_>, faults: Vec<_>, delays: Vec<_>| {
        work.share(&E::Plan::of(items, faults, delays))
    };
    let all = || (items.to_vec(), faults.to_vec(), delays.to_vec());
    let whole = share(&mut work, all().0, all().1, all().2);
    let without_fault = (0..faults.len())
        .map(|at| share(&mut work, items.to_vec(), without(faults, at), delays.to_vec()))
        .collect();
    let without_delay = (0..delays.len())
        .map(|at| share(&mut work, items.to_vec(), faults.to_vec(), without(delays, at)))
        .collect();
    let few = items.len() <= MOST_IN_LATTICE * 2;
    let without_item = (0..items.len())
        .filter(|_| few)
        .map(|at| share(&mut work, without(items, at), faults.to_vec(), delays.to_vec()))
        .collect();
    let entries = faults.len() + delays.len();
    let mut lattice = Vec::new();
    if (2..=MOST_IN_LATTICE).contains(&entries) {
        for set in 0..1u32 << entries {
            let kept = |at: usize| set >> at & 1 == 1;
            let faults = faults.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, it)| it.clone());
            let offset = plan.faults().len();
            let delays = delays.iter().enumerate().filter(|(at, _)| kept(offset + *at));
            let delays = delays.map(|(_, it)| it.clone()).collect();
            lattice.push((set, share(&mut work, items.to_vec(), faults.collect(), delays)));
        }
    }
    let windows = windows(&mut work, plan);
    Certificate { whole, without_fault, without_delay, without_item, lattice, windows }
}

struct Work<'a, E: Diagnose> {
    experiment: &'a E,
    seed: u64,
    symptom: &'a E::Symptom,
    schedules: u32,
    runs: u64,
    budget: Budget<'a>,
}

impl<E: Diagnose> Work<'_, E> {
    fn may_run(&mut self) -> bool {
        self.runs += 1;
        self.runs <= self.budget.runs && !(self.budget.stop)()
    }

    fn fails(&self, seed: u64, plan: &E::Plan) -> bool {
        let outcome = self.experiment.run(seed, plan, Tracing::Off);
        self.experiment.symptoms(&outcome).contains(self.symptom)
    }

    fn share(&mut self, plan: &E::Plan) -> Share {
        let mut share = Share { failing: 0, of: 0 };
        while share.of < self.schedules && self.may_run() {
            let seed = other_schedule(self.seed, share.of);
            share.of += 1;
            share.failing += u32::from(self.fails(seed, plan));
        }
        share
    }
}

fn without<T: Clone>(list: &[T], at: usize) -> Vec<T> {
    list.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, entry)| entry.clone()).collect()
}

/// For each fault, how far its beginning can be moved over the events of its nodes.
fn windows<E>(work: &mut Work<'_, E>, plan: &E::Plan) -> Vec<Option<Window>>
where
    E: Diagnose,
    E::Plan: Lists,
{
    let outcome = work.experiment.run(work.seed, plan, Tracing::On);
    let Some(trace) = outcome.trace() else { return vec![None; plan.faults().len()] };
    (0..plan.faults().len()).map(|at| window(work, plan, trace, outcome.nodes(), at)).collect()
}

fn window<E>(
    work: &mut Work<'_, E>,
    plan: &E::Plan,
    trace: &Trace,
    names: &[String],
    at: usize,
) -> Option<Window>
where
    E: Diagnose,
    E::Plan: Lists,
{
    let begins = trace.lines.iter().find(|line| line.begins(at))?;
    let events = events_of(trace, names, &plan.faults()[at]);
    let fails_at = |work: &mut Work<'_, E>, time: Instant| {
        let mut faults = plan.faults().to_vec();
        faults[at].when = When::At(time);
        let moved = E::Plan::of(plan.items().to_vec(), faults, plan.delays().to_vec());
        work.may_run() && work.fails(work.seed, &moved)
    };
    // The fault begins between two events of its nodes, or in the middle of one.
    let split = events.partition_point(|line| line.time <= begins.time);
    let mut first = split.checked_sub(1)?;
    for earlier in (split.saturating_sub(WINDOW)..first).rev() {
        if !fails_at(work, events[earlier].time + Span::NANO) {
            break;
        }
        first = earlier;
    }
    let mut last = split.min(events.len() - 1);
    for (at, later) in events.iter().enumerate().take(events.len() - 1).skip(split).take(WINDOW) {
        if !fails_at(work, later.time + Span::NANO) {
            break;
        }
        last = at + 1;
    }
    let edge = |line: &Line| Edge { time: line.time, node: line.node, words: line.told.words.clone() };
    Some(Window { first: edge(events[first]), last: edge(events[last]) })
}

/// The events on the nodes of a fault, one for each time.
fn events_of<'a>(trace: &'a Trace, names: &[String], fault: &Fault) -> Vec<&'a Line> {
    let (first, second) = fault.what.nodes();
    let is_of = |line: &&Line| {
        let name = line.node.and_then(|node| names.get(usize::from(node.number())));
        name.is_some_and(|name| first.contains(name) || second.contains(name))
    };
    let handled = |line: &&Line| {
        matches!(
            line.happening,
            Happening::Start | Happening::Deliver { .. } | Happening::Timer | Happening::Synced
        )
    };
    let mut events: Vec<&Line> = trace.lines.iter().filter(is_of).filter(handled).collect();
    events.dedup_by_key(|line| line.time);
    events
}
