//! Exactly-once output: what a reader sees in the end is what a run without faults would have given.
//!
//! Records may be processed more than once on the way; only the visible result counts. It is
//! compared with the [`crate::reference`], computed from the final content of the input logs:
//!
//! - rows that were appended (a sink with `Append`, an output topic with `Delete`) one by one: none
//!   missing, none twice, none wrong;
//! - rows by key (all other sinks, an output topic with `Compact`) by their final value.
//!
//! It cannot see an effect that was undone before the end, and it says nothing of a pipeline that has
//! not caught up: that is `Liveness`, and only where that is not asked for, it is said here.

use std::collections::BTreeMap;

use crate::catalog::{GroupInfo, Target};
use crate::evidence::{Evidence, Judge};
use crate::note::Note;
use crate::outcome::{Verdict, Violation, Witness};
use crate::record::{Key, Kind, Position};
use crate::reference::{self, Expected};
use crate::scenario::schema::{Check, Cleanup, Invariant, Processor, Step, Write};
use crate::sink::{Output, Row};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut judge = Judge::new(Invariant::ExactlyOnceOutput);
    if !evidence.settled {
        let asked = evidence.scenario.check.iter().any(|check| matches!(check, Check::Liveness { .. }));
        if !asked {
            judge.violated(|| {
                Violation::new(
                    "The output was never completed: the pipeline did not catch up.".to_owned(),
                    Vec::new(),
                )
            });
        }
        return judge.verdict();
    }
    for ((_, group), (_, processor)) in evidence.groups().zip(&evidence.scenario.processors) {
        check_group(evidence, group, processor, &mut judge);
    }
    judge.verdict()
}

fn check_group(evidence: &Evidence<'_>, group: &GroupInfo, processor: &Processor, judge: &mut Judge) {
    let Some(mut expected) = reference::outputs(evidence, group, &processor.steps) else { return };
    let by_origin = reference::ignores_routes(&processor.steps);
    let key_of = move |key: Key| if by_origin { key.origin() } else { key };
    match group.target {
        Target::None => {}
        Target::Sink(sink) => {
            let Some(dump) = &evidence.sinks[sink] else { return };
            let name = &evidence.catalog.sinks[sink].name;
            let write = evidence.scenario.sinks.get(name).map_or(Write::Append, |sink| sink.write);
            let rows: Vec<Row> = dump.rows.iter().map(|row| Row { key: key_of(row.key), ..*row }).collect();
            let place = Place { evidence, name };
            match write {
                Write::Append => compare_rows(&place, &mut expected, rows, judge),
                Write::Upsert => {
                    let actual = rows.iter().map(|row| (row.key, row.value)).collect();
                    compare_values(&place, last_values(&expected, &processor.steps), &actual, judge);
                }
                Write::Increment | Write::Guarded => {
                    let sums = sum(expected.iter().map(|row| (row.key, row.value)));
                    compare_values(&place, sums, &sum(rows.iter().map(|row| (row.key, row.value))), judge);
                }
            }
        }
        Target::Topic(topic) => {
            let info = &evidence.catalog.topics[topic];
            let cleanup =
                evidence.scenario.topics.get(&info.name).map_or(Cleanup::Delete, |topic| topic.cleanup);
            let logs: Option<Vec<_>> =
                info.partitions.iter().map(|partition| evidence.log(*partition)).collect();
            let Some(logs) = logs else { return };
            let records = logs.into_iter().flatten().filter(|record| record.kind == Kind::Data);
            let records: Vec<(Key, i64)> = records.map(|record| (key_of(record.key), record.value)).collect();
            let place = Place { evidence, name: &info.name };
            match cleanup {
                Cleanup::Delete => compare_bags(&place, &expected, records, judge),
                Cleanup::Compact => {
                    // A key lives in one partition: the last record in log order is the last one.
                    let actual = records.into_iter().collect();
                    compare_values(&place, last_values(&expected, &processor.steps), &actual, judge);
                }
            }
        }
    }
}

/// The output that is looked at.
struct Place<'a> {
    evidence: &'a Evidence<'a>,
    name: &'a str,
}

/// How many of the last writes of a key are told where no single record is to blame.
const LAST_WRITES: usize = 5;

impl Place<'_> {
    /// The writes to a key, the last few where no record is named, and the final reading.
    fn witnesses(&self, key: Key, from: Option<Position>) -> Vec<Witness> {
        let concerns = |note: &Note| match note {
            Note::Written(batch) => {
                let mut rows = batch.outputs.iter().filter(|output| output.key.origin() == key.origin());
                let row = rows.rfind(|output| from.is_none_or(|from| output.from == from))?;
                let (place, generation) = (self.evidence.place(row.from), batch.generation.0);
                let Output { key, value, .. } = row;
                Some(format!(
                    "was told that {key} = {value}, from {place}, is applied (generation {generation})"
                ))
            }
            Note::SinkRead(..) => Some(format!("reads all of {}", self.name)),
            _ => None,
        };
        let mut witnesses = self.evidence.witnesses(concerns);
        if from.is_none() {
            let last = self.evidence.catalog.sinks.len() + LAST_WRITES;
            witnesses.drain(..witnesses.len().saturating_sub(last));
        }
        witnesses
    }

    fn violation(&self, sentence: String, key: Key, from: Option<Position>) -> Violation {
        let about = match from {
            Some(from) => self.evidence.about(from),
            None => self.evidence.about_key(key),
        };
        Violation::new(sentence, self.witnesses(key, from)).about(about)
    }
}

