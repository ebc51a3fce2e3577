//! Making a failing plan smaller, until nothing more can be left out.
//!
//! Staged delta debugging (Zeller & Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
//! TSE 2002) over the lists of a plan, coarse before fine, in this order:
//!
//! 1. what has not begun when the violation is seen;
//! 2. faults: whole kinds, whole nodes, then one by one;
//! 3. items: whole clients, whole keys, then one by one;
//! 4. overrides of the schedule;
//! 5. numbers and lists within an entry, towards fewer, shorter, rounder and earlier;
//! 6. times are turned into the events that they stand for (see `anchor`).
//!
//! It goes round until one more pass changes nothing. Since draws are keyed, what is left out leaves
//! the rest as it was, and the same seed is used. A fault or override whose event never comes is no
//! error, it does nothing.
//!
//! Then it goes round again, and what still does not go is also tried in some other schedules: a
//! smaller plan that fails in half of all schedules should not be missed for the one at hand. Where
//! one of them fails, shrinking goes on with its seed. Triggers are counted anew there: a crash at the
//! 12th write is one at the first where the eleven before it are left out.
//!
//! Only the same symptom counts. Another one that shows on the way is a finding of its own: it is
//! kept, and not followed. What remains is 1-minimal, proved by trying: no single entry can go.

mod anchor;
mod reduce;
mod simpler;

use std::collections::BTreeSet;

use self::reduce::reduce;
use super::certificate::other_schedule;
use super::{Experiment, Outcome, Tracing};
use crate::fault::{Fault, When};
use crate::schedule::Delay;
use crate::time::Instant;

/// A plan as lists: what clients do, what the world does, what is moved in the schedule.
pub trait Lists: Clone {
    /// Something that a client does.
    type Item: Clone + PartialEq;

    /// What clients do.
    fn items(&self) -> &[Self::Item];

    /// What the world does.
    fn faults(&self) -> &[Fault];

    /// What is moved in the schedule.
    fn delays(&self) -> &[Delay];

    /// A plan of these.
    fn of(items: Vec<Self::Item>, faults: Vec<Fault>, delays: Vec<Delay>) -> Self;

    /// Who does an item.
    fn client(item: &Self::Item) -> &str;

    /// What an item is about, such as its key: items about other things can often go together.
    fn about(item: &Self::Item) -> u64;

    /// When an item is due.
    fn due(item: &Self::Item) -> Instant;

    /// Simpler forms of an item, the simplest first; none of them may have a simpler form that is
    /// this item.
    fn simpler(item: &Self::Item) -> Vec<Self::Item>;
}

/// An experiment whose failures can be told apart.
pub trait Diagnose: Experiment {
    /// What is wrong with a run, such as a broken invariant.
    type Symptom: Clone + PartialEq;

    /// All that is wrong with a run.
    fn symptoms(&self, outcome: &Self::Outcome) -> Vec<Self::Symptom>;
}

/// In how many other schedules a smaller plan is tried, once the schedule at hand has no smaller one.
const SCHEDULES: u32 = 60;

/// How far shrinking may go.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// The most runs.
    pub runs: u64,
    /// Asked before each run: whether to stop with what has been reached.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// What shrinking has come to.
#[derive(Clone, Debug)]
pub struct Shrunk<P, S> {
    /// The smallest failing plan found.
    pub plan: P,
    /// The seed with which it fails: the one given, or that of another schedule.
    pub seed: u64,
    /// How many runs it took.
    pub runs: u64,
    /// How many of them failed with the same symptom.
    pub kept: u64,
    /// Other symptoms met on the way, each with the first plan that showed it.
    pub slipped: Vec<(S, P)>,
    /// Whether it went to the end: no single entry of the plan can be left out.
    pub minimal: bool,
}

/// Shrinks a plan that fails with this symptom; none where it does not fail when run again.
pub fn shrink<E>(
    experiment: &E,
    seed: u64,
    plan: &E::Plan,
    symptom: &E::Symptom,
    budget: Budget<'_>,
) -> Option<Shrunk<E::Plan, E::Symptom>>
where
    E: Diagnose,
    E::Plan: Lists,
{
    let mut work = Work {
        experiment,
        seed,
        origin: seed,
        schedules: 0,
        strikes: Vec::new(),
        failing: None,
        symptom,
        budget,
        runs: 0,
        kept: 0,
        slipped: Vec::new(),
        over: false,
    };
    let mut parts = Parts::of(plan);
    if !work.fails(&parts) {
        return None;
    }
    cut_the_tail(&mut work, &mut parts);
    to_a_fixpoint(&mut work, &mut parts);
    work.schedules = SCHEDULES;
    loop {
        let before = parts.clone();
        work.strikes = anchor::strikes(&mut work, &parts);
        leave_out(&mut work, &mut parts);
        work.strikes.clear();
        if work.over || parts == before {
            break;
        }
        work.schedules = 0;
        to_a_fixpoint(&mut work, &mut parts);
        work.schedules = SCHEDULES;
    }
    let Work { seed, runs, kept, slipped, over, .. } = work;
    Some(Shrunk { plan: parts.plan(), seed, runs, kept, slipped, minimal: !over })
}

