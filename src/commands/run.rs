//! `millpond run`: campaigns over scenarios.

use std::collections::hash_map;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use millpond::Repeat;
use millpond::exit::Exit;
use millpond::reports::console::{Console, Detail};
use millpond::reports::event::{End, Event, Reader, Start, Stream};
use millpond::reports::folder::Folder;
use millpond::reports::json::{JsonLines, Summary};
use millpond::reports::junit::Junit;
use millpond::sim::ENGINE;

use crate::args::{Jobs, Known, MessageFormat, Progress, Run, StartSeed, Taste};
use crate::campaign::Campaign;
use crate::clock::Stopwatch;
use crate::select::{self, Entry};
use crate::{interrupt, output, panics, progress};

/// Random first seeds lie below this: readers of JSON lose digits of larger numbers.
const LARGEST_START: u64 = 1 << 53;

/// Reads, selects, runs, reports.
pub(crate) fn run(args: &Run, taste: &Taste) -> Exit {
    let entries = match select::load(&args.paths.paths) {
        Ok(entries) => entries,
        Err(problems) => {
            problems.iter().for_each(select::Problem::tell);
            return Exit::BadFile;
        }
    };
    let entries = match selected(entries, args) {
        Ok(entries) => entries,
        Err(why) => {
            output::fail(&why);
            return Exit::Empty;
        }
    };
    interrupt::listen();
    let folder = match Folder::open(&args.out) {
        Ok(folder) => folder,
        Err(error) => {
            output::fail(&error.to_string());
            return Exit::Output;
        }
    };
    campaign(args, taste, &entries, &folder)
}

fn campaign(args: &Run, taste: &Taste, entries: &[Entry], folder: &Folder) -> Exit {
    let clock = Stopwatch::start();
    let mut stream = Stream::default();
    if let Err(error) = add_readers(&mut stream, args, taste, folder) {
        return output::unwritable(&folder.path().display().to_string(), &error);
    }
    let start = match (args.seed, args.start) {
        (Some(seed), _) | (None, StartSeed::At(seed)) => seed,
        (None, StartSeed::Random) => random_start(),
    };
    let jobs = Jobs::threads(args.jobs);
    let campaign = Campaign {
        start,
        seeds: args.seed.map_or(args.seeds, |_| Some(1)),
        budget: args.budget.map(|budget| Duration::from_nanos(budget.as_nanos())),
        max_fail: args.max_fail,
        fail_fast: args.fail_fast,
        only: args.only,
        repeat: if args.check_determinism { Repeat::All } else { Repeat::Sample },
        search: args.search,
        depth: args.depth,
        until_quiet: args.until_quiet,
        shrink: args.shrink.0,
        detail: detail(taste),
        jobs,
        folder: Some(folder),
    };
    stream.send(&Event::Start(&Start {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: ENGINE,
        scenarios: entries.iter().map(|entry| entry.name.clone()).collect(),
        start,
        seeds: campaign.seeds,
        jobs: jobs.get(),
    }));
    let ended = match campaign.run(entries, &mut stream) {
        Ok(ended) => ended,
        Err(broken) => {
            let (scenario, seed) = (broken.scenario, broken.crash.seed);
            panics::tell(&broken.crash.message, Some(&format!("seed {seed} of {scenario}")));
            return Exit::Internal;
        }
    };
    let (exit, stopped_by) = (ended.exit.code(), ended.stopped_by);
    stream.send(&Event::End(&End { exit, stopped_by, elapsed: clock.elapsed() }));
    let unwritable = stream.broken().iter().map(|(target, error)| output::unwritable(target, error));
    unwritable.fold(ended.exit, Exit::and)
}

/// The readers of the campaign. The one that shows progress is the first: it makes room for others.
fn add_readers(stream: &mut Stream<'_>, args: &Run, taste: &Taste, folder: &Folder) -> std::io::Result<()> {
    if let Some(progress) = progress::reader(if taste.quiet { Progress::None } else { args.progress }) {
        stream.add("stderr", Boxed(progress));
    }
    stream.add("results.jsonl", JsonLines::new(folder.results()?));
    stream.add("summary.json", Summary::new(folder.summary()));
    if let Some(file) = &args.junit {
        // Better now than after an hour of seeds.
        let parent = select::parent(file);
        if !parent.as_os_str().is_empty() {
            std::fs::create_dir_all(parent)?;
        }
        stream.add(file.display().to_string(), Junit::new(file.clone()));
    }
    match args.message_format {
        MessageFormat::Human => {
            stream.add("stdout", Console::new(output::stdout(taste.color), detail(taste)))
        }
        MessageFormat::Json => stream.add("stdout", JsonLines::new(std::io::stdout())),
    }
    Ok(())
}

struct Boxed(Box<dyn Reader>);

impl Reader for Boxed {
    fn event(&mut self, event: &Event<'_>) -> std::io::Result<()> {
        self.0.event(event)
    }
}

/// How much is printed.
pub(crate) fn detail(taste: &Taste) -> Detail {
    match (taste.quiet, taste.verbose) {
        (true, _) => Detail::Quiet,
        (_, true) => Detail::Verbose,
        _ => Detail::Normal,
    }
}

/// The scenarios that the flags leave, or why there is none.
fn selected(entries: Vec<Entry>, args: &Run) -> Result<Vec<Entry>, String> {
    if entries.is_empty() {
        let paths: Vec<_> = args.paths.paths.iter().map(|path| path.display().to_string()).collect();
        return Err(match paths.as_slice() {
            [] => format!(
                "there is no scenario in {}/: name a file, or write one with `millpond new`",
                select::DEFAULT
            ),
            paths => format!("there is no scenario (*.ron) in {}", paths.join(", ")),
        });
    }
    let all = entries.len();
    let left: Vec<_> = entries.into_iter().filter(|entry| is_selected(entry, args)).collect();
    if left.is_empty() {
        return Err(format!("none of {all} scenarios is left by --filter, --only and --known"));
    }
    Ok(left)
}

fn is_selected(entry: &Entry, args: &Run) -> bool {
    let known = match args.known {
        Known::First => true,
        Known::Only => entry.known,
        Known::Skip => !entry.known,
    };
    let named = args.filter.as_deref().is_none_or(|text| {
        entry.name.contains(text) || entry.scenario.claims.iter().any(|claim| claim.contains(text))
    });
    let checks = args.only.is_none_or(|only| match &entry.scenario.found {
        Some(found) => found.broke == only,
        None => !millpond::reports::judge::checked(&entry.scenario, Some(only)).is_empty(),
    });
    known && named && checks
}

/// A first seed that no one has chosen, below 2^53.
#[expect(clippy::disallowed_types, reason = "the campaign begins anywhere; its start is printed first")]
fn random_start() -> u64 {
    hash_map::RandomState::new().build_hasher().finish() % LARGEST_START
}
