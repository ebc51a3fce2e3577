//! What a processor does with records: its steps over its state, free of delivery.
//!
//! The same code runs live, on replay, and when an invariant tries other interleavings.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use millpond_sim::digest;

use crate::bugs::{Bug, Bugs};
use crate::record::{Key, Kind, Position, Record};
use crate::scenario::schema::{RouteBy, Step, Version};
use crate::sink::Output;

/// Values by key, as a table over the indexes of the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Table(Vec<Option<i64>>);

impl Table {
    fn get(&self, key: Key) -> Option<i64> {
        self.0.get(key.index()).copied().flatten()
    }

    fn set(&mut self, key: Key, value: i64) {
        let index = key.index();
        if index >= self.0.len() {
            self.0.resize(index + 1, None);
        }
        self.0[index] = Some(value);
    }
}

/// The state of one task: of the partitions with one number of all inputs.
#[derive(Clone, Debug, Default)]
pub struct TaskState {
    /// Of `Count` or `Sum`.
    totals: Table,
    /// Of a join with the latest rows.
    rows: Table,
    /// Of a join with versioned rows: for each key, from when which value holds.
    versions: BTreeMap<Key, Vec<(i64, i64)>>,
    /// Event time up to which all rows have come, none before the first watermark.
    watermark: Option<i64>,
    /// Records that wait for the watermark, in the order of their offsets.
    waiting: VecDeque<(Position, Record)>,
}

impl TaskState {
    /// Event time up to which all rows have come.
    pub(super) fn watermark(&self) -> Option<i64> {
        self.watermark
    }

    /// Takes over the watermark of another task, as a bug has it.
    pub(super) fn raise_watermark(&mut self, to: Option<i64>) {
        self.watermark = self.watermark.max(to);
    }

    /// Loses the records that wait, as a bug has it.
    pub(super) fn drop_waiting(&mut self) {
        self.waiting.clear();
    }
}

/// The number that decides the way of a record.
pub trait Draw {
    /// A number below `bound`.
    fn below(&mut self, bound: u64) -> u64;
}

/// The steps of a processor, with the input that is the table of its join.
#[derive(Clone, Debug)]
pub struct Operator {
    steps: Arc<[Step]>,
    table: Option<usize>,
    versioned: bool,
    stateful: bool,
    bugs: Bugs,
}

/// What processing a record led to, for the probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// A record had to wait for the watermark.
    pub waited: bool,
    /// A record found no row.
    pub unmatched: bool,
}

impl Operator {
    /// An operator of these steps; `table` says which input is the table of the join, if any.
    pub fn new(steps: &[Step], table: Option<usize>) -> Self {
        let versioned = steps.iter().any(|step| matches!(step, Step::Join { with: Version::Versioned, .. }));
        let stateful = steps.iter().any(|step| matches!(step, Step::Join { .. } | Step::Count | Step::Sum));
        Self { steps: steps.into(), table, versioned, stateful, bugs: Bugs::default() }
    }

    /// The operator with these mistakes.
    pub fn with(self, bugs: Bugs) -> Self {
        Self { bugs, ..self }
    }

    /// Whether it has state to be kept over a restart.
    pub fn is_stateful(&self) -> bool {
        self.stateful
    }

    /// Which input is the table of its join.
    pub fn table(&self) -> Option<usize> {
        self.table
    }

    /// Processes one record of an input.
    pub fn apply(
        &self,
        state: &mut TaskState,
        input: usize,
        at: Position,
        record: &Record,
        draw: &mut dyn Draw,
        out: &mut Vec<Output>,
    ) -> Met {
        let mut met = Met::default();
        if self.table == Some(input) {
            self.learn(state, record);
            while let Some((at, record)) = state.waiting.pop_front() {
                if !ready(state.watermark, &record) {
                    state.waiting.push_front((at, record));
                    break;
                }
                self.run(state, at, &record, draw, out, &mut met);
            }
        } else if record.kind == Kind::Data {
            // In the order of offsets: a record also waits for those before it.
            let early = self.versioned && (!state.waiting.is_empty() || !ready(state.watermark, record));
            if early && !self.bugs.has(Bug::JoinDoesNotWait) {
                state.waiting.push_back((at, *record));
                met.waited = true;
            } else {
                self.run(state, at, record, draw, out, &mut met);
            }
        }
        met
    }

    /// Takes in a row of the table, or its watermark.
    fn learn(&self, state: &mut TaskState, record: &Record) {
        match (record.kind, self.versioned) {
            (Kind::Data, true) => {
                let versions = state.versions.entry(record.key).or_default();
                let mut time = record.time;
                if self.bugs.has(Bug::RowsByArrival) {
                    time = versions.last().map_or(time, |(from, _)| time.max(*from));
                }
                let place = versions.partition_point(|(from, _)| *from <= time);
                versions.insert(place, (time, record.value));
            }
            (Kind::Data, false) => state.rows.set(record.key, record.value),
            (Kind::Watermark, _) => state.watermark = state.watermark.max(Some(record.time)),
        }
    }

    fn run(
        &self,
        state: &mut TaskState,
        at: Position,
        record: &Record,
        draw: &mut dyn Draw,
        out: &mut Vec<Output>,
        met: &mut Met,
    ) {
        let (mut key, mut value) = (record.key, record.value);
        for step in self.steps.iter() {
            match step {
                Step::Map { times, plus } => value = value.wrapping_mul(*times).wrapping_add(*plus),
                Step::Filter { at_least, at_most } => {
                    let low = at_least.is_some_and(|least| value < least);
                    if low || at_most.is_some_and(|most| value > most) {
                        return;
                    }
                }
                Step::Route { ways, by } => {
                    let bound = u64::from(*ways);
                    let way = match by {
                        RouteBy::Record => digest(&[record.id.bits()]) % bound,
                        RouteBy::Draw => draw.below(bound),
                    };
                    key = key.routed(way as u8 + 1);
                }
                Step::Count => {
                    value = state.totals.get(key).unwrap_or(0) + 1;
                    state.totals.set(key, value);
                }
                Step::Sum => {
                    value = state.totals.get(key).unwrap_or(0).wrapping_add(value);
                    state.totals.set(key, value);
                }
                Step::Join { with, .. } => {
                    let row = match with {
                        Version::Latest => state.rows.get(key),
                        Version::Versioned => state.versions.get(&key).and_then(|versions| {
                            let valid = versions.partition_point(|(from, _)| *from <= record.time);
                            valid.checked_sub(1).map(|last| versions[last].1)
                        }),
                    };
                    let Some(row) = row else {
                        met.unmatched = true;
                        return;
                    };
                    value = value.wrapping_mul(row);
                }
            }
        }
        out.push(Output { key, value, from: at });
    }
}

/// Whether all rows that a record may need have come.
fn ready(watermark: Option<i64>, record: &Record) -> bool {
    watermark.is_some_and(|watermark| watermark >= record.time)
}
