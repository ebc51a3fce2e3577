//! A trace as JSON lines: what it is a trace of, then an object for each line. Numbers of 64 bits that
//! are no counts are texts, since not every reader keeps all digits.

use millpond_sim::trace::{EventId, Happening, Line};
use serde_json::{Value, json};

use super::Recording;
use crate::block::name;

/// The version of the format.
const FORMAT: u32 = 1;

pub(super) fn write(recording: &Recording<'_>, lines: &[&Line]) -> String {
    let Recording { scenario, seed, engine, nodes, trace } = recording;
    let head = json!({
        "trace": FORMAT, "scenario": scenario, "seed": seed, "engine": engine, "nodes": nodes,
        "omitted": trace.omitted,
    });
    let lines = lines.iter().map(|line| value(line, nodes));
    std::iter::once(head).chain(lines).map(|line| format!("{line}\n")).collect()
}

/// A line as an object. Faults are numbered from 1, as people see them.
pub fn value(line: &Line, nodes: &[String]) -> Value {
    let other = |node| Value::from(name(nodes, Some(node)));
    let mut value = json!({
        "id": id(line.id), "cause": id(line.cause), "time_ns": line.time.as_nanos(),
        "node": line.node.map(|node| name(nodes, Some(node))), "what": what(line.happening),
        "words": line.told.words, "content": format!("{:016x}", line.told.digest),
    });
    match line.happening {
        Happening::Send { to, arrives } => {
            value["to"] = other(to);
            value["arrives"] = arrives.map(id).into();
        }
        Happening::Deliver { from } | Happening::Lost { from } => value["from"] = other(from),
        _ => {}
    }
    if !line.told.kind.is_empty() {
        value["kind"] = line.told.kind.into();
    }
    if !line.faults.is_empty() {
        value["faults"] = line.faults.iter().map(|fault| fault + 1).collect::<Vec<_>>().into();
    }
    if line.told.routine {
        value["routine"] = true.into();
    }
    value
}

fn id(id: EventId) -> String {
    id.to_string()
}

fn what(happening: Happening) -> &'static str {
    match happening {
        Happening::Start => "start",
        Happening::Deliver { .. } => "deliver",
        Happening::Lost { .. } => "lost",
        Happening::Send { .. } => "send",
        Happening::Timer => "timer",
        Happening::Synced => "synced",
        Happening::Down => "down",
        Happening::Pause => "pause",
        Happening::Fault => "fault",
        Happening::Note => "note",
        Happening::Probe => "probe",
        Happening::Point => "point",
    }
}

/// How many lines before the first difference are shown.
const CONTEXT: usize = 3;

/// The lines of a trace, to be compared with those of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines(Vec<Value>);

impl Lines {
    /// Those of a traced run.
    pub fn of(lines: &[&Line], nodes: &[String]) -> Self {
        Self(lines.iter().map(|line| value(line, nodes)).collect())
    }

    /// Those of a file that was written before.
    ///
    /// # Errors
    /// Where it is none: which line is wrong, and how.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut values = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let value: Value =
                serde_json::from_str(line).map_err(|error| format!("line {number} is not JSON: {error}"))?;
            if number == 1 && value["trace"].is_null() {
                return Err("it is no trace: `millpond replay FILE --trace NAME.jsonl` writes one".to_owned());
            }
            if number > 1 && (value["time_ns"].as_u64().is_none() || value["words"].as_str().is_none()) {
                return Err(format!("line {number} is no line of a trace"));
            }
            values.push(value);
        }
        match values.is_empty() {
            true => Err("it is empty".to_owned()),
            false => Ok(Self(values.split_off(1))),
        }
    }

    /// The first difference to other lines, with some lines before it, as text.
    pub fn against(&self, other: &Self, name: &str) -> String {
        let (ours, theirs) = (&self.0, &other.0);
        let longest = ours.len().max(theirs.len());
        let Some(at) = (0..longest).find(|at: &usize| !alike(ours.get(*at), theirs.get(*at))) else {
            return format!("The same {} lines as {name}.\n", ours.len());
        };
        let mut text = format!("The first difference to {name}, after {at} lines:\n");
        for value in &ours[at.saturating_sub(CONTEXT)..at] {
            text += &format!("    {}\n", told(Some(value)));
        }
        let pair = [told(theirs.get(at)), told(ours.get(at))];
        // Words do not tell all of a line.
        let same_words = pair[0] == pair[1];
        for (sign, words, value) in [('-', &pair[0], theirs.get(at)), ('+', &pair[1], ours.get(at))] {
            let rest = value.filter(|_| same_words).map_or(String::new(), |value| format!("  {value}"));
            text += &format!("  {sign} {words}{rest}\n");
        }
        text
    }
}

/// Whether two lines say the same happened. Numbers of events do not count: in another run they shift.
fn alike(one: Option<&Value>, two: Option<&Value>) -> bool {
    let fields = ["time_ns", "node", "what", "words", "content", "to", "from"];
    match (one, two) {
        (Some(one), Some(two)) => fields.iter().all(|field| one[field] == two[field]),
        (one, two) => one.is_none() && two.is_none(),
    }
}

fn told(value: Option<&Value>) -> String {
    let Some(value) = value else { return "the trace is over".to_owned() };
    let nanos = value["time_ns"].as_u64().unwrap_or(0);
    let text = |field: &str| value[field].as_str().unwrap_or_default();
    format!(
        "{}.{:09}s  event {}  {}  {}",
        nanos / 1_000_000_000,
        nanos % 1_000_000_000,
        text("id"),
        text("node"),
        text("words")
    )
}