/// All stages, until one more pass changes nothing.
fn to_a_fixpoint<E>(work: &mut Work<'_, E>, parts: &mut Parts<E::Plan>)
where
    E: Diagnose,
    E::Plan: Lists,
{
    loop {
        let before = parts.clone();
        leave_out(work, parts);
        simplify(work, parts);
        anchor::anchor(work, parts);
        if work.over || *parts == before {
            break;
        }
    }
}

fn leave_out<E>(work: &mut Work<'_, E>, parts: &mut Parts<E::Plan>)
where
    E: Diagnose,
    E::Plan: Lists,
{
    shrink_faults(work, parts);
    shrink_items(work, parts);
    shrink_delays(work, parts);
}

/// A plan taken apart.
struct Parts<P: Lists> {
    items: Vec<P::Item>,
    faults: Vec<Fault>,
    delays: Vec<Delay>,
}

impl<P: Lists> Clone for Parts<P> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), faults: self.faults.clone(), delays: self.delays.clone() }
    }
}

impl<P: Lists> PartialEq for Parts<P> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items && self.faults == other.faults && self.delays == other.delays
    }
}

impl<P: Lists> Parts<P> {
    fn of(plan: &P) -> Self {
        let (items, faults, delays) = (plan.items().to_vec(), plan.faults().to_vec(), plan.delays().to_vec());
        Self { items, faults, delays }
    }

    fn plan(&self) -> P {
        P::of(self.items.clone(), self.faults.clone(), self.delays.clone())
    }

    fn with_items(&self, items: &[P::Item]) -> Self {
        Self { items: items.to_vec(), faults: self.faults.clone(), delays: self.delays.clone() }
    }

    fn with_faults(&self, faults: &[Fault]) -> Self {
        Self { items: self.items.clone(), faults: faults.to_vec(), delays: self.delays.clone() }
    }

    fn with_delays(&self, delays: &[Delay]) -> Self {
        Self { items: self.items.clone(), faults: self.faults.clone(), delays: delays.to_vec() }
    }
}

struct Work<'a, E: Diagnose<Plan: Lists>> {
    experiment: &'a E,
    /// The seed at hand.
    seed: u64,
    /// The seed that was given; other schedules are made from it.
    origin: u64,
    /// In how many other schedules a plan is tried that passes in the one at hand.
    schedules: u32,
    /// When the faults of the plan at hand strike, where they wait for events.
    strikes: Vec<(Fault, Instant)>,
    /// The last plan that failed: not always with the faults that it was tried with.
    failing: Option<Parts<E::Plan>>,
    symptom: &'a E::Symptom,
    budget: Budget<'a>,
    runs: u64,
    kept: u64,
    slipped: Vec<(E::Symptom, E::Plan)>,
    over: bool,
}

impl<E> Work<'_, E>
where
    E: Diagnose,
    E::Plan: Lists,
{
    /// Whether there is budget for one more run.
    fn may_run(&mut self) -> bool {
        self.over |= self.runs >= self.budget.runs || (self.budget.stop)();
        !self.over
    }

    /// Whether a plan fails, here or in one of the other schedules, which is then the one at hand.
    fn fails(&mut self, parts: &Parts<E::Plan>) -> bool {
        if self.fails_here(parts) {
            return true;
        }
        if self.schedules == 0 {
            return false;
        }
        let here = self.seed;
        for nth in 0..=self.schedules {
            self.seed = other_schedule(self.origin, nth);
            if self.seed != here && self.fails_here(parts) {
                return true;
            }
        }
        self.seed = here;
        false
    }

    /// Whether a plan fails in the schedule at hand, as it is or with its triggers counted anew.
    fn fails_here(&mut self, parts: &Parts<E::Plan>) -> bool {
        if self.outcome(parts, Tracing::Off).is_some() {
            self.failing = Some(parts.clone());
            return true;
        }
        if self.strikes.is_empty() {
            return false;
        }
        let strikes = std::mem::take(&mut self.strikes);
        let faults = anchor::recounted(self, parts, &strikes);
        self.strikes = strikes;
        let Some(faults) = faults else { return false };
        let parts = parts.with_faults(&faults);
        let fails = self.outcome(&parts, Tracing::Off).is_some();
        if fails {
            self.failing = Some(parts);
        }
        fails
    }

    /// Goes on with the last plan that a stage has seen fail, if it has seen any.
    fn adopt(&mut self, parts: &mut Parts<E::Plan>) {
        if let Some(failing) = self.failing.take() {
            *parts = failing;
        }
    }

    /// The outcome of a run, if it fails with the symptom.
    fn outcome(&mut self, parts: &Parts<E::Plan>, tracing: Tracing) -> Option<E::Outcome> {
        if !self.may_run() {
            return None;
        }
        self.runs += 1;
        let plan = parts.plan();
        let outcome = self.experiment.run(self.seed, &plan, tracing);
        let symptoms = self.experiment.symptoms(&outcome);
        let same = symptoms.contains(self.symptom);
        for symptom in symptoms.into_iter().filter(|symptom| symptom != self.symptom) {
            if self.slipped.iter().all(|(known, _)| *known != symptom) {
                self.slipped.push((symptom, plan.clone()));
            }
        }
        self.kept += u64::from(same);
        same.then_some(outcome)
    }

    /// In how many of so many other schedules the plan fails with the symptom.
    fn share(&mut self, parts: &Parts<E::Plan>, schedules: u32) -> u32 {
        let plan = parts.plan();
        let mut failing = 0;
        for nth in 1..=schedules {
            if !self.may_run() {
                break;
            }
            self.runs += 1;
            let outcome = self.experiment.run(other_schedule(self.seed, nth), &plan, Tracing::Off);
            failing += u32::from(self.experiment.symptoms(&outcome).contains(self.symptom));
        }
        failing
    }
}

