//! Simpler forms of a fault: fewer nodes, a shorter time, a rounder or earlier beginning.

use crate::fault::{Fault, Trigger, What, When};
use crate::schedule::{Delay, Which};
use crate::time::{Instant, Span};

/// Simpler forms of a fault: fewer nodes, a shorter time, a rounder beginning. Each step makes the
/// fault simpler by one measure and no worse by another, so that the steps come to an end.
pub(super) fn of_fault(fault: &Fault) -> Vec<Fault> {
    let mut forms = Vec::new();
    let mut add = |what: What| forms.push(Fault { when: fault.when.clone(), what });
    let (first, second) = fault.what.nodes();
    for at in 0..first.len() {
        if first.len() > 1 {
            add(with_nodes(&fault.what, without(first, at), second.to_vec()));
        }
    }
    for at in 0..second.len() {
        if second.len() > 1 {
            add(with_nodes(&fault.what, first.to_vec(), without(second, at)));
        }
    }
    if let What::CrashLoop { nodes, times, down, up } = &fault.what {
        add(What::Crash { nodes: nodes.clone(), down: *down });
        if *times > 1 {
            add(What::CrashLoop { nodes: nodes.clone(), times: times - 1, down: *down, up: *up });
        }
    } else {
        let lasts = fault.what.lasts();
        for shorter in shorter_spans(lasts) {
            add(with_length(&fault.what, shorter));
        }
    }
    let begins = match &fault.when {
        When::At(time) => rounder_times(*time).into_iter().map(When::At).collect(),
        When::Before(trigger) => earlier(trigger).map(When::Before).collect(),
        When::After(trigger) => earlier(trigger).map(When::After).collect::<Vec<_>>(),
    };
    forms.extend(begins.into_iter().map(|when| Fault { when, what: fault.what.clone() }));
    forms
}

/// The same event, earlier.
fn earlier(trigger: &Trigger) -> impl Iterator<Item = Trigger> {
    smaller(trigger.nth).map(|nth| Trigger { nth, ..trigger.clone() })
}

/// 1, half, one less.
fn smaller(number: u32) -> impl Iterator<Item = u32> {
    let mut numbers = vec![1, number / 2, number.saturating_sub(1)];
    numbers.dedup();
    numbers.into_iter().filter(move |smaller| (1..number).contains(smaller))
}

/// Simpler forms of a delay: one message in place of many, a shorter and rounder time.
pub(super) fn of_delay(delay: &Delay) -> Vec<Delay> {
    let mut forms = Vec::new();
    if let Which::From(nth) = delay.which {
        forms.push(Delay { which: Which::Nth(nth), ..delay.clone() });
        forms.extend(smaller(nth).map(|nth| Delay { which: Which::From(nth), ..delay.clone() }));
    }
    forms.extend(shorter_spans(delay.by).into_iter().map(|by| Delay { by, ..delay.clone() }));
    forms
}

fn without(list: &[String], at: usize) -> Vec<String> {
    list.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, name)| name.clone()).collect()
}

/// Units by which a number is round, from the roundest.
const ROUND: [u64; 4] = [1_000_000_000, 100_000_000, 10_000_000, 1_000_000];

/// How round a number is: the index of the roundest unit that divides it.
fn roundness(nanos: u64) -> usize {
    ROUND.iter().position(|unit| nanos.is_multiple_of(*unit)).unwrap_or(ROUND.len())
}

fn shorter_spans(span: Span) -> Vec<Span> {
    let nanos = span.as_nanos();
    let half = nanos / 2;
    let mut spans = Vec::new();
    // Half as long, in whole milliseconds; then the same length, rounder.
    if half >= 1_000_000 {
        spans.push(half / 1_000_000 * 1_000_000);
    }
    spans.extend(
        ROUND.iter().map(|unit| nanos / unit * unit).filter(|rounder| *rounder > 0 && *rounder < nanos),
    );
    spans.into_iter().map(Span::from_nanos).collect()
}

fn rounder_times(time: Instant) -> Vec<Instant> {
    let nanos = time.as_nanos();
    let units = &ROUND[..roundness(nanos)];
    let around = units.iter().flat_map(|unit| [nanos / unit * unit, nanos.div_ceil(*unit) * unit]);
    around.filter(|rounder| *rounder > 0).map(Instant::from_nanos).collect()
}

/// The same fault on other nodes.
fn with_nodes(what: &What, one: Vec<String>, two: Vec<String>) -> What {
    let mut what = what.clone();
    match &mut what {
        What::Crash { nodes, .. }
        | What::CrashLoop { nodes, .. }
        | What::LoseDisk { nodes, .. }
        | What::Stop { nodes, .. }
        | What::Pause { nodes, .. }
        | What::Isolate { nodes, .. }
        | What::SlowDisk { nodes, .. }
        | What::FullDisk { nodes, .. }
        | What::FailSync { nodes, .. }
        | What::TearTail { nodes, .. }
        | What::Scatter { nodes, .. }
        | What::Rot { nodes, .. }
        | What::Offset { nodes, .. }
        | What::Drift { nodes, .. }
        | What::Jump { nodes, .. } => *nodes = one,
        What::Partition { left: first, right: second, .. }
        | What::Cut { from: first, to: second, .. }
        | What::Slow { from: first, to: second, .. }
        | What::Lose { from: first, to: second, .. }
        | What::LoseReplies { from: first, to: second, .. }
        | What::Duplicate { from: first, to: second, .. }
        | What::Reorder { from: first, to: second, .. }
        | What::Hold { from: first, to: second, .. } => (*first, *second) = (one, two),
    }
    what
}

/// The same fault for another length of time.
fn with_length(what: &What, length: Span) -> What {
    let mut what = what.clone();
    match &mut what {
        What::Crash { down: lasts, .. }
        | What::LoseDisk { down: lasts, .. }
        | What::Stop { down: lasts, .. }
        | What::Pause { lasts, .. }
        | What::Partition { lasts, .. }
        | What::Cut { lasts, .. }
        | What::Isolate { lasts, .. }
        | What::Slow { lasts, .. }
        | What::Lose { lasts, .. }
        | What::LoseReplies { lasts, .. }
        | What::Duplicate { lasts, .. }
        | What::Reorder { lasts, .. }
        | What::Hold { lasts, .. }
        | What::SlowDisk { lasts, .. }
        | What::FullDisk { lasts, .. }
        | What::FailSync { lasts, .. }
        | What::TearTail { lasts, .. }
        | What::Scatter { lasts, .. }
        | What::Offset { lasts, .. }
        | What::Drift { lasts, .. }
        | What::Jump { lasts, .. } => *lasts = length,
        What::CrashLoop { .. } | What::Rot { .. } => {}
    }
    what
}
