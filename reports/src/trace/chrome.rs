//! A trace in Chrome's trace event format, as Perfetto reads it: a process for each node, slices for
//! what it handles and for the times in which it is down or paused, flows for messages.
//!
//! Times are microseconds with three decimals, made from whole nanoseconds. A flow needs a slice to
//! hang on, so that handling an event takes one nanosecond.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use millpond_sim::NodeId;
use millpond_sim::time::Instant;
use millpond_sim::trace::{EventId, Happening, Line};

use super::Recording;

pub(super) fn write(recording: &Recording<'_>, lines: &[&Line]) -> String {
    let mut events = Vec::new();
    for (number, node) in recording.nodes.iter().enumerate() {
        let name = quoted(node);
        events.push(format!(
            r#"{{"ph":"M","pid":{number},"tid":0,"name":"process_name","args":{{"name":{name}}}}}"#
        ));
        events.push(format!(
            r#"{{"ph":"M","pid":{number},"tid":0,"name":"process_sort_index","args":{{"sort_index":{number}}}}}"#
        ));
    }
    let end = lines.last().map_or(Instant::ZERO, |line| line.time);
    let mut open: BTreeMap<(NodeId, &str), Instant> = BTreeMap::new();
    for line in lines {
        one(&mut events, line);
        state(&mut events, &mut open, line);
    }
    for ((node, name), since) in open {
        events.push(slice(node, name, since, end));
    }
    format!("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

/// Slices of a node that is down or paused.
fn state(events: &mut Vec<String>, open: &mut BTreeMap<(NodeId, &str), Instant>, line: &Line) {
    let Some(node) = line.node else { return };
    let (name, begins) = match line.happening {
        Happening::Down => ("down", true),
        Happening::Start => ("down", false),
        Happening::Pause => ("paused", line.told.words != "goes on"),
        _ => return,
    };
    if begins {
        open.entry((node, name)).or_insert(line.time);
    } else if let Some(since) = open.remove(&(node, name)) {
        events.push(slice(node, name, since, line.time));
    }
}

fn slice(node: NodeId, name: &str, since: Instant, until: Instant) -> String {
    let (pid, at) = (node.number(), micros(since.as_nanos()));
    let lasts = micros(until.as_nanos().saturating_sub(since.as_nanos()).max(1));
    format!(r#"{{"ph":"X","pid":{pid},"tid":1,"name":"{name}","ts":{at},"dur":{lasts}}}"#)
}

fn one(events: &mut Vec<String>, line: &Line) {
    let (at, words) = (micros(line.time.as_nanos()), quoted(&line.told.words));
    let Some(node) = line.node else {
        events.push(format!(r#"{{"ph":"i","s":"g","pid":0,"tid":0,"name":{words},"ts":{at}}}"#));
        return;
    };
    let pid = node.number();
    let mut flow = |phase: &str, id: EventId| {
        let mut event = format!(
            r#"{{"ph":"{phase}","pid":{pid},"tid":0,"cat":"message","name":{},"id":"{id}","ts":{at}"#,
            quoted(line.told.kind)
        );
        // A flow ends at the slice that encloses it.
        let _ = write!(event, "{}}}", if phase == "f" { r#","bp":"e""# } else { "" });
        events.push(event);
    };
    match line.happening {
        Happening::Send { arrives, .. } => {
            if let Some(id) = arrives {
                flow("s", id);
            }
        }
        Happening::Deliver { .. } => {
            flow("f", line.id);
            events.push(handled(pid, &words, &at));
        }
        Happening::Start | Happening::Timer | Happening::Synced => events.push(handled(pid, &words, &at)),
        Happening::Lost { .. }
        | Happening::Down
        | Happening::Pause
        | Happening::Fault
        | Happening::Note
        | Happening::Probe
        | Happening::Point => {
            events.push(format!(r#"{{"ph":"i","s":"t","pid":{pid},"tid":0,"name":{words},"ts":{at}}}"#));
        }
    }
}

fn handled(pid: u16, words: &str, at: &str) -> String {
    format!(r#"{{"ph":"X","pid":{pid},"tid":0,"name":{words},"ts":{at},"dur":0.001}}"#)
}

fn micros(nanos: u64) -> String {
    format!("{}.{:03}", nanos / 1_000, nanos % 1_000)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
