//! What a campaign came to: whether a scenario behaved as it expects, and whether that says anything.
//!
//! A campaign that found nothing has proved nothing where it never reached the situations that the
//! scenario is about, where a kind of fault was planned again and again without ever taking effect,
//! or where an invariant had nothing to compare.
//!
//! | word | exit | meaning |
//! |------|------|---------|
//! | `PASS`  | 0 | no violation, none expected |
//! | `FOUND` | 0 | the expected violation and no other |
//! | `KNOWN` | 0 | a recorded failure fails as recorded |
//! | `FAIL`  | 1 | a violation that is not expected, or an expected one not found |
//! | `FIXED` | 1 | a recorded failure no longer fails: its file should say so |
//! | `EMPTY` | 4 | nothing was proved |
//! | `FAIL`  | 5 | the same run twice was not the same |

use std::collections::BTreeMap;

use millpond_model::outcome::Outcome;
use millpond_model::scenario::schema::{Check, Expect, Invariant, Scenario};
use millpond_sim::search::campaign::Totals;

use crate::failure::{Cause, invariant_name};

/// A campaign shorter than this is not asked to have reached its probes, unless the scenario itself
/// wants no more seeds.
const ENOUGH_SEEDS: u64 = 100;

/// A kind of fault that was in more plans than this must have taken effect once.
const ENOUGH_PLANS: u64 = 20;

/// What a campaign over a scenario came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// No violation, none expected.
    Pass,
    /// The expected violation and no other.
    Found,
    /// A recorded failure fails as recorded.
    Known,
    /// A violation that was not expected.
    Fail,
    /// An expected violation was not found.
    Missed,
    /// A recorded failure no longer fails.
    Fixed,
    /// Nothing was proved.
    Empty,
    /// The same run twice, or a recorded run, was not the same.
    Unsteady,
}

impl Judgement {
    /// The word in the list of scenarios.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Found => "FOUND",
            Self::Known => "KNOWN",
            Self::Fail | Self::Missed | Self::Unsteady => "FAIL",
            Self::Fixed => "FIXED",
            Self::Empty => "EMPTY",
        }
    }

    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Found => "found",
            Self::Known => "known",
            Self::Fail => "fail",
            Self::Missed => "missed",
            Self::Fixed => "fixed",
            Self::Empty => "empty",
            Self::Unsteady => "unsteady",
        }
    }

    /// Whether the scenario behaved as it expects.
    pub fn is_as_expected(self) -> bool {
        match self {
            Self::Pass | Self::Found | Self::Known => true,
            Self::Fail | Self::Missed | Self::Fixed | Self::Empty | Self::Unsteady => false,
        }
    }
}

/// What a campaign over one scenario has seen so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// What its runs add up to.
    pub totals: Totals,
    /// How many comparisons each invariant made.
    pub compared: BTreeMap<Invariant, u64>,
    /// How many runs showed the expected violation and no other.
    pub expected: u64,
    /// How many runs failed otherwise.
    pub unexpected: u64,
    /// How many runs were not the same the second time.
    pub unsteady: u64,
    /// Whether a signal or the end of the budget left out seeds that were to be run.
    pub cut_short: bool,
}

impl Tally {
    /// Takes in the comparisons of a run.
    pub fn compare(&mut self, outcome: &Outcome) {
        for verdict in &outcome.verdicts {
            *self.compared.entry(verdict.invariant).or_default() += verdict.comparisons;
        }
    }

    /// Takes in a failed run.
    pub fn fail(&mut self, cause: &Cause, expected: bool) {
        match cause {
            Cause::Unsteady(_) => self.unsteady += 1,
            Cause::Broke(_) if expected => self.expected += 1,
            Cause::Broke(_) => self.unexpected += 1,
        }
    }
}

/// The violation that a scenario expects where `only` this invariant is looked at.
pub fn expected(scenario: &Scenario, only: Option<Invariant>) -> Option<Invariant> {
    match scenario.expect {
        Expect::Pass => None,
        Expect::Violation(invariant) => Some(invariant).filter(|_| only.is_none_or(|only| only == invariant)),
    }
}

/// Whether a run shows the expected violation: no other beside it, except in a recorded failure,
/// which may always have broken more than the invariant that it is named after.
pub fn is_expected(outcome: &Outcome, expected: Option<Invariant>, recorded: bool) -> bool {
    let mut broken = outcome.broken().map(|verdict| Some(verdict.invariant)).peekable();
    if recorded {
        broken.any(|one| one == expected)
    } else {
        broken.peek().is_some() && broken.all(|one| one == expected)
    }
}

