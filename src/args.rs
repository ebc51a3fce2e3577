//! The command line, as clap reads it. Every flag can also be given as `MILLPOND_<FLAG>`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::FalseyValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use millpond::model::scenario::nearest::nearest;
use millpond::sim::search::systematic::Depth;
use millpond::sim::time::{Instant, Span};
use millpond::{Expect, Invariant};

use crate::search::Search;

/// Deterministic simulation testing for stream systems.
#[derive(Debug, Parser)]
#[command(
    name = "millpond",
    version,
    max_term_width = 100,
    propagate_version = true,
    after_help = "\
Examples:
  millpond demo
  millpond run scenarios/

What exit codes mean: millpond explain exit-codes"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) taste: Taste,
}

/// What all commands have.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Taste {
    /// Whether to print colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", env = "MILLPOND_COLOR")]
    pub(crate) color: When,
    /// Print failures and the last line only
    #[arg(short, long, global = true, conflicts_with = "verbose", env = "MILLPOND_QUIET", value_parser = FalseyValueParser::new())]
    pub(crate) quiet: bool,
    /// Print more: counts of probes, faults and comparisons, and expected failures in full
    #[arg(short, long, global = true, env = "MILLPOND_VERBOSE", value_parser = FalseyValueParser::new())]
    pub(crate) verbose: bool,
    /// Log to stderr what this filter lets through, such as `millpond=debug`, with virtual times
    #[arg(long, global = true, value_name = "FILTER", env = "MILLPOND_LOG")]
    pub(crate) log: Option<String>,
}

/// When to print colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run campaigns over scenarios
    #[command(after_help = "\
Examples:
  millpond run scenarios/ --seeds 5000
  millpond run scenarios/ --start random --budget 10m --junit results.xml

What exit codes mean: millpond explain exit-codes")]
    Run(Box<Run>),
    /// Run a failure file, or one seed of a scenario, again and tell its story
    #[command(after_help = "\
Exits 1 as long as the failure is there and 0 once it is gone, as `git bisect run` wants it.

Examples:
  millpond replay millpond.out/failures/totals-9f3c2a71.ron
  millpond replay scenarios/totals.ron --seed 417 --trace run.svg --from 4s --to 6s

What exit codes mean: millpond explain exit-codes")]
    Replay(Box<Replay>),
    /// Look longer for the smallest cause of a failure, and write it as a file of its own
    #[command(after_help = "\
Ctrl-C ends it with what has been reached.

Examples:
  millpond shrink millpond.out/failures/totals-9f3c2a71.ron --budget 5m
  millpond shrink scenarios/totals.ron --seed 417 --test

What exit codes mean: millpond explain exit-codes")]
    Shrink(Shrink),
    /// Read scenarios and say what is wrong with them; run nothing
    #[command(after_help = "\
Examples:
  millpond check
  millpond check scenarios/totals.ron

What exit codes mean: millpond explain exit-codes")]
    Check(Paths),
    /// List scenarios with what they claim, check and expect
    #[command(after_help = "\
Examples:
  millpond list
  millpond list scenarios/joins -v

What exit codes mean: millpond explain exit-codes")]
    List(Paths),
    /// Say what a field, fault, invariant, probe, bug, error or exit code means
    #[command(after_help = "\
Examples:
  millpond explain topics.partitions
  millpond explain Crash

What exit codes mean: millpond explain exit-codes")]
    Explain(Explain),
    /// Write a small scenario with its fields explained
    #[command(after_help = "\
Examples:
  millpond new scenarios/first.ron
  millpond new first.ron && millpond run first.ron

What exit codes mean: millpond explain exit-codes")]
    New(New),
    /// Measure how well planted bugs are found, shrunk, and told from correct twins
    #[command(after_help = "\
Examples:
  millpond bugs
  millpond bugs bugs/offsets --search all --json

What exit codes mean: millpond explain exit-codes")]
    Bugs(Bugs),
    /// Find and replay a planted bug: a test of Millpond itself that takes seconds
    #[command(after_help = "\
Examples:
  millpond demo
  millpond demo --color never

What exit codes mean: millpond explain exit-codes")]
    Demo,
    /// Print completions for a shell
    #[command(after_help = "\
Examples:
  millpond completions bash > /etc/bash_completion.d/millpond
  millpond completions fish > ~/.config/fish/completions/millpond.fish

