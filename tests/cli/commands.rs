//! The commands beside `run` and `replay`.

use crate::support::{BROKEN, Here, Ran, SOUND};

#[test]
fn new_writes_what_check_and_run_accept() {
    let here = Here::new();
    assert_eq!(here.run(&["new", "a folder/first.ron"]).code, 0);
    assert_eq!(here.run(&["check", "a folder/first.ron"]).code, 0);
    let ran = here.run(&["run", "a folder/first.ron"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("PASS   first"), "{}", ran.out);
}

#[test]
fn new_shows_a_violation_when_its_hint_is_followed() {
    let here = Here::new();
    here.run(&["new", "first.ron"]);
    here.write("first.ron", &here.read("first.ron").replace("write: Guarded", "write: Increment"));
    let ran = here.run(&["run", "first.ron"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("broke OffsetIdempotency"), "{}", ran.out);
}

#[test]
fn new_leaves_what_is_there() {
    let here = Here::new();
    here.write("first.ron", "mine");
    assert_eq!(here.run(&["new", "first.ron"]).code, 2);
    assert_eq!(here.read("first.ron"), "mine");
    assert_eq!(here.run(&["new", "first.ron/second.ron"]).code, 74);
}

#[test]
fn list_tells_what_scenarios_are_about() {
    let here = Here::with("broken", BROKEN);
    here.write("scenarios/sound.ron", SOUND);
    let ran = here.run(&["list"]);
    assert_eq!(ran.code, 0);
    for text in ["broken  C28", "expects  a violation of OffsetIdempotency", "expects  no violation"] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
    assert_eq!(here.run(&["list", "-q"]).out, "broken\nsound\n");
}

#[test]
fn explain_knows_every_kind_of_name() {
    let here = Here::new();
    for (name, says) in [
        ("topics.partitions", "How many partitions"),
        ("partitions", "faults.Draw.partitions"),
        ("Crash", "a fault: processes die at once"),
        ("OffsetIdempotency", "an invariant: An input offset"),
        ("NoPanic", "an invariant: No actor panics"),
        ("zombie fenced", "a probe: a sink refused"),
        ("fence forgotten", "a bug: a fenced sink forgets at a restart"),
        ("unknown-topic", "a mistake in a scenario: A topic is used"),
        ("5", "exit code 5: not deterministic"),
        ("exit-codes", " 74  results could not be written"),
        ("faults", "LoseDisk      a crash after which the disk is empty"),
        ("invariants", "Bounds"),
        ("probes", "guard skipped"),
        ("bugs", "(oxia#87)"),
        ("errors", "two-joins"),
    ] {
        let ran = here.run(&["explain", name]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        assert!(ran.out.contains(says), "{name}: {}", ran.out);
    }
    assert_eq!(here.run(&["explain", "zombie", "fenced"]).code, 0);
    let ran = here.run(&["explain", "OffsetIdempotencey"]);
    assert!(ran.err.contains("did you mean `OffsetIdempotency`"), "{}", ran.err);
}

#[test]
fn every_exit_code_is_explained_as_the_table_has_it() {
    let here = Here::new();
    let all = here.run(&["explain", "exit-codes"]).out;
    for (_, code, meaning) in millpond::exit::Exit::TABLE {
        assert!(all.contains(&format!("{code:>4}  {meaning}\n")), "{code}");
    }
}

#[test]
fn demo_works_and_says_so() {
    let here = Here::new();
    let mut command = here.command(&["demo"]);
    let ran = Ran::from(command.env("TMPDIR", here.path(".")).output().expect("it runs"));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    for text in ["fails as recorded", "100 seeds find nothing", "All as it should be"] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
}

#[test]
fn completions_are_printed_for_each_shell() {
    let here = Here::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = here.run(&["completions", shell]);
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains("check-determinism"), "{shell}");
    }
}

#[test]
fn every_help_ends_with_examples_and_exit_codes() {
    let here = Here::new();
    for command in
        ["", "run", "replay", "shrink", "check", "list", "explain", "new", "bugs", "demo", "completions"]
    {
        let args: Vec<_> = [command, "--help"].into_iter().filter(|arg| !arg.is_empty()).collect();
        let ran = here.run(&args);
        assert_eq!(ran.code, 0);
        let end = ran.out.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{command}: no examples"));
        assert_eq!(end.lines().filter(|line| line.starts_with("  millpond")).count(), 2, "{command}");
        assert!(end.trim_end().ends_with("What exit codes mean: millpond explain exit-codes"), "{command}");
    }
}
