//! The plan of a failure and its story as text: what was done to the system, how sure it is that this
//! is the cause, and what happened then.

use std::fmt::Write as _;

use millpond_model::scenario::schema::Item;
use millpond_sim::schedule::{Delay, Which};
use millpond_sim::search::blame::no_return;
use millpond_sim::search::certificate::{Certificate, Edge, Share, Window};
use millpond_sim::search::story::Step;
use millpond_sim::trace::Happening;

use crate::block::{count, name, seconds};
use crate::describe;
use crate::failure::{Explanation, Failure, Shrinking, Size};

/// How many faults and delays of a plan are shown.
const ENTRIES: usize = 40;

/// How many records of a plan are shown one by one.
const RECORDS: usize = 12;

/// How many lines of a story are shown.
const STEPS: usize = 40;

/// The plan of a failure, with what is known of it, and its story.
pub(crate) fn told(failure: &Failure) -> String {
    let mut text = String::new();
    let shrunk = failure.explanation.as_ref().and_then(|explanation| explanation.shrunk.as_ref());
    match shrunk {
        Some(shrinking) => smallest(&mut text, failure, shrinking),
        None => whole(&mut text, failure),
    }
    entries(&mut text, failure, shrunk.is_some());
    if let Some(explanation) = &failure.explanation {
        self::lattice(&mut text, failure, explanation.certificate.as_ref());
        story(&mut text, failure, explanation);
        blamed(&mut text, failure, explanation);
    }
    text
}

fn smallest(text: &mut String, failure: &Failure, shrinking: &Shrinking) {
    let Size { faults, records, delays } = Size::of(&failure.plan);
    let mut parts = vec![
        format!("{faults} of {}", count(shrinking.from.faults, "fault")),
        format!("{records} of {}", count(shrinking.from.records, "record")),
    ];
    if shrinking.from.delays > 0 {
        parts.push(format!("{delays} of {}", count(shrinking.from.delays, "delay")));
    }
    let how = if shrinking.minimal {
        "without any one of them it passes"
    } else {
        "there was no time to look for a smaller one"
    };
    let _ = writeln!(text, "Smallest cause: {}; {how}.", describe::list(&parts));
    let _ = writeln!(
        text,
        "  ({}, {} of them failed in the same way)",
        count(shrinking.runs as usize, "run"),
        shrinking.kept
    );
    if failure.schedule != failure.seed {
        let _ =
            writeln!(text, "  The schedule is that of seed {}: it has a smaller cause.", failure.schedule);
    }
    for (invariant, plan) in &shrinking.slipped {
        let Size { faults, records, .. } = Size::of(plan);
        let (faults, records) = (count(faults, "fault"), count(records, "record"));
        let _ = writeln!(text, "  On the way {invariant:?} broke, too, with {faults} and {records}.");
    }
}

fn whole(text: &mut String, failure: &Failure) {
    let Size { faults, records, delays } = Size::of(&failure.plan);
    let mut parts = vec![count(faults, "fault"), count(records, "record")];
    if delays > 0 {
        parts.push(count(delays, "delay"));
    }
    let from =
        if failure.drawn { format!("drawn from seed {}", failure.seed) } else { "as recorded".to_owned() };
    let end = if faults + delays == 0 { "." } else { ":" };
    let _ = writeln!(text, "Plan: {}, {from}{end}", describe::list(&parts));
}

