//! What each invariant says of histories that were tampered with by hand: a run without faults is sound;
//! one thing in what clients saw is changed, and just that is told, in these words.

use std::rc::Rc;

use millpond_sim::Record as SimRecord;
use millpond_sim::search::{Experiment, Tracing};

use crate::note::Note;
use crate::outcome::{Verdict, Violation};
use crate::record::{Batch, Key, Kind, Offset, Position, Record};
use crate::scenario::read;
use crate::scenario::schema::Invariant;
use crate::sink::{Dump, Row};
use crate::trial::Trial;

/// A pipeline without faults, and what its clients saw.
struct Run {
    trial: Trial,
    record: SimRecord<Note>,
}

impl Run {
    fn of(text: &str) -> Self {
        let run = Self::unsound(text);
        assert!(run.verdicts().iter().all(|verdict| verdict.count == 0), "a run without faults is sound");
        run
    }

    /// One that is broken even without faults.
    fn unsound(text: &str) -> Self {
        let scenario = read(text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}\n{text}"));
        let trial = Trial::new("calm", scenario);
        let record = trial.simulate(1, &trial.draw(1), Tracing::Off);
        Self { trial, record }
    }

    /// One partition of orders into a sink or topic.
    fn pipeline(to: &str, steps: &str, check: &str) -> Self {
        let (sink, topic) = match to {
            "totals" => (String::new(), "\"totals\": (cleanup: CLEANUP),".to_owned()),
            write => (format!("sinks: {{\"ledger\": (write: {write})}},"), String::new()),
        };
        let to = if to == "totals" { "totals" } else { "ledger" };
        Self::of(
            &format!(
                r#"Scenario(
                about: "calm", topics: {{"orders": (), {topic}}},
                producers: {{"shop": (topic: "orders", records: 6, keys: Uniform(2))}},
                processors: {{"copy": (from: ["orders"], to: "{to}", steps: [{steps}], batch: 2)}},
                {sink} check: [{check}],
            )"#
            )
            .replace("CLEANUP", if steps.is_empty() { "Delete" } else { "Compact" }),
        )
    }

    fn verdicts(&self) -> Vec<Verdict> {
        self.trial.judge(1, &self.record)
    }

    fn notes(&mut self) -> impl Iterator<Item = &mut Note> {
        self.record.history.iter_mut().map(|noted| &mut noted.note)
    }

    fn in_sink(mut self, change: impl Fn(&mut Dump)) -> Self {
        for note in self.notes() {
            if let Note::SinkRead(_, dump) = note {
                let mut changed = (**dump).clone();
                change(&mut changed);
                *dump = Rc::new(changed);
            }
        }
        self
    }

    /// Changes the final content of a partition.
    fn in_log(mut self, name: &str, change: impl Fn(&mut Vec<Record>)) -> Self {
        let catalog = self.trial.catalog().clone();
        for note in self.notes() {
            if let Note::LogRead(partition, records) = note
                && catalog.partition_name(*partition) == name
            {
                let mut changed = records.to_vec();
                change(&mut changed);
                *records = changed.into();
            }
        }
        self
    }

    /// The only violation, which is of this invariant.
    fn only(&self, invariant: Invariant) -> Violation {
        let verdicts = self.verdicts();
        let broken: Vec<_> = verdicts.iter().filter(|verdict| verdict.count > 0).collect();
        let [verdict] = broken.as_slice() else { panic!("not one: {broken:#?}") };
        assert_eq!((verdict.invariant, verdict.count), (invariant, 1), "{:#?}", verdict.violations);
        verdict.violations[0].clone()
    }

    fn says(&self, invariant: Invariant, sentence: &str) -> Violation {
        let violation = self.only(invariant);
        assert!(violation.sentence.contains(sentence), "{sentence}: {}", violation.sentence);
        violation
    }
}

const EXACTLY: Invariant = Invariant::ExactlyOnceOutput;

fn whats(violation: &Violation) -> Vec<&str> {
    violation.witnesses.iter().map(|witness| witness.what.as_str()).collect()
}

