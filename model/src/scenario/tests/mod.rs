//! Properties of reading and writing together.

mod arbitrary;
mod docs;

use proptest::prelude::*;

use super::mistake::Mistake;
use super::read::options;
use super::schema::Scenario;
use super::{read, write};

const SOUND: &str = r#"// A comment with "quotes" and (brackets
Scenario(
    about: "Totals per customer",
    claims: ["C27"],
    brokers: (count: 3, flush: AfterAck),
    network: (latency: Uniform("1ms", "5ms"), loss: "1/100", order: Free),
    topics: { "orders": (partitions: 4), "totals": (partitions: 4, cleanup: Compact) },
    producers: { "shop": (topic: "orders", records: 20, keys: Zipf(5), values: -3..10, every: Fixed("2ms")) },
    processors: {
        "sums": (from: ["orders"], to: "ledger", steps: [Map(times: 2), Filter(at_least: -4), Sum],
            commit: Together, state: Snapshot(every: 10, with_offset: false)), /* nested /* comment */ */
    },
    sinks: { "ledger": (write: Upsert, fence: true) },
    faults: Plan([
        (when: At("1.5s"), what: Crash(nodes: ["broker-0"], down: "1s")),
        (when: After(node: "sums-0", event: Sends("Commit"), nth: 3), what: Pause(nodes: ["sums-0"], lasts: "1s")),
    ]),
    workload: [("shop-0", "1s", 3, 4), Item("shop-0", "2s", 1, -4)],
    check: [ExactlyOnceOutput, Liveness(within: "30s")],
    expect: Violation(ExactlyOnceOutput),
)
"#;

/// What a mistake says must lie within the text.
fn assert_inside(text: &str, mistakes: &[Mistake]) {
    assert!(!mistakes.is_empty());
    for mistake in mistakes {
        let spans = mistake.span.iter().chain(mistake.related.iter().filter_map(|it| it.span.as_ref()));
        for span in spans.chain(mistake.patch.iter().map(|patch| &patch.span)) {
            assert!(text.get(span.clone()).is_some(), "{span:?} of {text:?}: {mistake:?}");
        }
        assert!(!mistake.title.is_empty());
    }
}

#[test]
fn a_scenario_is_read() {
    let scenario = read(SOUND).unwrap();
    assert_eq!(scenario.topics.len(), 2);
    assert_eq!(scenario.workload.unwrap().len(), 2);
}

#[test]
fn what_is_written_is_what_a_person_would_write() {
    let text = write(&read(SOUND).unwrap(), "A header.\n\nTwo paragraphs.");
    insta::assert_snapshot!(text);
}

#[test]
fn a_patch_that_is_followed_leads_to_a_sound_file() {
    for (old, new) in [
        ("topics: {", "topcis: {"),
        ("count: 3,", "count = 3,"),
        ("(count: 3, flush: AfterAck),", "(count: 3, flush: AfterAck)"),
        ("from: [\"orders\"]", "from: \"orders\""),
        ("from: [\"orders\"]", "from: [orders]"),
        ("from: [\"orders\"]", "from: [\"orders]"),
        ("every: Fixed(\"2ms\")", "every: \"2ms\""),
        ("write: Upsert", "write: \"Upsert\""),
        ("Liveness(within: \"30s\")", "Liveness"),
        ("AfterAck),\n", "AfterAck,\n"),
        ("fence: true", "fence: \"true\""),
        ("// A comment", "# A comment"),
        ("\"sums\": (", "sums: ("),
        (
            "After(node: \"sums-0\", event: Sends(\"Commit\"), nth: 3)",
            "After((node: \"sums-0\", event: Sends(\"Commit\")))",
        ),
        ("(count: 3, flush: AfterAck)", "{count: 3, flush: AfterAck}"),
    ] {
        assert!(SOUND.contains(old), "{old}");
        let text = SOUND.replacen(old, new, 1);
        let mistakes = read(&text).unwrap_err();
        let patch = mistakes[0].patch.clone().unwrap_or_else(|| panic!("{new}: {mistakes:?}"));
        let mut cured = text.clone();
        cured.replace_range(patch.span, &patch.replacement);
        assert!(read(&cured).is_ok(), "{new}:\n{:?}\n{:?}", mistakes, read(&cured));
    }
}

#[test]
fn a_large_file_is_refused() {
    let text = " ".repeat(super::read::MAX_BYTES + 1);
    assert!(read(&text).unwrap_err()[0].title.contains("at most"));
}

#[test]
fn deep_brackets_are_refused() {
    for bracket in ["(", "[", "{", "Some("] {
        assert_inside(&bracket.repeat(100_000), &read(&bracket.repeat(100_000)).unwrap_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back(scenario in arbitrary::scenario(), header in "[a-z\n(\"]{0,20}") {
        let text = write(&scenario, &header);
        let back: Scenario = options().from_str(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(&back, &scenario, "{}", text);
        prop_assert_eq!(write(&back, &header), text);
    }

    #[test]
    fn arbitrary_text_does_no_harm(text in "[\\PC\n]{0,80}") {
        assert_inside(&text, &read(&text).unwrap_err());
    }

    #[test]
    fn pieces_of_ron_do_no_harm(pieces in prop::collection::vec(arbitrary::piece(), 0..40)) {
        let text = pieces.concat();
        if let Err(mistakes) = read(&text) {
            assert_inside(&text, &mistakes);
        }
        let text = format!("Scenario({text})");
        if let Err(mistakes) = read(&text) {
            assert_inside(&text, &mistakes);
        }
    }

    #[test]
    fn a_damaged_file_does_no_harm(at in 0..SOUND.len(), length in 0..30_usize, piece in arbitrary::piece()) {
        let mut text = SOUND.to_owned();
        text.replace_range(at..(at + length).min(SOUND.len()), &piece);
        if let Err(mistakes) = read(&text) {
            assert_inside(&text, &mistakes);
        }
        text.truncate(at);
        if let Err(mistakes) = read(&text) {
            assert_inside(&text, &mistakes);
        }
    }

    #[test]
    fn any_scenario_can_be_validated(scenario in arbitrary::scenario()) {
        let text = write(&scenario, "");
        match read(&text) {
            Ok(back) => prop_assert_eq!(back, scenario),
            Err(mistakes) => assert_inside(&text, &mistakes),
        }
    }
}
