//! Golden fingerprints: the same scenario, seed and engine go the same way, in debug and release, on
//! every platform, in every process. A change that moves them changes what a seed means: then
//! `ENGINE` goes up, and `UPDATE_GOLDEN=1 cargo test --test golden` writes the new ones.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use millpond::model::scenario::read;
use millpond::model::trial::Trial;
use millpond::sim::ENGINE;
use millpond::sim::search::{Experiment, Outcome, Tracing};

const SEEDS: [u64; 4] = [0, 1, 7, 1_000_003];

fn scenarios(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the folder of scenarios can be read");
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.ends_with("known") {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "ron") {
            found.push(path);
        }
    }
}

#[test]
fn fingerprints_are_those_of_this_engine() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    scenarios(&root.join("scenarios"), &mut paths);
    let mut actual = format!("engine {ENGINE}\n");
    for path in paths {
        let text = fs::read_to_string(&path).expect("a scenario can be read");
        let scenario = read(&text).unwrap_or_else(|mistakes| panic!("{}: {mistakes:?}", path.display()));
        let name = path.file_stem().expect("a scenario has a name").to_string_lossy().into_owned();
        let trial = Trial::new(&name, scenario);
        for seed in SEEDS {
            let outcome = trial.run(seed, &trial.draw(seed), Tracing::Off);
            writeln!(actual, "{name} {seed} {:016x}", outcome.fingerprint()).expect("a text takes it");
        }
    }
    let file = root.join("tests/golden/fingerprints.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&file, &actual).expect("the golden file can be written");
    }
    let golden = fs::read_to_string(&file).unwrap_or_default();
    let moved: Vec<_> = actual.lines().zip(golden.lines()).filter(|(one, two)| one != two).collect();
    assert!(actual == golden, "fingerprints moved (new, golden): {moved:#?}");
}

#[test]
fn a_failure_that_was_recorded_fails_as_recorded_in_every_build() {
    let text = include_str!("golden/failure.ron");
    let found = millpond::read(text).expect("a scenario without mistakes").found.expect("a recorded failure");
    let outcome = millpond::replay("failure", text).expect("a scenario without mistakes");
    assert!(outcome.broken().any(|verdict| verdict.invariant == found.broke));
    if found.engine == millpond::sim::ENGINE {
        assert_eq!(format!("{:016x}", outcome.fingerprint), found.fingerprint);
    }
}
