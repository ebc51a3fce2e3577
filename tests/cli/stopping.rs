//! What ends a campaign, and which seeds it runs.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{BROKEN, FIRST, Here, SOUND, is_there};

fn end(here: &Here) -> Value {
    let text = here.read("millpond.out/results.jsonl");
    serde_json::from_str(text.lines().last().expect("a line")).expect("JSON")
}

/// Sends a signal to a campaign that would never end.
fn signalled(here: &Here, signal: &str) -> (Option<i32>, String) {
    let endless = ["run", "--filter", "sound", "--seeds", "100000000", "--progress", "none"];
    let mut child = here.command(&endless).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    out.read_line(&mut first).expect("the line that says that it runs");
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let rest: Vec<_> = out.lines().map_while(Result::ok).collect();
    (child.wait().expect("it ends").code(), rest.join("\n"))
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_everything_written() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let here = Here::with("sound", SOUND);
        let (exit, out) = signalled(&here, signal);
        assert_eq!(exit, Some(code), "{out}");
        assert!(out.contains("stopped by a signal"), "{out}");
        assert_eq!(end(&here)["stopped_by"], "signal");
        assert_eq!(end(&here)["exit"], code);
        assert!(is_there(&here.path("millpond.out/summary.json")));
    }
}

#[cfg(unix)]
#[test]
fn two_runs_do_not_write_to_one_folder() {
    let here = Here::with("sound", SOUND);
    let endless = ["run", "--seeds", "100000000", "--progress", "none"];
    let mut child = here.command(&endless).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut first = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut first).expect("it runs");
    let ran = here.run(&["run", "--seeds", "5"]);
    child.kill().expect("it can be ended");
    child.wait().expect("it ends");
    assert_eq!(ran.code, 74);
    assert!(ran.err.contains("another run writes to millpond.out"), "{}", ran.err);
    // What was ended hard holds no lock.
    assert_eq!(here.run(&["run", "--seeds", "5"]).code, 0);
}

#[test]
fn a_budget_ends_it() {
    let here = Here::with("sound", SOUND);
    let ran = here.run(&["run", "--budget", "300ms"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("the time is over"), "{}", ran.out);
    assert_eq!(end(&here)["stopped_by"], "budget");
}

#[test]
fn more_failures_than_one_are_found_where_asked_for() {
    let here = Here::with("broken", &BROKEN.replace("expect: Violation(OffsetIdempotency),", ""));
    here.run(&["run", "--seeds", "100", "--max-fail", "4"]);
    assert_eq!(here.list("millpond.out/failures").len(), 4);
    assert_eq!(end(&here)["stopped_by"], "max-fail");
    let ran = here.run(&["run", "--seeds", "100", "--max-fail", "all"]);
    assert_eq!(end(&here)["stopped_by"], "seeds");
    assert!(ran.out.contains(" more of 100 seeds"), "{}", ran.out);
}

#[test]
fn fail_fast_leaves_the_scenarios_behind_the_first_that_fails() {
    let here = Here::with("broken", &BROKEN.replace("expect: Violation(OffsetIdempotency),", ""));
    here.write("scenarios/sound.ron", SOUND);
    let ran = here.run(&["run", "--fail-fast"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("stopped at the first scenario that failed; 1 scenario not run"), "{}", ran.out);
    assert_eq!(ran.out.matches("---- broken broke").count(), 1, "nothing came between: {}", ran.out);
}

#[test]
fn seeds_begin_where_asked_for() {
    let here = Here::with("sound", SOUND);
    let ran = here.run(&["run", "--start", "500", "--seeds", "10"]);
    assert!(ran.out.contains("seeds 500..510") && ran.out.contains("--start 510"), "{}", ran.out);
    let one = here.run(&["run", "--seed", "77"]);
    assert!(one.out.contains("seed 77,") && one.out.contains("sound   seed 77 "), "{}", one.out);
    let random = || {
        here.run(&["run", "--start", "random", "--seeds", "5", "--message-format", "json"]);
        let text = here.read("millpond.out/results.jsonl");
        let first: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
        first["start"].as_u64().expect("a number")
    };
    let (one, two) = (random(), random());
    assert!(one != two && one < 1 << 53 && two < 1 << 53);
}

#[test]
fn only_one_invariant_is_looked_at_where_asked_for() {
    let here = Here::with("broken", BROKEN);
    let ran = here.run(&["run", "--only", "PartitionOrder", "--seeds", "50"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("PASS   broken   50 seeds"), "{}", ran.out);
    let ran = here.run(&["run", "--only", "OffsetIdempotency", "--seeds", "50"]);
    assert!(ran.out.contains(&format!("FOUND  broken   seed {FIRST}")), "{}", ran.out);
}

#[test]
fn filter_looks_at_names_and_claims() {
    let here = Here::with("broken", BROKEN);
    here.write("scenarios/other.ron", &SOUND.replace("C28", "C01"));
    assert!(here.run(&["run", "--filter", "C28", "--seeds", "20"]).out.contains("1 scenario, "));
    assert!(here.run(&["run", "--filter", "oth", "--seeds", "20"]).out.contains("PASS   other"));
}

#[cfg(unix)]
#[test]
fn links_may_go_round_in_circles() {
    let here = Here::with("a/sound", SOUND);
    for link in ["scenarios/a/up", "scenarios/a/again"] {
        std::os::unix::fs::symlink("..", here.path(link)).expect("a link");
    }
    assert!(here.run(&["check"]).out.contains("1 scenario, no mistakes"));
}

#[test]
fn an_expected_violation_that_a_budget_left_no_time_for_is_not_missed() {
    let text = SOUND.replace("reach:", "seeds: 100000000, expect: Violation(OffsetIdempotency), reach:");
    let here = Here::with("sound", &text);
    let ran = here.run(&["run", "--budget", "200ms"]);
    assert_eq!(ran.code, 4, "{}", ran.out);
    assert!(ran.out.contains("OffsetIdempotency is expected; it was stopped after "), "{}", ran.out);
}

#[test]
fn files_of_one_name_are_told_apart_and_run_once() {
    let here = Here::with("a/same", SOUND);
    here.write("scenarios/b/same.ron", SOUND);
    let ran = here.run(&["run", "scenarios", "scenarios/a/same.ron", "--seeds", "20"]);
    assert!(ran.out.contains("2 scenarios"), "{}", ran.out);
    assert!(ran.out.contains("PASS   a/same ") && ran.out.contains("PASS   b/same "), "{}", ran.out);
}

#[test]
fn every_seed_can_be_run_twice() {
    let here = Here::with("sound", SOUND);
    assert_eq!(here.run(&["run", "--check-determinism", "--seeds", "100"]).code, 0);
}
