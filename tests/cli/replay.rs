//! `millpond replay`.

use crate::support::{BROKEN, FIRST, Here, SOUND};

#[test]
fn a_failure_file_fails_as_recorded_wherever_it_lies() {
    let here = Here::with("broken", BROKEN);
    here.run(&["run"]);
    let file = here.failure();
    here.write("elsewhere.ron", &here.read(&file));
    for file in [file.as_str(), "elsewhere.ron"] {
        let ran = here.run(&["replay", file]);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        assert!(ran.out.contains(&format!(", seed {FIRST}, recorded by engine ")), "{}", ran.out);
        assert!(ran.out.contains(&format!("broke OffsetIdempotency at seed {FIRST} --")), "{}", ran.out);
        assert!(ran.out.contains(&format!("Replay:  millpond replay {file}\n")), "{}", ran.out);
        assert!(
            ran.out.lines().last().is_some_and(|line| line.starts_with("FAIL, as recorded: fingerprint "))
        );
    }
}

#[test]
fn the_file_is_a_scenario_that_says_what_it_is() {
    let here = Here::with("broken", BROKEN);
    here.run(&["run"]);
    let text = here.read(&here.failure());
    let first = format!("// A failure of the scenario broken: OffsetIdempotency broke at seed {FIRST}.\n");
    assert!(text.starts_with(&first), "{text}");
    assert!(text.contains("faults: Plan(["), "{text}");
    assert!(text.contains("workload: ["), "{text}");
    assert!(text.contains("found: (engine: "), "{text}");
    assert!(text.contains("expect: Violation(OffsetIdempotency)"), "{text}");
    assert_eq!(here.run(&["check", &here.failure()]).code, 0);
}

#[test]
fn a_seed_of_a_scenario_is_told_by_what_the_scenario_expects() {
    let here = Here::with("broken", BROKEN);
    here.write("scenarios/sound.ron", SOUND);
    let found = here.run(&["replay", "scenarios/broken.ron", "--seed", &FIRST.to_string()]);
    assert_eq!(found.code, 0);
    assert!(found.out.contains("FOUND, as expected: fingerprint "), "{}", found.out);
    let sound = here.run(&["replay", "scenarios/sound.ron", "--seed", &FIRST.to_string()]);
    assert_eq!(sound.code, 0);
    assert!(sound.out.contains("PASS: fingerprint "), "{}", sound.out);
}

#[test]
fn another_engine_says_so_and_the_plan_still_runs() {
    let here = Here::with("broken", BROKEN);
    here.run(&["run"]);
    let text = here.read(&here.failure()).replace("found: (engine: 1,", "found: (engine: 999,");
    here.write("old.ron", &text);
    let ran = here.run(&["replay", "old.ron"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    let words =
        "another engine (999) recorded this: the seed may draw other choices; the plan is run as listed";
    assert!(ran.out.contains(words), "{}", ran.out);
}

#[test]
fn what_is_fixed_passes() {
    let here = Here::with("broken", BROKEN);
    here.run(&["run"]);
    let text = here.read(&here.failure());
    let fixed = text.replace("write: Increment", "write: Guarded");
    let fixed = fixed.replace("expect: Violation(OffsetIdempotency)", "expect: Pass");
    here.write("fixed.ron", &fixed);
    let ran = here.run(&["replay", "fixed.ron"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("PASS: OffsetIdempotency holds now"), "{}", ran.out);
}
