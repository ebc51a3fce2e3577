//! `millpond demo`: a test of Millpond itself. It finds a planted bug, keeps it, replays it, and shows
//! that the same scenario without the bug passes.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use millpond::exit::Exit;
use millpond::reports::block::block;
use millpond::reports::console::Detail;
use millpond::reports::event::{Event, Finished, Reader, Stream};
use millpond::reports::failure::Failure;
use millpond::reports::folder::Folder;
use millpond::reports::judge::Judgement;
use millpond::sim::search::systematic::Depth;
use millpond::{Repeat, Scenario, read};

use crate::args::{Jobs, MaxFail, Taste};
use crate::campaign::Campaign;
use crate::clock::Stopwatch;
use crate::explanation::Effort;
use crate::search::Search;
use crate::select::{self, Entry};
use crate::{commands, output, panics, story};

/// A sink that adds what it is given, again and again: the planted bug.
const BROKEN: &str = include_str!("../../scenarios/delivery/increment_bare.ron");

/// The same with a guard: no bug.
const SOUND: &str = include_str!("../../scenarios/delivery/increment_guarded.ron");

/// How long it looks for the smallest cause.
const SHRINK: Duration = Duration::from_secs(10);

/// How many seeds the sound scenario runs.
const SEEDS: u64 = 100;

/// Finds, keeps, replays, compares, and says so.
pub(crate) fn demo(taste: &Taste) -> Exit {
    let clock = Stopwatch::start();
    let path = std::env::temp_dir().join(format!("millpond-demo-{}", std::process::id()));
    let folder = match Folder::open(&path) {
        Ok(folder) => folder,
        Err(error) => {
            output::fail(&error.to_string());
            return Exit::Output;
        }
    };
    match steps(&folder, taste) {
        Ok(()) => {
            let text = format!("All as it should be, in {:.1} s.\n", clock.elapsed().as_secs_f64());
            output::print(taste.color, &text)
        }
        Err(exit) => exit,
    }
}

fn steps(folder: &Folder, taste: &Taste) -> Result<(), Exit> {
    let say = |text: &str| match output::print(taste.color, text) {
        Exit::Good => Ok(()),
        exit => Err(exit),
    };
    say("1. A scenario with a planted bug: a sink that adds an amount again when it is delivered again.\n")?;
    let broken = entry("increment_bare", BROKEN)?;
    let (finished, failure) = campaign(&broken, 1_000, folder)?;
    let Some(failure) = failure.filter(|_| finished.judgement == Judgement::Found) else {
        return Err(wrong("the planted bug was not found"));
    };
    let (seed, cause) = (failure.seed, failure.cause.name());
    say(&format!(
        "   Found at seed {seed}, which is run number {}: {cause} broke.\n\n",
        finished.totals.runs
    ))?;
    say(&block(&failure, Detail::Normal))?;

    let Some(file) = failure.file.as_ref().map(|file| folder.path().join(file)) else {
        return Err(wrong("the failure was not kept"));
    };
    say(&format!("\n2. The failure is kept as {}; it is replayed from there.\n", story::quoted(&file)))?;
    replay(&file, failure.outcome.fingerprint)?;
    say("   It fails as recorded, with the same fingerprint.\n\n")?;

    say("3. The same scenario with a sink that guards its totals by the offset.\n")?;
    let (finished, _) = campaign(&entry("increment_guarded", SOUND)?, SEEDS, folder)?;
    if finished.judgement != Judgement::Pass {
        return Err(wrong(&format!(
            "it should pass {SEEDS} seeds and did not: {}",
            finished.missing.join(", ")
        )));
    }
    say(&format!("   {SEEDS} seeds find nothing.\n\n"))
}

fn entry(name: &str, text: &str) -> Result<Entry, Exit> {
    let scenario: Scenario = read(text).map_err(|_| wrong("the scenario of the demo cannot be read"))?;
    let path = PathBuf::from(format!("{name}.ron"));
    Ok(Entry { path, name: name.to_owned(), scenario, known: false, keep_in: PathBuf::from(select::KNOWN) })
}

fn campaign(entry: &Entry, seeds: u64, folder: &Folder) -> Result<(Finished, Option<Failure>), Exit> {
    let campaign = Campaign {
        start: 0,
        seeds: Some(seeds),
        budget: None,
        max_fail: MaxFail::After(1),
        fail_fast: false,
        only: None,
        repeat: Repeat::Sample,
        search: Search::default(),
        depth: Depth::One,
        until_quiet: None,
        shrink: Some(SHRINK),
        detail: Detail::Normal,
        jobs: Jobs::threads(None),
        folder: Some(folder),
    };
    let seen = RefCell::new(Seen::default());
    let mut stream = Stream::default();
    stream.add("the demo", Watcher(&seen));
    campaign.run(std::slice::from_ref(entry), &mut stream).map_err(|broken| {
        panics::tell(&broken.crash.message, Some(&broken.scenario));
        Exit::Internal
    })?;
    drop(stream);
    let seen = seen.into_inner();
    Ok((seen.finished.ok_or_else(|| wrong("the campaign did not end"))?, seen.failure))
}

#[derive(Default)]
struct Seen {
    failure: Option<Failure>,
    finished: Option<Finished>,
}

struct Watcher<'a>(&'a RefCell<Seen>);

impl Reader for Watcher<'_> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let mut seen = self.0.borrow_mut();
        match event {
            Event::Failure(failure) => seen.failure = Some((*failure).clone()),
            Event::ScenarioFinished(finished) => seen.finished = Some((*finished).clone()),
            Event::Start(_) | Event::ScenarioStarted(_) | Event::Seed(_) | Event::End(_) => {}
        }
        Ok(())
    }
}

fn replay(file: &Path, fingerprint: u64) -> Result<(), Exit> {
    let entry = select::entry(file, select::parent(file)).map_err(|problem| {
        problem.tell();
        wrong("the file of the failure cannot be read")
    })?;
    let found = entry.scenario.found.clone();
    let found = found.ok_or_else(|| wrong("the file of the failure does not say where it was found"))?;
    let told = commands::replay::tell(&entry, found.seed, Some(&found), Effort::within(None, Detail::Quiet))?;
    let same = told.exit == Exit::Violation && told.text.contains(&format!("{fingerprint:016x}"));
    if same { Ok(()) } else { Err(wrong(&format!("the replay is another run:\n{}", told.text))) }
}

/// The demo does not do what it should: that is a fault of Millpond.
fn wrong(what: &str) -> Exit {
    output::fail(&format!("this installation of millpond does not work as it should: {what}"));
    Exit::Internal
}
