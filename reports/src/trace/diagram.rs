//! A trace as a space-time diagram: nodes are vertical lines, time runs down and is not to scale (one
//! row an event), messages are arrows coloured by kind (Lamport; Maelstrom's `messages.svg`).
//!
//! A lost message ends in a cross, a node that is down has no line, one that is paused a hatched one, a
//! fault that lasts is a band across. Beside each row stand its time and, at the right, its words, so
//! that no text lies on an arrow and no meaning hangs on a colour alone.

use std::collections::BTreeMap;

use maud::{Markup, html};
use millpond_sim::NodeId;
use millpond_sim::trace::{EventId, Happening, Line};

use super::Recording;
use crate::block::name;

/// The most rows that are drawn.
const ROWS: usize = 1_000;

/// Sizes in pixels.
const ROW: usize = 22;
const TOP: usize = 84;
const LEFT: usize = 96;
const COLUMN: usize = 118;
const WORDS: usize = 620;

/// The most characters of a row's words.
const LONGEST: usize = 92;

/// Colours of kinds, in the order in which they come; told apart by most eyes (after Okabe and Ito).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#6a3d9a", "#444444"];

pub(super) fn write(recording: &Recording<'_>, lines: &[&Line]) -> String {
    let shown = &lines[..lines.len().min(ROWS)];
    let cut = lines.len() - shown.len();
    Picture::new(recording, shown, cut).svg().into_string() + "\n"
}

struct Picture<'a> {
    recording: &'a Recording<'a>,
    lines: &'a [&'a Line],
    cut: usize,
    /// The nodes that take part, in their order.
    columns: Vec<NodeId>,
    /// The rows of arrivals.
    arrivals: BTreeMap<EventId, usize>,
    /// The kinds of messages in the order in which they come.
    kinds: Vec<&'static str>,
}

