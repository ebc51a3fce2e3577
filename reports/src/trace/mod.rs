//! Traces as files, for people and for their tools.
//!
//! | ending | what it is | opened with |
//! |--------|------------|-------------|
//! | `.jsonl` | [`lines`]: a JSON object for each line | `jq`, and `replay --against` |
//! | `.json` | [`chrome`]: Chrome's trace events | Perfetto (ui.perfetto.dev) |
//! | `.shiviz` | [`shiviz`]: events with vector clocks | ShiViz |
//! | `.mmd` | [`mermaid`]: a sequence diagram | pull requests, wikis |
//! | `.svg` | [`diagram`]: a space-time diagram | any browser |

pub mod chrome;
pub mod diagram;
pub mod lines;
pub mod mermaid;
pub mod shiviz;

use std::path::Path;

use millpond_model::scenario::nearest::nearest;
use millpond_sim::NodeId;
use millpond_sim::time::Instant;
use millpond_sim::trace::{Happening, Line, Trace};

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A JSON object for each line.
    Lines,
    /// Chrome's trace events.
    Chrome,
    /// Events with vector clocks.
    Shiviz,
    /// A sequence diagram.
    Mermaid,
    /// A space-time diagram.
    Diagram,
}

impl Format {
    /// Every format with the ending of its files.
    pub const TABLE: [(Self, &'static str); 5] = [
        (Self::Lines, "jsonl"),
        (Self::Chrome, "json"),
        (Self::Shiviz, "shiviz"),
        (Self::Mermaid, "mmd"),
        (Self::Diagram, "svg"),
    ];

    /// The format that the ending of a file asks for.
    ///
    /// # Errors
    /// Where no format has that ending: what there is, and the nearest.
    pub fn of(file: &Path) -> Result<Self, String> {
        let ending = file.extension().unwrap_or_default().to_string_lossy().into_owned();
        if let Some((format, _)) = Self::TABLE.iter().find(|(_, known)| *known == ending) {
            return Ok(*format);
        }
        let known = Self::TABLE.map(|(_, ending)| ending);
        let near = nearest(&ending, known.iter().copied());
        let near = near.map_or(String::new(), |near| format!("; did you mean .{near}?"));
        Err(format!("a trace is written as .{}, by the ending of the file{near}", known.join(", .")))
    }

    /// Whether it is for people, who do not want to see every heartbeat.
    pub fn is_picture(self) -> bool {
        match self {
            Self::Mermaid | Self::Diagram => true,
            Self::Lines | Self::Chrome | Self::Shiviz => false,
        }
    }
}

/// A traced run.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// The name of the scenario.
    pub scenario: &'a str,
    /// The seed.
    pub seed: u64,
    /// The engine.
    pub engine: u32,
    /// The names of the nodes, by number.
    pub nodes: &'a [String],
    /// The trace.
    pub trace: &'a Trace,
}

/// Which lines of a trace are wanted.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// From this time on.
    pub from: Option<Instant>,
    /// Up to this time.
    pub to: Option<Instant>,
    /// Only what happens on these nodes or passes between them and others; all where none is named.
    pub nodes: Vec<NodeId>,
    /// Only messages and points of these kinds, beside what becomes of nodes; all where none is named.
    pub kinds: Vec<String>,
    /// Also lines that say no more than that all is well.
    pub routine: bool,
}

impl Window {
    /// The lines that are wanted, in order.
    pub fn lines<'a>(&self, trace: &'a Trace) -> Vec<&'a Line> {
        trace.lines.iter().filter(|line| self.shows(line)).collect()
    }

    fn shows(&self, line: &Line) -> bool {
        let in_time =
            self.from.is_none_or(|from| line.time >= from) && self.to.is_none_or(|to| line.time <= to);
        let other = match line.happening {
            Happening::Send { to, .. } => Some(to),
            Happening::Deliver { from } | Happening::Lost { from } => Some(from),
            _ => None,
        };
        let on_node = self.nodes.is_empty()
            || line.node.is_none()
            || line.node.into_iter().chain(other).any(|node| self.nodes.contains(&node));
        let of_kind = self.kinds.is_empty()
            || line.told.kind.is_empty() && is_state(line)
            || self.kinds.iter().any(|kind| kind == line.told.kind);
        in_time && on_node && of_kind && (self.routine || !line.told.routine)
    }
}

fn is_state(line: &Line) -> bool {
    matches!(line.happening, Happening::Fault | Happening::Down | Happening::Pause | Happening::Start)
}

/// A traced run as the text of a file.
pub fn write(format: Format, recording: &Recording<'_>, lines: &[&Line]) -> String {
    match format {
        Format::Lines => lines::write(recording, lines),
        Format::Chrome => chrome::write(recording, lines),
        Format::Shiviz => shiviz::write(recording, lines),
        Format::Mermaid => mermaid::write(recording, lines),
        Format::Diagram => diagram::write(recording, lines),
    }
}

#[cfg(test)]
mod tests;