/// Leaves out what has not begun when the run is over or its last observation was made.
fn cut_the_tail<E>(work: &mut Work<'_, E>, parts: &mut Parts<E::Plan>)
where
    E: Diagnose,
    E::Plan: Lists,
{
    let Some(seen) = work.outcome(parts, Tracing::Off).and_then(|outcome| outcome.seen_at()) else { return };
    let mut cut = parts.clone();
    cut.items.retain(|item| E::Plan::due(item) <= seen);
    cut.faults.retain(|fault| !matches!(fault.when, When::At(time) if time > seen));
    if cut != *parts && work.fails(&cut) {
        *parts = cut;
    }
}

fn shrink_faults<E>(work: &mut Work<'_, E>, parts: &mut Parts<E::Plan>)
where
    E: Diagnose,
    E::Plan: Lists,
{
    work.failing = None;
    let mut faults = parts.faults.clone();
    let kinds: BTreeSet<_> = faults.iter().map(|fault| fault.what.kind()).collect();
    let nodes: BTreeSet<_> = faults.iter().flat_map(names).collect();
    let of_kind = kinds.iter().map(|kind| which(&faults, |fault| fault.what.kind() == *kind));
    let of_node = nodes.iter().map(|node| which(&faults, |fault| names(fault).contains(node)));
    let groups = [which(&faults, |_| true)].into_iter().chain(of_kind).chain(of_node).collect();
    reduce(&mut faults, groups, |faults| work.fails(&parts.with_faults(faults)));
    work.adopt(parts);
}

fn names(fault: &Fault) -> Vec<String> {
    let (first, second) = fault.what.nodes();
    first.iter().chain(second).cloned().collect()
}

fn shrink_items<E>(work: &mut Work<'_, E>, parts: &mut Parts<E::Plan>)
where
    E: Diagnose,
    E::Plan: Lists,
{
    work.failing = None;
    let mut items = parts.items.clone();
    let clients: BTreeSet<String> = items.iter().map(|item| E::Plan::client(item).to_owned()).collect();
    let things: BTreeSet<u64> = items.iter().map(E::Plan::about).collect();
    let of_client = clients.iter().map(|client| which(&items, |item| E::Plan::client(item) == client));
    let of_thing = things.iter().map(|thing| which(&items, |item| E::Plan::about(item) == *thing));
    let groups = [which(&items, |_| true)].into_iter().chain(of_client).chain(of_thing).collect();
    reduce(&mut items, groups, |items| work.fails(&parts.with_items(items)));
    work.adopt(parts);
}

fn shrink_delays<E>(work: &mut Work<'_, E>, parts: &mut Parts<E::Plan>)
where
    E: Diagnose,
    E::Plan: Lists,
{
    work.failing = None;
    let mut delays = parts.delays.clone();
    let groups = vec![which(&delays, |_| true)];
    reduce(&mut delays, groups, |delays| work.fails(&parts.with_delays(delays)));
    work.adopt(parts);
}

fn which<T>(list: &[T], test: impl Fn(&T) -> bool) -> Vec<usize> {
    list.iter().enumerate().filter(|(_, entry)| test(entry)).map(|(at, _)| at).collect()
}

/// Replaces each entry by the first simpler form with which the plan still fails, again and again.
fn simplify<E>(work: &mut Work<'_, E>, parts: &mut Parts<E::Plan>)
where
    E: Diagnose,
    E::Plan: Lists,
{
    let mut faults = parts.faults.clone();
    each_simpler(&mut faults, simpler::of_fault, |faults| work.fails(&parts.with_faults(faults)));
    parts.faults = faults;
    let mut items = parts.items.clone();
    each_simpler(&mut items, E::Plan::simpler, |items| work.fails(&parts.with_items(items)));
    parts.items = items;
    let mut delays = parts.delays.clone();
    each_simpler(&mut delays, simpler::of_delay, |delays| work.fails(&parts.with_delays(delays)));
    parts.delays = delays;
}

fn each_simpler<T>(list: &mut [T], simpler: impl Fn(&T) -> Vec<T>, mut fails: impl FnMut(&[T]) -> bool) {
    for at in 0..list.len() {
        'again: loop {
            for form in simpler(&list[at]) {
                let before = std::mem::replace(&mut list[at], form);
                if fails(list) {
                    continue 'again;
                }
                list[at] = before;
            }
            break;
        }
    }
}