#[test]
fn rows_one_by_one_none_missing_none_twice_none_wrong() {
    let run = || Run::pipeline("Append", "", "ExactlyOnceOutput");
    let missing = run()
        .in_sink(|dump| {
            dump.rows.remove(2);
        })
        .says(EXACTLY, "has no row in ledger");
    assert!(missing.sentence.contains("orders/0 offset 2"), "{}", missing.sentence);
    let seen = whats(&missing);
    assert_eq!(seen.len(), 2, "the write of that record and the final reading: {seen:?}");
    assert!(seen[0].contains("from orders/0 offset 2, is applied (generation 1)"), "{seen:?}");
    assert_eq!(seen[1], "reads all of ledger");

    let twice = run().in_sink(|dump| dump.rows.push(dump.rows[3]));
    twice.says(EXACTLY, "The record at orders/0 offset 3");
    twice.says(EXACTLY, "has 2 rows in ledger");
    let wrong = run().in_sink(|dump| dump.rows[1].value += 1);
    wrong.says(EXACTLY, "The record at orders/0 offset 1 gave ");
    let other_key = run().in_sink(|dump| dump.rows[1].key = Key::new(9));
    other_key.says(EXACTLY, "gave k9 = ");
    let at = |offset| {
        move |dump: &mut Dump| {
            let from = Position { offset: Offset(offset), ..dump.rows[0].from };
            dump.rows.push(Row { from, ..dump.rows[0] });
        }
    };
    let after = run().in_sink(at(77));
    after.says(EXACTLY, "ledger has a row for orders/0 offset 77, which gives none");
}

#[test]
fn a_row_of_a_record_that_was_filtered_out_is_one_too_many() {
    let run = Run::pipeline("Append", "Filter(at_least: 50)", "ExactlyOnceOutput");
    let dropped = (0..6).find(|offset| {
        let dump = run.record.history.iter().find_map(|noted| match &noted.note {
            Note::SinkRead(_, dump) => Some(dump.clone()),
            _ => None,
        });
        dump.is_some_and(|dump| dump.rows.iter().all(|row| row.from.offset != Offset(*offset)))
    });
    let offset = dropped.expect("some record is filtered out");
    let run = run.in_sink(|dump| {
        let from = Position { offset: Offset(offset), ..dump.rows[0].from };
        dump.rows.insert(0, Row { from, ..dump.rows[0] });
    });
    run.says(EXACTLY, &format!("ledger has a row for orders/0 offset {offset}, which gives none"));
}

#[test]
fn rows_by_key_have_the_last_value() {
    let run = || Run::pipeline("Upsert", "Sum", "ExactlyOnceOutput");
    let wrong = run().in_sink(|dump| dump.rows[0].value += 1).says(EXACTLY, " in ledger; the reference has ");
    let seen = whats(&wrong);
    assert!((2..=6).contains(&seen.len()), "{seen:?}");
    assert!(seen.iter().rev().skip(1).all(|what| what.contains("is applied")), "{seen:?}");
    run()
        .in_sink(|dump| {
            dump.rows.remove(0);
        })
        .says(EXACTLY, " is missing in ledger; the reference has ");
    let extra = run().in_sink(|dump| dump.rows.push(Row { key: Key::new(9), ..dump.rows[0] }));
    extra.says(EXACTLY, "k9 has ");
    extra.says(EXACTLY, "the reference has no such key");
}

#[test]
fn of_many_writes_to_a_key_the_last_few_are_told() {
    let run = Run::of(
        r#"Scenario(
            about: "one key", topics: {"orders": ()},
            producers: {"shop": (topic: "orders", records: 12, keys: Uniform(1))},
            processors: {"copy": (from: ["orders"], to: "ledger", steps: [Sum], batch: 1)},
            sinks: {"ledger": (write: Upsert)}, check: [ExactlyOnceOutput],
        )"#,
    );
    let wrong = run.in_sink(|dump| dump.rows[0].value += 1).only(EXACTLY);
    assert_eq!(wrong.witnesses.len(), 6, "five writes and the reading: {:?}", whats(&wrong));
    assert!(whats(&wrong)[4].contains("offset 11"), "{:?}", whats(&wrong));
}

#[test]
fn increments_have_the_sum() {
    for write in ["Increment", "Guarded"] {
        let run = || Run::pipeline(write, "", "ExactlyOnceOutput");
        run().in_sink(|dump| dump.rows[0].value -= 1).says(EXACTLY, " in ledger; the reference has ");
        run()
            .in_sink(|dump| {
                dump.rows.remove(0);
            })
            .says(EXACTLY, " is missing in ledger");
    }
}

