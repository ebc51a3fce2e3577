//! Each invariant fires on a planted bug, and a correct system under the same faults leaves it silent.
//!
//! Every pair differs in one setting; the seeds, and so the faults, are the same.

use std::collections::BTreeMap;

use millpond_sim::search::{Experiment, Tracing};
use millpond_sim::trace::EventId;
use millpond_sim::{Ending, NodeId};

use crate::catalog::Catalog;
use crate::evidence::Evidence;
use crate::outcome::Outcome;
use crate::scenario::read;
use crate::scenario::schema::{Invariant, Scenario};
use crate::trial::Trial;

const SEEDS: u64 = 150;

fn scenario(text: &str) -> Scenario {
    read(text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}\n{text}"))
}

fn outcomes(text: &str) -> impl Iterator<Item = Outcome> {
    let trial = Trial::new("test", scenario(text));
    (0..SEEDS).map(move |seed| {
        let plan = trial.draw(seed);
        trial.run(seed, &plan, Tracing::Off)
    })
}

/// How often each invariant was broken, and how often it compared anything.
fn tally(text: &str) -> (BTreeMap<Invariant, u32>, BTreeMap<Invariant, u64>) {
    let (mut broken, mut compared) = (BTreeMap::new(), BTreeMap::new());
    for outcome in outcomes(text) {
        for verdict in &outcome.verdicts {
            *compared.entry(verdict.invariant).or_default() += verdict.comparisons;
            if verdict.count > 0 {
                assert!(!verdict.violations.is_empty(), "what is counted is also told");
                *broken.entry(verdict.invariant).or_default() += 1;
            }
        }
    }
    (broken, compared)
}

/// The invariant, and it alone, is broken by the setting `bad`; with `good` in its place it holds.
fn turns_on(invariant: Invariant, text: &str, good: &str, bad: &str) {
    assert!(text.contains(good), "the text has `{good}`");
    let (broken, compared) = tally(text);
    assert_eq!(broken, BTreeMap::new(), "silent with `{good}`");
    assert!(compared[&invariant] > 0, "compared something with `{good}`");
    let (broken, _) = tally(&text.replace(good, bad));
    assert_eq!(broken.keys().copied().collect::<Vec<_>>(), [invariant], "with `{bad}`: {broken:?}");
}

const PIPELINE: &str = r#"
    Scenario(
        about: "a pipeline",
        topics: {"orders": (partitions: 2)},
        producers: {"shop": (count: 2, topic: "orders", records: 40, keys: Uniform(5))},
        processors: {"totals": (instances: 2, from: ["orders"], to: "ledger", commit: After)},
        sinks: {"ledger": (write: Guarded)},
        faults: Draw(crashes: 0..4, pauses: 0..2, lost_replies: 0..2, partitions: 0..2),
        check: [CHECK, Liveness(within: "30s")],
    )"#;

fn pipeline(check: &str) -> String {
    PIPELINE.replace("CHECK", check)
}

#[test]
fn exactly_once_output_turns_on_the_order_of_commit_and_write() {
    turns_on(Invariant::ExactlyOnceOutput, &pipeline("ExactlyOnceOutput"), "commit: After", "commit: Before");
}

#[test]
fn exactly_once_output_turns_on_what_a_write_does() {
    turns_on(
        Invariant::ExactlyOnceOutput,
        &pipeline("ExactlyOnceOutput"),
        "write: Guarded",
        "write: Increment",
    );
}

#[test]
fn offset_idempotency_turns_on_the_guard() {
    turns_on(
        Invariant::OffsetIdempotency,
        &pipeline("OffsetIdempotency"),
        "write: Guarded",
        "write: Increment",
    );
}

#[test]
fn offset_idempotency_of_an_upsert_turns_on_the_fence() {
    let text = r#"
        Scenario(
            about: "two owners of one partition",
            topics: {"orders": (partitions: 2)},
            producers: {"shop": (topic: "orders", records: 100, keys: Uniform(3), every: Uniform("5ms", "50ms"))},
            processors: {"latest": (instances: 2, from: ["orders"], to: "table")},
            sinks: {"table": (write: Upsert, fence: true)},
            faults: Draw(pauses: 1..5, holds: 0..3, slow_links: 0..3, among: ["latest"]),
            check: [OffsetIdempotency, Liveness(within: "30s")],
        )"#;
    turns_on(Invariant::OffsetIdempotency, text, "fence: true", "fence: false");
}

#[test]
fn partition_order_turns_on_the_flush() {
    let text = r#"
        Scenario(
            about: "readers see what is not yet durable",
            brokers: (flush: BeforeAck),
            topics: {"orders": (partitions: 2)},
            producers: {"shop": (count: 2, topic: "orders", records: 40)},
            processors: {"reader": (from: ["orders"])},
            faults: Draw(power_cuts: 1..4),
            check: [PartitionOrder, Liveness(within: "30s")],
        )"#;
    turns_on(Invariant::PartitionOrder, text, "flush: BeforeAck", "flush: AfterAck");
}

#[test]
fn no_acknowledged_loss_turns_on_the_flush() {
    let text = r#"
        Scenario(
            about: "acknowledged before or after it is durable",
            brokers: (flush: BeforeAck),
            topics: {"orders": (partitions: 2)},
            producers: {"shop": (count: 2, topic: "orders", records: 40)},
            faults: Draw(power_cuts: 1..4, torn_tails: 0..2, failed_syncs: 0..2),
            check: [NoAcknowledgedLoss, Liveness(within: "30s")],
        )"#;
    turns_on(Invariant::NoAcknowledgedLoss, text, "flush: BeforeAck", "flush: AfterAck");
}

