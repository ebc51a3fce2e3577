//! A failure told as a block of text: what broke and who saw it, what had been done to the system,
//! and the commands that run it again and keep it.

use std::fmt::Write as _;

use millpond_model::outcome::{Verdict, Violation};
use millpond_sim::NodeId;
use millpond_sim::search::determinism::Difference;
use millpond_sim::trace::Line;
use similar::TextDiff;

use crate::cause;
use crate::console::Detail;
use crate::failure::{Cause, Failure, invariant_name};

/// How wide the rules around a block are.
const WIDTH: usize = 81;

/// How many witnesses of a violation are shown.
const WITNESSES: usize = 12;

/// How many violations of the invariant are shown.
const VIOLATIONS: usize = 3;

/// The block of a failure, without colours. In detail it shows where the run parts from one that passes.
pub fn block(failure: &Failure, detail: Detail) -> String {
    let mut text = String::new();
    let what = match &failure.cause {
        Cause::Broke(invariant) => format!("broke {}", invariant_name(*invariant)),
        Cause::Unsteady(_) => "is not deterministic".to_owned(),
    };
    let title = format!("---- {} {what} at seed {} ", failure.scenario, failure.seed);
    let _ = writeln!(text, "{title:-<WIDTH$}");
    match &failure.cause {
        Cause::Broke(_) => broken(&mut text, failure),
        Cause::Unsteady(difference) => unsteady(&mut text, difference, &failure.outcome.nodes),
    }
    text.push('\n');
    text.push_str(&cause::told(failure));
    let parting = failure.explanation.as_ref().and_then(|explanation| explanation.parting.as_ref());
    if let Some(parting) = parting.filter(|_| detail == Detail::Verbose) {
        let _ = writeln!(text, "Where it parts from the run without {}:", parting.without);
        diff(&mut text, &parting.passing, &parting.failing, ("passes", "fails"));
    }
    let _ = writeln!(text, "\nReplay:  {}", failure.replay);
    if let Some(keep) = &failure.keep {
        let _ = writeln!(text, "Keep:    {keep}");
    }
    let _ = writeln!(text, "{:-<WIDTH$}", "");
    text
}

fn broken(text: &mut String, failure: &Failure) {
    let broken: Vec<&Verdict> = failure.outcome.broken().collect();
    let named = failure.cause.invariant();
    for verdict in broken.iter().filter(|verdict| Some(verdict.invariant) == named) {
        // A story shows the witnesses at their places.
        let told = failure.explanation.as_ref().is_some_and(|explanation| !explanation.story.is_empty());
        for violation in verdict.violations.iter().take(VIOLATIONS) {
            self::violation(text, violation, if told { 0 } else { WITNESSES });
        }
        let shown = verdict.violations.len().min(VIOLATIONS) as u64;
        match verdict.count - shown.min(verdict.count) {
            0 => {}
            1 => text.push_str("One more like it.\n"),
            more => {
                let _ = writeln!(text, "{more} more like it.");
            }
        }
    }
    let others: Vec<_> = broken.iter().filter(|verdict| Some(verdict.invariant) != named).collect();
    if !others.is_empty() {
        text.push_str("\nAlso broken:\n");
    }
    for verdict in others {
        let sentence = verdict.violations.first().map_or("", |violation| violation.sentence.as_str());
        let times = if verdict.count == 1 { String::new() } else { format!(" ({} times)", verdict.count) };
        let sentence = sentence.replace('\n', " ");
        let _ = writeln!(text, "  {}{times}: {sentence}", invariant_name(verdict.invariant));
    }
}

fn violation(text: &mut String, violation: &Violation, most: usize) {
    let _ = writeln!(text, "{}", violation.sentence);
    let nodes = violation.witnesses.iter().map(|witness| witness.node.chars().count());
    let width = nodes.max().unwrap_or(0);
    for witness in violation.witnesses.iter().take(most) {
        let time = seconds(witness.time.as_nanos());
        let _ = writeln!(text, "  {time:>9}  {:<width$}  {}", witness.node, witness.what);
    }
    if let more @ 1.. = violation.witnesses.len().saturating_sub(most)
        && most > 0
    {
        let _ = writeln!(text, "  ... and {more} more");
    }
    if let Some((expected, found)) = &violation.diff {
        diff(text, expected, found, ("expected", "found"));
    }
}

fn diff(text: &mut String, one: &str, two: &str, (left, right): (&str, &str)) {
    let diff = TextDiff::from_lines(one, two);
    for line in diff.unified_diff().context_radius(3).header(left, right).to_string().lines() {
        let _ = writeln!(text, "    {line}");
    }
}

fn unsteady(text: &mut String, difference: &Difference, nodes: &[String]) {
    let [one, two] = difference.fingerprints;
    let _ = writeln!(text, "Two runs of the same seed gave fingerprints {one:016x} and {two:016x}.");
    match &difference.lines {
        Some([one, two]) => {
            text.push_str("The first event that differs:\n");
            let lines = [event(one.as_ref(), nodes), event(two.as_ref(), nodes)];
            // Words do not tell all of a message: where they are the same, its digest shows it.
            let alike = lines[0] == lines[1];
            for (sign, line, of) in [('-', &lines[0], one), ('+', &lines[1], two)] {
                let digest = of.as_ref().filter(|_| alike).map(|line| line.told.digest);
                let digest = digest.map_or(String::new(), |digest| format!("  (content {digest:016x})"));
                let _ = writeln!(text, "  {sign} {line}{digest}");
            }
        }
        None => text.push_str("Their traces agreed when they were run again.\n"),
    }
    text.push_str("Look for a clock, a random number, a hash map or shared state in the code that ran.\n");
}

/// A line of a trace, or that there is none.
pub fn event(line: Option<&Line>, nodes: &[String]) -> String {
    let Some(line) = line else { return "the run is over".to_owned() };
    let node = name(nodes, line.node);
    let (time, id, cause) = (seconds(line.time.as_nanos()), line.id, line.cause);
    format!("{time}  event {id} (because of {cause})  {node}  {}", line.told.words)
}

/// A line of a trace as people compare it: time, node and words.
pub fn plain(line: &Line, nodes: &[String]) -> String {
    let node = name(nodes, line.node);
    format!("{}  {node}  {}", seconds(line.time.as_nanos()), line.told.words)
}

/// The name of a node, nothing for what happens to none.
pub(crate) fn name(nodes: &[String], node: Option<NodeId>) -> &str {
    node.and_then(|node| nodes.get(usize::from(node.number()))).map_or("", String::as_str)
}

/// `1 fault`, `2 faults`.
pub(crate) fn count(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// Nanoseconds as seconds with three places.
pub(crate) fn seconds(nanos: u64) -> String {
    format!("{}.{:03}s", nanos / 1_000_000_000, nanos / 1_000_000 % 1_000)
}