#[test]
fn records_of_an_output_topic_come_as_often_as_expected() {
    let run = || Run::pipeline("totals", "", "ExactlyOnceOutput");
    run()
        .in_log("totals/0", |log| log.push(log[0]))
        .says(EXACTLY, " is in totals 2 times; the reference has it 1 times");
    run()
        .in_log("totals/0", |log| {
            log.remove(0);
        })
        .says(EXACTLY, " is in totals 0 times; the reference has it 1 times");
    let watermark = run().in_log("totals/0", |log| log.push(Record { kind: Kind::Watermark, ..log[0] }));
    assert!(watermark.verdicts().iter().all(|verdict| verdict.count == 0), "a watermark is no record");
}

#[test]
fn of_a_compacted_output_topic_the_last_record_of_each_key_counts() {
    let run = || Run::pipeline("totals", "Count", "ExactlyOnceOutput");
    let older = run().in_log("totals/0", |log| log.insert(0, Record { value: 99, ..log[0] }));
    assert!(older.verdicts().iter().all(|verdict| verdict.count == 0), "what came before does not count");
    run()
        .in_log("totals/0", |log| log.push(Record { value: 99, ..log[0] }))
        .says(EXACTLY, " has 99 in totals; the reference has ");
}

#[test]
fn an_effect_that_comes_twice_is_found_in_the_changes() {
    let idempotency = Invariant::OffsetIdempotency;
    for write in ["Append", "Increment", "Guarded"] {
        let run = Run::pipeline(write, "", "OffsetIdempotency");
        let twice = run.in_sink(|dump| dump.changes.push(dump.changes[2]));
        let violation =
            twice.says(idempotency, "The record at orders/0 offset 2 took effect twice in ledger: ");
        let seen = whats(&violation);
        assert!(seen.contains(&"polls orders/0 offset 2"), "{seen:?}");
        assert!(seen.contains(&"was told that its write for orders/0 offset 2 is applied"), "{seen:?}");
        assert!(seen.contains(&"reads the log of changes of ledger"), "{seen:?}");
        assert_eq!(seen.len(), 3, "{seen:?}");
    }
}

#[test]
fn an_upsert_may_come_twice_but_an_older_one_must_not_come_last() {
    let run = || Run::pipeline("Upsert", "", "OffsetIdempotency");
    let again = run().in_sink(|dump| dump.changes.push(dump.changes[dump.changes.len() - 1]));
    assert!(again.verdicts().iter().all(|verdict| verdict.count == 0));
    let older = run().in_sink(|dump| {
        let first = dump.changes[0];
        assert!(dump.changes.iter().filter(|change| change.key == first.key).count() > 1);
        dump.changes.push(first);
    });
    older.says(Invariant::OffsetIdempotency, "in ledger was set last from orders/0 offset 0, though ");
}

#[test]
fn what_was_acknowledged_is_in_the_log_somewhere() {
    let run = || Run::pipeline("Append", "", "NoAcknowledgedLoss");
    let gone = run().in_log("orders/0", |log| log[4] = log[5]);
    let violation = gone.says(Invariant::NoAcknowledgedLoss, "Record 4 of shop-0");
    let seen = whats(&violation);
    assert_eq!(
        seen,
        [
            "was told that record 4 is stored at orders/0 offset 4",
            "reads all of orders/0: 6 records, not this one"
        ]
    );
    let moved = run().in_log("orders/0", |log| log.swap(1, 3));
    assert!(moved.verdicts().iter().all(|verdict| verdict.count == 0), "elsewhere is another matter");
}

#[test]
fn what_was_polled_is_what_the_log_holds() {
    let order = Invariant::PartitionOrder;
    let run = || Run::pipeline("Append", "", "PartitionOrder");
    let other = run().in_log("orders/0", |log| log[5].id.number = 77);
    let violation = other.says(order, "orders/0 offset 5 held record 5 of shop-0");
    assert!(
        violation.sentence.contains("when it was polled, and record 77 of shop-0"),
        "{}",
        violation.sentence
    );
    run()
        .in_log("orders/0", |log| {
            log.pop();
        })
        .says(order, "and nothing at the end");
}

#[test]
fn a_member_reads_on_where_it_was() {
    let order = Invariant::PartitionOrder;
    let moved = |by: i64| {
        let mut run = Run::pipeline("Append", "", "PartitionOrder");
        let last = run.notes().filter_map(|note| match note {
            Note::Polled(_, asked, batches) => Some((asked, batches)),
            _ => None,
        });
        let (asked, batches) = last.last().expect("something was polled");
        asked.offset = Offset(asked.offset.0.wrapping_add_signed(by));
        *batches = Rc::new([]) as Rc<[Batch]>;
        run
    };
    moved(2).says(order, "copy-0 skipped: it polled orders/0 offset ");
    moved(-1).says(order, "copy-0 went back: it polled orders/0 offset ");
}

