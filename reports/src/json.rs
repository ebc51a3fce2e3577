//! A campaign as JSON lines, one object a line, and as one object without times: `summary.json`.
//!
//! Fingerprints and sums are text of 16 hexadecimal digits, since many readers of JSON lose digits of
//! numbers above 2^53.

use std::io::{self, Write};
use std::path::PathBuf;

use millpond_sim::search::certificate::Share;
use serde_json::{Map, Value, json};

use crate::event::{End, Event, Finished, Reader, Start};
use crate::failure::{Cause, Explanation, Failure, Size};
use crate::folder::write_whole;
use crate::group::shape;

/// The number of this format.
pub const FORMAT: u32 = 1;

/// Writes a line for each event but the progress.
pub struct JsonLines<W> {
    out: W,
}

impl<W: Write> JsonLines<W> {
    /// Lines to `out`.
    pub fn new(out: W) -> Self {
        Self { out }
    }
}

impl<W: Write> Reader for JsonLines<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let line = match event {
            Event::Start(start) => named("start", self::start(start)),
            Event::ScenarioStarted(_) | Event::Seed(_) => return Ok(()),
            Event::Failure(failure) => named("failure", self::failure(failure)),
            Event::ScenarioFinished(finished) => {
                let mut line = named("scenario", scenario(finished));
                line["ms"] = json!(u64::try_from(finished.elapsed.as_millis()).unwrap_or(u64::MAX));
                line
            }
            Event::End(end) => named("end", self::end(end)),
        };
        // One write for a line, so that a reader never sees half of one.
        self.out.write_all(format!("{line}\n").as_bytes())?;
        self.out.flush()
    }
}

/// Keeps what a campaign comes to and writes it, whole, at its end. It is the same for the same
/// scenarios and seeds: it has no times and names no machine.
pub struct Summary {
    path: PathBuf,
    value: Map<String, Value>,
    scenarios: Vec<Value>,
    failures: Vec<Value>,
}

impl Summary {
    /// A summary that will be written to `path`.
    pub fn new(path: PathBuf) -> Self {
        Self { path, value: Map::new(), scenarios: Vec::new(), failures: Vec::new() }
    }
}

impl Reader for Summary {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(start) => merge(&mut self.value, self::start(start)),
            Event::ScenarioStarted(_) | Event::Seed(_) => {}
            Event::Failure(failure) => self.failures.push(self::failure(failure)),
            Event::ScenarioFinished(finished) => self.scenarios.push(scenario(finished)),
            Event::End(end) => {
                merge(&mut self.value, self::end(end));
                self.value.insert("scenarios".into(), std::mem::take(&mut self.scenarios).into());
                self.value.insert("failures".into(), std::mem::take(&mut self.failures).into());
                let text = serde_json::to_string_pretty(&self.value)?;
                write_whole(&self.path, &(text + "\n"))?;
            }
        }
        Ok(())
    }
}

fn merge(into: &mut Map<String, Value>, from: Value) {
    if let Value::Object(from) = from {
        into.extend(from);
    }
}

/// A line: the name of its event, then the rest.
fn named(event: &str, value: Value) -> Value {
    let mut line = Map::new();
    line.insert("event".into(), event.into());
    merge(&mut line, value);
    line.into()
}

fn start(start: &Start) -> Value {
    json!({
        "format": FORMAT, "version": start.version, "engine": start.engine,
        "start": start.start, "seeds": start.seeds,
    })
}

fn failure(failure: &Failure) -> Value {
    let broken = |(invariant, count): (String, u64)| json!({ "invariant": invariant, "violations": count });
    let verdicts =
        failure.outcome.broken().map(|verdict| (format!("{:?}", verdict.invariant), verdict.count));
    let sentence =
        failure.outcome.broken().find(|verdict| Some(verdict.invariant) == failure.cause.invariant());
    let sentence = sentence.and_then(|verdict| verdict.violations.first()).map(|one| one.sentence.as_str());
    let mut value = json!({
        "scenario": failure.scenario, "seed": failure.seed,
        "invariant": failure.cause.name(), "kind": failure.cause.kind(), "expected": failure.expected,
        "id": failure.id, "items": failure.plan.faults.len() + failure.plan.workload.len(),
        "events": failure.outcome.events, "fingerprint": hex(failure.outcome.fingerprint),
        "sentence": sentence, "broken": verdicts.map(broken).collect::<Vec<_>>(),
        "file": failure.file, "replay": failure.replay,
    });
    if let Some(explanation) = &failure.explanation {
        value["explanation"] = self::explanation(failure, explanation);
    }
    if let Cause::Unsteady(difference) = &failure.cause {
        value["fingerprints"] = difference.fingerprints.map(hex).to_vec().into();
        value["first_difference"] = match &difference.lines {
            Some(lines) => {
                let lines =
                    lines.each_ref().map(|line| crate::block::event(line.as_ref(), &failure.outcome.nodes));
                lines.to_vec().into()
            }
            None => Value::Null,
        };
    }
    value
}

/// What was found out about a failure.
fn explanation(failure: &Failure, explanation: &Explanation) -> Value {
    let size =
        |Size { faults, records, delays }| json!({ "faults": faults, "records": records, "delays": delays });
    let share = |share: &Share| json!([share.failing, share.of]);
    let shares = |list: &[Share]| list.iter().map(share).collect::<Vec<_>>();
    let shrunk = explanation.shrunk.as_ref().map(|shrunk| {
        let slipped = shrunk.slipped.iter().map(|(invariant, _)| format!("{invariant:?}"));
        json!({
            "from": size(shrunk.from), "to": size(Size::of(&failure.plan)), "runs": shrunk.runs,
            "minimal": shrunk.minimal, "slipped": slipped.collect::<Vec<_>>(),
        })
    });
    let certificate = explanation.certificate.as_ref().map(|it| {
        json!({
            "whole": share(&it.whole), "without_fault": shares(&it.without_fault),
            "without_delay": shares(&it.without_delay), "without_record": shares(&it.without_item),
        })
    });
    json!({
        "schedule": failure.schedule, "shape": shape(&failure.plan), "shrunk": shrunk,
        "certificate": certificate, "story": explanation.story.len(),
    })
}

fn scenario(finished: &Finished) -> Value {
    let totals = &finished.totals;
    let faults: Map<String, Value> = totals
        .faults
        .iter()
        .map(|(kind, one)| {
            let counts = json!({ "plans": one.plans, "armed": one.armed, "bitten": one.bitten });
            (kind.name().to_owned(), counts)
        })
        .collect();
    let compared: Map<String, Value> =
        finished.compared.iter().map(|(invariant, count)| (format!("{invariant:?}"), json!(count))).collect();
    let ranges = json!([{ "start": finished.start, "step": 1, "count": totals.runs }]);
    json!({
        "scenario": finished.scenario, "digest": hex(finished.digest),
        "verdict": finished.judgement.name(), "ranges": ranges, "passed": totals.runs - totals.failed,
        "failed": totals.failed, "first_failing": finished.first.as_ref().map(|(seed, _)| seed),
        "expects": finished.expects.map(|one| format!("{one:?}")), "missing": finished.missing,
        "events": totals.events, "probes": totals.probes, "faults": faults, "compared": compared,
        "stopped_by": finished.stopped_by.map(crate::event::StoppedBy::name), "sum": hex(totals.sum),
    })
}

fn end(end: &End) -> Value {
    json!({ "exit": end.exit, "stopped_by": end.stopped_by.name() })
}

fn hex(number: u64) -> String {
    format!("{number:016x}")
}
