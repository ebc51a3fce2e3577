//! Every exit code, by what brings it about.

use crate::support::{BROKEN, FIRST, Here, SOUND};

fn unexpected() -> String {
    BROKEN.replace("expect: Violation(OffsetIdempotency),", "")
}

#[test]
fn nought_where_all_is_as_expected() {
    let here = Here::with("sound", SOUND);
    here.write("scenarios/broken.ron", BROKEN);
    let ran = here.run(&["run", "--seeds", "150"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(&format!("FOUND  broken   seed {FIRST} ")), "{}", ran.out);
    assert!(ran.out.contains("PASS   sound    150 seeds"), "{}", ran.out);
    assert!(ran.out.contains("2 as expected in "), "{}", ran.out);
    let last = "This says no more than that these seeds found nothing; go on with --start 150.";
    assert_eq!(ran.last(), last);
}

#[test]
fn one_where_a_violation_is_not_expected() {
    let here = Here::with("broken", &unexpected());
    let ran = here.run(&["run"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains(&format!("---- broken broke OffsetIdempotency at seed {FIRST} ----")),
        "{}",
        ran.out
    );
    let failure = here.failure();
    assert!(ran.out.contains(&format!("\nReplay:  millpond replay {failure}\n")), "{}", ran.out);
    let keep = format!("\nKeep:    mkdir -p scenarios/known && cp {failure} scenarios/known/\n");
    assert!(ran.out.contains(&keep), "{}", ran.out);
    assert_eq!(ran.last(), "1 of 1 scenario failed in T s (exit 1)");
}

#[test]
fn one_where_another_violation_is_found_than_expected() {
    let here =
        Here::with("broken", &BROKEN.replace("Violation(OffsetIdempotency)", "Violation(PartitionOrder)"));
    let ran = here.run(&["run"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains(&format!("FAIL   broken   seed {FIRST}")), "{}", ran.out);
}

#[test]
fn one_where_an_expected_violation_is_not_found() {
    let here = Here::with("sound", &SOUND.replace("reach:", "expect: Violation(OffsetIdempotency), reach:"));
    let ran = here.run(&["run", "--seeds", "120"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("FAIL   sound   120 seeds"), "{}", ran.out);
    assert!(ran.out.contains("OffsetIdempotency is expected and was not found"), "{}", ran.out);
}

#[test]
fn two_where_the_command_line_is_wrong() {
    let here = Here::with("sound", SOUND);
    for args in [
        &["run", "--sedes", "3"][..],
        &["run", "--seeds", "0"],
        &["run", "--seed", "3", "--seeds", "5"],
        &["run", "--only", "ExactlyOnce"],
        &["run", "--budget", "10 minutes"],
        &["run", "--max-fail", "none"],
        &["run", "--start", "-1"],
        &["run", "-j", "0"],
        &["run", "--log", "a=b=c"],
        &["replay", "scenarios/sound.ron"],
        &["explain", "partitons"],
        &["fly"],
        &[],
    ] {
        let ran = here.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.out, ran.err);
        assert!(!ran.err.is_empty(), "{args:?}");
    }
    assert!(
        here.run(&["run", "--only", "ExactlyOnceOutputs"]).err.contains("did you mean ExactlyOnceOutput?")
    );
}

#[test]
fn three_where_a_file_cannot_be_read_or_makes_no_sense() {
    let here = Here::with("sound", SOUND);
    here.write("bad.ron", &SOUND.replace("topics:", "topcis:"));
    here.write("bytes.ron", "\u{0}\u{1}not a scenario");
    for args in [
        &["run", "bad.ron"][..],
        &["run", "scenarios", "missing.ron"],
        &["run", "bytes.ron"],
        &["check", "bad.ron"],
        &["list", "bad.ron"],
        &["replay", "bytes.ron"],
        &["replay", "missing.ron"],
        &["replay", "scenarios", "--seed", "1"],
    ] {
        let ran = here.run(args);
        assert_eq!(ran.code, 3, "{args:?}: {}{}", ran.out, ran.err);
        assert_eq!(ran.out, "", "{args:?}");
    }
    let ran = here.run(&["run", "bad.ron"]);
    assert!(ran.err.contains("did you mean `topics`?"), "{}", ran.err);
    assert!(ran.err.contains("in bad.ron; nothing was run"), "{}", ran.err);
    assert!(here.list(".").iter().all(|name| name != "millpond.out"), "nothing was written");
}

#[test]
fn all_bad_files_are_told_at_once() {
    let here = Here::with("one", "Scenario(");
    here.write("scenarios/two.ron", "");
    let ran = here.run(&["check"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("scenarios/one.ron") && ran.err.contains("scenarios/two.ron"), "{}", ran.err);
}

#[test]
fn four_where_nothing_was_selected() {
    let here = Here::new();
    let ran = here.run(&["run"]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.contains("millpond new"), "{}", ran.err);
    here.write("scenarios/readme.txt", "no scenario");
    assert_eq!(here.run(&["run", "scenarios"]).code, 4);
    assert_eq!(here.run(&["check"]).code, 4);
    here.write("scenarios/sound.ron", SOUND);
    assert_eq!(here.run(&["run", "--filter", "no such name"]).code, 4);
    assert_eq!(here.run(&["run", "--only", "JoinDeterminism"]).code, 4);
    assert_eq!(here.run(&["run", "--known", "only"]).code, 4);
}

#[test]
fn four_where_a_probe_was_never_reached() {
    let here = Here::with("sound", &SOUND.replace("reach: [", "reach: [\"join waited\", "));
    let ran = here.run(&["run", "--seeds", "100"]);
    assert_eq!(ran.code, 4, "{}", ran.out);
    assert!(ran.out.contains("EMPTY  sound   100 seeds"), "{}", ran.out);
    assert!(ran.out.contains("the probe \"join waited\" was never reached"), "{}", ran.out);
    assert_eq!(ran.last(), "1 of 1 scenario proved nothing in T s (exit 4)");
    // A handful of seeds is not asked for that.
    assert_eq!(here.run(&["run", "--seeds", "20"]).code, 0);
    // But a scenario that wants only so many is.
    here.write(
        "scenarios/sound.ron",
        &here.read("scenarios/sound.ron").replace("topics:", "seeds: 20, topics:"),
    );
    assert_eq!(here.run(&["run"]).code, 4);
}

#[test]
fn four_where_the_budget_was_over_before_the_first_seed() {
    let here = Here::with("sound", SOUND);
    let ran = here.run(&["run", "--budget", "1ns"]);
    assert_eq!(ran.code, 4);
    assert!(ran.out.contains("no seed was run"), "{}", ran.out);
}

#[test]
fn five_where_a_recorded_run_goes_another_way() {
    let here = Here::with("broken", BROKEN);
    here.run(&["run"]);
    let file = here.failure();
    let text = here.read(&file);
    let at = text.find("fingerprint: \"").expect("a fingerprint") + "fingerprint: \"".len();
    let changed = format!("{}{}{}", &text[..at], "0123456789abcdef", &text[at + 16..]);
    here.write("known/changed.ron", &changed);
    let ran = here.run(&["replay", "known/changed.ron"]);
    assert_eq!(ran.code, 5, "{}", ran.out);
    assert!(ran.out.contains("recorded 0123456789abcdef"), "{}", ran.out);
    let ran = here.run(&["run", "known"]);
    assert_eq!(ran.code, 5, "{}", ran.out);
    assert!(ran.out.contains("FAIL   changed"), "{}", ran.out);
}

#[test]
fn seventy_four_where_results_cannot_be_written() {
    let here = Here::with("sound", SOUND);
    here.write("mine/letter.txt", "do not touch");
    here.write("file", "a file, not a folder");
    for out in ["mine", "file", "file/below", "/proc/millpond"] {
        let ran = here.run(&["run", "--seeds", "5", "--out", out]);
        assert_eq!(ran.code, 74, "{out}: {}", ran.err);
    }
    assert_eq!(here.list("mine"), ["letter.txt"]);
    assert_eq!(here.run(&["run", "--seeds", "5", "--junit", "file/results.xml"]).code, 74);
}

#[cfg(target_os = "linux")]
#[test]
fn messages_that_no_one_can_read_change_nothing() {
    let here = Here::with("bad", "Scenario(");
    for (args, code) in [(&["check"][..], 3), (&["explain", "partitons"], 2), (&["run", "missing.ron"], 3)] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = here.command(args).stderr(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(code), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn seventy_four_where_the_output_is_full() {
    let here = Here::with("sound", SOUND);
    for args in [&["run", "--seeds", "5"][..], &["list"], &["explain", "exit-codes"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let status = here.command(args).stdout(full).stderr(std::process::Stdio::null()).status();
        assert_eq!(status.expect("it runs").code(), Some(74), "{args:?}");
    }
}
