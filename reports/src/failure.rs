//! A failure: the run that failed, the name it goes by, and the file that keeps it.

use std::fmt::Write as _;

use millpond_model::outcome::{Outcome, Plan};
use millpond_model::scenario;
use millpond_model::scenario::schema::{Expect, Faults, Found, Invariant, Scenario};
use millpond_sim::search::certificate::{Certificate, Share};
use millpond_sim::search::determinism::Difference;
use millpond_sim::search::story::Step;
use millpond_sim::{ENGINE, digest};

use crate::cause;

/// A run that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The name of the scenario.
    pub scenario: String,
    /// The seed at which it was found.
    pub seed: u64,
    /// The seed with which its plan fails: the same, unless another schedule has a smaller cause.
    pub schedule: u64,
    /// What was done to the system.
    pub plan: Plan,
    /// How many of the plan's records and faults were drawn from the seed; none in a recorded plan.
    pub drawn: bool,
    /// What came of it.
    pub outcome: Outcome,
    /// What it is named after: an invariant that broke, or that a second run was another one.
    pub cause: Cause,
    /// What its smallest cause is and how it came about, where that was looked for.
    pub explanation: Option<Explanation>,
    /// Whether the scenario expects just this.
    pub expected: bool,
    /// What names this failure wherever it is found: 8 hexadecimal digits.
    pub id: String,
    /// The file that keeps it, within the folder of results.
    pub file: Option<String>,
    /// The command that runs it again.
    pub replay: String,
    /// The command that keeps it as a test.
    pub keep: Option<String>,
}

/// A failure explained. The plan and the outcome of its [`Failure`] are those of the smallest cause.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// How it was made smaller, where it was.
    pub shrunk: Option<Shrinking>,
    /// How often it fails with and without each entry of its plan.
    pub certificate: Option<Certificate>,
    /// What happened, from the faults to the witnesses.
    pub story: Vec<Step>,
    /// Where it parts from the nearest run that passes.
    pub parting: Option<Parting>,
    /// How many of the continuations from the start, and then from after each step of the story, fail.
    pub blamed: Option<Vec<Share>>,
}

/// The events around the first difference of a failing and a passing run, a line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// What the plan of the passing run lacks.
    pub without: String,
    /// The events of the run that passes.
    pub passing: String,
    /// The events of the run that fails.
    pub failing: String,
}

/// From the plan that failed first to the smallest one.
#[derive(Clone, Debug)]
pub struct Shrinking {
    /// How large the plan was.
    pub from: Size,
    /// How many runs it took.
    pub runs: u64,
    /// How many of them failed in the same way.
    pub kept: u64,
    /// Other invariants that broke on the way, each with a plan that breaks it.
    pub slipped: Vec<(Invariant, Plan)>,
    /// Whether it went to the end, so that nothing can be left out.
    pub minimal: bool,
}

/// How large a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// How many faults.
    pub faults: usize,
    /// How many records.
    pub records: usize,
    /// How many delays.
    pub delays: usize,
}

impl Size {
    /// That of a plan.
    pub fn of(plan: &Plan) -> Self {
        Self { faults: plan.faults.len(), records: plan.workload.len(), delays: plan.schedule.len() }
    }
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An invariant was broken.
    Broke(Invariant),
    /// The same run twice was not the same.
    Unsteady(Box<Difference>),
}

impl Cause {
    /// The cause of a failed run: that it differs from its repetition, or else the first invariant
    /// that it broke and was not expected to break.
    pub fn of(
        outcome: &Outcome,
        difference: Option<&Difference>,
        expected: Option<Invariant>,
    ) -> Option<Self> {
        if let Some(difference) = difference {
            return Some(Self::Unsteady(Box::new(difference.clone())));
        }
        let broken: Vec<_> = outcome.broken().map(|verdict| verdict.invariant).collect();
        let unexpected = broken.iter().find(|invariant| Some(**invariant) != expected);
        unexpected.or(broken.first()).copied().map(Self::Broke)
    }

    /// The invariant that was broken.
    pub fn invariant(&self) -> Option<Invariant> {
        match self {
            Self::Broke(invariant) => Some(*invariant),
            Self::Unsteady(_) => None,
        }
    }

    /// Its name in lines and records.
    pub fn name(&self) -> String {
        match self {
            Self::Broke(invariant) => invariant_name(*invariant),
            Self::Unsteady(_) => "determinism".to_owned(),
        }
    }

    /// What kind of thing went wrong, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Broke(Invariant::Liveness) => "liveness",
            Self::Broke(Invariant::NoPanic) => "panic",
            Self::Broke(Invariant::Bounds) => "bounds",
            Self::Broke(
                Invariant::ExactlyOnceOutput
                | Invariant::OffsetIdempotency
                | Invariant::PartitionOrder
                | Invariant::JoinDeterminism
                | Invariant::NoAcknowledgedLoss
                | Invariant::ReadYourWrites,
            ) => "safety",
            Self::Unsteady(_) => "determinism",
        }
    }
}

/// The name of an invariant, as in scenario files.
pub fn invariant_name(invariant: Invariant) -> String {
    format!("{invariant:?}")
}

/// The name of a failure: the same scenario, cause and plan have the same one on every machine.
pub fn id(scenario: &str, cause: &str, plan: &Plan) -> String {
    let faults = serde_json::to_string(&plan.faults).unwrap_or_default();
    let workload = serde_json::to_string(&plan.workload).unwrap_or_default();
    let schedule = serde_json::to_string(&plan.schedule).unwrap_or_default();
    let parts = [scenario, cause, &faults, &workload, &schedule];
    // Plans without delays keep the names that they had before there were delays.
    let hash = text_digest(&parts[..parts.len() - usize::from(plan.schedule.is_empty())]);
    format!("{:08x}", hash >> 32)
}

/// What a scenario is, in 64 bits.
pub fn scenario_digest(scenario: &Scenario) -> u64 {
    text_digest(&[&scenario::write(scenario, "")])
}

fn text_digest(texts: &[&str]) -> u64 {
    let mut numbers = Vec::new();
    for text in texts {
        numbers.push(text.len() as u64);
        numbers.extend(text.as_bytes().chunks(8).map(|chunk| {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(bytes)
        }));
    }
    digest(&numbers)
}

/// A name that can be that of a file.
pub fn file_stem(scenario: &str) -> String {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    scenario.chars().map(|c| if allowed(c) { c } else { '-' }).collect()
}

/// The file that keeps a failure: the complete scenario with the plan in it, which runs by itself.
/// `file` is the name it will have.
pub fn failure_file(scenario: &Scenario, failure: &Failure, broke: Invariant, file: &str) -> String {
    let fingerprint = format!("{:016x}", failure.outcome.fingerprint);
    let mut kept = scenario.clone();
    kept.faults = Faults::Plan(failure.plan.faults.clone());
    kept.workload = Some(failure.plan.workload.clone());
    kept.schedule = failure.plan.schedule.clone();
    kept.expect = Expect::Violation(broke);
    kept.found = Some(Found { engine: ENGINE, seed: failure.schedule, fingerprint, broke });
    let mut header = format!(
        "A failure of the scenario {}: {broke:?} broke at seed {}.\n",
        failure.scenario, failure.seed
    );
    header += &cause::told(failure);
    let _ = write!(
        header,
        "\nRun it again:  millpond replay {file}\n\
         Keep it:       copy this file into a folder `known`; campaigns run it first.\n\
         Edit it:       any record or fault may be deleted (then delete `found`, too).\n\
         Once it is fixed, set `expect: Pass`.\n",
    );
    scenario::write(&kept, &header)
}
