//! A planted source of nondeterminism is caught by running a seed twice, and the first event that
//! differs is named.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use millpond::{Experiment, Options, Plan, Repeat, Tracing, Trial, TrialOutcome, Twice, campaign, read};

const SCENARIO: &str = include_str!("../scenarios/delivery/increment_guarded.ron");

/// A trial with a counter that outlives its runs: one record's value depends on how many there were.
struct Leaky {
    trial: Trial,
    runs: AtomicU64,
}

impl Experiment for Leaky {
    type Plan = Plan;
    type Outcome = TrialOutcome;

    fn draw(&self, seed: u64) -> Plan {
        self.trial.draw(seed)
    }

    fn run(&self, seed: u64, plan: &Plan, trace: Tracing) -> TrialOutcome {
        let mut plan = plan.clone();
        let leak = self.runs.fetch_add(1, Ordering::Relaxed) as i64;
        plan.workload[20].3 += leak;
        self.trial.run(seed, &plan, trace)
    }
}

#[test]
fn a_planted_leak_is_caught_with_the_first_event_that_differs() {
    let trial = Trial::new("leaky", read(SCENARIO).expect("a scenario of this repository can be read"));
    let leaky = Leaky { trial, runs: AtomicU64::new(0) };
    let twice = Twice { experiment: &leaky, repeat: Repeat::All };
    let options = Options { start: 1, count: 1, jobs: NonZeroUsize::MIN, stop: &|| false };
    let mut difference = None;
    let totals = campaign::run(&twice, &options, |_, checked| {
        difference = checked.difference;
        ControlFlow::Continue(())
    });
    assert!(totals.is_ok());
    let difference = difference.expect("two runs of one seed differ");
    let [one, two] = difference.fingerprints;
    assert_ne!(one, two);
    let lines = difference.lines.expect("their traces differ as well");
    let first = lines[0].as_ref().expect("neither run is a part of the other");
    assert!(first.time.as_nanos() > 100_000_000, "not before the first record: {first:?}");
}

#[test]
fn an_honest_trial_is_the_same_twice() {
    let trial = Trial::new("honest", read(SCENARIO).expect("a scenario of this repository can be read"));
    let twice = Twice { experiment: &trial, repeat: Repeat::All };
    let options = Options { start: 0, count: 50, jobs: NonZeroUsize::MIN, stop: &|| false };
    let totals = campaign::run(&twice, &options, |seed, checked| {
        assert!(checked.difference.is_none(), "seed {seed}");
        ControlFlow::Continue(())
    });
    assert_eq!(totals.map(|totals| totals.runs), Ok(50));
}
