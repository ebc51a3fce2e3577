//! Search, shrinking and explaining, as a user meets them.

use serde_json::Value;

use crate::support::{BROKEN, FIRST, Here, SOUND};

/// A folder with a failure that was not shrunk.
fn unshrunk() -> Here {
    let here = Here::with("broken", BROKEN);
    assert_eq!(here.run(&["run", "--shrink", "never"]).code, 0);
    here
}

/// How many faults and records the smallest cause has.
fn size(text: &str) -> (u32, u32) {
    let line = text.lines().find(|line| line.contains("Smallest cause: ")).expect("a smallest cause");
    let words: Vec<_> = line.split_whitespace().collect();
    let before = |word: &str| {
        let at = words.iter().position(|it| it.starts_with(word)).expect("the word");
        words[at - 3].parse().expect("a number")
    };
    (before("fault"), before("record"))
}

#[test]
fn a_failure_is_told_by_its_smallest_cause_and_its_story() {
    let here = Here::with("broken", BROKEN);
    let ran = here.run(&["run"]);
    let (faults, records) = size(&ran.out);
    assert!(faults <= 2 && records <= 10, "{}", ran.out);
    for text in [
        "took effect twice in ledger",
        "without any one of them it passes",
        "      fails in ",
        "      bites ",
        "What happened (",
        "<- 1\n",
        "<- witness\n",
    ] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
    let file = here.read(&here.failure());
    assert_eq!(size(&file), (faults, records), "the opening comment tells it, too");
}

#[test]
fn verbose_shows_where_the_run_parts_from_one_that_passes() {
    let here = Here::with("broken", BROKEN);
    let ran = here.run(&["run", "-v"]);
    assert!(ran.out.contains("Where it parts from the run without "), "{}", ran.out);
    assert!(ran.out.contains("    --- passes\n    +++ fails\n"), "{}", ran.out);
}

