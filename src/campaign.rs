//! The campaign of `millpond run`: scenario after scenario, recorded failures first.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::Duration;

use millpond::exit::Exit;
use millpond::model::scenario::schema::Found;
use millpond::reports::console::Detail;
use millpond::reports::event::{Event, Finished, ScenarioStarted, Seed, StoppedBy, Stream};
use millpond::reports::failure::{Cause, Failure, scenario_digest};
use millpond::reports::folder::Folder;
use millpond::reports::judge::{self, Judgement, Tally};
use millpond::sim::search::campaign::Crash;
use millpond::sim::search::determinism::Checked;
use millpond::sim::search::strategy::{Case, Quiet, drive};
use millpond::sim::search::swarm::Menu;
use millpond::sim::search::systematic::Depth;
use millpond::sim::search::{Faulty, Forkable};
use millpond::sim::{ENGINE, Fork};
use millpond::{Experiment, Invariant, Options, Plan, Repeat, Tracing, Trial, TrialOutcome};

use crate::args::MaxFail;
use crate::clock::Stopwatch;
use crate::explanation::{self, Effort};
use crate::interrupt;
use crate::search::Search;
use crate::select::Entry;
use crate::story::{self, Failed};

/// How many failures of a scenario get a file and a record; the others are counted.
const KEPT: u64 = 100;

/// How to run scenarios.
pub(crate) struct Campaign<'a> {
    pub(crate) start: u64,
    /// How many seeds; none: as many as each scenario says, or without end where there is a budget.
    pub(crate) seeds: Option<u64>,
    pub(crate) budget: Option<Duration>,
    pub(crate) max_fail: MaxFail,
    pub(crate) fail_fast: bool,
    pub(crate) only: Option<Invariant>,
    pub(crate) repeat: Repeat,
    pub(crate) search: Search,
    pub(crate) depth: Depth,
    /// After how many seeds in a row without anything new to leave a scenario.
    pub(crate) until_quiet: Option<u64>,
    /// How long to look for the smallest cause of a failure; none: not at all.
    pub(crate) shrink: Option<Duration>,
    /// How much will be shown of a failure.
    pub(crate) detail: Detail,
    pub(crate) jobs: NonZeroUsize,
    pub(crate) folder: Option<&'a Folder>,
}

/// How a campaign ended.
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) stopped_by: StoppedBy,
}

/// A fault of Millpond itself while it ran a scenario.
pub(crate) struct Broken {
    pub(crate) scenario: String,
    pub(crate) crash: Crash,
}

/// A trial of which only one invariant is looked at, or all. Panics and bounds always are.
pub(crate) struct Focus<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) only: Option<Invariant>,
}

impl Experiment for Focus<'_> {
    type Plan = Plan;
    type Outcome = TrialOutcome;

    fn draw(&self, seed: u64) -> Plan {
        self.trial.draw(seed)
    }

    fn run(&self, seed: u64, plan: &Plan, trace: Tracing) -> TrialOutcome {
        self.focused(self.trial.run(seed, plan, trace))
    }
}

impl Focus<'_> {
    fn focused(&self, mut outcome: TrialOutcome) -> TrialOutcome {
        if let Some(only) = self.only {
            let always = [only, Invariant::NoPanic, Invariant::Bounds];
            outcome.verdicts.retain(|verdict| always.contains(&verdict.invariant));
        }
        outcome
    }
}

impl Forkable for Focus<'_> {
    fn fork(&self, seed: u64, plan: &Plan, fork: Fork) -> TrialOutcome {
        self.focused(self.trial.fork(seed, plan, fork))
    }
}

impl Faulty for Focus<'_> {
    fn menu(&self) -> Option<Menu> {
        self.trial.menu()
    }
}

