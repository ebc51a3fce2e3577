//! From a failed run to its explanation: the smallest cause, the evidence for it, and the story.

use std::collections::BTreeSet;
use std::time::Duration;

use millpond::model::scenario::schema::Item;
use millpond::reports::block::plain;
use millpond::reports::console::Detail;
use millpond::reports::failure::{self, Explanation, Failure, Parting, Shrinking, Size};
use millpond::sim::search::blame::blame;
use millpond::sim::search::certificate::{Certificate, certify};
use millpond::sim::search::shrink::{Budget, Diagnose, Shrunk, shrink};
use millpond::sim::search::story::{Question, Step, story};
use millpond::sim::time::{Instant, Span};
use millpond::{Experiment, Invariant, Plan, Tracing, TrialOutcome};

use crate::campaign::Focus;
use crate::clock::Stopwatch;
use crate::interrupt;

/// In how many schedules a plan is run, with and without each of its entries.
pub(crate) const SCHEDULES: u32 = 100;

/// The most runs of one shrinking: a bound that does not depend on the machine.
const RUNS: u64 = 20_000;

/// How far to go in explaining a failure.
#[derive(Clone, Copy)]
pub(crate) struct Effort<'a> {
    /// How long to shrink and to gather evidence; none: the plan is left as it is.
    pub(crate) shrink: Option<Duration>,
    /// Over how many schedules evidence is gathered.
    pub(crate) schedules: u32,
    /// In how many continuations from each point of the story the run is taken up again.
    pub(crate) blame: Option<u32>,
    /// How much will be shown: where the run parts from one that passes is looked for only in detail.
    pub(crate) detail: Detail,
    /// Called before each run.
    pub(crate) pulse: &'a (dyn Fn() + Sync),
}

impl Effort<'_> {
    /// Shrinking and evidence within a time.
    pub(crate) fn within(shrink: Option<Duration>, detail: Detail) -> Self {
        Self { shrink, schedules: SCHEDULES, blame: None, detail, pulse: &|| {} }
    }
}

impl Diagnose for Focus<'_> {
    type Symptom = Invariant;

    fn symptoms(&self, outcome: &TrialOutcome) -> Vec<Invariant> {
        outcome.broken().map(|verdict| verdict.invariant).collect()
    }
}

/// Explains a failure: makes its plan as small as it gets, if asked, and tells how it came about. What
/// is not the same twice is left alone.
pub(crate) fn explain(focus: &Focus<'_>, failure: &mut Failure, effort: Effort<'_>) {
    let Some(invariant) = failure.cause.invariant() else { return };
    let clock = Stopwatch::start();
    let over = |limit: Duration| clock.elapsed() >= limit || interrupt::asked().is_some();
    let mut shrunk = None;
    let mut certificate = None;
    if let Some(limit) = effort.shrink {
        let stop = || {
            (effort.pulse)();
            over(limit)
        };
        let budget = Budget { runs: RUNS, stop: &stop };
        shrunk = smallest(focus, failure, invariant, budget);
        certificate = evidence(focus, failure, invariant, effort.schedules, budget);
    }
    let mut outcome = focus.run(failure.schedule, &failure.plan, Tracing::On);
    let story = tell(focus, failure, &outcome, invariant);
    let parting =
        (effort.detail == Detail::Verbose).then(|| part(focus, failure, &outcome, invariant)).flatten();
    let blamed = effort.blame.map(|schedules| {
        let times = turning_points(&story);
        blame(focus, failure.schedule, &failure.plan, &invariant, &times, schedules)
    });
    outcome.trace = None;
    failure.outcome = outcome;
    failure.id = failure::id(&failure.scenario, &failure.cause.name(), &failure.plan);
    failure.explanation = Some(Explanation { shrunk, certificate, story, parting, blamed });
}

/// Makes the plan of a failure as small as it gets; none where it does not fail when run again.
fn smallest(
    focus: &Focus<'_>,
    failure: &mut Failure,
    invariant: Invariant,
    budget: Budget<'_>,
) -> Option<Shrinking> {
    let from = Size::of(&failure.plan);
    let smallest = shrink(focus, failure.seed, &failure.plan, &invariant, budget)?;
    let Shrunk { runs, kept, slipped, minimal, plan, seed } = smallest;
    (failure.plan, failure.schedule) = (plan, seed);
    Some(Shrinking { from, runs, kept, slipped, minimal })
}

