//! Liveness: after the last fault has healed, every node is up and the lag returns to zero in time.
//!
//! Asked for only after the heal. What was seen while waiting is the witness of a stall.

use millpond_sim::time::Span;

use crate::evidence::{Evidence, Judge};
use crate::note::Note;
use crate::outcome::{Verdict, Violation};
use crate::scenario::schema::Invariant;

pub(super) fn check(evidence: &Evidence<'_>, within: Span) -> Verdict {
    let mut judge = Judge::new(Invariant::Liveness);
    judge.compared(evidence.catalog.groups.len() + evidence.catalog.producers.len());
    let down: Vec<&str> = evidence.down.iter().map(|node| evidence.node(*node)).collect();
    if !down.is_empty() {
        judge.violated(|| {
            let sentence = format!("Still down {within} after the last fault healed: {}.", down.join(", "));
            Violation::new(sentence, Vec::new())
        });
    }
    if !evidence.settled {
        judge.violated(|| {
            let last = evidence.history.iter().rev().find_map(|noted| match &noted.note {
                Note::Lag(groups, backlog) => Some((groups.clone(), *backlog)),
                _ => None,
            });
            let behind = match last {
                None => "no client could see how far it is".to_owned(),
                Some((groups, backlog)) => {
                    let late = groups.iter().filter(|(_, lag)| *lag > 0);
                    let mut parts: Vec<String> = late
                        .map(|(group, lag)| {
                            format!("{} is {lag} records behind", evidence.catalog.group(*group).name)
                        })
                        .collect();
                    if backlog > 0 {
                        parts.push(format!("{backlog} sends or questions have no answer"));
                    }
                    if parts.is_empty() {
                        parts.push("it did not stand still for long enough".to_owned());
                    }
                    parts.join(", ")
                }
            };
            let sentence =
                format!("The pipeline did not catch up within {within} after the last fault: {behind}.");
            let witnesses = evidence.witnesses(|note| match note {
                Note::Lag(..) => Some(note.to_string()),
                _ => None,
            });
            Violation::new(sentence, witnesses)
        });
    }
    judge.verdict()
}
