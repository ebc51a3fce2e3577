//! The invariants: one file each, one function from the evidence of a run to a verdict.

mod exactly_once_output;
mod join_determinism;
mod liveness;
mod no_acknowledged_loss;
mod offset_idempotency;
mod partition_order;
mod read_your_writes;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod verdict_tests;

use millpond_sim::{Ending, Limit};

use crate::evidence::{Evidence, Judge};
use crate::outcome::{Verdict, Violation, Witness};
use crate::scenario::schema::{Check, Invariant};

/// Judges a run by every invariant of its scenario. A run that an actor's panic or its budget has
/// ended is judged by that alone: its history is not complete.
pub fn judge(evidence: &Evidence<'_>, seed: u64) -> Vec<Verdict> {
    let mut verdicts = vec![no_panic(evidence), bounds(evidence)];
    if verdicts.iter().any(|verdict| verdict.count > 0) {
        return verdicts;
    }
    verdicts.extend(evidence.scenario.check.iter().map(|check| match check {
        Check::ExactlyOnceOutput => exactly_once_output::check(evidence),
        Check::OffsetIdempotency => offset_idempotency::check(evidence),
        Check::PartitionOrder => partition_order::check(evidence),
        Check::JoinDeterminism => join_determinism::check(evidence, seed),
        Check::NoAcknowledgedLoss => no_acknowledged_loss::check(evidence),
        Check::ReadYourWrites => read_your_writes::check(evidence),
        Check::Liveness { within } => liveness::check(evidence, *within),
    }));
    verdicts
}

fn no_panic(evidence: &Evidence<'_>) -> Verdict {
    let mut judge = Judge::new(Invariant::NoPanic);
    judge.compared(1);
    if let Ending::Panicked { node, event, message } = evidence.ending {
        judge.violated(|| {
            let node = evidence.node(*node).to_owned();
            let time = evidence.history.last().map_or(millpond_sim::time::Instant::ZERO, |noted| noted.time);
            let sentence = format!("The actor of {node} panicked in event {event}: {message}");
            let what = format!("panicked: {message}");
            Violation::new(sentence, vec![Witness { time, node, event: *event, what }])
        });
    }
    judge.verdict()
}

fn bounds(evidence: &Evidence<'_>) -> Verdict {
    let mut judge = Judge::new(Invariant::Bounds);
    judge.compared(1);
    if let Ending::Exceeded(limit) = evidence.ending {
        let budget = &evidence.scenario.budget;
        let sentence = match limit {
            Limit::Events => format!("The run took more than its {} events: a livelock.", budget.events),
            Limit::QueuedBytes => {
                format!(
                    "More than {} bytes of messages were on their way: a runaway queue.",
                    budget.queued_bytes
                )
            }
        };
        judge.violated(|| Violation::new(sentence, Vec::new()));
    }
    judge.verdict()
}
