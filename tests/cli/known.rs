//! Recorded failures in folders named `known`.

use crate::support::{BROKEN, Here, SOUND};

fn with_known() -> (Here, String) {
    let here = Here::with("broken", BROKEN);
    here.run(&["run"]);
    let text = here.read(&here.failure());
    here.write("scenarios/deep/known/old.ron", &text);
    (here, text)
}

fn words(out: &str) -> Vec<(String, String)> {
    let lines = out.lines().filter(|line| line.starts_with("  "));
    let pairs = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    });
    pairs.filter(|(word, _)| word.chars().all(char::is_uppercase)).collect()
}

fn pair(word: &str, name: &str) -> (String, String) {
    (word.to_owned(), name.to_owned())
}

#[test]
fn they_run_first_and_once() {
    let (here, _) = with_known();
    let ran = here.run(&["run"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(words(&ran.out), [pair("KNOWN", "old"), pair("FOUND", "broken")]);
    assert!(ran.out.contains("OffsetIdempotency, as recorded"), "{}", ran.out);
}

#[test]
fn they_can_be_left_out_or_run_alone() {
    let (here, _) = with_known();
    assert_eq!(words(&here.run(&["run", "--known", "skip"]).out), [pair("FOUND", "broken")]);
    assert_eq!(words(&here.run(&["run", "--known", "only"]).out), [pair("KNOWN", "old")]);
}

#[test]
fn one_that_no_longer_fails_says_so_until_its_file_does() {
    let (here, text) = with_known();
    let fixed = text.replace("write: Increment", "write: Guarded");
    // By another engine: what has changed is the code, and fingerprints with it.
    let fixed = fixed.replace("found: (engine: 1,", "found: (engine: 999,");
    here.write("scenarios/deep/known/old.ron", &fixed);
    let ran = here.run(&["run", "--known", "only"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert_eq!(words(&ran.out), [pair("FIXED", "old")]);
    assert!(ran.out.contains("set `expect: Pass`"), "{}", ran.out);
    let passing = fixed.replace("expect: Violation(OffsetIdempotency)", "expect: Pass");
    here.write("scenarios/deep/known/old.ron", &passing);
    let ran = here.run(&["run", "--known", "only"]);
    assert_eq!((ran.code, words(&ran.out)), (0, vec![pair("PASS", "old")]));
}

#[test]
fn one_that_should_pass_and_fails_again_is_a_failure() {
    let (here, text) = with_known();
    let back = text.replace("expect: Violation(OffsetIdempotency)", "expect: Pass");
    here.write("scenarios/deep/known/old.ron", &back);
    let ran = here.run(&["run", "--known", "only"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("Replay:  millpond replay scenarios/deep/known/old.ron"), "{}", ran.out);
    assert!(!ran.out.contains("Keep:"), "it is kept already: {}", ran.out);
}

#[test]
fn the_commands_of_a_block_do_what_they_say() {
    let here = Here::with("mine", &BROKEN.replace("expect: Violation(OffsetIdempotency),", ""));
    here.write("scenarios/sound.ron", SOUND);
    let ran = here.run(&["run", "--seeds", "120"]);
    assert_eq!(ran.code, 1);
    let keep = ran.out.lines().find_map(|line| line.strip_prefix("Keep:    ")).expect("a command");
    let status = std::process::Command::new("sh").args(["-c", keep]).current_dir(here.path(".")).status();
    assert!(status.expect("a shell").success());
    let ran = here.run(&["run", "--known", "only"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("KNOWN  mine-"), "{}", ran.out);
}
