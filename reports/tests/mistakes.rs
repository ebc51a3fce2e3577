//! What a person sees for each mistake in a scenario file: read the snapshots as that person.

use millpond_model::scenario::schema::Topic;
use millpond_model::scenario::{read, validate};
use millpond_reports::diagnostic::render;

/// A sound scenario; each case below changes a part of it.
const SOUND: &str = r#"// Totals per customer.
Scenario(
    about: "Totals per customer",
    brokers: (count: 3),
    topics: {
        "orders": (partitions: 4),
        "totals": (partitions: 4, cleanup: Compact),
    },
    producers: {
        "shop": (topic: "orders", records: 200, every: Uniform("1ms", "10ms")),
    },
    processors: {
        "sums": (from: ["orders"], to: "ledger", steps: [Sum]),
    },
    sinks: {
        "ledger": (write: Upsert),
    },
    faults: Draw(crashes: 0..3),
    check: [ExactlyOnceOutput, Liveness(within: "30s")],
)
"#;

/// The answer to a sound scenario in which `old` is replaced by `new`.
fn answer(old: &str, new: &str) -> String {
    assert_eq!(SOUND.matches(old).count(), 1, "`{old}` must be in the sound scenario once");
    answer_to(&SOUND.replace(old, new))
}

fn answer_to(text: &str) -> String {
    match read(text) {
        Ok(_) => panic!("this is no mistake:\n{text}"),
        Err(mistakes) => render("scenarios/totals.ron", text, &mistakes, false),
    }
}

macro_rules! cases {
    ($($name:ident: $old:literal => $new:literal;)*) => {
        $(#[test] fn $name() {
            insta::assert_snapshot!(answer($old, $new));
        })*
    };
}

#[test]
fn the_sound_scenario_is_sound() {
    assert!(read(SOUND).is_ok(), "{}", answer_to(SOUND));
}

// Names of fields and choices.
cases! {
    field_misspelt_at_the_top: "topics: {" => "topcis: {";
    field_misspelt_below: "\"orders\": (partitions: 4)" => "\"orders\": (partitoins: 4)";
    field_unlike_any_other: "brokers: (count: 3)" => "brokers: (servers: 3)";
    field_misspelt_in_a_variant: "Draw(crashes: 0..3)" => "Draw(crahses: 0..3)";
    field_misspelt_in_a_choice: "within: \"30s\"" => "witin: \"30s\"";
    choice_misspelt: "cleanup: Compact" => "cleanup: Compacted";
    choice_in_lower_case: "write: Upsert" => "write: upsert";
    choice_unlike_any_other: "write: Upsert" => "write: Overwrite";
    choice_in_quotes: "write: Upsert" => "write: \"Upsert\"";
    check_misspelt: "ExactlyOnceOutput," => "ExactlyOnce,";
    field_missing: "topic: \"orders\", records: 200, " => "topic: \"orders\", ";
    field_missing_in_a_sink: "(write: Upsert)" => "()";
    field_missing_at_the_top: "    check: [ExactlyOnceOutput, Liveness(within: \"30s\")],\n" => "";
    field_given_twice: "    brokers: (count: 3)," => "    about: \"again\",\n    brokers: (count: 3),";
    name_given_twice: "\"totals\": (partitions: 4, cleanup: Compact)" => "\"orders\": (partitions: 2)";
    liveness_without_its_fields: "Liveness(within: \"30s\")" => "Liveness";
    fields_for_a_bare_choice: "ExactlyOnceOutput," => "ExactlyOnceOutput(),";
    struct_name_wrong: "Scenario(" => "Scenaro(";
}