impl Campaign<'_> {
    /// Runs all scenarios and tells the stream.
    pub(crate) fn run(&self, entries: &[Entry], stream: &mut Stream<'_>) -> Result<Ended, Broken> {
        let clock = Stopwatch::start();
        let mut ended = Ended { exit: Exit::Good, stopped_by: StoppedBy::Seeds };
        for (at, entry) in entries.iter().enumerate() {
            if interrupt::asked().is_some() {
                break;
            }
            let left = (entries.len() - at) as u32;
            let share = self.budget.map(|budget| budget.saturating_sub(clock.elapsed()) / left);
            let (finished, exit) = self.scenario(entry, share, stream)?;
            stream.send(&Event::ScenarioFinished(&finished));
            let failed = !finished.judgement.is_as_expected();
            ended.exit = ended.exit.and(exit_of(finished.judgement)).and(exit);
            ended.stopped_by = match (finished.stopped_by, ended.stopped_by) {
                (Some(stopped_by), StoppedBy::Seeds) => stopped_by,
                (_, before) => before,
            };
            if failed && self.fail_fast {
                ended.stopped_by = StoppedBy::FailFast;
                break;
            }
        }
        if let Some(exit) = interrupt::asked() {
            ended = Ended { exit: ended.exit.and(exit), stopped_by: StoppedBy::Signal };
        }
        Ok(ended)
    }

    fn scenario(
        &self,
        entry: &Entry,
        share: Option<Duration>,
        stream: &mut Stream<'_>,
    ) -> Result<(Finished, Exit), Broken> {
        let clock = Stopwatch::start();
        let scenario = &entry.scenario;
        let recorded = scenario.found.as_ref();
        let (start, seeds) = match (recorded, self.seeds, self.budget) {
            (Some(found), _, _) => (found.seed, Some(1)),
            (None, Some(seeds), _) => (self.start, Some(seeds)),
            (None, None, Some(_)) => (self.start, None),
            (None, None, None) => (self.start, Some(scenario.seeds)),
        };
        stream.send(&Event::ScenarioStarted(&ScenarioStarted { scenario: entry.name.clone(), start, seeds }));

        let trial = Trial::new(&entry.name, scenario.clone());
        let focus = Focus { trial: &trial, only: self.only };
        let repeat = if recorded.is_some() { Repeat::All } else { self.repeat };
        let over = || recorded.is_none() && share.is_some_and(|share| clock.elapsed() >= share);
        let stop = || interrupt::asked().is_some() || over();
        let mut strategy = self.search.strategy(&focus, start, self.depth);
        // The cases of a strategy that can be counted are numbered from 0, all others by their seeds.
        let (start, most) = match strategy.count() {
            Some(cases) => (0, cases),
            None => (start, u64::MAX - start),
        };
        let count = seeds.unwrap_or(u64::MAX).min(most);
        let mut watch = Watch {
            campaign: self,
            entry,
            trial: &trial,
            stream,
            tally: Tally::default(),
            quiet: Quiet::default(),
            done: 0,
            failed: 0,
            first: None,
            fingerprint: None,
            stopped_by: None,
            exit: Exit::Good,
        };
        let options = Options { start, count, jobs: self.jobs, stop: &stop };
        let totals =
            drive(&focus, &mut *strategy, &options, repeat, |case, checked| watch.seed(case, checked));
        let totals = totals.map_err(|crash| Broken { scenario: entry.name.clone(), crash })?;
        let about = strategy.about();
        let Watch { mut tally, first, failed, exit, fingerprint, stopped_by, .. } = watch;

        tally.totals = totals;
        tally.cut_short = tally.totals.runs < count && failed == 0;
        let (judgement, missing) = match (recorded, fingerprint) {
            (Some(found), Some(fingerprint)) => self.recorded(entry, found, fingerprint, &mut tally),
            _ => judge::judge(scenario, self.only, &tally),
        };
        let stopped_by = match stopped_by {
            Some(stopped_by) => Some(stopped_by),
            None => match () {
                () if tally.totals.runs == count || judgement == Judgement::Found => None,
                () if failed > 0 => Some(StoppedBy::MaxFail),
                () if interrupt::asked().is_some() => Some(StoppedBy::Signal),
                () => Some(StoppedBy::Budget),
            },
        };
        let finished = Finished {
            scenario: entry.name.clone(),
            digest: scenario_digest(scenario),
            judgement,
            missing,
            start,
            totals: tally.totals,
            compared: tally.compared,
            reach: scenario.reach.clone(),
            expects: judge::expected(scenario, self.only),
            first,
            stopped_by,
            searched: about,
            elapsed: clock.elapsed(),
        };
        Ok((finished, exit))
    }

    /// Judges the run of a recorded failure. One that is expected to pass has been fixed since: it
    /// goes another way then.
    fn recorded(
        &self,
        entry: &Entry,
        found: &Found,
        fingerprint: u64,
        tally: &mut Tally,
    ) -> (Judgement, Vec<String>) {
        let mut lines = Vec::new();
        if found.engine != ENGINE {
            lines.push(story::other_engine(found.engine));
        } else if judge::expected(&entry.scenario, self.only).is_some()
            && format!("{fingerprint:016x}") != found.fingerprint
        {
            lines.push(story::unlike(&found.fingerprint, fingerprint));
            tally.unsteady += 1;
        }
        (judge::judge_recorded(&entry.scenario, self.only, tally), lines)
    }
}

