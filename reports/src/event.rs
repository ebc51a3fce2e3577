//! A campaign as a stream of events. Console, JSON lines, JUnit and the summary are readers of this
//! one stream; a new format is a new reader.
//!
//! ```text
//! Start (ScenarioStarted (Seed | Failure)* ScenarioFinished)* End
//! ```

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use millpond_model::scenario::schema::Invariant;
use millpond_sim::search::campaign::Totals;

use crate::failure::Failure;
use crate::judge::Judgement;

/// Something that happened in a campaign.
#[derive(Debug)]
pub enum Event<'a> {
    /// The campaign begins.
    Start(&'a Start),
    /// A scenario begins.
    ScenarioStarted(&'a ScenarioStarted),
    /// A seed is done; for progress only.
    Seed(Seed<'a>),
    /// A seed failed.
    Failure(&'a Failure),
    /// A scenario is done.
    ScenarioFinished(&'a Finished),
    /// The campaign is done.
    End(&'a End),
}

/// What a campaign is to do.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The version of Millpond.
    pub version: String,
    /// The version of the engine.
    pub engine: u32,
    /// The scenarios, in the order in which they will be run.
    pub scenarios: Vec<String>,
    /// The first seed.
    pub start: u64,
    /// How many seeds each scenario runs; none where each says itself.
    pub seeds: Option<u64>,
    /// How many threads run them.
    pub jobs: usize,
}

/// A scenario that begins.
#[derive(Clone, Debug)]
pub struct ScenarioStarted {
    /// Its name.
    pub scenario: String,
    /// Its first seed.
    pub start: u64,
    /// How many seeds it will run at most; none where only time limits it.
    pub seeds: Option<u64>,
}

/// A seed that is done.
#[derive(Clone, Copy, Debug)]
pub struct Seed<'a> {
    /// The name of the scenario.
    pub scenario: &'a str,
    /// How many seeds of it are done.
    pub done: u64,
    /// How many probes have been reached so far.
    pub probes: usize,
}

/// A scenario that is done.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its name.
    pub scenario: String,
    /// What it is, in 64 bits.
    pub digest: u64,
    /// What its campaign came to.
    pub judgement: Judgement,
    /// What it lacks, a line each, where it proved nothing or missed what it should find.
    pub missing: Vec<String>,
    /// The first seed that was run.
    pub start: u64,
    /// What its runs add up to.
    pub totals: Totals,
    /// How many comparisons each invariant made.
    pub compared: BTreeMap<Invariant, u64>,
    /// The probes that it must reach.
    pub reach: Vec<String>,
    /// The violation that it is expected to show.
    pub expects: Option<Invariant>,
    /// The smallest failing seed and why it failed.
    pub first: Option<(u64, String)>,
    /// What ended it before its last seed.
    pub stopped_by: Option<StoppedBy>,
    /// What there was to try, in words; nothing where seeds say it all.
    pub searched: String,
    /// How long it took.
    pub elapsed: Duration,
}

/// What ends a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedBy {
    /// All seeds were run.
    Seeds,
    /// As many seeds failed as were asked for.
    MaxFail,
    /// A scenario failed, and nothing more was to be run then.
    FailFast,
    /// Nothing new had come for long enough.
    Quiet,
    /// The time was over.
    Budget,
    /// Ctrl-C or a request to terminate.
    Signal,
}

impl StoppedBy {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seeds => "seeds",
            Self::MaxFail => "max-fail",
            Self::FailFast => "fail-fast",
            Self::Quiet => "quiet",
            Self::Budget => "budget",
            Self::Signal => "signal",
        }
    }
}

/// A campaign that is done.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// The exit code to come.
    pub exit: u8,
    /// What ended it.
    pub stopped_by: StoppedBy,
    /// How long it took.
    pub elapsed: Duration,
}

/// A reader of the stream.
pub trait Reader {
    /// Takes the next event.
    ///
    /// # Errors
    /// Where it cannot write what it makes of it. It is then given no more events.
    fn event(&mut self, event: &Event<'_>) -> io::Result<()>;
}

/// The readers of a campaign. One that fails is dropped and the others go on.
#[derive(Default)]
pub struct Stream<'a> {
    readers: Vec<(String, Box<dyn Reader + 'a>)>,
    broken: Vec<(String, io::Error)>,
}

impl<'a> Stream<'a> {
    /// Adds a reader; `target` names where it writes to, for messages.
    pub fn add(&mut self, target: impl Into<String>, reader: impl Reader + 'a) {
        self.readers.push((target.into(), Box::new(reader)));
    }

    /// Hands an event to all readers.
    pub fn send(&mut self, event: &Event<'_>) {
        let broken = &mut self.broken;
        self.readers.retain_mut(|(target, reader)| match reader.event(event) {
            Ok(()) => true,
            // Whoever closed the pipe has read enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => false,
            Err(error) => {
                broken.push((target.clone(), error));
                false
            }
        });
    }

    /// Where something could not be written, and why.
    pub fn broken(&self) -> &[(String, io::Error)] {
        &self.broken
    }
}
