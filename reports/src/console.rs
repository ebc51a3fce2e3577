//! A campaign for people: a line for each scenario, a block for each failure, and what it says in
//! the end.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use millpond_model::probes;

use crate::block::block;
use crate::event::{End, Event, Finished, Reader, Start, StoppedBy};
use crate::failure::Failure;
use crate::group::Groups;
use crate::judge::Judgement;

/// How much is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Failures and the last line.
    Quiet,
    /// A line for each scenario, too.
    #[default]
    Normal,
    /// Also counts of probes and faults, and the story of expected failures.
    Verbose,
}

/// Writes a campaign as text. It writes colours always: the writer drops those that are not wanted.
pub struct Console<W> {
    out: W,
    detail: Detail,
    start: Start,
    width: usize,
    groups: Groups,
    /// Blocks to be told again if other scenarios follow, each with the number of its own.
    repeat: Vec<(usize, String)>,
    finished: Vec<Finished>,
}

const BAD: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const DOUBT: Style = AnsiColor::Yellow.on_default().bold();

impl<W: Write> Console<W> {
    /// A console that writes to `out`.
    pub fn new(out: W, detail: Detail) -> Self {
        let (groups, repeat, finished) = Default::default();
        Self { out, detail, start: Start::default(), width: 0, groups, repeat, finished }
    }

    fn start(&mut self, start: &Start) -> io::Result<()> {
        self.width = start.scenarios.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        self.start = start.clone();
        if self.detail == Detail::Quiet {
            return Ok(());
        }
        let scenarios = count(start.scenarios.len() as u64, "scenario");
        let seeds = match start.seeds {
            Some(1) => format!("seed {}", start.start),
            Some(seeds) => format!("seeds {}..{}", start.start, start.start.saturating_add(seeds)),
            None => format!("seeds from {}", start.start),
        };
        let (version, engine, jobs) = (&start.version, start.engine, count(start.jobs as u64, "job"));
        writeln!(self.out, "millpond {version}, engine {engine}: {scenarios}, {seeds}, {jobs}")
    }

    /// Failures are told after the line of their scenario, the smallest of those that look alike.
    fn failure(&mut self, failure: &Failure) {
        // Whoever runs one scenario wants to see what it shows.
        let asked = self.detail == Detail::Verbose
            || self.detail == Detail::Normal && self.start.scenarios.len() == 1;
        if failure.expected && !asked {
            return;
        }
        self.groups.add(failure);
    }

    fn finished(&mut self, finished: &Finished) -> io::Result<()> {
        let bad = !finished.judgement.is_as_expected();
        if bad || self.detail > Detail::Quiet {
            self.line(finished)?;
        }
        if !finished.searched.is_empty() && self.detail > Detail::Quiet {
            writeln!(self.out, "         {}", finished.searched)?;
        }
        for line in finished.missing.iter().filter(|_| bad) {
            writeln!(self.out, "         {line}")?;
        }
        if finished.judgement == Judgement::Fixed {
            writeln!(self.out, "         it no longer fails: set `expect: Pass` in its file")?;
        }
        if self.detail == Detail::Verbose {
            self.counts(finished)?;
        }
        let mut blocks = Vec::new();
        for group in self.groups.take() {
            let block = block(&group.smallest, self.detail);
            writeln!(self.out)?;
            self.block(&block)?;
            if let Some(others) = group.others() {
                writeln!(self.out, "{others}")?;
            }
            blocks.push(block);
        }
        if !blocks.is_empty() {
            writeln!(self.out)?;
        }
        if bad {
            let number = self.finished.len();
            self.repeat.extend(blocks.into_iter().map(|block| (number, block)));
        }
        self.finished.push(finished.clone());
        self.out.flush()
    }

    fn line(&mut self, finished: &Finished) -> io::Result<()> {
        let (seeds, rest) = (finished.totals.runs, tail(finished));
        let style = match finished.judgement {
            Judgement::Pass | Judgement::Found | Judgement::Known => GOOD,
            Judgement::Fail | Judgement::Missed | Judgement::Fixed | Judgement::Unsteady => BAD,
            Judgement::Empty => DOUBT,
        };
        let seeds = match &finished.first {
            Some((seed, _)) => format!("seed {seed}"),
            None if !finished.searched.is_empty() => count(seeds, "case"),
            None if seeds == 1 => format!("seed {}", finished.start),
            None => count(seeds, "seed"),
        };
        let (word, name, width) = (finished.judgement.word(), &finished.scenario, self.width);
        let time = seconds(finished.elapsed);
        let line = format!("{name:<width$}   {seeds:<12} {time:>8}   {rest}");
        writeln!(self.out, "  {style}{word:<5}{style:#}  {}", line.trim_end())
    }

    fn counts(&mut self, finished: &Finished) -> io::Result<()> {
        let out = &mut self.out;
        for (invariant, comparisons) in &finished.compared {
            writeln!(out, "         {invariant:?}: {}", count(*comparisons, "comparison"))?;
        }
        for (kind, armed) in &finished.totals.faults {
            let (plans, bitten) = (count(armed.plans, "plan"), armed.bitten);
            writeln!(out, "         {kind}: {} in {plans}, {bitten} took effect", armed.armed)?;
        }
        for (probe, times) in &finished.totals.probes {
            writeln!(out, "         {probe}: {times}")?;
        }
        let reached = &finished.totals.probes;
        let never = probes::ALL.iter().map(|probe| probe.name).filter(|name| !reached.contains_key(name));
        let never: Vec<_> = never.collect();
        if !never.is_empty() {
            writeln!(out, "         never reached: {}", never.join(", "))?;
        }
        Ok(())
    }