/// The faults and delays, one by one, and the records where they are few.
fn entries(text: &mut String, failure: &Failure, shrunk: bool) {
    let plan = &failure.plan;
    let certificate = failure.explanation.as_ref().and_then(|explanation| explanation.certificate.as_ref());
    let (faults, delays) = (plan.faults.len(), plan.schedule.len());
    for at in 0..(faults + delays).min(ENTRIES) {
        let what = match plan.faults.get(at) {
            Some(fault) => describe::fault(fault),
            None => delay(&plan.schedule[at - faults]),
        };
        let bitten = failure.outcome.faults.get(at).is_none_or(|(_, bitten)| *bitten);
        let note = if bitten { "" } else { "  (took no effect)" };
        let _ = writeln!(text, "  {:>2}. {what}{note}", at + 1);
        if let Some(certificate) = certificate {
            evidence(text, failure, certificate, at);
        }
    }
    if let more @ 1.. = (faults + delays).saturating_sub(ENTRIES) {
        let _ = writeln!(text, "  ... and {more} more");
    }
    if shrunk && plan.workload.len() <= RECORDS {
        for Item(node, time, key, value) in &plan.workload {
            let _ = writeln!(text, "   -  {node} sends k{key} = {value} at {time}");
        }
    }
}

fn delay(delay: &Delay) -> String {
    let Delay { from, to, which, by } = delay;
    match which {
        Which::Nth(nth) => {
            format!("delay the {} message from {from} to {to} by {by}", describe::ordinal(*nth))
        }
        Which::From(1) => format!("delay all messages from {from} to {to} by {by}"),
        Which::From(nth) => {
            format!(
                "delay the {} and all later messages from {from} to {to} by {by}",
                describe::ordinal(*nth)
            )
        }
    }
}

/// How often the run fails with and without an entry, and when a fault bites.
fn evidence(text: &mut String, failure: &Failure, certificate: &Certificate, at: usize) {
    let without = certificate.without_fault.iter().chain(&certificate.without_delay).nth(at);
    if let Some(without) = without.filter(|without| without.of > 0) {
        let whole = certificate.whole;
        let _ = writeln!(
            text,
            "      fails in {} schedules with it, in {} without it",
            share(whole),
            share(*without)
        );
    }
    if let Some(Some(window)) = certificate.windows.get(at) {
        let _ = writeln!(text, "      bites {}", self::window(window, &failure.outcome.nodes));
    }
}

fn share(share: Share) -> String {
    format!("{} of {}", share.failing, share.of)
}

fn window(window: &Window, nodes: &[String]) -> String {
    let edge = |edge: &Edge| {
        let words = &edge.words;
        format!("{} ({} {words})", seconds(edge.time.as_nanos()), name(nodes, edge.node))
    };
    if window.first == window.last {
        return format!("at {}", edge(&window.first));
    }
    format!("between {} and {}", edge(&window.first), edge(&window.last))
}

/// How often each set of faults and delays makes the run fail, where one alone does not tell.
fn lattice(text: &mut String, failure: &Failure, certificate: Option<&Certificate>) {
    let Some(certificate) = certificate.filter(|certificate| !certificate.lattice.is_empty()) else { return };
    let entries = failure.plan.faults.len() + failure.plan.schedule.len();
    let all = (1 << entries) - 1;
    let failing = certificate.lattice.iter().filter(|(set, share)| *set != all && share.failing > 0);
    let told: Vec<_> = failing
        .map(|(set, share)| {
            let members: Vec<_> =
                (0..entries).filter(|at| set >> at & 1 == 1).map(|at| (at + 1).to_string()).collect();
            let members = if members.is_empty() { "none".to_owned() } else { members.join("+") };
            format!("{members} in {}", share.failing)
        })
        .collect();
    let of = certificate.lattice.first().map_or(0, |(_, share)| share.of);
    let _ = match told.as_slice() {
        [] => writeln!(text, "  No smaller set of these fails in any of {of} schedules."),
        told => writeln!(text, "  Of {of} schedules, smaller sets fail, too: {}.", told.join(", ")),
    };
}

