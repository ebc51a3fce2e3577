//! Numbers, times and totals within their limits.
//!
//! The range of a whole number stands at its field's type and is read from there; the rest are
//! limits that keep a run small enough to be run a thousand times.

use std::str::FromStr;

use millpond_sim::time::Span;
use serde_json::Value;

use super::Found;
use crate::scenario::mistake::{Mistake, Part, Path, Segment, at};
use crate::scenario::schema::{Faults, Scenario, Spread};
use crate::scenario::shape::{Form, Shape, Special, whole};

/// The longest time in a scenario.
const LONGEST: Span = Span::from_secs(3_600);
/// The shortest time between two records of a producer.
const SHORTEST_EVERY: Span = Span::from_micros(1);
const MOST_DRAWN: i128 = 101;
const MOST_NODES: u64 = 128;
const MOST_TOPICS: usize = 64;
const MOST_PARTITIONS: u64 = 512;
const MOST_RECORDS: u64 = 100_000;
const MOST_FAULTS: usize = 10_000;

/// Whether the scenario is small enough to be looked at further.
pub(super) fn check(scenario: &Scenario, found: &mut Found) -> bool {
    let value = serde_json::to_value(scenario).unwrap_or_default();
    limits(Shape::scenario(), &value, &mut Path::default(), found);
    times(scenario, found);
    let mut totals = totals(scenario);
    let small = totals.is_empty();
    // A number out of range makes the totals too large as well: once is enough.
    if !found.0.iter().any(|mistake| mistake.code == Some("out-of-range")) {
        found.0.append(&mut totals);
    }
    small
}

/// The limits that follow from the type of a field.
fn limits(shape: Shape, value: &Value, path: &mut Path, found: &mut Found) {
    if found.is_full() || value.is_null() {
        return;
    }
    let mut below = |segment: Segment, shape: Shape, value: &Value, found: &mut Found| {
        path.0.push(segment);
        limits(shape, value, path, found);
        path.0.pop();
    };
    match shape.form() {
        Form::Text | Form::Bool => {}
        Form::Special(special) => time(special, value, path, found),
        Form::Integer { least, most } => {
            if let Some(number) = whole(value).filter(|number| !(least..=most).contains(number)) {
                found.add(
                    Mistake::new(format!("{number} is out of range for {path}"), path.clone())
                        .code("out-of-range")
                        .label(format!("must be from {least} to {most}")),
                );
            }
        }
        Form::Range(_) => range(value, path, found),
        Form::List(shape) => {
            for (at, value) in value.as_array().into_iter().flatten().enumerate() {
                below(at.into(), shape, value, found);
            }
        }
        Form::Tuple(shapes) => {
            for (at, (value, shape)) in value.as_array().into_iter().flatten().zip(shapes).enumerate() {
                below(at.into(), shape, value, found);
            }
        }
        Form::Map(shape) => {
            for (name, value) in value.as_object().into_iter().flatten() {
                below(name.into(), shape, value, found);
            }
        }
        Form::Struct(fields) => {
            for (name, shape) in fields {
                below(name.into(), shape, &value[name], found);
            }
        }
        Form::Enum(variants) => {
            for (name, value) in value.as_object().into_iter().flatten() {
                if let Some(shape) = variants.iter().find(|v| v.name == name).and_then(|v| v.content) {
                    below(name.into(), shape, value, found);
                }
            }
        }
    }
}

fn time(special: Special, value: &Value, path: &Path, found: &mut Found) {
    let text = value.as_str().unwrap_or_default();
    let long = special == Special::Time && Span::from_str(text).map_or(true, |span| span > LONGEST);
    if long {
        found.add(
            Mistake::new(format!("{path} is longer than {LONGEST}"), path.clone())
                .code("too-long")
                .label(format!("at most {LONGEST}")),
        );
    }
}

fn range(value: &Value, path: &Path, found: &mut Found) {
    let (Some(start), Some(end)) = (whole(&value["start"]), whole(&value["end"])) else { return };
    let mistake = |title, label: String| Mistake::new(title, path.clone()).code("bad-range").label(label);
    let drawn = path.0.get(1) == Some(&Segment::from("Draw"));
    if start > end || (start == end && !drawn) {
        let label = "the end of a range is not included".into();
        found.add(mistake(format!("the range {start}..{end} of {path} is empty"), label));
    } else if drawn && end > MOST_DRAWN {
        let label = format!("at most {}..{MOST_DRAWN}", start.min(MOST_DRAWN));
        found.add(mistake(format!("{path} draws too many faults"), label));
    }
}