fn sum(rows: impl Iterator<Item = (Key, i64)>) -> BTreeMap<Key, i64> {
    let mut sums: BTreeMap<Key, i64> = BTreeMap::new();
    for (key, value) in rows {
        let sum = sums.entry(key).or_default();
        *sum = sum.wrapping_add(value);
    }
    sums
}

/// The last value of each key. Totals over several inputs end alike in whatever order they come.
fn last_values(expected: &[Expected], steps: &[Step]) -> BTreeMap<Key, i64> {
    debug_assert!(!reference::ignores_routes(steps), "a drawn route has no last value");
    expected.iter().map(|row| (row.key, row.value)).collect()
}

fn compare_values(
    place: &Place<'_>,
    expected: BTreeMap<Key, i64>,
    actual: &BTreeMap<Key, i64>,
    judge: &mut Judge,
) {
    judge.compared(expected.len());
    for (key, value) in &expected {
        match actual.get(key) {
            Some(found) if found == value => {}
            Some(found) => judge.violated(|| {
                let sentence = format!("{key} has {found} in {}; the reference has {value}.", place.name);
                place.violation(sentence, *key, None)
            }),
            None => judge.violated(|| {
                let sentence = format!("{key} is missing in {}; the reference has {value}.", place.name);
                place.violation(sentence, *key, None)
            }),
        }
    }
    for (key, found) in actual.iter().filter(|(key, _)| !expected.contains_key(key)) {
        judge.violated(|| {
            let sentence = format!("{key} has {found} in {}; the reference has no such key.", place.name);
            place.violation(sentence, *key, None)
        });
    }
}

/// Compares rows that name their input record.
fn compare_rows(place: &Place<'_>, expected: &mut [Expected], mut rows: Vec<Row>, judge: &mut Judge) {
    judge.compared(expected.len());
    expected.sort_unstable();
    rows.sort_by_key(|row| (row.from, row.key, row.value));
    let mut rows = rows.into_iter().peekable();
    for row in expected.iter() {
        let mut times = 0;
        while let Some(found) = rows.next_if(|found| found.from <= row.from) {
            let from = place.evidence.place(found.from);
            if found.from < row.from {
                judge.violated(|| {
                    let sentence = format!("{} has a row for {from}, which gives none.", place.name);
                    place.violation(sentence, found.key, Some(found.from))
                });
                continue;
            }
            times += 1;
            if (found.key, found.value) != (row.key, row.value) {
                judge.violated(|| {
                    let (key, value) = (row.key, row.value);
                    let sentence = format!(
                        "The record at {from} gave {} = {} in {}; the reference has {key} = {value}.",
                        found.key, found.value, place.name
                    );
                    place.violation(sentence, row.key, Some(row.from))
                });
            }
        }
        if times != 1 {
            judge.violated(|| {
                let from = place.evidence.place(row.from);
                let sentence = match times {
                    0 => format!("The record at {from} ({}) has no row in {}.", row.key, place.name),
                    _ => format!("The record at {from} ({}) has {times} rows in {}.", row.key, place.name),
                };
                place.violation(sentence, row.key, Some(row.from))
            });
        }
    }
    for found in rows {
        judge.violated(|| {
            let from = place.evidence.place(found.from);
            let sentence = format!("{} has a row for {from}, which gives none.", place.name);
            place.violation(sentence, found.key, Some(found.from))
        });
    }
}

/// Compares records that do not name their input record: as often as expected, each.
fn compare_bags(place: &Place<'_>, expected: &[Expected], records: Vec<(Key, i64)>, judge: &mut Judge) {
    judge.compared(expected.len());
    let mut counts: BTreeMap<(Key, i64), (u32, u32)> = BTreeMap::new();
    expected.iter().for_each(|row| counts.entry((row.key, row.value)).or_default().0 += 1);
    records.into_iter().for_each(|record| counts.entry(record).or_default().1 += 1);
    for ((key, value), (wanted, found)) in counts.into_iter().filter(|(_, (wanted, found))| wanted != found) {
        judge.violated(|| {
            let name = place.name;
            let sentence =
                format!("{key} = {value} is in {name} {found} times; the reference has it {wanted} times.");
            place.violation(sentence, key, None)
        });
    }
}