#[test]
fn records_of_a_sender_lie_in_the_order_in_which_they_were_sent() {
    let order = Invariant::PartitionOrder;
    let mut run = Run::pipeline("Append", "", "PartitionOrder");
    // Only the final reading counts here: nobody polled.
    run.record.history.retain(|noted| !matches!(noted.note, Note::Polled(..)));
    let swapped = run.in_log("orders/0", |log| log.swap(1, 2));
    let violation = swapped.says(order, "record 1 of shop-0");
    assert!(
        violation.sentence.contains("lies at orders/0 offset 2, behind records sent after it"),
        "{}",
        violation.sentence
    );
    let repeated = {
        let mut run = Run::pipeline("Append", "", "PartitionOrder");
        run.record.history.retain(|noted| !matches!(noted.note, Note::Polled(..)));
        run.in_log("orders/0", |log| log.push(log[2]))
    };
    assert!(repeated.verdicts().iter().all(|verdict| verdict.count == 0), "a repetition is another matter");
}

#[test]
fn a_view_that_lacks_the_write_is_told_with_what_it_showed() {
    let text = r#"Scenario(
        about: "calm", topics: {"orders": ()},
        producers: {"shop": (topic: "orders", records: 4, read_back: (sink: "view", when: Processed))},
        processors: {"copy": (from: ["orders"], to: "view")}, sinks: {"view": (write: Guarded)},
        check: [ReadYourWrites],
    )"#;
    let changed = |change: &dyn Fn(&mut Option<Position>)| {
        let mut run = Run::of(text);
        let read = run.notes().find_map(|note| match note {
            Note::ReadBack(_, at, seen) if at.offset == Offset(2) => Some(seen),
            _ => None,
        });
        change(read.expect("it is read back"));
        run
    };
    let ryw = Invariant::ReadYourWrites;
    let none = changed(&|seen| *seen = None)
        .says(ryw, "at orders/0 offset 2, was told that it is stored, and read no row");
    assert_eq!(whats(&none)[0], "was told that orders/0 offset 2 is stored");
    assert_eq!(none.witnesses.len(), 2);
    let older = changed(&|seen| seen.iter_mut().for_each(|seen| seen.offset = Offset(1)));
    older.says(ryw, "read a row that was written from orders/0 offset 1");
    let newer = changed(&|seen| seen.iter_mut().for_each(|seen| seen.offset = Offset(3)));
    assert!(newer.verdicts().iter().all(|verdict| verdict.count == 0), "a newer write is as good");
}

#[test]
fn a_pipeline_that_does_not_catch_up_says_who_is_behind() {
    let mut run = Run::pipeline("Append", "", "Liveness(within: \"20s\")");
    for note in run.notes() {
        if matches!(note, Note::Settled) {
            *note = Note::Lag(Rc::new([(crate::record::GroupId(0), 3)]), 2);
        }
    }
    let violation = run.says(Invariant::Liveness, "did not catch up within 20s after the last fault: ");
    assert!(
        violation.sentence.contains("copy is 3 records behind, 2 sends or questions have no answer"),
        "{}",
        violation.sentence
    );
    assert_eq!(whats(&violation).len(), 1);
}

#[test]
fn without_liveness_an_output_that_was_never_completed_is_told_by_exactly_once() {
    let unsettled = |check: &str| {
        let mut run = Run::pipeline("Append", "", check);
        run.record.history.retain(|noted| !matches!(noted.note, Note::Settled));
        run
    };
    unsettled("ExactlyOnceOutput").says(EXACTLY, "The output was never completed");
    let both = unsettled("ExactlyOnceOutput, Liveness(within: \"20s\")");
    let broken: Vec<_> =
        both.verdicts().into_iter().filter(|verdict| verdict.count > 0).map(|it| it.invariant).collect();
    assert_eq!(broken, [Invariant::Liveness]);
}

/// A pipeline that says at the end how far it is behind.
fn behind(lag: u64, backlog: u64) -> String {
    let mut run = Run::pipeline("Append", "", "Liveness(within: \"20s\")");
    for note in run.notes() {
        if matches!(note, Note::Settled) {
            *note = Note::Lag(Rc::new([(crate::record::GroupId(0), lag)]), backlog);
        }
    }
    run.only(Invariant::Liveness).sentence
}

