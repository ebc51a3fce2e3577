//! A small experiment for the tests of the search.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Experiment, Outcome, Tracing};
use crate::digest;
use crate::fault::Kind;
use crate::time::Instant;
use crate::trace::{EventId, Happening, Line, Told, Trace};

/// It fails where its seed is a multiple of a number, and can be made to break the rules.
#[derive(Debug, Default)]
pub(super) struct Toy {
    pub(super) fails_every: Option<u64>,
    pub(super) panics_at: Option<u64>,
    pub(super) depends_on_runs: bool,
    pub(super) traces_differ: bool,
    pub(super) runs: AtomicU64,
}

#[derive(Debug)]
pub(super) struct ToyOutcome {
    fingerprint: u64,
    failed: bool,
    trace: Option<Trace>,
}

impl Toy {
    pub(super) fn failing_every(seeds: u64) -> Self {
        Self { fails_every: Some(seeds), ..Self::default() }
    }

    pub(super) fn panicking_at(seed: u64) -> Self {
        Self { panics_at: Some(seed), ..Self::default() }
    }

    pub(super) fn counting_its_runs() -> Self {
        Self { depends_on_runs: true, traces_differ: true, ..Self::default() }
    }

    pub(super) fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }
}

impl Experiment for Toy {
    type Plan = ();
    type Outcome = ToyOutcome;

    fn draw(&self, _: u64) {}

    fn run(&self, seed: u64, (): &(), trace: Tracing) -> ToyOutcome {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        assert!(self.panics_at != Some(seed), "the toy broke");
        let leak = if self.depends_on_runs { run } else { 0 };
        let words = if self.traces_differ { format!("run {run}") } else { "run".to_owned() };
        let line = Line {
            id: EventId::GENESIS,
            cause: EventId::GENESIS,
            time: Instant::ZERO,
            node: None,
            happening: Happening::Start,
            told: Told::words(words),
            faults: Vec::new(),
        };
        ToyOutcome {
            fingerprint: digest(&[seed, leak]),
            failed: self.fails_every.is_some_and(|seeds| seed.is_multiple_of(seeds)),
            trace: (trace == Tracing::On).then(|| Trace { lines: vec![line], omitted: 0 }),
        }
    }
}

impl Outcome for ToyOutcome {
    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn failed(&self) -> bool {
        self.failed
    }

    fn events(&self) -> u64 {
        10
    }

    fn probes(&self) -> &[(&'static str, u64)] {
        &[("seen", 3)]
    }

    fn faults(&self) -> &[(Kind, bool)] {
        &[(Kind::Pause, true), (Kind::Pause, false)]
    }

    fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }
}
