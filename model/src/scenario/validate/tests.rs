//! Each rule, by the least change to a sound scenario that breaks it.

use super::{MOST, validate};
use crate::scenario::read::options;
use crate::scenario::schema::{Draw, Faults, Scenario};
use crate::scenario::{read, write};

const SOUND: &str = r#"Scenario(
    about: "Orders with prices, summed per customer",
    claims: ["C07"],
    topics: { "orders": (partitions: 2), "prices": (partitions: 2), "priced": (partitions: 2) },
    producers: {
        "shop": (topic: "orders", records: 20, read_back: (sink: "audit", when: Processed)),
        "list": (topic: "prices", records: 5),
    },
    processors: {
        "price": (from: ["orders", "prices"], to: "priced", steps: [Join(table: "prices", with: Versioned)]),
        "sums": (from: ["priced"], to: "ledger", steps: [Sum]),
        "copy": (from: ["orders"], to: "audit", commit: Together),
    },
    sinks: { "ledger": (write: Upsert), "audit": (write: Guarded) },
    faults: Plan([
        (when: At("1s"), what: Crash(nodes: ["broker-0"], down: "1s")),
        (when: Before(node: "sums-0", event: Sends("Commit")), what: Cut(from: ["sums-0"], to: ["ledger"], lasts: "1s")),
    ]),
    check: [ExactlyOnceOutput, OffsetIdempotency, PartitionOrder, JoinDeterminism, NoAcknowledgedLoss,
        ReadYourWrites, Liveness()],
    reach: ["zombie fenced"],
    expect: Violation(JoinDeterminism),
)"#;

fn parse(text: &str) -> Scenario {
    options().from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The codes of the mistakes in the sound scenario with some of its text replaced.
fn codes(changes: &[(&str, &str)]) -> Vec<&'static str> {
    let text = changes.iter().fold(SOUND.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1)
    });
    let scenario = parse(&text);
    let mistakes = validate(&scenario);
    // What is told without a text is told with it too, and each mistake has a place there.
    let read = read(&text).err().unwrap_or_default();
    assert_eq!(read.len(), mistakes.len());
    assert!(read.iter().all(|mistake| mistake.span.is_some()), "{read:#?}");
    mistakes.iter().filter_map(|mistake| mistake.code).collect()
}

macro_rules! rules {
    ($($name:ident: $($old:literal => $new:literal),+ => [$($code:literal),*];)*) => {
        $(#[test] fn $name() {
            assert_eq!(codes(&[$(($old, $new)),+]), [$($code),*] as [&str; rules!(@count $($code)*)]);
        })*
    };
    (@count) => { 0 };
    (@count $head:literal $($tail:literal)*) => { 1 + rules!(@count $($tail)*) };
}

#[test]
fn a_sound_scenario_has_no_mistakes() {
    assert_eq!(validate(&parse(SOUND)), []);
}

// References.
rules! {
    a_producer_sends_to_a_topic: "topic: \"prices\"" => "topic: \"price\"" => ["unknown-topic", "table-source"];
    a_processor_reads_topics: "from: [\"priced\"]" => "from: [\"pricd\"]" => ["unknown-topic"];
    a_processor_reads_no_sink: "from: [\"priced\"]" => "from: [\"audit\"]" => ["unknown-topic"];
    a_processor_writes_to_something: "to: \"ledger\"" => "to: \"leger\"" => ["unknown-output"];
    a_table_is_read: "table: \"prices\"" => "table: \"priced\"" => ["unknown-table", "table-source"];
    a_read_back_names_a_sink: "sink: \"audit\"" => "sink: \"audits\"" => ["unknown-sink"];
    a_probe_exists: "zombie fenced" => "zombie fence" => ["unknown-probe"];
    a_bug_exists: "check: [" => "bugs: [\"fence forgoten\"],\n    check: [" => ["unknown-bug"];
    a_claim_has_a_number: "C07" => "7" => ["bad-claim"];
    a_node_exists: "\"broker-0\"" => "\"broker-1\"" => ["unknown-node"];
    a_node_has_a_plain_number: "\"broker-0\"" => "\"broker-00\"" => ["unknown-node"];
    a_trigger_names_a_node: "node: \"sums-0\"" => "node: \"sums\"" => ["unknown-node"];
    a_fault_names_nodes: "to: [\"ledger\"]" => "to: []" => ["no-node"];
    an_item_names_a_producer: "check: [" => "workload: [(\"shop-0\", \"1s\", 1, 1), (\"sums-0\", \"1s\", 1, 1), (\"shop-1\", \"1s\", 1, 1)],\n    check: ["
        => ["unknown-node", "unknown-node"];
}

