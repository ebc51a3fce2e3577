//! Partition order: inside a partition, everyone sees the same records in the same order.
//!
//! The anomalies, by the names of Jepsen's Kafka workload:
//!
//! - *inconsistent-offsets*: an offset held one record when a member polled it, and another one, or
//!   none, at the end;
//! - *poll-skip* and *nonmonotonic-poll*: a member read on from another offset than the one after
//!   its last record, though nothing had assigned it a new position;
//! - *nonmonotonic-send*: records of one sender lie in the log in another order than they were sent
//!   in, though the sender had but one request in flight. Repeated records do not count: only the
//!   first place of each.
//!
//! Nothing is said of the order across partitions.

use std::collections::BTreeMap;

use millpond_sim::NodeId;

use crate::evidence::{Evidence, Judge};
use crate::note::Note;
use crate::outcome::{Verdict, Violation, Witness};
use crate::record::{Batch, Kind, Offset, PartitionId, Position, Record, RecordId};
use crate::scenario::schema::Invariant;
use crate::words::{subject_of_place, subject_of_record};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut judge = Judge::new(Invariant::PartitionOrder);
    let mut next: BTreeMap<(NodeId, PartitionId), Offset> = BTreeMap::new();
    for noted in evidence.history {
        let witness = |what: String| Witness {
            time: noted.time,
            node: evidence.node(noted.node).to_owned(),
            event: noted.event,
            what,
        };
        match &noted.note {
            Note::Assigned(_, _, positions) => {
                for position in positions.iter() {
                    next.insert((noted.node, position.partition), position.offset);
                }
            }
            Note::Polled(_, asked, batches) => {
                let place = (noted.node, asked.partition);
                if let Some(expected) = next.get(&place).filter(|expected| **expected != asked.offset) {
                    let verb = if asked.offset > *expected { "skipped" } else { "went back" };
                    judge.violated(|| {
                        let node = evidence.node(noted.node);
                        let at = evidence.place(*asked);
                        let sentence = format!("{node} {verb}: it polled {at} where {expected} was next.");
                        let skipped = Position { offset: *expected, ..*asked };
                        let about = [evidence.about(*asked), evidence.about(skipped)].concat();
                        Violation::new(sentence, vec![witness(format!("polls {at}"))]).about(about)
                    });
                }
                let end = batches.last().map_or(asked.offset, Batch::end);
                next.insert(place, end.max(asked.offset));
                check_offsets(evidence, *asked, batches, &witness, &mut judge);
            }
            _ => {}
        }
    }
    check_senders(evidence, &mut judge);
    judge.verdict()
}

/// What was polled is what the log holds in the end.
fn check_offsets(
    evidence: &Evidence<'_>,
    asked: Position,
    batches: &[Batch],
    witness: &impl Fn(String) -> Witness,
    judge: &mut Judge,
) {
    let Some(log) = evidence.log(asked.partition) else { return };
    for (offset, record) in batches.iter().flat_map(Batch::iter) {
        judge.compared(1);
        let found = log.get(offset.0 as usize);
        // What was appended after the final read began cannot be judged.
        if found.is_some_and(|found| found.id == record.id) || found.is_none() && !evidence.settled {
            continue;
        }
        judge.violated(|| {
            let at = evidence.place(Position { offset, ..asked });
            let had = told(evidence, record);
            let has = found.map_or("nothing".to_owned(), |found| told(evidence, found));
            let sentence = format!("{at} held {had} when it was polled, and {has} at the end.");
            let about = vec![subject_of_record(record.id), subject_of_place(Position { offset, ..asked })];
            Violation::new(sentence, vec![witness(format!("polls {had} at {at}"))]).about(about)
        });
    }
}

/// The records of each sender lie in the log in the order in which they were sent.
fn check_senders(evidence: &Evidence<'_>, judge: &mut Judge) {
    let producers = evidence.catalog.producers.iter().zip(&evidence.scenario.producers);
    let in_order: Vec<NodeId> = producers
        .filter(|(_, (_, producer))| producer.in_flight == 1)
        .flat_map(|(info, _)| info.nodes.iter().copied())
        .collect();
    for (log, partition) in evidence.logs.iter().zip(0..) {
        let mut seen: BTreeMap<NodeId, (RecordId, Vec<RecordId>)> = BTreeMap::new();
        for (record, offset) in log.iter().flat_map(|log| log.iter()).zip(0..) {
            let sender = record.id.sender;
            if record.kind != Kind::Data || !in_order.contains(&sender) {
                continue;
            }
            judge.compared(1);
            let (latest, known) = seen.entry(sender).or_insert((record.id, Vec::new()));
            if record.id >= *latest {
                *latest = record.id;
                // In order: the list of what is known stays sorted by itself.
                if known.last() != Some(&record.id) {
                    known.push(record.id);
                }
            } else if known.binary_search(&record.id).is_err() {
                judge.violated(|| {
                    let at = evidence
                        .place(Position { partition: PartitionId(partition), offset: Offset(offset) });
                    let sentence =
                        format!("{} lies at {at}, behind records sent after it.", told(evidence, record));
                    let read = evidence.witnesses(|note| match note {
                        Note::LogRead(read, _) if read.0 == partition => {
                            Some(format!("reads all of {}", evidence.catalog.partition_name(*read)))
                        }
                        _ => None,
                    });
                    let (late, early) = (subject_of_record(record.id), subject_of_record(*latest));
                    Violation::new(sentence, read).about(vec![late, early])
                });
            }
        }
    }
}

fn told(evidence: &Evidence<'_>, record: &Record) -> String {
    let RecordId { sender, life, number } = record.id;
    let life = if life == 0 { String::new() } else { format!(" of life {life}") };
    format!("record {number}{life} of {} ({} = {})", evidence.node(sender), record.key, record.value)
}
