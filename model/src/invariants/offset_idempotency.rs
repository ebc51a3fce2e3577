//! Offset idempotency: an input offset that is delivered again has no further effect on a sink.
//!
//! Judged by the sink's log of changes, which any client can read. Setting a key is idempotent,
//! adding to it is not; what is asked for each kind of write:
//!
//! - `Append`, `Increment`, `Guarded`: no input record has changed anything twice;
//! - `Upsert`: an older record is never the last to have set a key.

use std::collections::BTreeMap;

use crate::evidence::{Evidence, Judge};
use crate::note::Note;
use crate::outcome::{Verdict, Violation, Witness};
use crate::record::{Key, Position};
use crate::scenario::schema::{Invariant, Write};
use crate::sink::Change;

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut judge = Judge::new(Invariant::OffsetIdempotency);
    for ((name, sink), dump) in evidence.scenario.sinks.iter().zip(&evidence.sinks) {
        let Some(dump) = dump else { continue };
        judge.compared(dump.changes.len());
        match sink.write {
            Write::Append | Write::Increment | Write::Guarded => {
                once(evidence, name, &dump.changes, &mut judge)
            }
            Write::Upsert => newest_last(evidence, name, &dump.changes, &mut judge),
        }
    }
    judge.verdict()
}

/// No input record has changed anything twice.
fn once(evidence: &Evidence<'_>, sink: &str, changes: &[Change], judge: &mut Judge) {
    let mut seen: BTreeMap<Position, &Change> = BTreeMap::new();
    for change in changes {
        if let Some(first) = seen.get(&change.from) {
            judge.violated(|| {
                let sentence = format!(
                    "The record at {} took effect twice in {sink}: {} then {}.",
                    evidence.place(change.from),
                    told(first),
                    told(change),
                );
                Violation::new(sentence, witnesses(evidence, change.from, sink))
                    .about(evidence.about(change.from))
            });
        } else {
            seen.insert(change.from, change);
        }
    }
}

/// An older record is never the last to have set a key.
fn newest_last(evidence: &Evidence<'_>, sink: &str, changes: &[Change], judge: &mut Judge) {
    let mut keys: BTreeMap<Key, (&Change, &Change)> = BTreeMap::new();
    for change in changes {
        let (newest, last) = keys.entry(change.key).or_insert((change, change));
        *last = change;
        if change.from.partition == newest.from.partition && change.from.offset > newest.from.offset {
            *newest = change;
        }
    }
    for (key, (newest, last)) in keys {
        if last.from.partition == newest.from.partition && last.from.offset < newest.from.offset {
            judge.violated(|| {
                let sentence = format!(
                    "{key} in {sink} was set last from {}, though {} had set it before.",
                    evidence.place(last.from),
                    evidence.place(newest.from),
                );
                let about = [evidence.about(last.from), evidence.about(newest.from)].concat();
                Violation::new(sentence, witnesses(evidence, last.from, sink)).about(about)
            });
        }
    }
}

fn told(change: &Change) -> String {
    let Change { key, before, after, .. } = change;
    match before {
        Some(before) => format!("{key} from {before} to {after}"),
        None => format!("{key} to {after}"),
    }
}

fn witnesses(evidence: &Evidence<'_>, from: Position, sink: &str) -> Vec<Witness> {
    evidence.witnesses(|note| match note {
        Note::Polled(_, asked, batches) if asked.partition == from.partition => {
            let end = batches.last().map_or(asked.offset, crate::record::Batch::end);
            (asked.offset <= from.offset && from.offset < end)
                .then(|| format!("polls {}", evidence.place(from)))
        }
        Note::Written(batch) if batch.outputs.iter().any(|output| output.from == from) => {
            Some(format!("was told that its write for {} is applied", evidence.place(from)))
        }
        Note::SinkRead(..) => Some(format!("reads the log of changes of {sink}")),
        _ => None,
    })
}
