//! No acknowledged loss: a record that a producer was told is stored can be read at the end.
//!
//! Jepsen's *lost-write* and *unseen*, judged by a final read of the whole log. A record whose send
//! was never answered may be there or not.

use std::collections::BTreeSet;

use crate::evidence::{Evidence, Judge};
use crate::note::Note;
use crate::outcome::{Verdict, Violation, Witness};
use crate::record::{Kind, Offset, Position, RecordId};
use crate::scenario::schema::Invariant;
use crate::words::{subject_of_partition, subject_of_record};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut judge = Judge::new(Invariant::NoAcknowledgedLoss);
    // All identities of a log, made only where a record is not at the offset it was given.
    let mut identities: Vec<Option<BTreeSet<RecordId>>> = vec![None; evidence.logs.len()];
    for noted in evidence.history {
        let Note::Acknowledged(base, records) = &noted.note else { continue };
        let Some(log) = evidence.log(base.partition) else { continue };
        for (record, offset) in records.iter().zip(base.offset.0..) {
            if record.kind != Kind::Data {
                continue;
            }
            judge.compared(1);
            if log.get(offset as usize).is_some_and(|found| found.id == record.id) {
                continue;
            }
            let known = identities[base.partition.index()]
                .get_or_insert_with(|| log.iter().map(|record| record.id).collect());
            if known.contains(&record.id) {
                continue;
            }
            judge.violated(|| {
                let at = evidence.place(Position { offset: Offset(offset), ..*base });
                let node = evidence.node(noted.node);
                let number = record.id.number;
                let sentence = format!(
                    "Record {number} of {node} ({} = {}) was acknowledged at {at} and is gone.",
                    record.key, record.value
                );
                let what = format!("was told that record {number} is stored at {at}");
                let node = node.to_owned();
                let told = Witness { time: noted.time, node, event: noted.event, what };
                let mut witnesses = vec![told];
                witnesses.extend(evidence.witnesses(|note| match note {
                    Note::LogRead(partition, records) if *partition == base.partition => {
                        let name = evidence.catalog.partition_name(*partition);
                        Some(format!("reads all of {name}: {} records, not this one", records.len()))
                    }
                    _ => None,
                }));
                Violation::new(sentence, witnesses)
                    .about(vec![subject_of_record(record.id), subject_of_partition(base.partition)])
            });
        }
    }
    judge.verdict()
}