/// What is kept of a scenario while its seeds go by.
struct Watch<'a, 'b, 'c> {
    campaign: &'a Campaign<'a>,
    entry: &'a Entry,
    trial: &'a Trial,
    stream: &'b mut Stream<'c>,
    tally: Tally,
    done: u64,
    failed: u64,
    first: Option<(u64, String)>,
    quiet: Quiet,
    fingerprint: Option<u64>,
    stopped_by: Option<StoppedBy>,
    exit: Exit,
}

impl Watch<'_, '_, '_> {
    /// Explains a failure, if it is not one that was recorded and fails as expected.
    fn explain(&self, failure: &mut Failure) {
        let focus = Focus { trial: self.trial, only: self.campaign.only };
        let known = self.entry.scenario.found.is_some();
        let shrink = self.campaign.shrink.filter(|_| !known);
        if !(known && failure.expected) {
            explanation::explain(&focus, failure, Effort::within(shrink, self.campaign.detail));
        }
    }

    /// Takes in a seed; breaks when enough have failed.
    fn seed(&mut self, case: Option<Case<Plan>>, checked: Checked<TrialOutcome>) -> ControlFlow<()> {
        self.done += 1;
        let quiet = self.quiet.take(&checked.outcome);
        self.fingerprint = Some(checked.outcome.fingerprint);
        self.tally.compare(&checked.outcome);
        let (scenario, done, probes) = (&self.entry.name, self.done, self.quiet.probes());
        self.stream.send(&Event::Seed(Seed { scenario, done, probes }));

        let Some(case) = case else {
            if self.campaign.until_quiet.is_some_and(|enough| quiet >= enough) {
                self.stopped_by = Some(StoppedBy::Quiet);
                return ControlFlow::Break(());
            }
            return ControlFlow::Continue(());
        };
        let seed = case.seed;
        let failed = Failed { entry: self.entry, only: self.campaign.only, seed };
        let Some(mut failure) = failed.failure(case.plan, checked) else { return ControlFlow::Continue(()) };
        self.failed += 1;
        self.tally.fail(&failure.cause, failure.expected);
        let cause = failure.cause.name();
        match &self.first {
            None => self.first = Some((seed, cause)),
            // The line of a scenario names what was not expected, if there is such a thing.
            Some(_) if self.tally.unexpected == 1 && !failure.expected => self.first = Some((seed, cause)),
            Some(_) => {}
        }
        if self.failed <= KEPT {
            self.explain(&mut failure);
            if let Some(folder) = self.campaign.folder
                && let Err(error) = failed.keep(&mut failure, folder)
            {
                self.exit = self.exit.and(story::not_kept(folder, &error));
            }
            self.stream.send(&Event::Failure(&failure));
        }
        // What is not deterministic says nothing more, however often it fails.
        let unsteady = matches!(failure.cause, Cause::Unsteady(_));
        let enough = match self.campaign.max_fail {
            MaxFail::After(most) => self.failed >= most,
            MaxFail::All => false,
        };
        if unsteady || enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn exit_of(judgement: Judgement) -> Exit {
    match judgement {
        Judgement::Pass | Judgement::Found | Judgement::Known => Exit::Good,
        Judgement::Fail | Judgement::Missed | Judgement::Fixed => Exit::Violation,
        Judgement::Empty => Exit::Empty,
        Judgement::Unsteady => Exit::Unsteady,
    }
}