// Sizes.
rules! {
    a_number_has_its_range: "records: 20" => "records: 20_000" => ["out-of-range"];
    a_drift_has_its_range: "Crash(nodes: [\"broker-0\"], down: \"1s\")" => "Drift(nodes: [\"broker-0\"], ppm: -500_001, lasts: \"1s\")" => ["out-of-range"];
    a_trigger_counts_from_one: "Sends(\"Commit\")" => "Sends(\"Commit\"), nth: 0" => ["out-of-range"];
    a_time_is_at_most_an_hour: "down: \"1s\"" => "down: \"2h\"" => ["too-long"];
    a_timeout_takes_time: "records: 20" => "timeout: \"0s\", records: 20" => ["no-time"];
    a_delay_names_two_nodes: "check: [" => "schedule: [(from: \"shop-0\", to: \"broker\", which: Nth(1), by: \"1s\")],\n    check: [" => ["unknown-node"];
    a_delay_counts_from_one: "check: [" => "schedule: [(from: \"shop-0\", to: \"broker-0\", which: From(0), by: \"1s\")],\n    check: [" => ["out-of-range"];
    faults_take_time: "check: [" => "phases: (faults: \"0s\"), check: [" => ["no-time", "too-late"];
    records_take_time: "records: 20" => "records: 20, every: Fixed(\"10ns\")" => ["too-short"];
    a_heartbeat_fits_a_session: "steps: [Sum]" => "steps: [Sum], heartbeat: \"2s\"" => ["slow-heartbeat"];
    values_are_a_range: "records: 20" => "records: 20, values: 3..3" => ["bad-range"];
    a_spread_rises: "records: 20" => "records: 20, every: Uniform(\"2ms\", \"1ms\")" => ["bad-range"];
    nodes_have_a_limit: "check: [" => "brokers: (count: 16), check: [",
        "\"price\": (" => "\"p1\": (from: [\"orders\"], instances: 16), \"p2\": (from: [\"orders\"], instances: 16), \"p3\": (from: [\"orders\"], instances: 16),
        \"p4\": (from: [\"orders\"], instances: 16), \"p5\": (from: [\"orders\"], instances: 16), \"p6\": (from: [\"orders\"], instances: 16), \"p7\": (from: [\"orders\"], instances: 16), \"price\": ("
        => ["too-many"];
    records_have_a_limit: "records: 20" => "records: 10_000, count: 11" => ["too-many"];
    partitions_have_a_limit: "topics: {" => "topics: { \"1\": (partitions: 64), \"2\": (partitions: 64), \"3\": (partitions: 64), \"4\": (partitions: 64),
        \"5\": (partitions: 64), \"6\": (partitions: 64), \"7\": (partitions: 64), \"8\": (partitions: 64)," => ["too-many"];
}

#[test]
fn a_small_slip_hides_no_other_mistake() {
    let changes =
        [("records: 20", "records: 20, retries: 5_000"), ("from: [\"priced\"]", "from: [\"pricd\"]")];
    assert_eq!(codes(&changes), ["out-of-range", "unknown-topic"]);
}

// Names.
rules! {
    a_name_is_not_reserved: "\"list\": (" => "\"observer\": (" => ["reserved-name"];
    a_name_is_not_empty: "\"list\": (" => "\"\": (" => ["empty-name"];
    a_name_is_given_once: "\"list\": (" => "\"copy\": (" => ["name-taken"];
    a_topic_is_no_sink: "topics: {" => "topics: { \"ledger\": ()," => ["name-taken"];
    a_sink_is_no_instance: "sinks: {" => "sinks: { \"shop-0\": (write: Append)," => ["name-taken"];
    a_sink_is_no_broker: "sinks: {" => "sinks: { \"broker-0\": (write: Append)," => ["name-taken"];
}

// Pipelines.
rules! {
    a_processor_reads_something: "from: [\"priced\"]" => "from: []" => ["no-input"];
    a_processor_reads_a_topic_once: "from: [\"priced\"]" => "from: [\"priced\", \"priced\"]" => ["read-twice"];
    inputs_have_like_partitions: "\"prices\": (partitions: 2)" => "\"prices\": (partitions: 3)" => ["unlike-partitions"];
    a_processor_is_no_loop: "from: [\"priced\"]" => "from: [\"priced\"], instances: 1", "to: \"priced\"" => "to: \"orders\"" => ["loop", "two-writers"];
    together_is_for_sinks: "to: \"priced\"" => "to: \"priced\", commit: Together" => ["together-needs-sink"];
    together_is_not_for_readers: "to: \"ledger\"" => "commit: Together" => ["together-needs-sink"];
    one_join: "steps: [Join(" => "steps: [Join(table: \"prices\", with: Versioned), Join(" => ["two-joins"];
    one_aggregate: "[Sum]" => "[Sum, Count]" => ["two-aggregates"];
    a_join_is_not_alone: "from: [\"orders\", \"prices\"]" => "from: [\"prices\"]" => ["join-alone"];
    a_versioned_table_has_one_source: "\"prices\", records: 5" => "\"prices\", records: 5, count: 2" => ["table-source"];
    a_sink_has_one_writer: "to: \"audit\"" => "to: \"ledger\"" => ["two-writers", "no-way"];
    an_output_has_no_producer: "topic: \"orders\"" => "topic: \"priced\"" => ["two-writers", "no-way"];
    processed_needs_a_guard: "\"audit\": (write: Guarded)" => "\"audit\": (write: Upsert)" => ["no-progress"];
    a_read_back_follows_a_way: "sink: \"audit\", when: Processed" => "sink: \"ledger\", when: Acknowledged" => ["no-way"];
    a_read_back_is_of_acknowledged_records: "records: 20" => "records: 20, acks: None" => ["never-acknowledged"];
}

