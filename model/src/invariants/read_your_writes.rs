//! Read your writes: a producer that looks for its record in a derived view finds its effect.
//!
//! The view names the input position that wrote the row last. A view that has not come as far as the
//! record's own offset does not show the write: the acknowledgement meant "stored", not "processed".

use crate::evidence::{Evidence, Judge};
use crate::note::Note;
use crate::outcome::{Verdict, Violation, Witness};
use crate::scenario::schema::Invariant;

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut judge = Judge::new(Invariant::ReadYourWrites);
    for noted in evidence.history {
        let Note::ReadBack(key, at, seen) = &noted.note else { continue };
        judge.compared(1);
        if seen.is_some_and(|seen| seen.partition == at.partition && seen.offset >= at.offset) {
            continue;
        }
        judge.violated(|| {
            let node = evidence.node(noted.node).to_owned();
            let place = evidence.place(*at);
            let found = match seen {
                Some(seen) => format!("a row that was written from {}", evidence.place(*seen)),
                None => "no row".to_owned(),
            };
            let sentence =
                format!("{node} wrote {key} at {place}, was told that it is stored, and read {found}.");
            let acknowledged = evidence.witnesses(|note| match note {
                Note::Acknowledged(base, records)
                    if base.partition == at.partition
                        && (base.offset.0..base.offset.0 + records.len() as u64).contains(&at.offset.0) =>
                {
                    Some(format!("was told that {place} is stored"))
                }
                _ => None,
            });
            let read =
                Witness { time: noted.time, node, event: noted.event, what: format!("reads {key}: {found}") };
            Violation::new(sentence, acknowledged.into_iter().chain([read]).collect())
                .about(evidence.about(*at))
        });
    }
    judge.verdict()
}