/// The lines from the faults to the witnesses.
fn story(text: &mut String, failure: &Failure, explanation: &Explanation) {
    let steps = &explanation.story;
    if steps.is_empty() {
        return;
    }
    let nodes = &failure.outcome.nodes;
    let events = failure.outcome.events;
    let _ = writeln!(text, "What happened ({} of {events} events):", steps.len());
    let width = steps.iter().map(|step| name(nodes, step.line.node).chars().count()).max().unwrap_or(0);
    let mut left_out = 0;
    for (step, shown) in steps.iter().zip(shown(steps)) {
        if !shown {
            left_out += 1;
            continue;
        }
        skipped(text, &mut left_out);
        let time = seconds(step.line.time.as_nanos());
        let node = name(nodes, step.line.node);
        let mut line = format!("  {time:>9}  {node:<width$}  {}", self::step(step, nodes));
        let mut marks: Vec<String> = step.line.faults.iter().map(|fault| (fault + 1).to_string()).collect();
        if step.witness {
            marks.push("witness".to_owned());
        }
        if !marks.is_empty() {
            line = format!("{line:<70}  <- {}", marks.join(", "));
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    skipped(text, &mut left_out);
}

/// How wide the bar of certainty is.
const BAR: u32 = 20;

/// How likely the failure had become after each step of the story; steps that change nothing are left
/// out.
fn blamed(text: &mut String, failure: &Failure, explanation: &Explanation) {
    let Some(shares) = explanation.blamed.as_ref().filter(|shares| shares.len() > 1) else { return };
    let nodes = &failure.outcome.nodes;
    let of = shares[0].of;
    let no_return = no_return(shares);
    let _ = writeln!(text, "How likely it had become (of {of} runs that go on from there with other draws):");
    let mut before = None;
    for (at, failing) in shares.iter().enumerate() {
        let last = no_return == Some(at);
        if before == Some(*failing) && !last {
            continue;
        }
        before = Some(*failing);
        let bar = "#".repeat((failing.failing * BAR).div_ceil(of.max(1)) as usize);
        let (time, what) = match at.checked_sub(1).and_then(|step| explanation.story.get(step)) {
            None => (seconds(0), "the start".to_owned()),
            Some(step) => {
                let node = name(nodes, step.line.node);
                let gap = if node.is_empty() { "" } else { " " };
                (seconds(step.line.time.as_nanos()), format!("{node}{gap}{}", self::step(step, nodes)))
            }
        };
        let mark = if last { "  <- no return" } else { "" };
        let width = BAR as usize;
        let _ = writeln!(text, "  {time:>9}  {bar:<width$}  {:>4}  {what}{mark}", failing.failing);
    }
}

fn skipped(text: &mut String, left_out: &mut usize) {
    if let lines @ 1.. = std::mem::take(left_out) {
        let _ = writeln!(text, "             ... {} ...", count(lines, "more line"));
    }
}

/// Which lines of a story are shown where they are too many: faults and witnesses, then what is about
/// the same things, then the rest, each the earlier ones first.
fn shown(steps: &[Step]) -> Vec<bool> {
    let rank = |step: &Step| match step {
        Step { witness: true, .. } => 0,
        step if !step.line.faults.is_empty() => 0,
        Step { concerned: true, .. } => 1,
        _ => 2,
    };
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by_key(|at| rank(&steps[*at]));
    let mut shown = vec![false; steps.len()];
    order.into_iter().take(STEPS).for_each(|at| shown[at] = true);
    shown
}

fn step(step: &Step, nodes: &[String]) -> String {
    let words = &step.line.told.words;
    match step.line.happening {
        Happening::Send { to, .. } => {
            let to = name(nodes, Some(to));
            match step.arrives {
                Some(at) => format!("{words} to {to}, there at {}", seconds(at.as_nanos())),
                None => format!("{words} to {to}, which never arrives"),
            }
        }
        Happening::Start
        | Happening::Deliver { .. }
        | Happening::Lost { .. }
        | Happening::Timer
        | Happening::Synced
        | Happening::Down
        | Happening::Pause
        | Happening::Fault
        | Happening::Note
        | Happening::Probe
        | Happening::Point => words.clone(),
    }
}