// Promises and faults.
rules! {
    something_is_checked: "[ExactlyOnceOutput, OffsetIdempotency, PartitionOrder, JoinDeterminism, NoAcknowledgedLoss,\n        ReadYourWrites, Liveness()]" => "[]",
        "expect: Violation(JoinDeterminism)," => "" => ["nothing-to-check"];
    an_invariant_is_listed_once: "Liveness()" => "Liveness(), Liveness(within: \"3s\")" => ["listed-twice"];
    what_is_expected_is_checked: " JoinDeterminism," => "" => ["not-checked"];
    panics_are_always_checked: "Violation(JoinDeterminism)" => "Violation(NoPanic)" => [];
    a_latest_join_has_no_right_output: "with: Versioned" => "with: Latest" => ["no-right-output"];
    mixed_sums_have_no_right_output: "from: [\"priced\"]" => "from: [\"priced\", \"orders\"]", "ledger\": (write: Upsert)" => "ledger\": (write: Append)" => ["no-right-output"];
    mixed_sums_that_are_kept_last_have_one: "from: [\"priced\"]" => "from: [\"priced\", \"orders\"]" => [];
    an_output_is_needed: "to: \"priced\", " => "", "to: \"ledger\", " => "", "to: \"audit\", commit: Together" => "", "read_back: (sink: \"audit\", when: Processed)" => ""
        => ["nothing-to-check", "nothing-to-check", "nothing-to-check"];
    a_join_is_needed: "steps: [Join(table: \"prices\", with: Versioned)]" => "steps: []" => ["nothing-to-check"];
    an_acknowledgement_is_needed: "records: 20, read_back: (sink: \"audit\", when: Processed)" => "records: 20, acks: None", "records: 5" => "records: 5, acks: None"
        => ["nothing-to-check", "nothing-to-check"];
    drawn_ways_have_no_totals: "steps: [Sum" => "steps: [Route(ways: 2, by: Draw), Sum" => ["no-right-output"];
    a_fault_comes_in_time: "At(\"1s\")" => "At(\"6501ms\")" => ["too-late"];
    a_fault_at_the_end_is_in_time: "At(\"1s\")" => "At(\"6.5s\")" => [];
}

#[test]
fn a_draw_is_among_names() {
    let mut scenario = parse(SOUND);
    let among = vec!["broker".into(), "sums".into(), "ledger".into(), "sum".into()];
    scenario.faults = Faults::Draw(Box::new(Draw { among, crashes: 0..101, ..Draw::default() }));
    let mistakes = validate(&scenario);
    assert_eq!(mistakes.len(), 1);
    assert_eq!(mistakes[0].path.to_string(), "faults.Draw.among[3]");
}

#[test]
fn a_draw_has_its_limit() {
    let mut scenario = parse(SOUND);
    scenario.faults = Faults::Draw(Box::new(Draw { crashes: 0..102, ..Draw::default() }));
    assert_eq!(validate(&scenario)[0].code, Some("bad-range"));
}

#[test]
fn too_many_mistakes_are_cut_off() {
    let items: String = (0..2_000).map(|at| format!("(\"nobody-{at}\", \"1s\", 1, 1), ")).collect();
    let scenario = parse(&SOUND.replace("check: [", &format!("workload: [{items}],\n    check: [")));
    assert_eq!(validate(&scenario).len(), MOST);
}

#[test]
fn a_mistake_prints_as_a_line_where_there_is_no_text() {
    let scenario = parse(&SOUND.replace("from: [\"priced\"]", "from: [\"pricd\"]"));
    let line = validate(&scenario)[0].to_string();
    assert_eq!(
        line,
        "topic `pricd` is defined nowhere (at processors.sums.from[0]): read here; did you mean `priced`?"
    );
}

#[test]
fn a_sound_scenario_is_sound_when_written() {
    assert!(read(&write(&parse(SOUND), "")).is_ok());
}
