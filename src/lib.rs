//! Millpond: deterministic simulation testing for stream systems.
//!
//! The command line runs scenario files; from a Rust test the same is a few lines:
//!
//! ```
//! use std::ops::ControlFlow;
//! use millpond::{Options, Outcome as _, Trial, campaign, read};
//!
//! let text = r#"Scenario(
//!     about: "A group that resumes where it was",
//!     topics: {"orders": (partitions: 2)},
//!     producers: {"shop": (topic: "orders", records: 20)},
//!     processors: {"copy": (from: ["orders"], to: "ledger")},
//!     sinks: {"ledger": (write: Upsert)},
//!     faults: Draw(crashes: 0..3),
//!     check: [PartitionOrder, NoAcknowledgedLoss],
//! )"#;
//! let trial = Trial::new("copy", read(text).expect("a scenario without mistakes"));
//! let options = Options { start: 0, count: 20, jobs: std::num::NonZeroUsize::MIN, stop: &|| false };
//! let totals = campaign::run(&trial, &options, |seed, outcome| {
//!     assert!(!outcome.failed(), "seed {seed}: {:?}", outcome.verdicts);
//!     ControlFlow::Continue(())
//! });
//! assert_eq!(totals.expect("a run that does not panic").runs, 20);
//! ```

pub mod exit;

use millpond_model::scenario::mistake::Mistake;

pub use millpond_model as model;
pub use millpond_model::outcome::{Outcome as TrialOutcome, Plan, Verdict, Violation, Witness};
pub use millpond_model::scenario::schema::{Expect, Invariant, Scenario};
pub use millpond_model::scenario::{read, write};
pub use millpond_model::trial::Trial;
pub use millpond_reports as reports;
pub use millpond_sim as sim;
pub use millpond_sim::search::campaign::{self, Options, Totals};
pub use millpond_sim::search::determinism::{Repeat, Twice};
pub use millpond_sim::search::{Experiment, Outcome, Tracing};

/// Runs a recorded failure again, or a scenario with listed faults and records: one run, with the seed
/// that its `found` names, else 0.
///
/// # Errors
/// All mistakes of the text, where it has any.
pub fn replay(name: &str, text: &str) -> Result<TrialOutcome, Vec<Mistake>> {
    let scenario = read(text)?;
    let seed = scenario.found.as_ref().map_or(0, |found| found.seed);
    let trial = Trial::new(name, scenario);
    Ok(trial.run(seed, &trial.draw(seed), Tracing::Off))
}