What exit codes mean: millpond explain exit-codes")]
    Completions(Completions),
}

/// Files and folders with scenarios.
#[derive(Debug, Args)]
pub(crate) struct Paths {
    /// Scenario files, or folders with them [default: scenarios/]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

/// `millpond run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) paths: Paths,

    /// How many seeds for each scenario [default: the scenario's own number, or 1000]
    #[arg(long, value_name = "N", env = "MILLPOND_SEEDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seeds: Option<u64>,
    /// The first seed, or `random`
    #[arg(long, value_name = "N", default_value = "0", env = "MILLPOND_START")]
    pub(crate) start: StartSeed,
    /// Run this one seed
    #[arg(long, value_name = "N", conflicts_with_all = ["seeds", "start", "budget"], env = "MILLPOND_SEED")]
    pub(crate) seed: Option<u64>,
    /// Only scenarios with this text in their name or claims
    #[arg(long, value_name = "TEXT", env = "MILLPOND_FILTER")]
    pub(crate) filter: Option<String>,
    /// Only this invariant
    #[arg(long, value_name = "INVARIANT", value_parser = invariant, env = "MILLPOND_ONLY")]
    pub(crate) only: Option<Invariant>,
    /// When to run the recorded failures in folders named `known`
    #[arg(long, value_name = "WHEN", default_value = "first", env = "MILLPOND_KNOWN")]
    pub(crate) known: Known,

    /// Begin no more seeds after this time, such as `10m`; it is split evenly over the scenarios
    #[arg(long, value_name = "TIME", env = "MILLPOND_BUDGET", help_heading = "How long")]
    pub(crate) budget: Option<Span>,
    /// Leave a scenario after this many seeds in a row that reached no new probe and did not fail
    #[arg(long, value_name = "N", env = "MILLPOND_UNTIL_QUIET", value_parser = clap::value_parser!(u64).range(1..), help_heading = "How long")]
    pub(crate) until_quiet: Option<u64>,
    /// Leave a scenario after this many failing seeds, or `all`: never
    #[arg(long, value_name = "N", default_value = "1", env = "MILLPOND_MAX_FAIL", help_heading = "How long")]
    pub(crate) max_fail: MaxFail,
    /// Stop at the first scenario that fails
    #[arg(long, env = "MILLPOND_FAIL_FAST", value_parser = FalseyValueParser::new(), help_heading = "How long")]
    pub(crate) fail_fast: bool,

    /// How many threads; negative: so many fewer than there are cores [default: all cores]
    #[arg(
        short,
        long,
        value_name = "N",
        allow_negative_numbers = true,
        env = "MILLPOND_JOBS",
        help_heading = "How"
    )]
    pub(crate) jobs: Option<Jobs>,
    /// How what is run is chosen
    #[arg(
        long,
        value_name = "STRATEGY",
        default_value = "mix",
        env = "MILLPOND_SEARCH",
        help_heading = "How"
    )]
    pub(crate) search: Search,
    /// How many faults the systematic and the exhaustive search combine, 1 or 2
    #[arg(long, value_name = "N", default_value = "1", env = "MILLPOND_DEPTH", value_parser = depth, help_heading = "How")]
    pub(crate) depth: Depth,
    /// How long to look for the smallest cause of each failure, or `never`
    #[arg(long, value_name = "TIME", default_value = "10s", env = "MILLPOND_SHRINK", help_heading = "How")]
    pub(crate) shrink: ShrinkFor,
    /// Run each seed twice and compare (failing seeds always are)
    #[arg(long, env = "MILLPOND_CHECK_DETERMINISM", value_parser = FalseyValueParser::new(), help_heading = "How")]
    pub(crate) check_determinism: bool,

    /// The folder of results
    #[arg(
        long,
        value_name = "DIR",
        default_value = "millpond.out",
        env = "MILLPOND_OUT",
        help_heading = "Output"
    )]
    pub(crate) out: PathBuf,
    /// Also write JUnit XML to this file
    #[arg(long, value_name = "FILE", env = "MILLPOND_JUNIT", help_heading = "Output")]
    pub(crate) junit: Option<PathBuf>,
    /// Text for people or JSON lines on stdout
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        env = "MILLPOND_MESSAGE_FORMAT",
        help_heading = "Output"
    )]
    pub(crate) message_format: MessageFormat,
    /// How to show progress on stderr
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        env = "MILLPOND_PROGRESS",
        help_heading = "Output"
    )]
    pub(crate) progress: Progress,
}

