//! `millpond bugs`: how good the search is. For each planted bug of a catalogue: how many seeds it takes
//! to find it from several starts, by strategy; how small its cause gets, and how long that takes; and
//! whether its correct twin is left in peace.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use millpond::exit::Exit;
use millpond::reports::catalogue::{Bug, Campaigns, Catalogue, Shrunk, Twin};
use millpond::reports::console::Detail;
use millpond::reports::failure::{Failure, Size};
use millpond::reports::judge;
use millpond::sim::search::campaign::Crash;
use millpond::sim::search::strategy::drive;
use millpond::sim::search::systematic::Depth;
use millpond::{Invariant, Options, Repeat, Trial};

use crate::args::{self, Jobs, SearchWith, Taste};
use crate::campaign::Focus;
use crate::clock::Stopwatch;
use crate::explanation::{self, Effort};
use crate::interrupt;
use crate::output;
use crate::panics;
use crate::search::Search;
use crate::select::{self, Entry};
use crate::story::Failed;

/// Where the catalogue is looked for where the command line does not say.
const DEFAULT: &str = "bugs";

/// How far the starts of two campaigns are apart.
const APART: u64 = 1_000_000;

/// How long it may take to shrink one failure.
const SHRINK: Duration = Duration::from_secs(60);

/// Measures the catalogue and prints what came of it.
pub(crate) fn bugs(args: &args::Bugs, taste: &Taste) -> Exit {
    let paths = if args.paths.is_empty() { vec![PathBuf::from(DEFAULT)] } else { args.paths.clone() };
    let entries = match select::load(&paths) {
        Ok(entries) => entries,
        Err(problems) => {
            problems.iter().for_each(select::Problem::tell);
            return Exit::BadFile;
        }
    };
    if entries.is_empty() {
        output::fail("there is no scenario of a bug there");
        return Exit::Empty;
    }
    interrupt::listen();
    match measure(args, &entries, taste) {
        Ok(catalogue) => {
            let text = if args.json { catalogue.json() } else { catalogue.text() };
            let exit = if catalogue.is_good() { Exit::Good } else { Exit::Violation };
            let exit = interrupt::asked().map_or(exit, |asked| exit.and(asked));
            exit.and(output::print(taste.color, &text))
        }
        Err((scenario, crash)) => {
            panics::tell(&crash.message, Some(&format!("seed {} of {scenario}", crash.seed)));
            Exit::Internal
        }
    }
}

type Failing = (String, Crash);

fn measure(args: &args::Bugs, entries: &[Entry], taste: &Taste) -> Result<Catalogue, Failing> {
    let searches: Vec<Search> = match args.search {
        SearchWith::All => Search::ALL.to_vec(),
        SearchWith::One(search) => vec![search],
    };
    let mut catalogue = Catalogue { most: args.most, bugs: Vec::new(), twins: Vec::new() };
    for entry in entries {
        if interrupt::asked().is_some() {
            break;
        }
        if !taste.quiet {
            output::tell(&format!("{}\n", entry.name));
        }
        let crashed = |crash| (entry.name.clone(), crash);
        match judge::expected(&entry.scenario, None) {
            Some(invariant) => {
                catalogue.bugs.push(bug(args, entry, invariant, &searches).map_err(crashed)?);
            }
            None => catalogue.twins.push(twin(args, entry).map_err(crashed)?),
        }
    }
    Ok(catalogue)
}

/// Looks for a bug from several starts with each strategy, and shrinks what the first one finds.
fn bug(args: &args::Bugs, entry: &Entry, invariant: Invariant, searches: &[Search]) -> Result<Bug, Crash> {
    let trial = Trial::new(&entry.name, entry.scenario.clone());
    let focus = Focus { trial: &trial, only: None };
    let mut bug = Bug {
        name: entry.name.clone(),
        invariant: format!("{invariant:?}"),
        searches: Vec::new(),
        shrunk: Vec::new(),
        others: 0,
    };
    for (nth, search) in searches.iter().enumerate() {
        let mut seeds = Vec::new();
        for number in 0..args.campaigns {
            if interrupt::asked().is_some() {
                break;
            }
            let start = u64::from(number) * APART;
            let found = first(&focus, entry, *search, args, start)?;
            seeds.push(found.as_ref().map(|(runs, _)| *runs));
            let Some((_, mut failure)) = found else { continue };
            bug.others += u64::from(failure.cause.invariant() != Some(invariant));
            if nth == 0 {
                let clock = Stopwatch::start();
                let effort = Effort {
                    shrink: Some(SHRINK),
                    schedules: 0,
                    blame: None,
                    detail: Detail::Normal,
                    pulse: &|| {},
                };
                explanation::explain(&focus, &mut failure, effort);
                let Size { faults, records, delays } = Size::of(&failure.plan);
                bug.shrunk.push(Shrunk { faults, delays, records, elapsed: clock.elapsed() });
            }
        }
        bug.searches.push(Campaigns { strategy: search.name().to_owned(), seeds });
    }
    Ok(bug)
}

/// The first failure of a campaign, and how many cases it took.
fn first(
    focus: &Focus<'_>,
    entry: &Entry,
    search: Search,
    args: &args::Bugs,
    start: u64,
) -> Result<Option<(u64, Failure)>, Crash> {
    let depth = if search == Search::Exhaustive { Depth::Two } else { Depth::One };
    let mut strategy = search.strategy(focus, start, depth);
    let (begin, most) = match strategy.count() {
        Some(cases) => (0, cases.min(args.most)),
        None => (start, args.most),
    };
    let stop = || interrupt::asked().is_some();
    let options = Options { start: begin, count: most, jobs: Jobs::threads(args.jobs), stop: &stop };
    let mut found = None;
    let totals = drive(focus, &mut *strategy, &options, Repeat::Sample, |case, checked| {
        found =
            case.and_then(|case| Failed { entry, only: None, seed: case.seed }.failure(case.plan, checked));
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found.map(|failure| (totals.runs, failure)))
}

/// Runs a correct twin, which must be left in peace.
fn twin(args: &args::Bugs, entry: &Entry) -> Result<Twin, Crash> {
    let trial = Trial::new(&entry.name, entry.scenario.clone());
    let focus = Focus { trial: &trial, only: None };
    let mut strategy = Search::default().strategy(&focus, 0, Depth::One);
    let stop = || interrupt::asked().is_some();
    let options = Options { start: 0, count: args.twins, jobs: Jobs::threads(args.jobs), stop: &stop };
    let mut alarm = None;
    let totals = drive(&focus, &mut *strategy, &options, Repeat::Sample, |case, checked| {
        let failure =
            case.and_then(|case| Failed { entry, only: None, seed: case.seed }.failure(case.plan, checked));
        alarm = failure.map(|failure| (failure.seed, failure.cause.name()));
        if alarm.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(Twin { name: entry.name.clone(), seeds: totals.runs, alarm })
}
