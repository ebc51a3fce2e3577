//! What the invariants judge by: the history of a finished run and its final reads.

use std::rc::Rc;

use millpond_sim::{Ending, NodeId, Noted, Record as SimRecord};

use crate::catalog::{Catalog, GroupInfo};
use crate::note::Note;
use crate::outcome::{Verdict, Violation, Witness};
use crate::record::{GroupId, Key, Offset, PartitionId, Position, Record};
use crate::scenario::schema::{Invariant, Scenario};
use crate::sink::Dump;
use crate::words::{subject_of_key, subject_of_partition, subject_of_place, subject_of_record};

/// The most violations of one invariant that are kept with their witnesses.
const KEPT: usize = 5;

/// How many records of a key in each log a story follows.
const FOLLOWED: usize = 20;

/// A finished run, as clients have seen it.
pub struct Evidence<'a> {
    /// What was built.
    pub scenario: &'a Scenario,
    /// Who is who.
    pub catalog: &'a Catalog,
    /// The history in order.
    pub history: &'a [Noted<Note>],
    /// Why the run ended.
    pub ending: &'a Ending,
    /// The nodes that were down at the end.
    pub down: &'a [NodeId],
    /// The final content of each partition, none where it could not be read.
    pub logs: Vec<Option<Rc<[Record]>>>,
    /// The final content of each sink, none where it could not be read.
    pub sinks: Vec<Option<Rc<Dump>>>,
    /// Whether everything was caught up with after the faults.
    pub settled: bool,
}

impl<'a> Evidence<'a> {
    /// The evidence of a finished run.
    pub fn new(scenario: &'a Scenario, catalog: &'a Catalog, record: &'a SimRecord<Note>) -> Self {
        let mut logs = vec![None; catalog.partitions.len()];
        let mut sinks = vec![None; catalog.sinks.len()];
        let mut settled = false;
        for noted in &record.history {
            match &noted.note {
                Note::LogRead(partition, records) => logs[partition.index()] = Some(records.clone()),
                Note::SinkRead(sink, dump) => sinks[usize::from(*sink)] = Some(dump.clone()),
                Note::Settled => settled = true,
                _ => {}
            }
        }
        let (history, ending, down) = (&record.history[..], &record.ending, &record.down[..]);
        Self { scenario, catalog, history, ending, down, logs, sinks, settled }
    }

    /// The final content of a partition.
    pub fn log(&self, partition: PartitionId) -> Option<&[Record]> {
        self.logs[partition.index()].as_deref()
    }

    /// The groups with their numbers.
    pub fn groups(&self) -> impl Iterator<Item = (GroupId, &'a GroupInfo)> {
        self.catalog.groups.iter().zip(0..).map(|(info, number)| (GroupId(number), info))
    }

    /// A position as people write it: `orders/1 offset 31`.
    pub fn place(&self, at: Position) -> String {
        format!("{} offset {}", self.catalog.partition_name(at.partition), at.offset)
    }

    /// A node's name.
    pub fn node(&self, node: NodeId) -> &str {
        &self.catalog.names[usize::from(node.number())]
    }

    /// What the record at a position goes by in traces: its place, its own identity, its partition.
    pub fn about(&self, at: Position) -> Vec<u64> {
        let record = self.log(at.partition).and_then(|log| log.get(at.offset.0 as usize));
        let identity = record.map(|record| subject_of_record(record.id));
        identity.into_iter().chain([subject_of_place(at), subject_of_partition(at.partition)]).collect()
    }

    /// What the records of a key go by in traces, the first few of them.
    pub fn about_key(&self, key: Key) -> Vec<u64> {
        let mut about = vec![subject_of_key(key)];
        for (log, partition) in self.logs.iter().zip(0..) {
            let records = log.iter().flat_map(|log| log.iter()).zip(0..);
            let of_key = records.filter(|(record, _)| record.key.origin() == key.origin());
            for (_, offset) in of_key.take(FOLLOWED) {
                about.extend(
                    self.about(Position { partition: PartitionId(partition), offset: Offset(offset) }),
                );
            }
        }
        about
    }

    /// The observations that match, as witnesses, in order.
    pub fn witnesses(&self, mut tell: impl FnMut(&Note) -> Option<String>) -> Vec<Witness> {
        let witness = |noted: &Noted<Note>| {
            let what = tell(&noted.note)?;
            let node = self.node(noted.node).to_owned();
            Some(Witness { time: noted.time, node, event: noted.event, what })
        };
        self.history.iter().filter_map(witness).collect()
    }
}

/// A verdict in the making.
pub struct Judge {
    verdict: Verdict,
}

impl Judge {
    /// Nothing has been compared yet.
    pub fn new(invariant: Invariant) -> Self {
        Self { verdict: Verdict { invariant, comparisons: 0, violations: Vec::new(), count: 0 } }
    }

    /// Counts non-trivial comparisons.
    pub fn compared(&mut self, comparisons: usize) {
        self.verdict.comparisons += comparisons as u64;
    }

    /// Counts a violation, and keeps it with its witnesses if it is among the first.
    pub fn violated(&mut self, violation: impl FnOnce() -> Violation) {
        self.verdict.count += 1;
        if self.verdict.violations.len() < KEPT {
            self.verdict.violations.push(violation());
        }
    }

    /// The verdict.
    pub fn verdict(self) -> Verdict {
        self.verdict
    }
}

impl Violation {
    /// A violation that needs no diff.
    pub fn new(sentence: String, witnesses: Vec<Witness>) -> Self {
        Self { sentence, witnesses, diff: None, about: Vec::new() }
    }

    /// The same, about these things.
    #[must_use]
    pub fn about(self, about: Vec<u64>) -> Self {
        Self { about, ..self }
    }
}