/// `millpond replay`.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// A failure file, or a scenario with --seed
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The seed to run
    #[arg(long, value_name = "N", env = "MILLPOND_SEED")]
    pub(crate) seed: Option<u64>,
    /// Also write its trace: the ending says how (.jsonl, .json for Perfetto, .shiviz, .mmd, .svg)
    #[arg(long, value_name = "FILE", env = "MILLPOND_TRACE", help_heading = "Trace")]
    pub(crate) trace: Option<PathBuf>,
    /// Compare with another trace (.jsonl) or run (.ron), and print the first difference
    #[arg(long, value_name = "FILE", env = "MILLPOND_AGAINST", help_heading = "Trace")]
    pub(crate) against: Option<PathBuf>,
    /// Only what happens from this time on, such as `4.2s`
    #[arg(long, value_name = "TIME", value_parser = time, env = "MILLPOND_FROM", help_heading = "Trace")]
    pub(crate) from: Option<Instant>,
    /// Only what happens up to this time
    #[arg(long, value_name = "TIME", value_parser = time, env = "MILLPOND_TO", help_heading = "Trace")]
    pub(crate) to: Option<Instant>,
    /// Only what concerns this node; may be given several times
    #[arg(long, value_name = "NAME", env = "MILLPOND_NODE", help_heading = "Trace")]
    pub(crate) node: Vec<String>,
    /// Only messages or points of this kind, such as `Commit`; may be given several times
    #[arg(long, value_name = "KIND", env = "MILLPOND_KIND", help_heading = "Trace")]
    pub(crate) kind: Vec<String>,
    /// In diagrams also what says no more than that all is well, such as heartbeats
    #[arg(long, env = "MILLPOND_ALL", value_parser = FalseyValueParser::new(), help_heading = "Trace")]
    pub(crate) all: bool,
    /// Take the failing run up again after each step of its story, and tell how likely the failure is
    #[arg(long, env = "MILLPOND_BLAME", value_parser = FalseyValueParser::new())]
    pub(crate) blame: bool,
}

/// `millpond shrink`.
#[derive(Debug, Args)]
pub(crate) struct Shrink {
    /// A failure file, or a scenario with --seed
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The seed that fails
    #[arg(long, value_name = "N", env = "MILLPOND_SEED")]
    pub(crate) seed: Option<u64>,
    /// How long to look
    #[arg(long, value_name = "TIME", default_value = "60s", env = "MILLPOND_BUDGET")]
    pub(crate) budget: Span,
    /// Over how many schedules each entry of the plan is tried, with it and without it
    #[arg(long, value_name = "N", default_value = "100", env = "MILLPOND_SCHEDULES", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) schedules: u32,
    /// Where to write [default: the folder of FILE]
    #[arg(long, value_name = "DIR", env = "MILLPOND_OUT")]
    pub(crate) out: Option<PathBuf>,
    /// Also write a Rust test that runs the file
    #[arg(long, env = "MILLPOND_TEST", value_parser = FalseyValueParser::new())]
    pub(crate) test: bool,
}

/// `millpond bugs`.
#[derive(Debug, Args)]
pub(crate) struct Bugs {
    /// Files of a catalogue, or folders with them: bugs that break what they expect, and correct twins
    /// [default: bugs/]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The strategy, or `all`; what the first one finds is shrunk
    #[arg(long, value_name = "STRATEGY", default_value = "mix", env = "MILLPOND_SEARCH")]
    pub(crate) search: SearchWith,
    /// How many campaigns look for each bug, each from another start
    #[arg(long, value_name = "N", default_value = "9", env = "MILLPOND_CAMPAIGNS", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) campaigns: u32,
    /// The most cases of a campaign
    #[arg(long, value_name = "N", default_value = "2000", env = "MILLPOND_MOST", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) most: u64,
    /// How many seeds each correct twin runs
    #[arg(long, value_name = "N", default_value = "1000", env = "MILLPOND_TWINS")]
    pub(crate) twins: u64,
    /// How many threads; negative: so many fewer than there are cores [default: all cores]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, env = "MILLPOND_JOBS")]
    pub(crate) jobs: Option<Jobs>,
    /// Print one JSON document
    #[arg(long, env = "MILLPOND_JSON", value_parser = FalseyValueParser::new())]
    pub(crate) json: bool,
}