#[test]
fn join_determinism_turns_on_the_version() {
    let text = r#"
        Scenario(
            about: "orders and rates",
            topics: {"orders": (partitions: 2), "rates": (partitions: 2)},
            producers: {
                "shop": (topic: "orders", records: 30, keys: Uniform(4)),
                "bank": (topic: "rates", records: 30, keys: Uniform(4)),
            },
            processors: {
                "pricing": (from: ["orders", "rates"], to: "bill", steps: [Join(table: "rates", with: Versioned)]),
            },
            sinks: {"bill": (write: Guarded)},
            faults: Draw(crashes: 0..3, pauses: 0..2, holds: 0..2),
            check: [JoinDeterminism, Liveness(within: "30s")],
        )"#;
    turns_on(Invariant::JoinDeterminism, text, "with: Versioned", "with: Latest");
}

#[test]
fn read_your_writes_turns_on_when_it_is_read() {
    let text = r#"
        Scenario(
            about: "stored or processed",
            topics: {"orders": (partitions: 2)},
            producers: {"shop": (topic: "orders", records: 30, read_back: (sink: "view", when: Processed))},
            processors: {"indexer": (from: ["orders"], to: "view")},
            sinks: {"view": (write: Guarded)},
            faults: Draw(crashes: 0..3, pauses: 0..2, among: ["indexer", "view"]),
            check: [ReadYourWrites, Liveness(within: "30s")],
        )"#;
    turns_on(Invariant::ReadYourWrites, text, "when: Processed", "when: Acknowledged");
}

#[test]
fn liveness_turns_on_a_session_that_outlasts_a_round_trip() {
    // With a shorter one, a member is given up before its first sign of life can arrive.
    let text = r#"
        Scenario(
            about: "a slow network",
            network: (latency: Uniform("30ms", "50ms")),
            topics: {"orders": (partitions: 2)},
            producers: {"shop": (topic: "orders", records: 30)},
            processors: {
                "totals": (instances: 2, from: ["orders"], to: "ledger", session: "2s", heartbeat: "20ms"),
            },
            sinks: {"ledger": (write: Guarded)},
            faults: Draw(crashes: 0..3, pauses: 0..2),
            check: [ExactlyOnceOutput, Liveness(within: "10s")],
        )"#;
    turns_on(Invariant::Liveness, text, "session: \"2s\"", "session: \"40ms\"");
}

#[test]
fn exactly_once_output_turns_on_a_watermark_that_is_acknowledged() {
    // A join waits for the table's last watermark; sent without asking for an answer, it can be
    // lost. Offsets say that all is processed; what is missing is output.
    let text = r#"
        Scenario(
            about: "a watermark that may be lost",
            topics: {"orders": (), "rates": ()},
            producers: {
                "shop": (topic: "orders", records: 30, keys: Uniform(4)),
                "bank": (topic: "rates", acks: Stored, records: 30, keys: Uniform(4)),
            },
            processors: {
                "pricing": (from: ["orders", "rates"], to: "bill", steps: [Join(table: "rates", with: Versioned)]),
            },
            sinks: {"bill": (write: Guarded)},
            network: (loss: "1/10"),
            faults: Draw(crashes: 0..3),
            check: [ExactlyOnceOutput, Liveness(within: "10s")],
        )"#;
    turns_on(Invariant::ExactlyOnceOutput, text, "acks: Stored", "acks: None");
}

#[test]
fn bounds_end_a_run_that_takes_too_much() {
    let small = pipeline("ExactlyOnceOutput").replace("about:", "budget: (events: 200), about:");
    let (broken, _) = tally(&small);
    assert_eq!(broken, BTreeMap::from([(Invariant::Bounds, SEEDS as u32)]));
}

#[test]
fn a_panic_of_an_actor_is_a_verdict_of_its_own() {
    let scenario = scenario(&pipeline("ExactlyOnceOutput"));
    let catalog = Catalog::new(&scenario);
    let ending = Ending::Panicked {
        node: NodeId::of_number(1),
        event: EventId::GENESIS,
        message: "index out of bounds".to_owned(),
    };
    let evidence = Evidence {
        scenario: &scenario,
        catalog: &catalog,
        history: &[],
        ending: &ending,
        down: &[],
        logs: Vec::new(),
        sinks: Vec::new(),
        settled: false,
    };
    let verdicts = super::judge(&evidence, 0);
    let told = &verdicts[0].violations[0].sentence;
    assert!(told.contains("shop-0") && told.contains("index out of bounds"), "{told}");
    assert!(verdicts.iter().all(|verdict| verdict.count == 0 || verdict.invariant == Invariant::NoPanic));
}

#[test]
fn checking_does_as_many_comparisons_as_there_are_records() {
    // The work of the checkers grows with the history, not with its square.
    let compared = |records: u32| -> u64 {
        let text = pipeline("ExactlyOnceOutput, OffsetIdempotency, PartitionOrder, NoAcknowledgedLoss")
            .replace("records: 40", &format!("records: {records}, every: Fixed(\"1ms\")"))
            .replace("faults: Draw(crashes: 0..4, pauses: 0..2, lost_replies: 0..2, partitions: 0..2),", "");
        let trial = Trial::new("test", scenario(&text));
        let outcome = trial.run(1, &trial.draw(1), Tracing::Off);
        assert_eq!(outcome.broken().count(), 0);
        outcome.verdicts.iter().map(|verdict| verdict.comparisons).sum()
    };
    let (small, large) = (compared(200), compared(2_000));
    assert!(large > small * 8 && large < small * 12, "{small} comparisons for 200 records, {large} for 2000");
}
