//! Failures as files, and the folder of results.

use std::fs;
use std::path::PathBuf;

use millpond_model::scenario::read;
use millpond_model::scenario::schema::{Expect, Faults, Invariant};
use millpond_reports::failure::{Cause, failure_file, file_stem, id};
use millpond_reports::folder::{Folder, FolderError, write_whole};

use crate::made::{failure, outcome, plan, scenario, verdict};

const OFFSETS: Invariant = Invariant::OffsetIdempotency;

/// A folder that is gone when the test is over.
struct Here(PathBuf);

impl Here {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("millpond-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_failure_file_reads_back_as_the_scenario_with_its_plan() {
    let failure = failure(Cause::Broke(OFFSETS), outcome(vec![verdict(OFFSETS, &["Twice."])]));
    let text = failure_file(&scenario(""), &failure, OFFSETS, "totals-9f3c2a71.ron");
    let kept = read(&text).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{text}"));
    assert_eq!(kept.faults, Faults::Plan(plan().faults));
    assert_eq!(kept.workload, Some(plan().workload));
    assert_eq!(kept.expect, Expect::Violation(OFFSETS));
    let found = kept.found.expect("where it was found");
    assert_eq!((found.seed, found.broke), (417, OFFSETS));
    assert_eq!(found.fingerprint, "5b0e77c1d2a94f08");
}

#[test]
fn the_name_of_a_failure_is_the_same_everywhere_and_depends_on_what_it_is() {
    let one = id("totals", "OffsetIdempotency", &plan());
    assert_eq!(one, "247f4338", "a name in someone's repository must stay what it is");
    assert_ne!(one, id("totals", "PartitionOrder", &plan()));
    assert_ne!(one, id("total", "sOffsetIdempotency", &plan()));
    let mut fewer = plan();
    fewer.faults.pop();
    assert_ne!(one, id("totals", "OffsetIdempotency", &fewer));
    assert_eq!(file_stem("a/b c"), "a-b-c");
}

#[test]
fn the_folder_before_becomes_old_and_the_one_before_that_goes() {
    let here = Here::new("rotation");
    let path = here.0.join("out");
    for n in 0..3 {
        let folder = Folder::open(&path).expect("a folder");
        write_whole(&folder.summary(), &n.to_string()).expect("a file");
    }
    assert_eq!(fs::read_to_string(path.join("summary.json")).expect("a file"), "2");
    assert_eq!(fs::read_to_string(here.0.join("out.old/summary.json")).expect("a file"), "1");
}

#[test]
fn a_folder_in_use_or_of_other_things_is_left_alone() {
    let here = Here::new("busy");
    let path = here.0.join("out");
    let first = Folder::open(&path).expect("a folder");
    assert!(matches!(Folder::open(&path), Err(FolderError::Busy(_))));
    assert!(matches!(Folder::open(&here.0), Err(FolderError::Foreign(_))));
    drop(first);
    assert!(Folder::open(&path).is_ok());
    // Neither is what stands where the old one would go.
    fs::remove_dir_all(here.0.join("out.old")).expect("it goes");
    fs::create_dir(here.0.join("out.old")).expect("a folder");
    fs::write(here.0.join("out.old/letter.txt"), "mine").expect("a file");
    assert!(matches!(Folder::open(&path), Err(FolderError::Foreign(_))));
    assert!(here.0.join("out.old/letter.txt").exists());
}

#[test]
fn a_file_is_there_as_a_whole_or_not_at_all() {
    let here = Here::new("whole");
    let path = here.0.join("one.json");
    write_whole(&path, "first").expect("a file");
    write_whole(&path, "second").expect("a file");
    assert_eq!(fs::read_to_string(&path).expect("a file"), "second");
    assert!(write_whole(&here.0.join("no/such/folder.json"), "text").is_err());
    assert_eq!(fs::read_dir(&here.0).expect("a folder").count(), 1, "nothing is left beside it");
}