#[test]
fn only_what_is_behind_is_told() {
    assert!(behind(3, 0).ends_with(": copy is 3 records behind."), "{}", behind(3, 0));
    assert!(behind(0, 1).ends_with(": 1 sends or questions have no answer."), "{}", behind(0, 1));
    assert!(behind(0, 0).ends_with(": it did not stand still for long enough."), "{}", behind(0, 0));
}

#[test]
fn a_node_that_stays_down_is_told_by_its_name() {
    let mut run = Run::pipeline("Append", "", "Liveness(within: \"20s\")");
    let copy = run.trial.catalog().groups[0].members[0];
    run.record.down = vec![copy];
    run.says(Invariant::Liveness, "Still down 20s after the last fault healed: copy-0.");
    let comparisons = run.verdicts().iter().map(|verdict| verdict.comparisons).max();
    assert_eq!(comparisons, Some(2), "its nodes, and its groups");
}

#[test]
fn a_drawn_route_is_compared_by_where_it_came_from() {
    // That it is sound is what is tested.
    Run::pipeline("Append", "Route(ways: 4, by: Draw)", "ExactlyOnceOutput");
    Run::pipeline("Increment", "Route(ways: 4, by: Draw)", "ExactlyOnceOutput");
}

#[test]
fn of_several_partitions_the_one_of_the_lost_record_is_read() {
    let run = Run::of(
        r#"Scenario(
            about: "calm", topics: {"orders": (partitions: 3)},
            producers: {"shop": (topic: "orders", records: 12)}, check: [NoAcknowledgedLoss],
        )"#,
    );
    let lost = run.in_log("orders/1", |log| {
        log.pop();
    });
    let violation = lost.only(Invariant::NoAcknowledgedLoss);
    assert_eq!(violation.witnesses.len(), 2, "{:?}", whats(&violation));
    assert!(violation.sentence.contains("was acknowledged at orders/1 offset "), "{}", violation.sentence);
}

#[test]
fn what_changed_is_told_with_its_values() {
    let run = Run::pipeline("Increment", "", "OffsetIdempotency");
    let twice = run.in_sink(|dump| {
        dump.changes[0].after = 5;
        dump.changes.push(crate::sink::Change { before: Some(5), after: 9, ..dump.changes[0] });
    });
    let sentence = twice.only(Invariant::OffsetIdempotency).sentence;
    assert!(sentence.contains(" to 5 then ") && sentence.contains(" from 5 to 9."), "{sentence}");
}

/// Orders and rates of one key, joined with the latest rate.
fn latest(orders: &str, rates: &str) -> Run {
    Run::unsound(&format!(
        r#"Scenario(
            about: "calm", topics: {{"orders": (partitions: 2), "rates": (partitions: 2), "other": ()}},
            producers: {{
                "shop": (topic: "orders", records: 1), "bank": (topic: "rates", records: 1),
                "third": (topic: "other", records: 1),
            }},
            processors: {{"pricing": (from: ["orders", "rates"], steps: [Join(table: "rates", with: Latest)])}},
            workload: [{orders} {rates}],
            check: [JoinDeterminism],
        )"#
    ))
}

#[test]
fn a_join_that_depends_on_the_order_shows_both_outputs() {
    let both = latest(
        r#"("shop-0", "200ms", 1, 3), ("shop-0", "600ms", 1, 4),"#,
        r#"("bank-0", "400ms", 1, 10), ("bank-0", "800ms", 1, 20),"#,
    );
    let violation = both.only(Invariant::JoinDeterminism);
    let partition = Key::new(1).partition(2);
    let start = format!(
        "The join of pricing over partition {partition} depends on the order in which its inputs are read: "
    );
    assert!(violation.sentence.starts_with(&start), "{}", violation.sentence);
    let (one, two) = violation.diff.clone().expect("two outputs");
    assert_ne!(one, two);
    for line in one.lines().chain(two.lines()) {
        assert!(
            line.starts_with("k1 = ") && line.contains(&format!(" from orders/{partition} offset ")),
            "{line}"
        );
    }
    let seen = whats(&violation);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen.iter().all(|what| what.ends_with(&format!("/{partition}"))), "{seen:?}");
    assert!(!violation.about.is_empty());
}

#[test]
fn a_join_without_a_row_in_one_order_has_a_row_less() {
    let run = latest(r#"("shop-0", "200ms", 1, 3),"#, r#"("bank-0", "400ms", 1, 10),"#);
    let violation = run.says(Invariant::JoinDeterminism, "one has more rows than the other");
    assert!(!violation.about.is_empty());
    let (one, two) = violation.diff.expect("two outputs");
    assert_eq!(one.lines().count() + two.lines().count(), 1);
}
