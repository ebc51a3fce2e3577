//! What `millpond run` writes: text, JSON lines, JUnit, the folder of results.

use std::io::Read as _;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{BROKEN, FIRST, Here, Ran, SOUND, is_there, without_times};

fn three() -> Here {
    let here = Here::with("expected", BROKEN);
    here.write("scenarios/broken.ron", &BROKEN.replace("expect: Violation(OffsetIdempotency),", ""));
    here.write("scenarios/sound.ron", SOUND);
    here
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

fn without_ms(text: &str) -> Vec<Value> {
    let mut lines = lines(text);
    for line in &mut lines {
        line.as_object_mut().expect("an object").remove("ms");
    }
    lines
}

#[test]
fn any_number_of_jobs_gives_the_same() {
    let here = three();
    let run = |jobs: &str, out: &str| {
        let ran = here.run(&["run", "--seeds", "200", "--max-fail", "3", "-v", "-j", jobs, "--out", out]);
        let text = without_times(&ran.out.replace(out, "OUT")).replace(&format!("{jobs} job"), "N job");
        let results = here.read(&format!("{out}/results.jsonl")).replace(out, "OUT");
        let summary = here.read(&format!("{out}/summary.json")).replace(out, "OUT");
        (
            ran.code,
            text.replace("N jobs", "N job"),
            without_ms(&results),
            summary,
            here.list(&format!("{out}/failures")),
        )
    };
    let one = run("1", "out-1");
    assert_eq!(one.0, 1);
    assert_eq!(run("2", "out-2"), one);
    assert_eq!(run("5", "out-5"), one);
}

#[test]
fn json_lines_are_all_that_stdout_holds() {
    let here = three();
    let ran = here.run(&["run", "--seeds", "150", "--message-format", "json"]);
    assert_eq!(ran.code, 1);
    let lines = lines(&ran.out);
    let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().expect("an event")).collect();
    assert_eq!(events, ["start", "failure", "scenario", "failure", "scenario", "scenario", "end"]);
    assert_eq!(lines[0]["format"], 1);
    assert_eq!(lines[1]["scenario"], "broken");
    assert_eq!(lines[1]["seed"], FIRST);
    assert_eq!(lines[1]["expected"], false);
    assert_eq!(lines[1]["kind"], "safety");
    assert_eq!(lines[1]["fingerprint"].as_str().map(str::len), Some(16));
    assert!(is_there(&here.path("millpond.out").join(lines[1]["file"].as_str().expect("a file"))));
    assert_eq!(lines[2]["verdict"], "fail");
    assert_eq!(lines[2]["ranges"][0]["count"], FIRST + 1);
    assert_eq!(lines[4]["verdict"], "found");
    assert_eq!(lines[5]["verdict"], "pass");
    assert_eq!(lines[5]["passed"], 150);
    assert_eq!(lines[6]["exit"], 1);
    assert_eq!(here.read("millpond.out/results.jsonl"), ran.out);
}

#[test]
fn the_summary_is_the_same_each_time() {
    let here = three();
    let summary = || {
        here.run(&["run", "--seeds", "150"]);
        here.read("millpond.out/summary.json")
    };
    let first = summary();
    assert_eq!(summary(), first);
    let value: Value = serde_json::from_str(&first).expect("JSON");
    assert_eq!(value["scenarios"].as_array().map(Vec::len), Some(3));
    assert_eq!(value["failures"].as_array().map(Vec::len), Some(2));
}

#[test]
fn junit_has_a_suite_for_each_scenario_and_a_case_for_each_invariant() {
    let here = three();
    here.run(&["run", "--seeds", "150", "--junit", "reports/results.xml"]);
    let xml = here.read("reports/results.xml");
    assert!(xml.starts_with("<?xml"), "{xml}");
    let head = xml.lines().find(|line| line.contains("<testsuites ")).expect("a head");
    assert!(head.contains("tests=\"18\"") && head.contains("failures=\"1\""), "{head}");
    assert_eq!(xml.matches("<testsuite ").count(), 3);
    assert_eq!(xml.matches("<testcase ").count(), 3 * 6);
    assert!(xml.contains("Replay:  millpond replay millpond.out/failures/broken-"), "{xml}");
    for tag in ["testsuites", "testsuite", "testcase", "failure", "system-out", "property"] {
        let opened = xml.matches(&format!("<{tag} ")).count() + xml.matches(&format!("<{tag}>")).count();
        let closed = xml.matches(&format!("</{tag}>")).count();
        let start = format!("<{tag} ");
        let heads = xml.split(&start).skip(1).filter_map(|rest| rest.split('>').next());
        let empty = heads.filter(|head| head.ends_with('/')).count();
        assert_eq!(opened, closed + empty, "{tag} is closed as often as it is opened");
    }
}

