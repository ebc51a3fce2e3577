//! The check that a run is what it claims to be: a function of scenario, plan and seed.
//!
//! [`Twice`] wraps any experiment and runs seeds twice. Where the two fingerprints differ, both runs
//! are done again with their traces, to show the first line in which they differ. That is a failure
//! of its own kind: nothing else that such a run says can be relied on.

use super::{Experiment, Outcome, Tracing};
use crate::fault::Kind;
use crate::time::Instant;
use crate::trace::{Line, Trace};

/// Every how many passing seeds one is run twice where not all are.
const SAMPLE: u64 = 100;

/// How many pairs of traced runs are tried: what differs once in a while may agree the next time.
const TRIES: u32 = 8;

/// Which seeds are run twice. Failing ones always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// Those that fail, and one in a hundred of the others.
    #[default]
    Sample,
    /// All.
    All,
}

/// An experiment whose runs are repeated.
#[derive(Debug)]
pub struct Twice<'a, E> {
    /// The experiment.
    pub experiment: &'a E,
    /// Which seeds are run twice.
    pub repeat: Repeat,
}

/// An outcome, and how a second run of the same differed from it.
#[derive(Debug)]
pub struct Checked<O> {
    /// The outcome of the first run.
    pub outcome: O,
    /// The difference, where there was one.
    pub difference: Option<Box<Difference>>,
}

/// How two runs of the same seed and plan differed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The fingerprints of the two runs.
    pub fingerprints: [u64; 2],
    /// The first trace line in which two such runs differed, of either run; an end that comes
    /// earlier has none. Where nothing is given, no two traced runs differed.
    pub lines: Option<[Option<Line>; 2]>,
}

impl<E: Experiment> Experiment for Twice<'_, E> {
    type Plan = E::Plan;
    type Outcome = Checked<E::Outcome>;

    fn draw(&self, seed: u64) -> E::Plan {
        self.experiment.draw(seed)
    }

    fn run(&self, seed: u64, plan: &E::Plan, trace: Tracing) -> Checked<E::Outcome> {
        let outcome = self.experiment.run(seed, plan, trace);
        let again = outcome.failed() || self.repeat == Repeat::All || seed.is_multiple_of(SAMPLE);
        let difference = again.then(|| compare(self.experiment, seed, plan, outcome.fingerprint())).flatten();
        Checked { outcome, difference: difference.map(Box::new) }
    }
}

impl<O: Outcome> Outcome for Checked<O> {
    fn fingerprint(&self) -> u64 {
        self.outcome.fingerprint()
    }

    fn failed(&self) -> bool {
        self.difference.is_some() || self.outcome.failed()
    }

    fn events(&self) -> u64 {
        self.outcome.events()
    }

    fn probes(&self) -> &[(&'static str, u64)] {
        self.outcome.probes()
    }

    fn faults(&self) -> &[(Kind, bool)] {
        self.outcome.faults()
    }

    fn trace(&self) -> Option<&Trace> {
        self.outcome.trace()
    }

    fn nodes(&self) -> &[String] {
        self.outcome.nodes()
    }

    fn orders(&self) -> &[u64] {
        self.outcome.orders()
    }

    fn seen_at(&self) -> Option<Instant> {
        self.outcome.seen_at()
    }
}

/// Runs a plan once more and tells how it differs from a run that gave `fingerprint`.
pub fn compare<E: Experiment>(
    experiment: &E,
    seed: u64,
    plan: &E::Plan,
    fingerprint: u64,
) -> Option<Difference> {
    let second = experiment.run(seed, plan, Tracing::Off).fingerprint();
    if second == fingerprint {
        return None;
    }
    let lines = (0..TRIES).find_map(|_| {
        let [one, two] = [(); 2].map(|()| experiment.run(seed, plan, Tracing::On));
        let (one, two) = one.trace()?.first_difference(two.trace()?)?;
        Some([one.cloned(), two.cloned()])
    });
    Some(Difference { fingerprints: [fingerprint, second], lines })
}

#[cfg(test)]
mod tests {
    use super::super::toy::Toy;
    use super::*;

    #[test]
    fn a_run_that_depends_on_others_is_caught_with_the_first_line_that_differs() {
        let toy = Toy::counting_its_runs();
        let twice = Twice { experiment: &toy, repeat: Repeat::All };
        let checked = twice.run(7, &(), Tracing::Off);
        assert!(checked.failed());
        let difference = checked.difference.expect("two fingerprints");
        assert_ne!(difference.fingerprints[0], difference.fingerprints[1]);
        let [one, two] = difference.lines.expect("a line that differs");
        assert_eq!([one, two].map(|line| line.unwrap().told.words), ["run 2", "run 3"]);
    }

    #[test]
    fn a_run_that_is_a_function_of_its_seed_passes() {
        let toy = Toy::failing_every(97);
        let twice = Twice { experiment: &toy, repeat: Repeat::All };
        assert!((1..97).all(|seed| !twice.run(seed, &(), Tracing::Off).failed()));
        assert_eq!(toy.runs(), 2 * 96);
    }

    #[test]
    fn failing_seeds_are_always_run_twice_and_others_in_a_sample() {
        let toy = Toy::failing_every(97);
        let twice = Twice { experiment: &toy, repeat: Repeat::Sample };
        let runs = |seed| {
            let before = toy.runs();
            twice.run(seed, &(), Tracing::Off);
            toy.runs() - before
        };
        assert_eq!([runs(97), runs(5), runs(200)], [2, 1, 2]);
    }

    #[test]
    fn a_difference_that_no_trace_shows_is_still_told() {
        let toy = Toy { traces_differ: false, ..Toy::counting_its_runs() };
        let twice = Twice { experiment: &toy, repeat: Repeat::All };
        let difference = twice.run(7, &(), Tracing::Off).difference.expect("two fingerprints");
        assert_eq!(difference.lines, None);
    }
}