/// The invariants that a scenario checks, less those beside `only`.
pub fn checked(scenario: &Scenario, only: Option<Invariant>) -> Vec<Invariant> {
    let listed = scenario.check.iter().map(|check| invariant(*check));
    let all = listed.chain([Invariant::NoPanic, Invariant::Bounds]);
    all.filter(|invariant| only.is_none_or(|only| only == *invariant)).collect()
}

/// The invariant that a check checks.
pub fn invariant(check: Check) -> Invariant {
    match check {
        Check::ExactlyOnceOutput => Invariant::ExactlyOnceOutput,
        Check::OffsetIdempotency => Invariant::OffsetIdempotency,
        Check::PartitionOrder => Invariant::PartitionOrder,
        Check::JoinDeterminism => Invariant::JoinDeterminism,
        Check::NoAcknowledgedLoss => Invariant::NoAcknowledgedLoss,
        Check::ReadYourWrites => Invariant::ReadYourWrites,
        Check::Liveness { .. } => Invariant::Liveness,
    }
}

/// Judges the campaign over a scenario; the lines say what it lacks.
pub fn judge(scenario: &Scenario, only: Option<Invariant>, tally: &Tally) -> (Judgement, Vec<String>) {
    if tally.unsteady > 0 {
        return (Judgement::Unsteady, Vec::new());
    }
    if tally.unexpected > 0 {
        return (Judgement::Fail, Vec::new());
    }
    if tally.expected > 0 {
        return (Judgement::Found, Vec::new());
    }
    if tally.totals.runs == 0 {
        return (Judgement::Empty, vec!["no seed was run".to_owned()]);
    }
    let missing = missing(scenario, only, tally);
    match expected(scenario, only) {
        // Who was stopped while looking has not looked in vain.
        Some(invariant) if tally.cut_short && tally.totals.runs < scenario.seeds => {
            let (name, runs) = (invariant_name(invariant), tally.totals.runs);
            (
                Judgement::Empty,
                vec![format!("{name} is expected; it was stopped after {runs} seeds without it")],
            )
        }
        Some(invariant) => {
            let line = format!("{} is expected and was not found", invariant_name(invariant));
            (Judgement::Missed, std::iter::once(line).chain(missing).collect())
        }
        None if missing.is_empty() => (Judgement::Pass, missing),
        None => (Judgement::Empty, missing),
    }
}

/// Judges the one run of a recorded failure.
pub fn judge_recorded(scenario: &Scenario, only: Option<Invariant>, tally: &Tally) -> Judgement {
    let expected = expected(scenario, only).is_some();
    match (tally.unsteady > 0, tally.unexpected > 0, tally.expected > 0) {
        (true, _, _) => Judgement::Unsteady,
        (_, true, _) => Judgement::Fail,
        (_, _, true) => Judgement::Known,
        _ if expected => Judgement::Fixed,
        _ => Judgement::Pass,
    }
}

/// What a campaign without a violation should have seen and has not, a line each.
fn missing(scenario: &Scenario, only: Option<Invariant>, tally: &Tally) -> Vec<String> {
    let Totals { runs, probes, faults, .. } = &tally.totals;
    let mut missing = Vec::new();
    if *runs >= ENOUGH_SEEDS.min(scenario.seeds) {
        let reach = scenario.reach.iter().filter(|probe| !probes.contains_key(probe.as_str()));
        missing.extend(reach.map(|probe| format!("the probe \"{probe}\" was never reached")));
    }
    for (kind, armed) in faults {
        if armed.plans > ENOUGH_PLANS && armed.bitten == 0 {
            let (armed, plans) = (armed.armed, armed.plans);
            missing.push(format!("{armed} {kind} faults in {plans} plans never took effect"));
        }
    }
    for invariant in checked(scenario, only) {
        // These two look at the run itself: there is nothing to count.
        let counts = !matches!(invariant, Invariant::NoPanic | Invariant::Bounds);
        if counts && tally.compared.get(&invariant).is_none_or(|compared| *compared == 0) {
            missing.push(format!("{} compared nothing", invariant_name(invariant)));
        }
    }
    missing
}
