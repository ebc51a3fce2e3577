//! Turning times into events: `after totals-0 sends its 3rd Write` says what `at 4.2107s` means, and
//! still holds when something before it takes a little longer.
//!
//! The events of the failing run around the time of a fault, on its nodes, are tried in its place.
//! Among those with which the plan still fails, the one with which it fails in the most of some other
//! schedules is taken, if it does so at least as often as with the time.

use super::{Diagnose, Lists, Parts, Work};
use crate::fault::{Fault, Trigger, When};
use crate::search::{Outcome as _, Tracing};
use crate::time::Instant;
use crate::trace::{Count, Happening, Line, Trace};

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

/// When each fault with a trigger strikes.
pub(super) fn strikes<E>(work: &mut Work<'_, E>, parts: &Parts<E::Plan>) -> Vec<(Fault, Instant)>
where
    E: Diagnose,
    E::Plan: Lists,
{
    if parts.faults.iter().all(|fault| trigger(&fault.when).is_none()) {
        return Vec::new();
    }
    let Some(outcome) = work.outcome(parts, Tracing::On) else { return Vec::new() };
    let Some(trace) = outcome.trace() else { return Vec::new() };
    let begins = |at: usize| trace.lines.iter().find(|line| line.begins(at)).map(|line| line.time);
    let faults = parts.faults.iter().enumerate();
    faults.filter_map(|(at, fault)| Some((fault.clone(), begins(at)?))).collect()
}

/// The faults of a smaller plan, with their triggers counting to the event nearest to where they struck
/// before: what was left out took some of the events before it with it. None where nothing changes.
pub(super) fn recounted<E>(
    work: &mut Work<'_, E>,
    parts: &Parts<E::Plan>,
    strikes: &[(Fault, Instant)],
) -> Option<Vec<Fault>>
where
    E: Diagnose,
    E::Plan: Lists,
{
    let struck = |fault: &Fault| strikes.iter().find(|(known, _)| known == fault).map(|(_, time)| *time);
    if !work.may_run()
        || !parts.faults.iter().any(|fault| trigger(&fault.when).is_some() && struck(fault).is_some())
    {
        return None;
    }
    work.runs += 1;
    let timed =
        parts.faults.iter().filter(|fault| trigger(&fault.when).is_none()).cloned().collect::<Vec<_>>();
    let outcome = work.experiment.run(work.seed, &parts.with_faults(&timed).plan(), Tracing::On);
    let (trace, names) = (outcome.trace()?, outcome.nodes());
    let recount = |fault: &Fault| {
        let (Some(old), Some(time)) = (trigger(&fault.when), struck(fault)) else { return fault.clone() };
        let on_node = |line: &&Line| {
            let name = line.node.and_then(|node| names.get(usize::from(node.number())));
            name == Some(&old.node) && line.event().as_ref() == Some(&old.event)
        };
        let distance = |line: &Line| line.time.as_nanos().abs_diff(time.as_nanos());
        let alike = trace.lines.iter().filter(on_node).enumerate();
        let nearest = alike.min_by_key(|(_, line)| distance(line)).map_or(0, |(at, _)| at);
        let new = Trigger { nth: nearest as u32 + 1, ..old.clone() };
        let when = match fault.when {
            When::Before(_) => When::Before(new),
            When::After(_) | When::At(_) => When::After(new),
        };
        Fault { when, ..fault.clone() }
    };
    let faults: Vec<Fault> = parts.faults.iter().map(recount).collect();
    (faults != parts.faults).then_some(faults)
}

fn trigger(when: &When) -> Option<&Trigger> {
    match when {
        When::At(_) => None,
        When::Before(trigger) | When::After(trigger) => Some(trigger),
    }
}

/// The events on the nodes of a fault around a time, those that say most first, then the nearest.
fn around(trace: &Trace, names: &[String], fault: &Fault, time: Instant) -> Vec<When> {
    let mut candidates: Vec<(bool, u64, When)> = Vec::new();
    let (first, second) = fault.what.nodes();
    for name in first.iter().chain(second) {
        let Some(number) = names.iter().position(|known| known == name) else { continue };
        let on_node = |line: &&Line| line.node.is_some_and(|node| usize::from(node.number()) == number);
        let mut count = Count::new();
        let mut events = Vec::new();
        for line in trace.lines.iter().filter(on_node) {
            let Some(event) = line.event() else { continue };
            let nth = count.nth(event.clone());
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
