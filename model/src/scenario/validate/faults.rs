//! Listed faults and delays: they name nodes that exist, and come while faults may begin.

use millpond_sim::fault::{Event, Fault, What, When};
use millpond_sim::time::Instant;

use super::{Found, Nodes};
use crate::message::KINDS;
use crate::points;
use crate::scenario::mistake::{Mistake, Part, Path, at};
use crate::scenario::nearest::nearest;
use crate::scenario::schema::{Faults, Scenario};

pub(super) fn check(scenario: &Scenario, found: &mut Found) {
    let nodes = Nodes(scenario);
    for (at, delay) in scenario.schedule.iter().enumerate() {
        for (field, node) in [("from", &delay.from), ("to", &delay.to)] {
            if !found.is_full() && !nodes.contains(node) {
                found.add(nodes.unknown(node, at!["schedule", at, field]));
            }
        }
    }
    let Faults::Plan(faults) = &scenario.faults else { return };
    for (at, fault) in faults.iter().enumerate() {
        if found.is_full() {
            return;
        }
        let place = at!["faults", "Plan", at];
        when(scenario, &nodes, fault, &place, found);
        let what = place.then("what").then(fault.what.kind().name());
        for (field, list) in lists(&fault.what) {
            let place = what.then(field);
            if list.is_empty() {
                found.add(
                    Mistake::new(format!("{} names no node", fault.what.kind()), place)
                        .code("no-node")
                        .label("name at least one"),
                );
                continue;
            }
            for (at, node) in list.iter().enumerate().filter(|(_, node)| !nodes.contains(node)) {
                found.add(nodes.unknown(node, place.then(at)));
            }
        }
    }
}

fn when(scenario: &Scenario, nodes: &Nodes<'_>, fault: &Fault, place: &Path, found: &mut Found) {
    let place = place.then("when");
    match &fault.when {
        When::At(time) => {
            let end = Instant::ZERO + scenario.phases.warm_up + scenario.phases.faults;
            if *time > end {
                found.add(
                    Mistake::new(format!("{} at {time} comes too late", fault.what.kind()), place.then("At"))
                        .code("too-late")
                        .label(format!("faults begin before {end}"))
                        .related(at!["phases"], Part::Name, "`warm_up` and `faults` say so")
                        .help(format!(
                            "phases: warm_up {}, faults {}",
                            scenario.phases.warm_up, scenario.phases.faults
                        )),
                );
            }
        }
        When::Before(trigger) | When::After(trigger) => {
            let side = if matches!(fault.when, When::Before(_)) { "Before" } else { "After" };
            if !nodes.contains(&trigger.node) {
                found.add(nodes.unknown(&trigger.node, place.then(side).then("node")));
            }
            event(&trigger.event, place.then(side).then("event"), found);
        }
    }
}

/// A trigger waits for messages and points that the model has.
fn event(event: &Event, place: Path, found: &mut Found) {
    let kinds = || KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>();
    let (variant, name, known, noun) = match event {
        Event::Sends(name) => ("Sends", name, kinds(), "message"),
        Event::Receives(name) => ("Receives", name, kinds(), "message"),
        Event::Reaches(name) => {
            ("Reaches", name, points::ALL.iter().map(|point| point.name).collect(), "point")
        }
    };
    if known.contains(&name.as_str()) {
        return;
    }
    let mut mistake =
        Mistake::new(format!("{noun} `{name}` does not exist"), place.then(variant)).code("unknown-event");
    mistake = match nearest(name, known.iter().copied()) {
        Some(near) => mistake.label(format!("did you mean `{near}`?")),
        None => mistake
            .label(format!("not a {noun} of the model"))
            .help(format!("there are: {}", known.join(", "))),
    };
    found.add(mistake);
}

/// The lists of nodes in a fault, each with the name of its field.
fn lists(what: &What) -> Vec<(&'static str, &[String])> {
    match what {
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
        | What::Jump { nodes, .. } => vec![("nodes", nodes)],
        What::Partition { left, right, .. } => vec![("left", left), ("right", right)],
        What::Cut { from, to, .. }
        | What::Slow { from, to, .. }
        | What::Lose { from, to, .. }
        | What::LoseReplies { from, to, .. }
        | What::Duplicate { from, to, .. }
        | What::Reorder { from, to, .. }
        | What::Hold { from, to, .. } => vec![("from", from), ("to", to)],
    }
}