    fn block(&mut self, block: &str) -> io::Result<()> {
        let (title, rest) = block.split_once('\n').unwrap_or((block, ""));
        writeln!(self.out, "{BAD}{title}{BAD:#}")?;
        self.out.write_all(rest.as_bytes())
    }

    fn end(&mut self, end: &End) -> io::Result<()> {
        let last = self.finished.len().saturating_sub(1);
        let again: Vec<_> = self.repeat.drain(..).filter(|(number, _)| *number < last).collect();
        for (at, (_, block)) in again.iter().enumerate() {
            if at == 0 {
                writeln!(self.out)?;
            }
            self.block(block)?;
            writeln!(self.out)?;
        }
        let summary = summary(&self.finished, end);
        let not_run = self.start.scenarios.len() - self.finished.len();
        if let Some(reason) = reason(end.stopped_by, not_run) {
            writeln!(self.out, "{reason}")?;
        }
        writeln!(self.out, "{summary}")?;
        let passed = self.finished.iter().any(|one| one.judgement == Judgement::Pass);
        if end.exit == 0 && passed && self.detail > Detail::Quiet {
            let next = self.finished.iter().map(|one| one.start.saturating_add(one.totals.runs)).max();
            writeln!(
                self.out,
                "This says no more than that these seeds found nothing; go on with --start {}.",
                next.unwrap_or(0),
            )?;
        }
        self.out.flush()
    }
}

impl<W: Write> Reader for Console<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(start) => self.start(start),
            Event::ScenarioStarted(_) | Event::Seed(_) => Ok(()),
            Event::Failure(failure) => {
                self.failure(failure);
                Ok(())
            }
            Event::ScenarioFinished(finished) => self.finished(finished),
            Event::End(end) => self.end(end),
        }
    }
}

/// The end of a scenario's line.
fn tail(finished: &Finished) -> String {
    let cause = finished.first.as_ref().map_or("", |(_, cause)| cause.as_str());
    let more = match finished.totals.failed {
        0 | 1 => String::new(),
        failed => format!(", and in {} more of {} seeds", failed - 1, finished.totals.runs),
    };
    match finished.judgement {
        Judgement::Pass => match finished.reach.len() {
            0 => String::new(),
            all => {
                let reached = |probe: &&String| finished.totals.probes.contains_key(probe.as_str());
                format!("probes {}/{all}", finished.reach.iter().filter(reached).count())
            }
        },
        Judgement::Found => format!("{cause}, as expected{more}"),
        Judgement::Known => format!("{cause}, as recorded"),
        Judgement::Fail => format!("{cause}{more}"),
        Judgement::Unsteady => "not deterministic".to_owned(),
        Judgement::Missed => finished.expects.map_or_else(String::new, |one| format!("{one:?} not found")),
        Judgement::Fixed => finished.expects.map_or_else(String::new, |one| format!("{one:?} holds")),
        Judgement::Empty => "proved nothing".to_owned(),
    }
}

fn reason(stopped_by: StoppedBy, not_run: usize) -> Option<String> {
    let reason = match stopped_by {
        StoppedBy::Seeds | StoppedBy::MaxFail => return None,
        StoppedBy::FailFast => "stopped at the first scenario that failed",
        StoppedBy::Quiet => "it had been quiet for long enough",
        StoppedBy::Budget => "the time is over",
        StoppedBy::Signal => "stopped by a signal",
    };
    Some(match not_run {
        0 => reason.to_owned(),
        not_run => format!("{reason}; {} not run", count(not_run as u64, "scenario")),
    })
}

/// The last line: how many scenarios are as expected, or how many are not.
fn summary(finished: &[Finished], end: &End) -> String {
    let of = |judged: &dyn Fn(Judgement) -> bool| finished.iter().filter(|one| judged(one.judgement)).count();
    let (all, time) = (finished.len(), seconds(end.elapsed));
    let good = of(&Judgement::is_as_expected);
    let empty = of(&|judgement| judgement == Judgement::Empty);
    let failed = all - good - empty;
    let mut text = match (failed, empty) {
        (0, 0) => format!("{good} as expected in {time}"),
        (0, empty) => format!("{empty} of {} proved nothing in {time}", count(all as u64, "scenario")),
        (failed, 0) => format!("{failed} of {} failed in {time}", count(all as u64, "scenario")),
        (failed, empty) => {
            format!("{failed} of {} failed, {empty} proved nothing in {time}", count(all as u64, "scenario"))
        }
    };
    if end.exit != 0 {
        let _ = write!(text, " (exit {})", end.exit);
        return text;
    }
    let runs: u64 = finished.iter().map(|one| one.totals.runs).sum();
    let events: u64 = finished.iter().map(|one| one.totals.events).sum();
    let sum = finished.iter().fold(0u64, |sum, one| sum.wrapping_add(one.totals.sum));
    let _ = write!(text, ": {}, {}, sum {sum:016x}", count(runs, "run"), large(events, "event"));
    text
}

fn count(n: u64, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

fn large(n: u64, thing: &str) -> String {
    match n {
        0..1_000_000 => count(n, thing),
        1_000_000..1_000_000_000 => format!("{}.{} million {thing}s", n / 1_000_000, n / 100_000 % 10),
        _ => format!("{}.{} billion {thing}s", n / 1_000_000_000, n / 100_000_000 % 10),
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
