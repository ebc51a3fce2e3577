//! Traces of a replay.

use serde_json::Value;

use crate::support::{BROKEN, FIRST, Here};

fn failing() -> (Here, String) {
    let here = Here::with("broken", BROKEN);
    here.run(&["run"]);
    let file = here.failure();
    (here, file)
}

#[test]
fn every_format_is_written_by_the_ending_of_its_file() {
    let (here, file) = failing();
    for (name, begins) in [
        ("run.jsonl", "{\"trace\":1,"),
        ("run.json", "{\"displayTimeUnit\""),
        ("run.shiviz", "(?<event>.*)\\n(?<host>"),
        ("run.mmd", "sequenceDiagram\n"),
        ("run.svg", "<svg "),
    ] {
        let ran = here.run(&["replay", &file, "--trace", name]);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        assert!(ran.last().starts_with("Trace: ") && ran.last().ends_with(name), "{}", ran.out);
        assert!(here.read(name).starts_with(begins), "{name}");
    }
    let chrome: Value = serde_json::from_str(&here.read("run.json")).expect("JSON");
    assert!(chrome["traceEvents"].as_array().is_some_and(|events| events.len() > 100));
}

#[test]
fn a_window_narrows_a_trace() {
    let (here, file) = failing();
    let lines = |args: &[&str]| {
        let ran = here.run(&[&["replay", &file, "--trace", "run.jsonl"], args].concat());
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        here.read("run.jsonl").lines().count()
    };
    let all = lines(&[]);
    assert!(lines(&["--to", "1s"]) < all);
    assert!(lines(&["--node", "ledger"]) < all);
    assert!(
        lines(&["--kind", "Write", "--kind", "Written"])
            < lines(&["--kind", "Write", "--kind", "Commit", "--kind", "Heartbeat"])
    );
}

#[test]
fn mistakes_in_a_window_are_answered_with_what_there_is() {
    let (here, file) = failing();
    for (args, answer) in [
        (["--trace", "run.svgg"], "did you mean .svg?"),
        (["--node", "brokr-0"], "did you mean `broker-0`?"),
        (["--kind", "Comit"], "did you mean `Commit`?"),
    ] {
        let more = if args[0] == "--trace" { vec![] } else { vec!["--trace", "run.svg"] };
        let ran = here.run(&[&["replay", &file], &args[..], &more].concat());
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(answer), "{}", ran.err);
    }
    let turned = here.run(&["replay", &file, "--trace", "run.svg", "--from", "3s", "--to", "1s"]);
    assert_eq!(turned.code, 2);
    assert!(turned.err.contains("--from 3s is later than --to 1s"), "{}", turned.err);
}

#[test]
fn a_trace_is_compared_with_one_that_was_written_or_with_another_run() {
    let (here, file) = failing();
    here.run(&["replay", &file, "--trace", "run.jsonl"]);
    let same = here.run(&["replay", &file, "--against", "run.jsonl"]);
    assert!(
        same.last().starts_with("The same ") && same.last().ends_with("lines as run.jsonl."),
        "{}",
        same.out
    );
    let seed = FIRST.to_string();
    let other = here.run(&["replay", "scenarios/broken.ron", "--seed", &seed, "--against", &file]);
    assert!(other.out.contains("The first difference to "), "{}", other.out);
    let signs: Vec<_> = other.out.lines().rev().take(2).map(|line| &line[..4]).collect();
    assert_eq!(signs, ["  + ", "  - "]);
}

#[test]
fn what_is_no_trace_is_answered_with_its_line() {
    let (here, file) = failing();
    here.write("empty.jsonl", "");
    here.write("torn.jsonl", "{\"trace\":1}\n{\"time_ns\":1,\"words\":\"x\"}\n{\"time_ns\":");
    here.write("other.jsonl", "{\"event\":\"start\"}\n");
    for (name, answer) in [
        ("empty.jsonl", "it is empty"),
        ("torn.jsonl", "line 3 is not JSON"),
        ("other.jsonl", "it is no trace"),
    ] {
        let ran = here.run(&["replay", &file, "--against", name]);
        assert_eq!(ran.code, 3, "{name}: {}", ran.out);
        assert!(ran.err.contains(answer), "{name}: {}", ran.err);
    }
}
