//! A trace as a Mermaid sequence diagram, for pull requests: at most some thirty messages.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use millpond_sim::NodeId;
use millpond_sim::trace::{Happening, Line};

use super::Recording;
use crate::block::name;

/// How many messages are shown.
const MESSAGES: usize = 30;

pub(super) fn write(recording: &Recording<'_>, lines: &[&Line]) -> String {
    let mut text = String::from("sequenceDiagram\n");
    let mut taking_part: BTreeSet<NodeId> = BTreeSet::new();
    for line in lines {
        taking_part.extend(line.node);
        if let Happening::Send { to, .. } = line.happening {
            taking_part.insert(to);
        }
    }
    for node in &taking_part {
        let _ = writeln!(
            text,
            "    participant n{} as {}",
            node.number(),
            escaped(name(recording.nodes, Some(*node)))
        );
    }
    let (Some(first), Some(last)) = (taking_part.first(), taking_part.last()) else { return text };
    let (mut shown, mut left_out) = (0, 0);
    for line in lines {
        let words = escaped(&line.told.words);
        match (line.happening, line.node) {
            (Happening::Send { to, arrives }, Some(from)) => {
                if shown == MESSAGES {
                    left_out += 1;
                    continue;
                }
                shown += 1;
                let arrow = if arrives.is_some() { "->>" } else { "-x" };
                let words = words.strip_prefix("sends ").unwrap_or(&words);
                let _ = writeln!(text, "    n{}{arrow}n{}: {words}", from.number(), to.number());
            }
            _ if shown == MESSAGES && left_out > 0 => {}
            (Happening::Fault, _) => {
                let _ = writeln!(text, "    Note over n{},n{}: {words}", first.number(), last.number());
            }
            (
                Happening::Down
                | Happening::Pause
                | Happening::Start
                | Happening::Note
                | Happening::Lost { .. }
                | Happening::Synced,
                Some(node),
            ) => {
                let _ = writeln!(text, "    Note over n{}: {words}", node.number());
            }
            (
                Happening::Deliver { .. }
                | Happening::Timer
                | Happening::Probe
                | Happening::Point
                | Happening::Send { .. }
                | Happening::Down
                | Happening::Pause
                | Happening::Start
                | Happening::Note
                | Happening::Lost { .. }
                | Happening::Synced,
                _,
            ) => {}
        }
    }
    if left_out > 0 {
        let _ = writeln!(
            text,
            "    Note over n{},n{}: {left_out} more messages are not shown",
            first.number(),
            last.number()
        );
    }
    text
}

/// What Mermaid takes for its own is written as a number.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '#' => safe.push_str("#35;"),
            ';' => safe.push_str("#59;"),
            '\n' => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
