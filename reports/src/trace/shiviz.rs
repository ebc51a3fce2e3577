//! A trace for ShiViz: two lines an event, the second with the node and its vector clock.
//!
//! The first line is the pattern that ShiViz parses the rest by, the second the delimiter of several
//! runs, of which there is one. A node's own count starts at 1 and rises by one with each event;
//! receiving a message takes in the clock with which it was sent (Fidge, Mattern, 1988).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use millpond_sim::trace::{EventId, Happening, Line};

use super::Recording;
use crate::block::name;

const PATTERN: &str = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})";

type Clock<'a> = BTreeMap<&'a str, u64>;

pub(super) fn write(recording: &Recording<'_>, lines: &[&Line]) -> String {
    let mut text = format!("{PATTERN}\n\n");
    let mut clocks: BTreeMap<&str, Clock<'_>> = BTreeMap::new();
    let mut on_the_way: BTreeMap<EventId, Clock<'_>> = BTreeMap::new();
    for line in lines {
        // What happens to no node, or only on the way to it, is no event of it.
        let lost = matches!(line.happening, Happening::Lost { .. });
        let Some(node) = line.node.filter(|_| !lost) else { continue };
        let host = name(recording.nodes, Some(node));
        let clock = clocks.entry(host).or_default();
        if let Happening::Deliver { .. } = line.happening
            && let Some(sent) = on_the_way.get(&line.id)
        {
            for (other, count) in sent {
                let known = clock.entry(other).or_default();
                *known = (*known).max(*count);
            }
        }
        *clock.entry(host).or_default() += 1;
        if let Happening::Send { arrives: Some(id), .. } = line.happening {
            on_the_way.insert(id, clock.clone());
        }
        let words = line.told.words.replace('\n', " ");
        let clock = serde_json::to_string(clock).unwrap_or_default();
        let _ = writeln!(text, "{words}\n{host} {clock}");
    }
    text
}
