//! Making a failing plan smaller, until nothing more can be left out.
//!
//! Staged delta debugging (Zeller & Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
//! TSE 2002) over the two lists of a plan, coarse before fine: whole kinds of faults, whole nodes,
//! single faults; whole clients, single items; then numbers and lists within a fault, towards fewer,
//! shorter and rounder. It goes round until one more pass changes nothing. Since draws are keyed, what
//! is left out leaves the rest as it was: the same seed is used throughout.
//!
//! Only the same symptom counts. Another one that shows on the way is a finding of its own: it is
//! kept, and not followed. What remains is 1-minimal, proved by trying: no single item can go.

use std::collections::BTreeSet;

use super::{Experiment, Tracing};
use crate::fault::{Fault, What, When};
use crate::time::{Instant, Span};

/// A plan as two lists: what clients do, and what the world does.
pub trait Lists: Clone {
    /// Something that a client does.
    type Item: Clone + PartialEq;

    /// What clients do.
    fn items(&self) -> &[Self::Item];

    /// What the world does.
    fn faults(&self) -> &[Fault];

    /// A plan of these.
    fn of(items: Vec<Self::Item>, faults: Vec<Fault>) -> Self;

    /// Who does an item.
    fn client(item: &Self::Item) -> &str;

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
    /// How many runs it took.
    pub runs: u64,
    /// How many of them failed with the same symptom.
    pub kept: u64,
    /// Other symptoms met on the way, each with the first plan that showed it.
    pub slipped: Vec<(S, P)>,
    /// Whether it went to the end: no single item or fault of the plan can be left out.
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
    let mut work =
        Work { experiment, seed, symptom, budget, runs: 0, kept: 0, slipped: Vec::new(), over: false };
    let (mut items, mut faults) = (plan.items().to_vec(), plan.faults().to_vec());
    if !work.fails(&items, &faults) {
        return None;
    }
    loop {
        let before = (items.clone(), faults.clone());
        shrink_faults(&mut work, &items, &mut faults);
        shrink_items(&mut work, &mut items, &faults);
        simplify_faults(&mut work, &items, &mut faults);
        simplify_items(&mut work, &mut items, &faults);
        if work.over || (items == before.0 && faults == before.1) {
            break;
        }
    }
    let Work { runs, kept, slipped, over, .. } = work;
    Some(Shrunk { plan: E::Plan::of(items, faults), runs, kept, slipped, minimal: !over })
}

type ItemOf<E> = <<E as Experiment>::Plan as Lists>::Item;

struct Work<'a, E: Diagnose> {
    experiment: &'a E,
    seed: u64,
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
    fn fails(&mut self, items: &[ItemOf<E>], faults: &[Fault]) -> bool {
        self.over |= self.runs >= self.budget.runs || (self.budget.stop)();
        if self.over {
            return false;
        }
        self.runs += 1;
        let plan = E::Plan::of(items.to_vec(), faults.to_vec());
        let outcome = self.experiment.run(self.seed, &plan, Tracing::Off);
        let symptoms = self.experiment.symptoms(&outcome);
        let same = symptoms.contains(self.symptom);
        for symptom in symptoms.into_iter().filter(|symptom| symptom != self.symptom) {
            if self.slipped.iter().all(|(known, _)| *known != symptom) {
                self.slipped.push((symptom, plan.clone()));
            }
        }
        self.kept += u64::from(same);
        same
    }
}

