//! How far a campaign is, on stderr: a bar on a terminal, else a line now and then.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use millpond::reports::event::{Event, Reader, ScenarioStarted, Seed};

use crate::args::Progress;
use crate::clock::Stopwatch;

/// Lines come from this many seeds on.
const FIRST_LINE: u64 = 1_024;

/// Between two powers of two a line comes after this time.
const AT_LEAST: Duration = Duration::from_secs(60);

/// Adds the reader that shows progress as it is wanted.
pub(crate) fn reader(how: Progress) -> Option<Box<dyn Reader>> {
    let terminal = io::stderr().is_terminal();
    match how {
        Progress::None => None,
        Progress::Bar => Some(Box::new(Bar::default())),
        Progress::Auto if terminal => Some(Box::new(Bar::default())),
        Progress::Auto | Progress::Lines => Some(Box::new(Lines::new())),
    }
}

/// A bar for the scenario that runs.
#[derive(Default)]
struct Bar(Option<ProgressBar>);

impl Bar {
    fn begin(&mut self, started: &ScenarioStarted) {
        let bar = ProgressBar::new(started.seeds.unwrap_or(0));
        let form = "  {msg}  {wide_bar} {human_pos}/{human_len} seeds, {per_sec}, {eta} left";
        let endless = "  {msg}  {spinner} {human_pos} seeds, {per_sec}, {elapsed}";
        let form = if started.seeds.is_some() { form } else { endless };
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        bar.set_message(started.scenario.clone());
        self.0 = Some(bar);
    }
}

impl Reader for Bar {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(_) | Event::Failure(_) => {}
            Event::ScenarioStarted(started) => self.begin(started),
            Event::Seed(seed) => {
                if let Some(bar) = &self.0 {
                    bar.set_position(seed.done);
                }
            }
            // Readers after this one print where the bar was.
            Event::ScenarioFinished(_) | Event::End(_) => {
                if let Some(bar) = self.0.take() {
                    bar.finish_and_clear();
                }
            }
        }
        Ok(())
    }
}

/// A line at each power of two and each minute, so that a log stays short at any length.
struct Lines {
    scenario: Stopwatch,
    last_line: Stopwatch,
}

impl Lines {
    fn new() -> Self {
        Self { scenario: Stopwatch::start(), last_line: Stopwatch::start() }
    }

    fn seed(&mut self, seed: &Seed<'_>) {
        let power = seed.done >= FIRST_LINE && seed.done.is_power_of_two();
        if !power && self.last_line.elapsed() < AT_LEAST {
            return;
        }
        self.last_line = Stopwatch::start();
        let time = self.scenario.elapsed().as_secs_f64();
        let rate = seed.done as f64 / time.max(0.001);
        let (done, name, probes) = (seed.done, seed.scenario, seed.probes);
        // Whoever closed stderr does not want to know.
        let _ = writeln!(
            io::stderr(),
            "#{done}  {name}  {time:.1} s  {rate:.0} seeds/s  {probes} probes reached"
        );
    }
}

impl Reader for Lines {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::ScenarioStarted(_) => *self = Self { last_line: self.last_line, ..Self::new() },
            Event::Seed(seed) => self.seed(seed),
            Event::Start(_) | Event::Failure(_) | Event::ScenarioFinished(_) | Event::End(_) => {}
        }
        Ok(())
    }
}