#[test]
fn a_failure_that_is_not_the_last_is_told_again_at_the_end() {
    let here = three();
    let ran = here.run(&["run", "--seeds", "150"]);
    let block = format!("---- broken broke OffsetIdempotency at seed {FIRST} --");
    assert_eq!(ran.out.matches(&block).count(), 2, "{}", ran.out);
    assert_eq!(ran.last(), "1 of 3 scenarios failed in T s (exit 1)");
}

#[test]
fn quiet_prints_failures_only() {
    let here = three();
    let ran = here.run(&["run", "--seeds", "150", "-q"]);
    assert!(
        !ran.out.contains("PASS") && !ran.out.contains("FOUND") && ran.out.contains("FAIL"),
        "{}",
        ran.out
    );
    assert_eq!(ran.err, "");
}

#[test]
fn verbose_counts_probes_faults_and_comparisons() {
    let here = Here::with("sound", SOUND);
    let ran = here.run(&["run", "--seeds", "150", "--verbose"]);
    for text in ["PartitionOrder: ", " comparisons", "Crash: ", "took effect", "guard skipped: "] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    let here = three();
    assert!(!here.run(&["run"]).out.contains('\u{1b}'));
    let ran = here.run(&["run", "--color", "always"]);
    assert!(ran.out.contains("\u{1b}[1m\u{1b}[31mFAIL"), "{:?}", ran.out);
    assert!(here.run(&["list", "--color", "always"]).out.contains('\u{1b}'));
    let mut forced = here.command(&["list"]);
    forced.env("CLICOLOR_FORCE", "1");
    assert!(Ran::from(forced.output().expect("it runs")).out.contains('\u{1b}'));
}

#[test]
fn a_reader_that_has_read_enough_does_no_harm() {
    let here = three();
    let mut child = here
        .command(&["run", "--seeds", "150"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut first = [0; 4];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("some output");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert!(is_there(&here.path("millpond.out/summary.json")));
}

#[test]
fn the_results_before_are_kept_once() {
    let here = three();
    here.run(&["run", "--seeds", "10"]);
    here.run(&["run", "--seeds", "20"]);
    here.run(&["run", "--seeds", "30"]);
    let seeds = |name: &str| lines(&here.read(name))[0]["seeds"].clone();
    assert_eq!(seeds("millpond.out/results.jsonl"), 30);
    assert_eq!(seeds("millpond.out.old/results.jsonl"), 20);
    assert_eq!(here.list("."), ["millpond.out", "millpond.out.old", "scenarios"]);
}

#[test]
fn every_flag_is_a_variable_too_and_unknown_ones_are_told() {
    let here = three();
    let mut command = here.command(&["run", "--filter", "sound"]);
    command.env("MILLPOND_SEEDS", "7").env("MILLPOND_QUIET", "0").env("MILLPOND_SEDES", "8");
    let ran = Ran::from(command.output().expect("it runs"));
    assert!(ran.out.contains("PASS   sound   7 seeds"), "{}", ran.out);
    let words = "the variable MILLPOND_SEDES means nothing here; did you mean MILLPOND_SEEDS?";
    assert!(ran.err.contains(words), "{}", ran.err);
}

#[test]
fn progress_is_lines_where_there_is_no_terminal() {
    let here = Here::with("sound", SOUND);
    let ran = here.run(&["run", "--seeds", "3000"]);
    let told: Vec<_> = ran.err.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(told, ["#1024", "#2048"]);
    assert_eq!(here.run(&["run", "--seeds", "3000", "--progress", "none"]).err, "");
}

#[test]
fn the_log_has_virtual_times() {
    let here = Here::with("broken", BROKEN);
    let ran = here.run(&["replay", "scenarios/broken.ron", "--seed", "2", "--log", "millpond=debug"]);
    assert!(ran.err.lines().any(|line| line.contains("s DEBUG ") && line.contains("node=")), "{}", ran.err);
    let stamp = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let virtual_time = |line: &str| stamp(line).parse::<millpond::sim::time::Span>().is_ok();
    assert!(ran.err.lines().all(virtual_time), "no wall-clock times: {}", ran.err);
}