impl<'a> Picture<'a> {
    fn new(recording: &'a Recording<'a>, lines: &'a [&'a Line], cut: usize) -> Self {
        let (mut columns, mut kinds, mut arrivals) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (row, line) in lines.iter().enumerate() {
            columns.extend(line.node);
            match line.happening {
                Happening::Send { to, .. } => {
                    columns.push(to);
                    if !kinds.contains(&line.told.kind) {
                        kinds.push(line.told.kind);
                    }
                }
                Happening::Deliver { .. } | Happening::Lost { .. } => {
                    arrivals.entry(line.id).or_insert(row);
                }
                _ => {}
            }
        }
        columns.sort_unstable();
        columns.dedup();
        Self { recording, lines, cut, columns, arrivals, kinds }
    }

    fn x(&self, node: NodeId) -> usize {
        LEFT + COLUMN / 2 + self.columns.binary_search(&node).unwrap_or(0) * COLUMN
    }

    fn y(row: usize) -> usize {
        TOP + ROW / 2 + row * ROW
    }

    fn right(&self) -> usize {
        LEFT + self.columns.len() * COLUMN
    }

    fn bottom(&self) -> usize {
        TOP + self.lines.len() * ROW
    }

    fn colour(&self, kind: &str) -> &'static str {
        let at = self.kinds.iter().position(|known| *known == kind).unwrap_or(0);
        COLOURS[at % COLOURS.len()]
    }

    fn svg(&self) -> Markup {
        let legend = self.kinds.len().div_ceil(6) * 18;
        let (width, height) = (self.right() + WORDS, self.bottom() + 40 + legend);
        let Recording { scenario, seed, .. } = self.recording;
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height)
                font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11" {
                title { (scenario) ", seed " (seed) }
                defs {
                    pattern id="paused" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                        rect width="6" height="6" fill="#ffffff" {}
                        line x1="0" y1="0" x2="0" y2="6" stroke="#777777" stroke-width="3" {}
                    }
                    @for (at, colour) in COLOURS.iter().enumerate() {
                        marker id={ "tip" (at) } viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                            path d="M0,0 L8,4 L0,8 z" fill=(colour) {}
                        }
                    }
                }
                rect width=(width) height=(height) fill="#ffffff" {}
                text x="10" y="22" font-size="14" font-weight="bold" { (scenario) ", seed " (seed) }
                text x="10" y="40" fill="#555555" { "Time runs down and is not to scale: one row an event." }
                (self.bands())
                (self.rows())
                (self.nodes())
                (self.messages())
                (self.dots())
                @if self.cut > 0 {
                    text x="10" y=(self.bottom() + 16) font-weight="bold" { "Cut here: " (self.cut) " more events are not drawn." }
                }
                (self.legend())
            }
        }
    }

    /// Faults that last, from where they begin to where they end.
    fn bands(&self) -> Markup {
        let mut open: BTreeMap<usize, usize> = BTreeMap::new();
        let mut bands = Vec::new();
        for (row, line) in self.lines.iter().enumerate() {
            if line.happening != Happening::Fault {
                continue;
            }
            for fault in &line.faults {
                if line.told.words.ends_with("begins") {
                    open.entry(*fault).or_insert(row);
                } else if let Some(begin) = open.remove(fault) {
                    bands.push((*fault, begin, row));
                }
            }
        }
        let last = self.lines.len().saturating_sub(1);
        bands.extend(open.into_iter().map(|(fault, begin)| (fault, begin, last)));
        let width = self.right() - LEFT;
        html! {
            @for (fault, begin, end) in bands {
                rect x=(LEFT) y=(Self::y(begin)) width=(width) height=((end - begin) * ROW + 2) fill="#ffd9a8" fill-opacity="0.35" {}
                text x=(LEFT + 3) y=(Self::y(begin) + 11) font-size="9" fill="#8a5a00" { "fault " (fault + 1) }
            }
        }
    }

    /// The time and the words of each row.
    fn rows(&self) -> Markup {
        let right = self.right();
        html! {
            @for (row, line) in self.lines.iter().enumerate() {
                @let y = Self::y(row);
                @let time = line.time.as_nanos();
                @let bold = matches!(line.happening, Happening::Down | Happening::Pause | Happening::Fault | Happening::Start | Happening::Note);
                line x1=(LEFT) y1=(y) x2=(right) y2=(y) stroke="#f0f0f0" {}
                text x=(LEFT - 8) y=(y + 4) text-anchor="end" fill="#555555" {
                    (time / 1_000_000_000) "." (format!("{:06}", time / 1_000 % 1_000_000))
                }
                text x=(right + 8) y=(y + 4) font-weight=[bold.then_some("bold")] {
                    title { (line.told.words) }
                    (self.words(line))
                }
            }
        }
    }

    fn words(&self, line: &Line) -> String {
        let node = name(self.recording.nodes, line.node);
        let gap = if node.is_empty() { "" } else { " " };
        let text = format!("{node}{gap}{}", line.told.words);
        if text.chars().count() <= LONGEST {
            return text;
        }
        text.chars().take(LONGEST - 3).chain("...".chars()).collect()
    }

    /// The line of each node, broken where it is down, hatched where it is paused.
    fn nodes(&self) -> Markup {
        html! {
            @for node in &self.columns {
                @let x = self.x(*node);
                text x=(x) y=(TOP - 12) text-anchor="middle" font-weight="bold" { (name(self.recording.nodes, Some(*node))) }
                @for (from, to) in self.up(*node) {
                    line x1=(x) y1=(from) x2=(x) y2=(to) stroke="#333333" stroke-width="1.5" {}
                }
                @for (from, to) in self.down(*node) {
                    line x1=(x) y1=(from) x2=(x) y2=(to) stroke="#bbbbbb" stroke-dasharray="2 5" {}
                    path d={ "M" (x - 6) "," (from - 6) " l12,12 m0,-12 l-12,12" } stroke="#b00020" stroke-width="2.5" {}
                }
                @for (from, to) in self.paused(*node) {
                    rect x=(x - 5) y=(from) width="10" height=(to - from) fill="url(#paused)" stroke="#777777" {}
                }
            }
        }
    }

    /// Stretches of a node between two kinds of rows, as pixels.
    fn stretches(
        &self,
        node: NodeId,
        begins: impl Fn(&Line) -> bool,
        ends: impl Fn(&Line) -> bool,
    ) -> Vec<(usize, usize)> {
        let (mut open, mut stretches) = (None, Vec::new());
        for (row, line) in self.lines.iter().enumerate().filter(|(_, line)| line.node == Some(node)) {
            if begins(line) {
                open.get_or_insert(Self::y(row));
            } else if ends(line)
                && let Some(begin) = open.take()
            {
                stretches.push((begin, Self::y(row)));
            }
        }
        stretches.extend(open.map(|begin| (begin, self.bottom())));
        stretches
    }

    fn down(&self, node: NodeId) -> Vec<(usize, usize)> {
        self.stretches(
            node,
            |line| line.happening == Happening::Down,
            |line| line.happening == Happening::Start,
        )
    }

    fn paused(&self, node: NodeId) -> Vec<(usize, usize)> {
        let is_pause = |line: &Line| line.happening == Happening::Pause;
        self.stretches(
            node,
            |line| is_pause(line) && line.told.words != "goes on",
            |line| is_pause(line) && line.told.words == "goes on" || line.happening == Happening::Down,
        )
    }

    fn up(&self, node: NodeId) -> Vec<(usize, usize)> {
        let (mut from, mut up) = (TOP, Vec::new());
        for (begin, end) in self.down(node) {
            up.push((from, begin));
            from = end;
        }
        if from < self.bottom() {
            up.push((from, self.bottom()));
        }
        up
    }

    /// Arrows from where a message is sent to where it arrives.
    fn messages(&self) -> Markup {
        html! {
            @for (row, line) in self.lines.iter().enumerate() {
                @if let (Happening::Send { to, arrives }, Some(from)) = (line.happening, line.node) {
                    @let (x1, y1, x2) = (self.x(from), Self::y(row), self.x(to));
                    @let colour = self.colour(line.told.kind);
                    @let tip = COLOURS.iter().position(|known| *known == colour).unwrap_or(0);
                    @match arrives.and_then(|id| self.arrivals.get(&id)) {
                        Some(arrival) => {
                            line x1=(x1) y1=(y1) x2=(x2) y2=(Self::y(*arrival)) stroke=(colour) stroke-width="1.6" marker-end={ "url(#tip" (tip) ")" } {
                                title { (line.told.words) }
                            }
                        }
                        None if arrives.is_some() => {
                            // Its arrival is not among the rows: an open end.
                            @let (x, y) = (x1 + x2, y1 + ROW / 2);
                            line x1=(x1) y1=(y1) x2=(x / 2) y2=(y) stroke=(colour) stroke-width="1.6" stroke-dasharray="4 3" {
                                title { (line.told.words) }
                            }
                        }
                        None => {
                            @let (x, y) = ((x1 + x2) / 2, y1 + ROW / 2);
                            line x1=(x1) y1=(y1) x2=(x) y2=(y) stroke=(colour) stroke-width="1.6" {
                                title { (line.told.words) }
                            }
                            path d={ "M" (x - 4) "," (y - 4) " l8,8 m0,-8 l-8,8" } stroke="#b00020" stroke-width="2" {}
                        }
                    }
                }
            }
        }
    }

    /// A mark at each event of a node; a message that was lost as it arrived gets a cross.
    fn dots(&self) -> Markup {
        html! {
            @for (row, line) in self.lines.iter().enumerate() {
                @if let Some(node) = line.node {
                    @let (x, y) = (self.x(node), Self::y(row));
                    @match line.happening {
                        Happening::Lost { .. } => {
                            path d={ "M" (x - 4) "," (y - 4) " l8,8 m0,-8 l-8,8" } stroke="#b00020" stroke-width="2" {}
                        }
                        Happening::Note => { rect x=(x - 4) y=(y - 4) width="8" height="8" fill="#333333" {} }
                        Happening::Down => {}
                        _ => { circle cx=(x) cy=(y) r="3" fill="#333333" {} }
                    }
                }
            }
        }
    }

    fn legend(&self) -> Markup {
        let top = self.bottom() + 30;
        html! {
            @for (at, kind) in self.kinds.iter().enumerate() {
                @let (x, y) = (10 + at % 6 * 130, top + at / 6 * 18);
                line x1=(x) y1=(y) x2=(x + 22) y2=(y) stroke=(self.colour(kind)) stroke-width="3" {}
                text x=(x + 28) y=(y + 4) { (kind) }
            }
        }
    }
}