// Values.
cases! {
    text_for_a_number: "count: 3" => "count: \"3\"";
    words_for_a_number: "count: 3" => "count: \"three\"";
    number_for_text: "about: \"Totals per customer\"" => "about: 7";
    word_for_text: "topic: \"orders\"" => "topic: orders";
    one_value_for_a_list: "from: [\"orders\"]" => "from: \"orders\"";
    one_check_for_a_list: "check: [ExactlyOnceOutput, Liveness(within: \"30s\")]" => "check: ExactlyOnceOutput";
    number_out_of_bounds_of_its_type: "count: 3" => "count: 5000000000";
    number_below_zero: "count: 3" => "count: -4";
    number_out_of_range: "count: 3" => "count: 300";
    fraction_for_a_whole_number: "\"orders\": (partitions: 4)" => "\"orders\": (partitions: 4.5)";
    exponent: "records: 200" => "records: 1e3";
    bad_time: "within: \"30s\"" => "within: \"30 sec\"";
    time_without_a_unit: "within: \"30s\"" => "within: 30";
    time_without_quotes: "within: \"30s\"" => "within: 30s";
    bad_share: "    brokers: (count: 3)," => "    network: (loss: \"0.01\"),\n    brokers: (count: 3),";
    share_as_a_fraction: "    brokers: (count: 3)," => "    network: (loss: 0.01),\n    brokers: (count: 3),";
    time_for_a_drawn_time: "every: Uniform(\"1ms\", \"10ms\")" => "every: \"10ms\"";
    number_for_a_range: "crashes: 0..3" => "crashes: 3";
    range_with_its_end: "crashes: 0..3" => "crashes: 0..=3";
    range_for_a_number: "records: 200" => "records: 0..200";
    braces_for_a_struct: "brokers: (count: 3)" => "brokers: {count: 3}";
    number_for_a_struct: "brokers: (count: 3)" => "brokers: 3";
    brackets_twice: "Draw(crashes: 0..3)" => "Draw((crashes: 0..3))";
    brackets_for_a_map: "sinks: {\n        \"ledger\": (write: Upsert),\n    }" => "sinks: (ledger: (write: Upsert))";
    value_without_its_name: "brokers: (count: 3)" => "brokers: (3)";
}

// Punctuation.
cases! {
    comma_missing: "brokers: (count: 3)," => "brokers: (count: 3)";
    comma_missing_in_a_struct: "\"orders\", records" => "\"orders\" records";
    bracket_not_closed: "brokers: (count: 3)," => "brokers: (count: 3,";
    bracket_not_closed_in_a_map: "\"orders\": (partitions: 4)," => "\"orders\": (partitions: 4,";
    brace_not_closed: "cleanup: Compact),\n    }," => "cleanup: Compact),";
    list_not_closed: "from: [\"orders\"]" => "from: [\"orders\"";
    last_bracket_missing: "\"30s\")],\n)" => "\"30s\")],\n";
    bracket_too_many: "brokers: (count: 3)," => "brokers: (count: 3)),";
    quote_not_closed: "from: [\"orders\"]" => "from: [\"orders]";
    quote_not_closed_at_the_end_of_a_line: "to: \"ledger\", steps: [Sum])," => "steps: [Sum], to: \"ledger),";
    quote_not_closed_in_prose: "customer\",\n    brokers" => "customer,\n    brokers";
    equals_for_a_colon: "count: 3" => "count = 3";
    equals_for_a_colon_at_the_top: "about: \"" => "about = \"";
    colon_missing: "\"orders\": (partitions: 4)" => "\"orders\" (partitions: 4)";
    name_of_a_field_in_quotes: "brokers: (count: 3)" => "\"brokers\": (count: 3)";
    name_in_a_map_without_quotes: "\"orders\": (partitions: 4)" => "orders: (partitions: 4)";
    single_quotes: "about: \"Totals per customer\"" => "about: 'Totals per customer'";
    bad_escape: "about: \"Totals per customer\"" => "about: \"C:\\data\"";
    hash_for_a_comment: "// Totals per customer." => "# Totals per customer.";
    comment_not_closed: "// Totals per customer." => "/* Totals per customer.";
    text_behind_the_end: "\"30s\")],\n)" => "\"30s\")],\n)\nScenario(about: \"second\")";
}

// What people write who know other formats, or half of this one.
cases! {
    draw_without_its_fields: "Draw(crashes: 0..3)" => "Draw";
    plan_without_its_name: "Draw(crashes: 0..3)" => "[(when: At(\"1s\"), what: Stop(nodes: [\"sums-0\"], down: \"1s\"))]";
    time_for_a_when: "Draw(crashes: 0..3)" => "Plan([(when: \"1s\", what: Stop(nodes: [\"sums-0\"], down: \"1s\"))])";
    choice_without_its_field: "(write: Upsert)" => "(Upsert)";
    choice_for_a_struct: "(write: Upsert)" => "Upsert";
    value_for_a_fault: "Draw(crashes: 0..3)" => "Plan([(when: At(\"1s\"), what: Stop(\"sums-0\"))])";
    value_for_liveness: "within: \"30s\"" => "\"30s\"";
    range_in_brackets: "crashes: 0..3" => "crashes: (0, 3)";
    range_in_quotes: "crashes: 0..3" => "crashes: \"0..3\"";
    range_without_an_end: "crashes: 0..3" => "crashes: 3..";
    range_below_zero: "crashes: 0..3" => "crashes: -1..3";
    number_for_keys: "records: 200" => "records: 200, keys: 5";
    hexadecimal_gone_wrong: "records: 200" => "records: 0x1G";
    semicolon_for_a_comma: "records: 200," => "records: 200;";
    two_commas: "\"orders\", records" => "\"orders\",, records";
    value_missing: "records: 200" => "records: ";
    set_for_a_map: "\"ledger\": (write: Upsert)" => "\"ledger\"";
    quotes_within_a_text: "\"Totals per customer\"" => "\"Totals \"per\" customer\"";
    too_few_values: "Uniform(\"1ms\", \"10ms\")" => "Uniform(\"1ms\")";
    too_many_values: "Uniform(\"1ms\", \"10ms\")" => "Uniform(\"1ms\", \"5ms\", \"10ms\")";
    choice_without_its_name: "Uniform(\"1ms\", \"10ms\")" => "(\"1ms\", \"10ms\")";
    invariant_for_a_violation: "check: [" => "expect: ExactlyOnceOutput,\n    check: [";
    python_true: "write: Upsert" => "write: Upsert, fence: True";
    some_for_a_struct: "brokers: (count: 3)" => "brokers: Some((count: 3))";
}