fn times(scenario: &Scenario, found: &mut Found) {
    let mut positive = |span: Span, path: Path| {
        if span.is_zero() {
            found.add(
                Mistake::new(format!("{path} is no time at all"), path)
                    .code("no-time")
                    .label("must be longer than 0s"),
            );
        }
    };
    positive(scenario.phases.faults, at!["phases", "faults"]);
    for (name, producer) in &scenario.producers {
        positive(producer.timeout, at!["producers", name, "timeout"]);
    }
    for (name, processor) in &scenario.processors {
        positive(processor.timeout, at!["processors", name, "timeout"]);
        positive(processor.session, at!["processors", name, "session"]);
        positive(processor.heartbeat, at!["processors", name, "heartbeat"]);
    }
    for (name, producer) in &scenario.producers {
        let shortest = match producer.every {
            Spread::Fixed(span) | Spread::Uniform(span, _) => span,
        };
        if shortest < SHORTEST_EVERY {
            let path = at!["producers", name, "every"];
            found.add(
                Mistake::new(format!("{path} is too short"), path)
                    .code("too-short")
                    .label(format!("at least {SHORTEST_EVERY}")),
            );
        }
    }
    for (name, processor) in &scenario.processors {
        if processor.heartbeat >= processor.session && !processor.session.is_zero() {
            let path = at!["processors", name, "heartbeat"];
            let (heartbeat, session) = (processor.heartbeat, processor.session);
            found.add(
                Mistake::new(
                    format!("`{name}` has a heartbeat every {heartbeat} and a session of {session}"),
                    path,
                )
                .code("slow-heartbeat")
                .label("the group would give it up between two heartbeats")
                .related(at!["processors", name, "session"], Part::Value, "the session")
                .help("let several heartbeats fit into a session"),
            );
        }
    }
    spreads(scenario, found);
}

fn spreads(scenario: &Scenario, found: &mut Found) {
    let mut ordered = |spread: &Spread, path: Path| {
        if let Spread::Uniform(from, to) = spread
            && from > to
        {
            found.add(
                Mistake::new(format!("{path} is drawn from {from} to {to}"), path)
                    .code("bad-range")
                    .label("the shorter time comes first"),
            );
        }
    };
    ordered(&scenario.network.latency, at!["network", "latency"]);
    ordered(&scenario.disk.sync, at!["disk", "sync"]);
    for (name, producer) in &scenario.producers {
        ordered(&producer.every, at!["producers", name, "every"]);
    }
    if let Faults::Draw(draw) = &scenario.faults {
        ordered(&draw.down, at!["faults", "Draw", "down"]);
        ordered(&draw.lasts, at!["faults", "Draw", "lasts"]);
    }
}

fn totals(scenario: &Scenario) -> Vec<Mistake> {
    let mut found = Vec::new();
    let mut at_most = |what: &str, count: u64, most: u64, path: Path| {
        if count > most {
            let title = format!("the scenario has {count} {what}; at most {most} are possible");
            found.push(Mistake::new(title, path).code("too-many").in_name());
        }
    };
    let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0_u64, u64::saturating_add);
    let producers = sum(&mut scenario.producers.iter().map(|(_, it)| it.count.max(1).into()));
    let processors = sum(&mut scenario.processors.iter().map(|(_, it)| it.instances.max(1).into()));
    // The last one is the observer, which reads everything at the end.
    let others = u64::from(scenario.brokers.count) + scenario.sinks.len() as u64 + 1;
    let larger = if producers > processors { "producers" } else { "processors" };
    at_most("nodes", producers + processors + others, MOST_NODES, at![larger]);

    at_most("topics", scenario.topics.len() as u64, MOST_TOPICS as u64, at!["topics"]);
    let partitions = sum(&mut scenario.topics.iter().map(|(_, it)| it.partitions.into()));
    at_most("partitions", partitions, MOST_PARTITIONS, at!["topics"]);

    match &scenario.workload {
        Some(items) => at_most("records", items.len() as u64, MOST_RECORDS, at!["workload"]),
        None => {
            let records = |(_, it): (_, &crate::scenario::schema::Producer)| {
                u64::from(it.count).saturating_mul(it.records.into())
            };
            let records = sum(&mut scenario.producers.iter().map(records));
            at_most("records", records, MOST_RECORDS, at!["producers"]);
        }
    }
    at_most("delays", scenario.schedule.len() as u64, MOST_FAULTS as u64, at!["schedule"]);
    if let Faults::Plan(faults) = &scenario.faults {
        at_most("faults", faults.len() as u64, MOST_FAULTS as u64, at!["faults"]);
    }
    found
}