/// Leaves out whole groups of the list, then single entries by delta debugging.
fn reduce<T: Clone>(list: &mut Vec<T>, groups: Vec<Vec<usize>>, mut fails: impl FnMut(&[T]) -> bool) {
    let without = |list: &[T], gone: &dyn Fn(usize) -> bool| -> Vec<T> {
        list.iter().enumerate().filter(|(at, _)| !gone(*at)).map(|(_, entry)| entry.clone()).collect()
    };
    // Indexes of what is left, as groups speak of the list as it was.
    let original = list.clone();
    let mut left: Vec<usize> = (0..original.len()).collect();
    for group in groups {
        let rest: Vec<usize> = left.iter().copied().filter(|at| !group.contains(at)).collect();
        if rest.len() < left.len() {
            let candidate: Vec<T> = rest.iter().map(|at| original[*at].clone()).collect();
            if fails(&candidate) {
                (left, *list) = (rest, candidate);
            }
        }
    }
    let mut size = list.len().div_ceil(2);
    while size > 0 && !list.is_empty() {
        // From the end: later entries are less often to blame.
        let mut end = list.len();
        while end > 0 {
            let begin = end.saturating_sub(size);
            let candidate = without(list, &|at| (begin..end).contains(&at));
            if fails(&candidate) {
                *list = candidate;
            }
            end = begin;
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
}

fn shrink_faults<E>(work: &mut Work<'_, E>, items: &[ItemOf<E>], faults: &mut Vec<Fault>)
where
    E: Diagnose,
    E::Plan: Lists,
{
    let all = (0..faults.len()).collect::<Vec<_>>();
    let kinds: BTreeSet<_> = faults.iter().map(|fault| fault.what.kind()).collect();
    let names = |fault: &Fault| {
        let (first, second) = fault.what.nodes();
        first.iter().chain(second).cloned().collect::<Vec<_>>()
    };
    let nodes: BTreeSet<_> = faults.iter().flat_map(names).collect();
    let of_kind = kinds.iter().map(|kind| which(faults, |fault| fault.what.kind() == *kind));
    let of_node = nodes.iter().map(|node| which(faults, |fault| names(fault).contains(node)));
    let groups = [all].into_iter().chain(of_kind).chain(of_node).collect();
    reduce(faults, groups, |faults| work.fails(items, faults));
}

fn shrink_items<E>(work: &mut Work<'_, E>, items: &mut Vec<ItemOf<E>>, faults: &[Fault])
where
    E: Diagnose,
    E::Plan: Lists,
{
    let all = (0..items.len()).collect::<Vec<_>>();
    let clients: BTreeSet<String> = items.iter().map(|item| E::Plan::client(item).to_owned()).collect();
    let of_client = clients.iter().map(|client| which(items, |item| E::Plan::client(item) == client));
    let groups = [all].into_iter().chain(of_client).collect();
    reduce(items, groups, |items| work.fails(items, faults));
}

fn which<T>(list: &[T], test: impl Fn(&T) -> bool) -> Vec<usize> {
    list.iter().enumerate().filter(|(_, entry)| test(entry)).map(|(at, _)| at).collect()
}

/// Replaces each entry by the first simpler form with which the plan still fails, again and again.
fn simplify<T: Clone>(list: &mut [T], simpler: impl Fn(&T) -> Vec<T>, mut fails: impl FnMut(&[T]) -> bool) {
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

fn simplify_faults<E>(work: &mut Work<'_, E>, items: &[ItemOf<E>], faults: &mut [Fault])
where
    E: Diagnose,
    E::Plan: Lists,
{
    simplify(faults, simpler_forms, |faults| work.fails(items, faults));
}

fn simplify_items<E>(work: &mut Work<'_, E>, items: &mut [ItemOf<E>], faults: &[Fault])
where
    E: Diagnose,
    E::Plan: Lists,
{
    simplify(items, E::Plan::simpler, |items| work.fails(items, faults));
}

/// Simpler forms of a fault: fewer nodes, a shorter time, a rounder beginning. Each step makes the
/// fault simpler by one measure and no worse by another, so that the steps come to an end.
fn simpler_forms(fault: &Fault) -> Vec<Fault> {
    let mut forms = Vec::new();
    let mut add = |what: What| forms.push(Fault { when: fault.when.clone(), what });
    let (first, second) = fault.what.nodes();
    for at in 0..first.len() {
        if first.len() > 1 {
            add(with_nodes(&fault.what, without(first, at), second.to_vec()));
        }
    }
    for at in 0..second.len() {
        if second.len() > 1 {
            add(with_nodes(&fault.what, first.to_vec(), without(second, at)));
        }
    }
    if let What::CrashLoop { nodes, times, down, up } = &fault.what {
        add(What::Crash { nodes: nodes.clone(), down: *down });
        if *times > 1 {
            add(What::CrashLoop { nodes: nodes.clone(), times: times - 1, down: *down, up: *up });
        }
    } else {
        let lasts = fault.what.lasts();
        for shorter in shorter_spans(lasts) {
            add(with_length(&fault.what, shorter));
        }
    }
    if let When::At(time) = fault.when {
        for rounder in rounder_times(time) {
            forms.push(Fault { when: When::At(rounder), what: fault.what.clone() });
        }
    }
    forms
}

fn without(list: &[String], at: usize) -> Vec<String> {
    list.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, name)| name.clone()).collect()
}

/// Units by which a number is round, from the roundest.
const ROUND: [u64; 4] = [1_000_000_000, 100_000_000, 10_000_000, 1_000_000];

/// How round a number is: the index of the roundest unit that divides it.
fn roundness(nanos: u64) -> usize {
    ROUND.iter().position(|unit| nanos.is_multiple_of(*unit)).unwrap_or(ROUND.len())
}

fn shorter_spans(span: Span) -> Vec<Span> {
    let nanos = span.as_nanos();
    let half = nanos / 2;
    let mut spans = Vec::new();
    // Half as long, in whole milliseconds; then the same length, rounder.
    if half >= 1_000_000 {
        spans.push(half / 1_000_000 * 1_000_000);
    }
    spans.extend(
        ROUND.iter().map(|unit| nanos / unit * unit).filter(|rounder| *rounder > 0 && *rounder < nanos),
    );
    spans.into_iter().map(Span::from_nanos).collect()
}

fn rounder_times(time: Instant) -> Vec<Instant> {
    let nanos = time.as_nanos();
    let units = &ROUND[..roundness(nanos)];
    let around = units.iter().flat_map(|unit| [nanos / unit * unit, nanos.div_ceil(*unit) * unit]);
    around.filter(|rounder| *rounder > 0).map(Instant::from_nanos).collect()
}

/// The same fault on other nodes.
fn with_nodes(what: &What, one: Vec<String>, two: Vec<String>) -> What {
    let mut what = what.clone();
    match &mut what {
        What::Crash { nodes, .. }
        | What::CrashLoop { nodes, .. }
        | What::LoseDisk { nodes, .. }
        | What::Stop { nodes, .. }
        | What::Pause { nodes, .. }
        | What::Isolate { nodes, .. }
        | What::SlowDisk { nodes, .. }
        | What::FullDisk { nodes, .. }
        | What::FailSync { nodes, .. }
        | What::TearTail { nodes, .. }
        | What::Scatter { nodes, .. }
        | What::Rot { nodes, .. }
        | What::Offset { nodes, .. }
        | What::Drift { nodes, .. }
        | What::Jump { nodes, .. } => *nodes = one,
        What::Partition { left: first, right: second, .. }
        | What::Cut { from: first, to: second, .. }
        | What::Slow { from: first, to: second, .. }
        | What::Lose { from: first, to: second, .. }
        | What::LoseReplies { from: first, to: second, .. }
        | What::Duplicate { from: first, to: second, .. }
        | What::Reorder { from: first, to: second, .. }
        | What::Hold { from: first, to: second, .. } => (*first, *second) = (one, two),
    }
    what
}

/// The same fault for another length of time.
fn with_length(what: &What, length: Span) -> What {
    let mut what = what.clone();
    match &mut what {
        What::Crash { down: lasts, .. }
        | What::LoseDisk { down: lasts, .. }
        | What::Stop { down: lasts, .. }
        | What::Pause { lasts, .. }
        | What::Partition { lasts, .. }
        | What::Cut { lasts, .. }
        | What::Isolate { lasts, .. }
        | What::Slow { lasts, .. }
        | What::Lose { lasts, .. }
        | What::LoseReplies { lasts, .. }
        | What::Duplicate { lasts, .. }
        | What::Reorder { lasts, .. }
        | What::Hold { lasts, .. }
        | What::SlowDisk { lasts, .. }
        | What::FullDisk { lasts, .. }
        | What::FailSync { lasts, .. }
        | What::TearTail { lasts, .. }
        | What::Scatter { lasts, .. }
        | What::Offset { lasts, .. }
        | What::Drift { lasts, .. }
        | What::Jump { lasts, .. } => *lasts = length,
        What::CrashLoop { .. } | What::Rot { .. } => {}
    }
    what
}
