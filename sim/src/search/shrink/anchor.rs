//! Turning times into events: `after totals-0 sends its 3rd Write` says what `at 4.2107s` means, and
//! still holds when something before it takes a little longer.
//!
//! The events of the failing run around the time of a fault, on its nodes, are tried in its place.
//! Among those with which the plan still fails, the one with which it fails in the most of some other
//! schedules is taken, if it does so at least as often as with the time.

use super::{Diagnose, Lists, Parts, Work};
use crate::fault::{Event, Fault, Trigger, When};
use crate::search::{Outcome as _, Tracing};
use crate::time::Instant;
use crate::trace::{Happening, Line, Trace};

/// How many events before the time of a fault are tried, and how many after it.
const BEFORE: usize = 6;
const AFTER: usize = 3;

/// In how many other schedules a candidate is run.
const SCHEDULES: u32 = 16;

pub(super) fn anchor<E>(work: &mut Work<'_, E>, parts: &mut Parts<E::Plan>)
where
    E: Diagnose,
    E::Plan: Lists,
{
    for at in 0..parts.faults.len() {
        let When::At(time) = parts.faults[at].when else { continue };
        let Some(outcome) = work.outcome(parts, Tracing::On) else { return };
        let Some(trace) = outcome.trace() else { return };
        let candidates = around(trace, outcome.nodes(), &parts.faults[at], time);
        let mut best = None;
        let mut most = None;
        for when in candidates {
            let mut anchored = parts.clone();
            anchored.faults[at].when = when;
            if !work.fails(&anchored) {
                continue;
            }
            let least = *most.get_or_insert_with(|| work.share(parts, SCHEDULES));
            let share = work.share(&anchored, SCHEDULES);
            // The first of equals is the nearest.
            if best.as_ref().map_or(share >= least, |(known, _)| share > *known) {
                best = Some((share, anchored));
            }
            if share == SCHEDULES {
                break;
            }
        }
        if let Some((_, anchored)) = best.filter(|_| !work.over) {
            *parts = anchored;
        }
    }
}

/// The events on the nodes of a fault around a time, those that say most first, then the nearest.
fn around(trace: &Trace, names: &[String], fault: &Fault, time: Instant) -> Vec<When> {
    let mut candidates: Vec<(bool, u64, When)> = Vec::new();
    let (first, second) = fault.what.nodes();
    for name in first.iter().chain(second) {
        let Some(number) = names.iter().position(|known| known == name) else { continue };
        let on_node = |line: &&Line| line.node.is_some_and(|node| usize::from(node.number()) == number);
        let mut seen: Vec<(Event, u32)> = Vec::new();
        let mut events = Vec::new();
        for line in trace.lines.iter().filter(on_node) {
            let Some(event) = event(line) else { continue };
            let nth = match seen.iter_mut().find(|(known, _)| *known == event) {
                Some((_, count)) => {
                    *count += 1;
                    *count
                }
                None => {
                    seen.push((event.clone(), 1));
                    1
                }
            };
            // Points are marked as routine for stories, yet nothing says more.
            let plain = line.told.routine && line.happening != Happening::Point;
            events.push((line.time, plain, Trigger { node: name.clone(), event, nth }));
        }
        let split = events.partition_point(|(at, ..)| *at <= time);
        let distance = |at: Instant| at.as_nanos().abs_diff(time.as_nanos());
        let past = events[..split].iter().rev().take(BEFORE);
        candidates
            .extend(past.map(|(at, plain, trigger)| (*plain, distance(*at), When::After(trigger.clone()))));
        let future = events[split..].iter().take(AFTER);
        candidates.extend(
            future.map(|(at, plain, trigger)| (*plain, distance(*at), When::Before(trigger.clone()))),
        );
    }
    candidates.sort_by_key(|(plain, distance, _)| (*plain, *distance));
    candidates.into_iter().map(|(.., when)| when).collect()
}

/// What a trigger can name of a line.
fn event(line: &Line) -> Option<Event> {
    let kind = || line.told.kind.to_owned();
    match line.happening {
        Happening::Send { .. } => Some(Event::Sends(kind())),
        Happening::Deliver { .. } => Some(Event::Receives(kind())),
        Happening::Point => Some(Event::Reaches(kind())),
        Happening::Start
        | Happening::Lost { .. }
        | Happening::Timer
        | Happening::Synced
        | Happening::Down
        | Happening::Pause
        | Happening::Fault
        | Happening::Note
        | Happening::Probe => None,
    }
}
