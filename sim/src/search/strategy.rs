//! Strategies: peers that choose what is run. The engine knows none of them.
//!
//! | strategy | what it tries |
//! |----------|---------------|
//! | [`Swarm`] | what each seed draws |
//! | [`super::priorities::Priorities`] | the same, and links that are slower than others |
//! | [`super::systematic::Systematic`] | a fault at every effect boundary of a base run, then pairs |
//! | [`super::exhaustive::Exhaustive`] | every small set of faults and delays on a tiny run |
//! | [`super::guided::Guided`] | changes to plans that reached something new |
//! | [`Mix`] | several of them in turn |
//!
//! A strategy gives its cases by number. It is an experiment's wrapper, as the determinism check is:
//! [`Searching`] makes the two an experiment whose seeds are numbers of cases.

use std::ops::ControlFlow;

use super::campaign::{self, Crash, Options, Totals};
use super::determinism::{Checked, Repeat, Twice};
use super::{Experiment, Outcome, Tracing};

/// What is run: a plan, and the seed of the choices that it leaves open.
#[derive(Clone, Debug, PartialEq)]
pub struct Case<P> {
    /// The seed.
    pub seed: u64,
    /// The plan.
    pub plan: P,
}

/// A way to choose what is run.
pub trait Strategy<E: Experiment>: Sync {
    /// How many cases there are; none where there is no end to them.
    fn count(&self) -> Option<u64> {
        None
    }

    /// The case of a number. Between two calls of [`Strategy::learn`] it is a function of the number.
    fn case(&self, number: u64) -> Case<E::Plan>;

    /// After how many cases it wants to learn; none where it never does.
    fn round(&self) -> Option<u64> {
        None
    }

    /// What came of a case, told in the order of their numbers.
    fn learn(&mut self, number: u64, case: &Case<E::Plan>, outcome: &E::Outcome) {
        let _ = (number, case, outcome);
    }

    /// What a run must record for it.
    fn tracing(&self) -> Tracing {
        Tracing::Off
    }

    /// What there was to try, in words; nothing where seeds say it all.
    fn about(&self) -> String {
        String::new()
    }
}

/// What each seed draws.
#[derive(Debug)]
pub struct Swarm<'a, E>(pub &'a E);

impl<E: Experiment> Strategy<E> for Swarm<'_, E> {
    fn case(&self, number: u64) -> Case<E::Plan> {
        Case { seed: number, plan: self.0.draw(number) }
    }
}

/// Several strategies in turn: of each so many cases in a row of the length of all weights.
pub struct Mix<'a, E: Experiment> {
    parts: Vec<(u64, Box<dyn Strategy<E> + 'a>)>,
}

impl<'a, E: Experiment> Mix<'a, E> {
    /// These strategies, each with its weight. None of them may need to learn or come to an end.
    pub fn new(parts: Vec<(u64, Box<dyn Strategy<E> + 'a>)>) -> Self {
        Self { parts }
    }
}

impl<E: Experiment> Strategy<E> for Mix<'_, E>
where
    E::Plan: 'static,
{
    fn case(&self, number: u64) -> Case<E::Plan> {
        let all: u64 = self.parts.iter().map(|(weight, _)| weight).sum();
        let mut place = number % all.max(1);
        for (weight, strategy) in &self.parts {
            if place < *weight {
                return strategy.case(number);
            }
            place -= weight;
        }
        unreachable!("the place lies within the sum of the weights")
    }
}

/// An experiment whose seeds are the numbers of a strategy's cases.
pub struct Searching<'a, E: Experiment> {
    /// The experiment.
    pub experiment: &'a E,
    /// The strategy.
    pub strategy: &'a dyn Strategy<E>,
}

impl<E: Experiment> Experiment for Searching<'_, E> {
    type Plan = Case<E::Plan>;
    type Outcome = E::Outcome;

    fn draw(&self, number: u64) -> Case<E::Plan> {
        self.strategy.case(number)
    }

    fn run(&self, _: u64, case: &Case<E::Plan>, tracing: Tracing) -> E::Outcome {
        let tracing = if tracing == Tracing::Off { self.strategy.tracing() } else { tracing };
        self.experiment.run(case.seed, &case.plan, tracing)
    }
}

/// Runs the cases of a strategy, round by round where it learns, and hands on what came of each,
/// strictly in the order of their numbers; of those that failed also the case, which is made again for
/// it. `options` counts numbers of cases.
///
/// # Errors
/// When the machinery around a run panics.
pub fn drive<E>(
    experiment: &E,
    strategy: &mut (dyn Strategy<E> + '_),
    options: &Options<'_>,
    repeat: Repeat,
    mut each: impl FnMut(Option<Case<E::Plan>>, Checked<E::Outcome>) -> ControlFlow<()>,
) -> Result<Totals, Crash>
where
    E: Experiment<Plan: Clone, Outcome: Clone>,
{
    let mut totals = Totals::default();
    while totals.runs < options.count {
        let round = strategy.round().unwrap_or(u64::MAX).min(options.count - totals.runs);
        let options = Options { start: options.start + totals.runs, count: round, ..*options };
        let searching = Searching { experiment, strategy: &*strategy };
        let mut learnt = Vec::new();
        let mut broken = false;
        let ran = campaign::run(&Twice { experiment: &searching, repeat }, &options, |number, checked| {
            if strategy.round().is_some() {
                learnt.push((number, strategy.case(number), checked.outcome.clone()));
            }
            let failed = checked.failed().then(|| strategy.case(number));
            let flow = each(failed, checked);
            broken = flow.is_break();
            flow
        })?;
        totals.join(&ran);
        if broken || ran.runs < round {
            break;
        }
        for (number, case, outcome) in &learnt {
            strategy.learn(*number, case, outcome);
        }
    }
    Ok(totals)
}

/// How many of a campaign's outcomes in a row had nothing new: no probe that was not reached before
/// and no failure.
#[derive(Clone, Debug, Default)]
pub struct Quiet {
    probes: std::collections::BTreeSet<&'static str>,
    for_so_many: u64,
}

impl Quiet {
    /// How many probes have been reached so far.
    pub fn probes(&self) -> usize {
        self.probes.len()
    }

    /// Takes in an outcome; for how many it has been quiet now.
    pub fn take(&mut self, outcome: &impl Outcome) -> u64 {
        let before = self.probes.len();
        self.probes.extend(outcome.probes().iter().map(|(probe, _)| *probe));
        let new = self.probes.len() > before || outcome.failed();
        self.for_so_many = if new { 0 } else { self.for_so_many + 1 };
        self.for_so_many
    }
}