/// The points from which a run is taken up again: just after each step of its story, but for the last,
/// and before the first.
fn turning_points(story: &[Step]) -> Vec<Instant> {
    let after = story.iter().map(|step| step.line.time + Span::NANO);
    std::iter::once(Instant::ZERO).chain(after).collect()
}

fn evidence(
    focus: &Focus<'_>,
    failure: &Failure,
    invariant: Invariant,
    schedules: u32,
    budget: Budget<'_>,
) -> Option<Certificate> {
    let certificate = certify(focus, failure.schedule, &failure.plan, &invariant, schedules, budget);
    Some(certificate).filter(|certificate| certificate.whole.of > 0)
}

/// The story of the first violation of an invariant in a traced run.
fn tell(focus: &Focus<'_>, failure: &Failure, outcome: &TrialOutcome, invariant: Invariant) -> Vec<Step> {
    let Some(trace) = &outcome.trace else { return Vec::new() };
    let verdict = outcome.broken().find(|verdict| verdict.invariant == invariant);
    let Some(violation) = verdict.and_then(|verdict| verdict.violations.first()) else { return Vec::new() };
    let question = Question {
        witnesses: violation.witnesses.iter().map(|witness| witness.event).collect::<BTreeSet<_>>(),
        about: violation.about.iter().copied().collect(),
        bystanders: [focus.trial.catalog().observer].into(),
    };
    let workload = failure.plan.workload.clone();
    let calm = Plan { workload, faults: Vec::new(), schedule: Vec::new() };
    let calm = focus.run(failure.schedule, &calm, Tracing::On);
    story(trace, calm.trace.as_ref(), &question)
}

/// How many events before the parting of two runs are shown, and how many after it.
const BEFORE: usize = 3;
const AFTER: usize = 10;

/// Where a failing run parts from the nearest one that passes: of those that lack one fault or delay,
/// or else one record, the one that goes along with it longest.
fn part(
    focus: &Focus<'_>,
    failure: &Failure,
    failing: &TrialOutcome,
    invariant: Invariant,
) -> Option<Parting> {
    let failing = lines(failing)?;
    let nearest = smaller(&failure.plan).filter_map(|(without, smaller)| {
        let passing = focus.run(failure.schedule, &smaller, Tracing::On);
        let passes = passing.broken().all(|verdict| verdict.invariant != invariant);
        let passing = lines(&passing).filter(|_| passes)?;
        let common = passing.iter().zip(&failing).take_while(|(one, two)| one == two).count();
        Some((common, without, passing))
    });
    let (common, without, passing) = nearest.max_by_key(|(common, ..)| *common)?;
    let around = |lines: &[String]| {
        let shown = lines.iter().skip(common.saturating_sub(BEFORE)).take(BEFORE + AFTER);
        shown.fold(String::new(), |text, line| text + line + "\n")
    };
    Some(Parting { without, passing: around(&passing), failing: around(&failing) })
}

/// The plans that lack one entry, with what it is.
fn smaller(plan: &Plan) -> impl Iterator<Item = (String, Plan)> {
    let entries = plan.faults.len() + plan.schedule.len();
    let records = if entries == 0 { plan.workload.len().min(RECORDS) } else { 0 };
    (0..entries + records).map(move |at| {
        let mut smaller = plan.clone();
        let faults = plan.faults.len();
        let what = if at < faults {
            smaller.faults.remove(at);
            format!("number {}", at + 1)
        } else if at < entries {
            smaller.schedule.remove(at - faults);
            format!("number {}", at + 1)
        } else {
            let Item(node, time, ..) = smaller.workload.remove(at - entries);
            format!("the record that {node} sends at {time}")
        };
        (what, smaller)
    })
}

/// How many records are left out one by one.
const RECORDS: usize = 12;

/// The lines of a trace that say something, as text.
fn lines(outcome: &TrialOutcome) -> Option<Vec<String>> {
    let trace = outcome.trace.as_ref()?;
    let lines = trace.lines.iter().filter(|line| !line.told.routine);
    Some(lines.map(|line| plain(line, &outcome.nodes)).collect())
}
