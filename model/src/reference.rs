//! The reference: what a processor's output ought to be, computed in plain batch code from the
//! records that are in its input logs at the end.
//!
//! It is written apart from the operators on purpose and shares no code with them: whole logs are
//! turned into whole lists, step by step. A random route has no single right answer; the reference
//! leaves the key as it was, and the comparison then looks at keys before any route.

use std::collections::BTreeMap;

use crate::catalog::GroupInfo;
use crate::evidence::Evidence;
use crate::record::{Key, Kind, Offset, Position, Record};
use crate::scenario::schema::{RouteBy, Step, Version};

/// One expected output: its key, its value, and the input record that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expected {
    /// The input record.
    pub from: Position,
    /// The key.
    pub key: Key,
    /// The value.
    pub value: i64,
}

/// Whether the reference leaves routes out, since they are drawn.
pub fn ignores_routes(steps: &[Step]) -> bool {
    steps.iter().any(|step| matches!(step, Step::Route { by: RouteBy::Draw, .. }))
}

/// The expected output of a group, by partition number, then input, then offset; none where an
/// input could not be read.
pub fn outputs(evidence: &Evidence<'_>, group: &GroupInfo, steps: &[Step]) -> Option<Vec<Expected>> {
    let mut expected = Vec::new();
    let partitions = group.inputs.first().map_or(0, |topic| evidence.catalog.topics[*topic].partitions.len());
    for number in 0..partitions {
        let mut rows: Vec<Expected> = Vec::new();
        let mut versions: BTreeMap<Key, Vec<(i64, i64)>> = BTreeMap::new();
        for (input, topic) in group.inputs.iter().enumerate() {
            let partition = evidence.catalog.topics[*topic].partitions[number];
            let log = evidence.log(partition)?;
            if group.table == Some(input) {
                versions = table(log);
            } else {
                let data = log.iter().zip(0..).filter(|(record, _)| record.kind == Kind::Data);
                rows.extend(data.map(|(record, offset)| Expected {
                    from: Position { partition, offset: Offset(offset) },
                    key: record.key,
                    value: record.value,
                }));
            }
        }
        let record_of =
            |row: &Expected| evidence.log(row.from.partition).map(|log| log[row.from.offset.0 as usize]);
        for step in steps {
            rows = after(step, rows, &versions, record_of);
        }
        expected.extend(rows);
    }
    Some(expected)
}

/// All versions of each row, by the time from which they hold.
fn table(log: &[Record]) -> BTreeMap<Key, Vec<(i64, i64)>> {
    let mut versions: BTreeMap<Key, Vec<(i64, i64)>> = BTreeMap::new();
    for record in log.iter().filter(|record| record.kind == Kind::Data) {
        versions.entry(record.key).or_default().push((record.time, record.value));
    }
    versions.values_mut().for_each(|list| list.sort_by_key(|(from, _)| *from));
    versions
}

/// The rows after a step.
fn after(
    step: &Step,
    rows: Vec<Expected>,
    versions: &BTreeMap<Key, Vec<(i64, i64)>>,
    record_of: impl Fn(&Expected) -> Option<Record>,
) -> Vec<Expected> {
    match step {
        Step::Map { times, plus } => rows
            .into_iter()
            .map(|row| Expected { value: row.value.wrapping_mul(*times).wrapping_add(*plus), ..row })
            .collect(),
        Step::Filter { at_least, at_most } => rows
            .into_iter()
            .filter(|row| at_least.is_none_or(|least| least <= row.value))
            .filter(|row| at_most.is_none_or(|most| row.value <= most))
            .collect(),
        Step::Route { by: RouteBy::Draw, .. } => rows,
        Step::Route { ways, by: RouteBy::Record } => {
            let way = |row: &Expected| {
                let identity = record_of(row).map_or(0, |record| record.id.bits());
                millpond_sim::digest(&[identity]) % u64::from(*ways) + 1
            };
            rows.into_iter().map(|row| Expected { key: row.key.routed(way(&row) as u8), ..row }).collect()
        }
        Step::Count | Step::Sum => {
            let mut totals: BTreeMap<Key, i64> = BTreeMap::new();
            let counts = *step == Step::Count;
            rows.into_iter()
                .map(|row| {
                    let total = totals.entry(row.key).or_default();
                    *total = total.wrapping_add(if counts { 1 } else { row.value });
                    Expected { value: *total, ..row }
                })
                .collect()
        }
        Step::Join { with: Version::Versioned, .. } => rows
            .into_iter()
            .filter_map(|row| {
                let time = record_of(&row)?.time;
                let valid = versions.get(&row.key)?.iter().rev().find(|(from, _)| *from <= time)?;
                Some(Expected { value: row.value.wrapping_mul(valid.1), ..row })
            })
            .collect(),
        // There is no single right answer; scenarios that ask for one are refused.
        Step::Join { with: Version::Latest, .. } => Vec::new(),
    }
}