#[test]
fn columns_are_counted_in_characters() {
    insta::assert_snapshot!(answer(
        "\"orders\": (partitions: 4)",
        "\"äöü\": (partitions: 4), /* größer */ \"x\": (größe: 4)"
    ));
}

#[test]
fn lines_may_end_as_on_windows() {
    let text = SOUND.replace("records: 200", "recrods: 200").replace('\n', "\r\n");
    insta::assert_snapshot!(answer_to(&text));
}

#[test]
fn a_scenario_built_in_rust_has_paths_only() {
    let mut scenario = read(SOUND).unwrap();
    scenario.topics = [("order".to_owned(), Topic::default())].into_iter().collect();
    insta::assert_snapshot!(render("my_test", "", &validate(&scenario), false));
}

#[test]
fn every_damaged_file_can_be_printed() {
    for at in (0..SOUND.len()).filter(|at| SOUND.is_char_boundary(*at)) {
        for piece in ["", "\"", ")", "(", ",", "é", "\u{feff}"] {
            let text = format!("{}{piece}{}", &SOUND[..at], &SOUND[at + 1..]);
            if let Err(mistakes) = read(&text) {
                assert!(render("file", &text, &mistakes, true).contains("nothing was run"));
            }
        }
    }
}

#[test]
fn empty_file() {
    insta::assert_snapshot!(answer_to("\n  // nothing yet\n"));
}

#[test]
fn json_file() {
    insta::assert_snapshot!(answer_to("{\n  \"about\": \"Totals\"\n}\n"));
}

#[test]
fn brackets_without_end() {
    insta::assert_snapshot!(answer_to(&format!("Scenario(about: {}", "[".repeat(60))));
}

#[test]
fn a_byte_order_mark_moves_no_column() {
    insta::assert_snapshot!(answer_to("\u{feff}Scenario(abuot: \"x\")"));
}

// Meaning: all of these at once.
#[test]
fn all_mistakes_of_meaning_are_told_at_once() {
    let text = SOUND
        .replace("from: [\"orders\"]", "from: [\"ordrs\"]")
        .replace("to: \"ledger\"", "to: \"leger\"")
        .replace("check: [", "reach: [\"zombie fencd\"],\n    check: [");
    insta::assert_snapshot!(answer_to(&text));
}

cases! {
    meaning_two_writers: "steps: [Sum])," => "steps: [Sum]),\n        \"more\": (from: [\"totals\"], to: \"ledger\"),";
    meaning_unknown_node: "Draw(crashes: 0..3)" => "Plan([(when: At(\"1s\"), what: Crash(nodes: [\"broker-3\"], down: \"1s\"))])";
    meaning_group_for_a_node: "Draw(crashes: 0..3)" => "Plan([(when: At(\"1s\"), what: Crash(nodes: [\"sums\"], down: \"1s\"))])";
    meaning_too_late: "Draw(crashes: 0..3)" => "Plan([(when: At(\"60s\"), what: Crash(nodes: [\"broker-2\"], down: \"1s\"))])";
    meaning_latest_join: "steps: [Sum]" => "steps: [Join(table: \"orders\", with: Latest)]";
    meaning_fallback_place: "Draw(crashes: 0..3)" => "Draw(crashes: 0..300)";
    meaning_nothing_to_check: "check: [" => "check: [JoinDeterminism, ";
    meaning_expected_but_not_checked: "check: [" => "expect: Violation(ReadYourWrites),\n    check: [";
    meaning_out_of_range: "records: 200" => "records: 20000";
    meaning_slow_heartbeat: "steps: [Sum]" => "steps: [Sum], heartbeat: \"3s\"";
    meaning_default_of_a_field: "steps: [Sum]" => "steps: [Sum], session: \"100ms\"";
}
