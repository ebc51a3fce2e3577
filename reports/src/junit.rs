//! A campaign as JUnit XML: a suite for each scenario, a case for each of its invariants, never one
//! for each seed.

use std::io;
use std::path::PathBuf;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::block::block;
use crate::console::Detail;
use crate::event::{Event, Finished, Reader, Start};
use crate::folder::write_whole;
use crate::judge::Judgement;

/// A failure as it will be told.
struct Told {
    cause: String,
    block: String,
    expected: bool,
}

/// Keeps the suites and writes the file at the end.
pub struct Junit {
    path: PathBuf,
    start: Start,
    report: Report,
    /// Failures of the scenario that runs: what they are named after, and their blocks.
    failures: Vec<Told>,
}

impl Junit {
    /// A report that will be written to `path`.
    pub fn new(path: PathBuf) -> Self {
        Self { path, start: Start::default(), report: Report::new("millpond"), failures: Vec::new() }
    }

    fn suite(&mut self, finished: &Finished) -> TestSuite {
        let mut suite = TestSuite::new(finished.scenario.as_str());
        suite.set_time(finished.elapsed);
        let seeds = format!("{}..{}", finished.start, finished.start.saturating_add(finished.totals.runs));
        let engine = self.start.engine.to_string();
        let version = self.start.version.as_str();
        suite.add_properties([("seeds", seeds.as_str()), ("engine", &engine), ("version", version)]);
        let failures = std::mem::take(&mut self.failures);
        for invariant in finished.compared.keys() {
            let name = format!("{invariant:?}");
            let told: Vec<_> = failures.iter().filter(|failure| failure.cause == name).collect();
            let texts = told.iter().map(|failure| failure.block.as_str()).collect::<Vec<_>>().join("\n");
            let status = match (told.iter().all(|failure| failure.expected), finished.judgement) {
                (false, Judgement::Fail | Judgement::Unsteady) => failed(&name, &texts),
                (_, Judgement::Missed | Judgement::Fixed) if finished.expects == Some(*invariant) => {
                    failed("an expected violation was not found", &finished.missing.join("\n"))
                }
                (true | false, _) => TestCaseStatus::success(),
            };
            let mut case = TestCase::new(name, status);
            case.set_classname(finished.scenario.as_str());
            if finished.judgement.is_as_expected() && !texts.is_empty() {
                case.set_system_out(texts);
            }
            suite.add_test_case(case);
        }
        let lacks = || finished.missing.join("\n");
        let more = match finished.judgement {
            Judgement::Empty => Some(("campaign", "nothing was proved", lacks())),
            Judgement::Unsteady => {
                let told = failures.iter().find(|failure| failure.cause == "determinism");
                let text = told.map_or_else(lacks, |failure| failure.block.clone());
                Some(("determinism", "the same run again was another one", text))
            }
            Judgement::Pass
            | Judgement::Found
            | Judgement::Known
            | Judgement::Fail
            | Judgement::Missed
            | Judgement::Fixed => None,
        };
        if let Some((name, message, text)) = more {
            let mut case = TestCase::new(name, failed(message, &text));
            case.set_classname(finished.scenario.as_str());
            suite.add_test_case(case);
        }
        suite
    }
}

fn failed(message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(message).set_description(text);
    status
}

impl Reader for Junit {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(start) => self.start = (*start).clone(),
            Event::ScenarioStarted(_) | Event::Seed(_) => {}
            Event::Failure(failure) => {
                let (cause, block) = (failure.cause.name(), block(failure, Detail::Normal));
                self.failures.push(Told { cause, block, expected: failure.expected });
            }
            Event::ScenarioFinished(finished) => {
                let suite = self.suite(finished);
                self.report.add_test_suite(suite);
            }
            Event::End(end) => {
                self.report.set_time(end.elapsed);
                let text = self.report.to_string().map_err(io::Error::other)?;
                write_whole(&self.path, &text)?;
            }
        }
        Ok(())
    }
}