/// One strategy, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchWith {
    All,
    One(Search),
}

impl FromStr for SearchWith {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        Search::from_str(text, false).map(Self::One).map_err(|_| {
            let names: Vec<_> = Search::ALL.iter().map(|search| search.name()).collect();
            format!("there are: all, {}", names.join(", "))
        })
    }
}

/// `millpond explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A field by its path or last name, a fault, an invariant, a probe, a bug, an error's code, `exit-codes`
    #[arg(value_name = "NAME", required = true)]
    pub(crate) name: Vec<String>,
}

/// `millpond new`.
#[derive(Debug, Args)]
pub(crate) struct New {
    /// The file to write; it must not be there yet
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// `millpond completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// The first seed of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartSeed {
    At(u64),
    Random,
}

impl FromStr for StartSeed {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "random" {
            return Ok(Self::Random);
        }
        text.parse().map(Self::At).map_err(|_| "write a whole number from 0, or `random`".to_owned())
    }
}

/// How many failing seeds of a scenario are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaxFail {
    After(u64),
    All,
}

impl FromStr for MaxFail {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("all", _) => Ok(Self::All),
            (_, Ok(number @ 1..)) => Ok(Self::After(number)),
            _ => Err("write a whole number from 1, or `all`".to_owned()),
        }
    }
}

/// How long to look for a smaller cause; none: not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShrinkFor(pub(crate) Option<Duration>);

impl FromStr for ShrinkFor {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(Self(None));
        }
        let span: Span = text.parse().map_err(|error| format!("{error}, or `never`"))?;
        Ok(Self(Some(Duration::from_nanos(span.as_nanos()))))
    }
}

/// How many threads run seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Jobs(i64);

impl FromStr for Jobs {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(jobs @ (-1024..=-1 | 1..=1024)) => Ok(Self(jobs)),
            _ => Err("write a number from 1 to 1024, or -1 for one fewer than there are cores".to_owned()),
        }
    }
}

impl Jobs {
    /// The number of threads.
    pub(crate) fn threads(jobs: Option<Self>) -> NonZeroUsize {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let threads = match jobs {
            None => cores.get() as i64,
            Some(Self(jobs @ 1..)) => jobs,
            Some(Self(fewer)) => cores.get() as i64 + fewer,
        };
        usize::try_from(threads).ok().and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MIN)
    }
}

/// When to run recorded failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Known {
    /// Before everything else
    First,
    /// And nothing else
    Only,
    /// Not at all
    Skip,
}

/// What to print on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// Text
    Human,
    /// JSON lines
    Json,
}

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    /// A bar on a terminal, else lines
    Auto,
    /// A bar
    Bar,
    /// A line at every power of two and every minute
    Lines,
    /// Nothing
    None,
}

fn time(text: &str) -> Result<Instant, String> {
    text.parse::<Span>().map(|span| Instant::ZERO + span).map_err(|error| error.to_string())
}

fn depth(text: &str) -> Result<Depth, String> {
    match text {
        "1" => Ok(Depth::One),
        "2" => Ok(Depth::Two),
        _ => Err("write 1 or 2".to_owned()),
    }
}

fn invariant(text: &str) -> Result<Invariant, String> {
    let known = invariants();
    let found = known.iter().find(|(name, _)| name == text);
    found.map(|(_, invariant)| *invariant).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| name.as_str()).collect();
        match nearest(text, names.iter().copied()) {
            Some(name) => format!("did you mean {name}?"),
            None => format!("known are {}", names.join(", ")),
        }
    })
}

/// Every invariant with its name.
pub(crate) fn invariants() -> Vec<(String, Invariant)> {
    let every = [
        Invariant::ExactlyOnceOutput,
        Invariant::OffsetIdempotency,
        Invariant::PartitionOrder,
        Invariant::JoinDeterminism,
        Invariant::NoAcknowledgedLoss,
        Invariant::ReadYourWrites,
        Invariant::Liveness,
        Invariant::NoPanic,
        Invariant::Bounds,
    ];
    every.into_iter().map(|invariant| (format!("{invariant:?}"), invariant)).collect()
}

/// What a scenario expects, in a few words.
pub(crate) fn expectation(expect: Expect) -> String {
    match expect {
        Expect::Pass => "no violation".to_owned(),
        Expect::Violation(invariant) => format!("a violation of {invariant:?}"),
    }
}
