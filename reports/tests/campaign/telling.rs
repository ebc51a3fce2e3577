//! What people and machines read.

use std::time::Duration;

use millpond_model::scenario::schema::Invariant;
use millpond_reports::block::block;
use millpond_reports::console::{Console, Detail};
use millpond_reports::event::{End, Event, Reader, Start, StoppedBy};
use millpond_reports::failure::Cause;
use millpond_reports::json::JsonLines;
use millpond_reports::judge::Judgement;
use millpond_sim::search::determinism::Difference;
use millpond_sim::time::Instant;
use millpond_sim::trace::{EventId, Happening, Line, Told};

use crate::made::{failure, finished, outcome, verdict};

fn unsteady() -> Cause {
    let line = |label: &str| Line {
        id: EventId::GENESIS,
        cause: EventId::GENESIS,
        time: Instant::from_nanos(1_500_000_000),
        node: None,
        happening: Happening::Note,
        told: Told::words(label),
        faults: Vec::new(),
    };
    let lines = Some([Some(line("draws 4")), Some(line("draws 5"))]);
    Cause::Unsteady(Box::new(Difference { fingerprints: [0xab, 0xcd], lines }))
}

#[test]
fn a_block_tells_what_broke_what_was_done_and_how_to_go_on() {
    let verdicts = vec![
        verdict(Invariant::OffsetIdempotency, &["Customer c7 has 310 in ledger; the reference has 240."]),
        verdict(Invariant::PartitionOrder, &["Offset 4 was read before offset 3.", "Offset 9 was skipped."]),
    ];
    insta::assert_snapshot!(block(
        &failure(Cause::Broke(Invariant::OffsetIdempotency), outcome(verdicts)),
        Detail::Normal
    ));
}

#[test]
fn of_many_violations_some_are_told_and_all_are_counted() {
    let mut many = verdict(Invariant::OffsetIdempotency, &["One.", "Two.", "Three.", "Four."]);
    many.count = 900;
    let text =
        block(&failure(Cause::Broke(Invariant::OffsetIdempotency), outcome(vec![many])), Detail::Normal);
    assert!(text.contains("Three.\n") && !text.contains("Four."), "{text}");
    assert!(text.contains("\n897 more like it.\n"), "{text}");
}

#[test]
fn two_texts_that_ought_to_be_equal_are_shown_as_a_diff() {
    let mut differs = verdict(Invariant::JoinDeterminism, &["Two legal orders give two outputs."]);
    differs.violations[0].diff = Some(("a\nb\nc\n".into(), "a\nB\nc\n".into()));
    let text =
        block(&failure(Cause::Broke(Invariant::JoinDeterminism), outcome(vec![differs])), Detail::Normal);
    assert!(text.contains("    --- expected\n    +++ found\n"), "{text}");
    assert!(text.contains("     a\n    -b\n    +B\n     c\n"), "{text}");
}

#[test]
fn what_is_not_deterministic_shows_the_first_event_that_differs() {
    insta::assert_snapshot!(block(&failure(unsteady(), outcome(Vec::new())), Detail::Normal));
}

#[test]
fn a_campaign_is_a_line_for_each_scenario_and_what_it_says() {
    let verdicts = vec![verdict(Invariant::OffsetIdempotency, &["It was counted twice."])];
    let failed = failure(Cause::Broke(Invariant::OffsetIdempotency), outcome(verdicts));
    let mut empty = finished("empty", Judgement::Empty, 1_000);
    empty.missing = vec!["the probe \"zombie fenced\" was never reached".into()];
    let mut passed = finished("passes", Judgement::Pass, 1_000);
    passed.reach = vec!["write repeated".into()];
    passed.totals.probes.insert("write repeated", 31);
    let events = |console: &mut dyn Reader| {
        let names = ["recorded", "totals", "empty", "expected", "passes"];
        let start = Start {
            version: "0.1.0".into(),
            engine: 7,
            scenarios: names.map(str::to_owned).to_vec(),
            start: 0,
            seeds: Some(1_000),
            jobs: 8,
        };
        for event in [
            Event::Start(&start),
            Event::ScenarioFinished(&finished("recorded", Judgement::Known, 1)),
            Event::Failure(&failed),
            Event::ScenarioFinished(&finished("totals", Judgement::Fail, 418)),
            Event::ScenarioFinished(&empty),
            Event::ScenarioFinished(&finished("expected", Judgement::Found, 4)),
            Event::ScenarioFinished(&passed),
            Event::End(&End { exit: 1, stopped_by: StoppedBy::Seeds, elapsed: Duration::from_millis(9_000) }),
        ] {
            console.event(&event).expect("it is written to memory");
        }
    };
    let mut text = Vec::new();
    events(&mut Console::new(&mut text, Detail::Normal));
    let text = String::from_utf8(text).expect("UTF-8");
    let plain: String = text
        .split('\u{1b}')
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) })
        .collect();
    insta::assert_snapshot!(plain);

    let mut json = Vec::new();
    events(&mut JsonLines::new(&mut json));
    insta::assert_snapshot!(String::from_utf8(json).expect("UTF-8"));
}

#[test]
fn junit_escapes_what_xml_cannot_hold() {
    let folder = std::env::temp_dir().join(format!("millpond-junit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("results.xml");
    let odd = vec![verdict(Invariant::OffsetIdempotency, &["<k> & \u{1b}[31m \u{0} ]]>"])];
    let failed = failure(Cause::Broke(Invariant::OffsetIdempotency), outcome(odd));
    let mut junit = millpond_reports::junit::Junit::new(file.clone());
    for event in [
        Event::Failure(&failed),
        Event::ScenarioFinished(&finished("totals", Judgement::Fail, 418)),
        Event::End(&End { exit: 1, stopped_by: StoppedBy::MaxFail, elapsed: Duration::ZERO }),
    ] {
        junit.event(&event).expect("it is written");
    }
    let xml = std::fs::read_to_string(&file).expect("a file");
    std::fs::remove_dir_all(&folder).expect("it can go");
    assert!(xml.contains("<failure") && xml.contains("&lt;k&gt; &amp;"), "{xml}");
    assert!(!xml.contains('\u{0}') && !xml.contains('\u{1b}'), "{xml}");
}