#[test]
fn shrink_writes_a_smaller_file_that_fails_as_recorded_and_a_test() {
    let here = unshrunk();
    let (old, out) = (here.failure(), "smaller");
    let ran = here.run(&["shrink", &old, "--test", "--out", out]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let (faults, records) = size(&ran.out);
    assert!(faults <= 2 && records <= 10, "{}", ran.out);
    let files = here.list(out);
    let [ron, rs] = files.as_slice() else { panic!("{files:?}") };
    let (ron, rs) = (format!("{out}/{ron}"), here.read(&format!("{out}/{rs}")));
    assert!(ran.out.contains(&format!("\nWritten: {ron}\n")), "{}", ran.out);
    assert_eq!(here.run(&["check", &ron]).code, 0);
    let replayed = here.run(&["replay", &ron]);
    assert_eq!(replayed.code, 1);
    assert!(replayed.last().starts_with("FAIL, as recorded: "), "{}", replayed.out);
    assert!(rs.contains("#[test]\nfn holds_broken_") && rs.contains("OffsetIdempotency"), "{rs}");
    let outcome = millpond::replay("kept", &here.read(&ron)).expect("a scenario without mistakes");
    assert!(outcome.broken().any(|verdict| verdict.invariant == millpond::Invariant::OffsetIdempotency));
}

#[test]
fn what_is_as_small_as_it_gets_keeps_its_name() {
    let here = Here::with("broken", BROKEN);
    here.run(&["run"]);
    let file = here.failure();
    let ran = here.run(&["shrink", &file]);
    assert!(ran.out.contains(&format!("\nWritten: {file}\n")), "{}", ran.out);
}

#[test]
fn shrink_says_why_there_is_nothing_to_shrink() {
    let here = Here::with("sound", SOUND);
    let none = here.run(&["shrink", "scenarios/sound.ron"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("records no failure: name a failing seed with --seed"), "{}", none.err);
    let passes = here.run(&["shrink", "scenarios/sound.ron", "--seed", "3"]);
    assert_eq!(passes.code, 4);
    assert!(passes.err.contains("breaks nothing: there is nothing to shrink"), "{}", passes.err);
    assert_eq!(here.run(&["shrink", "nowhere.ron", "--seed", "3"]).code, 3);
}

#[test]
fn a_seed_of_a_scenario_can_be_shrunk() {
    let here = Here::with("broken", BROKEN);
    let ran = here.run(&["shrink", "scenarios/broken.ron", "--seed", &FIRST.to_string(), "--out", "small"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(here.list("small").len(), 1);
}

#[test]
fn blame_tells_how_likely_the_failure_had_become() {
    let here = Here::with("broken", BROKEN);
    here.run(&["run"]);
    let ran = here.run(&["replay", &here.failure(), "--blame"]);
    assert_eq!(ran.code, 1);
    for text in ["How likely it had become (of 100 runs", "  the start\n", "  <- no return\n"] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
}

#[test]
fn failures_that_look_alike_are_told_once() {
    let here = Here::with("broken", BROKEN);
    let ran = here.run(&["run", "--seeds", "60", "--max-fail", "all"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let blocks = ran.out.matches("---- broken broke ").count();
    let failures = here.list("millpond.out/failures").len();
    assert!(blocks < failures, "{blocks} blocks, {failures} files");
    assert!(ran.out.contains(" failures look like this one ("), "{}", ran.out);
}

#[test]
fn every_strategy_finds_it_and_says_what_there_was_to_try() {
    let here = Here::with("broken", BROKEN);
    for (strategy, words) in [
        ("mix", ""),
        ("swarm", ""),
        ("priorities", ""),
        ("systematic", " effect boundaries in 4 base runs, "),
        ("exhaustive", "3 records, "),
        ("guided", " orders of two events seen"),
    ] {
        let ran = here.run(&["run", "--search", strategy, "--depth", "2", "--shrink", "never"]);
        assert_eq!(ran.code, 0, "{strategy}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("FOUND") && ran.out.contains(words), "{strategy}: {}", ran.out);
    }
    assert_eq!(here.run(&["run", "--search", "magic"]).code, 2);
    assert_eq!(here.run(&["run", "--depth", "3"]).code, 2);
}

#[test]
fn all_cases_of_a_strategy_that_can_be_counted_are_run() {
    let here = Here::with("sound", SOUND);
    let ran = here.run(&["run", "--search", "exhaustive", "--seeds", "100000", "--message-format", "json"]);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let runs = lines.iter().find_map(|line| line["ranges"][0]["count"].as_u64()).expect("a scenario");
    assert!((10..100_000).contains(&runs), "{runs}");
    assert!(lines.iter().all(|line| line["stopped_by"] != "budget"));
}

#[test]
fn a_campaign_ends_when_nothing_new_comes() {
    let here = Here::with("sound", SOUND);
    let ran = here.run(&["run", "--seeds", "100000", "--until-quiet", "40"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("it had been quiet for long enough"), "{}", ran.out);
    assert!(!ran.out.contains("100000 seeds"), "{}", ran.out);
}

#[test]
fn a_catalogue_is_measured() {
    let here = Here::with("broken", BROKEN);
    here.write("scenarios/sound.ron", SOUND);
    let args = ["bugs", "scenarios", "--campaigns", "3", "--twins", "50"];
    let ran = here.run(&args);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("  3/3  "), "{}", ran.out);
    assert!(ran.last().starts_with("1 of 1 bugs found by mix from every start"), "{}", ran.out);
    assert!(ran.last().ends_with("0 false alarms in 50 runs of 1 twins"), "{}", ran.out);
    let json = here.run(&[&args[..], &["--json", "--search", "all"]].concat());
    let json: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(json["good"], true);
    assert_eq!(json["bugs"][0]["searches"].as_array().map(Vec::len), Some(6));
    assert_eq!(json["bugs"][0]["shrunk"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_false_alarm_and_a_bug_that_is_not_found_are_failures() {
    let here = Here::new();
    here.write("bugs/alarm.ron", &BROKEN.replace("expect: Violation(OffsetIdempotency),", ""));
    here.write("bugs/missed.ron", &SOUND.replace("reach:", "expect: Violation(OffsetIdempotency), reach:"));
    let ran = here.run(&["bugs", "--campaigns", "2", "--most", "40", "--twins", "50"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("FALSE ALARM  alarm  seed "), "{}", ran.out);
    assert!(ran.out.contains("  0/2  "), "{}", ran.out);
}
