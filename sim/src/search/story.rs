//! The causal story of a failing run: of all lines of its trace, only those on the way from the faults
//! to the witnesses, in order.
//!
//! A line is told
//!
//! - if a fault had a hand in it: the fault itself, a crash, a message lost or held back;
//! - if it is about the same things as the violation, such as a record or a key;
//! - if it would not have happened without the faults, unless it says no more than that all is well,
//!   or is about other things. Since draws are keyed, the run without the faults shows which lines these are.
//!
//! And only if it lies in the causal past of a witness: its own cause and what its node did before are
//! the past of a line (Lamport, "Time, Clocks, and the Ordering of Events", 1978).

use std::collections::{BTreeMap, BTreeSet};

use crate::node::NodeId;
use crate::trace::{EventId, Happening, Line, Trace};

/// What to tell a story about.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The events in which the violation was seen.
    pub witnesses: BTreeSet<EventId>,
    /// The things that it is about, as lines of the trace name them.
    pub about: BTreeSet<u64>,
    /// Nodes that only look on: what they do and are told matters only where it is a witness.
    pub bystanders: BTreeSet<NodeId>,
}

/// A line of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The line.
    pub line: Line,
    /// When the message that it sends arrives, if it does.
    pub arrives: Option<crate::time::Instant>,
    /// Whether the violation was seen here.
    pub witness: bool,
    /// Whether it is about the same things as the violation; else it is told because of the faults.
    pub concerned: bool,
}

/// The story of a failing run; `calm` is the run of the same plan without its faults and delays.
pub fn story(failing: &Trace, calm: Option<&Trace>, question: &Question) -> Vec<Step> {
    let past = past(failing, question);
    let usual = calm.map(count).unwrap_or_default();
    let mut seen: BTreeMap<Key<'_>, u32> = BTreeMap::new();
    let arrivals: BTreeMap<EventId, &Line> = failing
        .lines
        .iter()
        .filter(|line| matches!(line.happening, Happening::Deliver { .. }))
        .map(|line| (line.id, line))
        .collect();
    // What has become of a node says more than that a fault begins.
    let states: BTreeSet<_> = failing.lines.iter().filter(|line| is_state(line)).map(struck).collect();
    let about = |line: &Line| line.told.about.iter().any(|thing| question.about.contains(thing));
    // Of several observations in one event, those are witnesses that are about the same things.
    let seen_in = |line: &Line| question.witnesses.contains(&line.id) && line.happening == Happening::Note;
    let plain: BTreeSet<EventId> =
        failing.lines.iter().filter(|line| seen_in(line) && about(line)).map(|line| line.id).collect();
    let mut steps = Vec::new();
    for (at, line) in failing.lines.iter().enumerate() {
        let times = seen.entry(key(line)).or_default();
        *times += 1;
        let unusual = calm.is_some() && *times > usual.get(&key(line)).copied().unwrap_or(0);
        let concerned = about(line);
        let witness = seen_in(line) && (concerned || !plain.contains(&line.id));
        let touched = !line.faults.is_empty() && !line.told.routine;
        // What is about other things is another story.
        let unusual = unusual && line.told.about.is_empty();
        let told =
            witness || touched || (concerned || unusual) && !line.told.routine && !aside(line, question);
        let said = line.happening == Happening::Fault && states.contains(&struck(line));
        if !told || !past[at] || said || !is_of_a_story(line) {
            continue;
        }
        let arrives = match line.happening {
            Happening::Send { arrives: Some(arrival), .. } => arrivals.get(&arrival).map(|line| line.time),
            _ => None,
        };
        steps.push(Step { line: line.clone(), arrives, witness, concerned });
    }
    steps
}

/// What stories are made of: a message is told where it is sent, with the time at which it arrives.
fn is_of_a_story(line: &Line) -> bool {
    match line.happening {
        Happening::Send { .. }
        | Happening::Lost { .. }
        | Happening::Start
        | Happening::Down
        | Happening::Pause
        | Happening::Fault
        | Happening::Note => true,
        Happening::Synced => !line.told.routine,
        Happening::Deliver { .. } | Happening::Timer | Happening::Probe | Happening::Point => false,
    }
}

fn is_state(line: &Line) -> bool {
    matches!(line.happening, Happening::Down | Happening::Pause | Happening::Start)
}

/// Which faults struck when.
fn struck(line: &Line) -> (crate::time::Instant, &[usize]) {
    (line.time, &line.faults)
}

/// Whether a line is between a bystander and someone.
fn aside(line: &Line, question: &Question) -> bool {
    let to = match line.happening {
        Happening::Send { to, .. } => Some(to),
        _ => None,
    };
    line.node.into_iter().chain(to).any(|node| question.bystanders.contains(&node))
}

type Key<'a> = (Option<NodeId>, &'a str);

fn key(line: &Line) -> Key<'_> {
    (line.node, &line.told.words)
}

fn count(trace: &Trace) -> BTreeMap<Key<'_>, u32> {
    let mut count = BTreeMap::new();
    for line in &trace.lines {
        *count.entry(key(line)).or_default() += 1;
    }
    count
}

/// Which lines lie in the causal past of a witness, the witnesses among them.
fn past(trace: &Trace, question: &Question) -> Vec<bool> {
    let mut past = vec![false; trace.lines.len()];
    let (mut events, mut nodes) = (question.witnesses.clone(), BTreeSet::new());
    for (at, line) in trace.lines.iter().enumerate().rev() {
        let node = line.node.filter(|_| !matches!(line.happening, Happening::Lost { .. }));
        if events.contains(&line.id) || node.is_some_and(|node| nodes.contains(&node)) {
            past[at] = true;
            events.insert(line.cause);
            events.extend(line.faults.iter().map(|fault| EventId::fault(*fault as u32)));
            nodes.extend(node);
        }
    }
    past
}
