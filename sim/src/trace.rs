//! The trace of a run: every event with its number, its cause, its time and its node.
//!
//! It is recorded only when asked: a failing seed can always be run again to see it. A disabled
//! trace costs one test per event.

use std::fmt;

use crate::actor::Protocol;
use crate::fault::Event;
use crate::node::NodeId;
use crate::time::Instant;

/// The number of an event in its run, or of a fault in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(u64);

const FAULT: u64 = 1 << 63;

impl EventId {
    /// The start of the world, the first cause.
    pub const GENESIS: Self = Self(0);

    /// The event with this number.
    pub const fn event(number: u64) -> Self {
        Self(number)
    }

    pub(crate) const fn fault(index: u32) -> Self {
        Self(FAULT | index as u64)
    }

    pub(crate) const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    /// The fault of the plan (its index) where this names one.
    pub const fn as_fault(self) -> Option<usize> {
        if self.0 & FAULT == 0 { None } else { Some((self.0 & !FAULT) as usize) }
    }

    /// The number of the event where this names one.
    pub const fn as_event(self) -> Option<u64> {
        if self.0 & FAULT == 0 { Some(self.0) } else { None }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_fault() {
            Some(fault) => write!(f, "f{}", fault + 1),
            None => write!(f, "{}", self.0),
        }
    }
}

/// What kind of thing a trace line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A node started.
    Start,
    /// A message arrived and was handled.
    Deliver {
        /// The sender.
        from: NodeId,
    },
    /// A message did not arrive.
    Lost {
        /// The sender.
        from: NodeId,
    },
    /// A message was sent.
    Send {
        /// The receiver.
        to: NodeId,
        /// The event of its arrival, none where the network loses it. A message that is doubled has
        /// a line for each copy.
        arrives: Option<EventId>,
    },
    /// A timer fired.
    Timer,
    /// A sync ended.
    Synced,
    /// A node's process ended: crash, stop or abort.
    Down,
    /// A node stood still, or went on.
    Pause,
    /// A fault began or ended.
    Fault,
    /// An observation for the history.
    Note,
    /// A probe was reached.
    Probe,
    /// A node reached a labelled point in its work.
    Point,
}

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The event that this line belongs to.
    pub id: EventId,
    /// The event that caused it.
    pub cause: EventId,
    /// When.
    pub time: Instant,
    /// Where, none for what happens to no single node.
    pub node: Option<NodeId>,
    /// What kind of thing it is.
    pub happening: Happening,
    /// What happened.
    pub told: Told,
    /// The faults that had a hand in it, by their index in the plan.
    pub faults: Vec<usize>,
}

impl Line {
    /// What a trigger can wait for here: a message that is sent or received, or a labelled point.
    pub fn event(&self) -> Option<Event> {
        let kind = || self.told.kind.to_owned();
        match self.happening {
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

    /// Whether this fault of the plan begins here.
    pub fn begins(&self, fault: usize) -> bool {
        self.happening == Happening::Fault
            && self.faults.contains(&fault)
            && self.told.words.ends_with("begins")
    }
}

/// How often each of a few things has come so far.
#[derive(Clone, Debug)]
pub(crate) struct Count<T>(Vec<(T, u32)>);

impl<T: PartialEq> Count<T> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    /// Counts a thing; the how manieth of its like it is, from 1.
    pub(crate) fn nth(&mut self, thing: T) -> u32 {
        match self.0.iter_mut().find(|(known, _)| *known == thing) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.0.push((thing, 1));
                1
            }
        }
    }
}

/// What a line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// In words, such as `sends Commit(orders/1 = 32)`.
    pub words: String,
    /// The kind of the message, or the label of the point, as triggers name it; empty for others.
    pub kind: &'static str,
    /// The digest of the message or note, 0 where there is none: words need not tell all of it.
    pub digest: u64,
    /// The things that it is about (records, say), as numbers of the model's choice.
    pub about: Vec<u64>,
    /// Whether it is one of many that say no more than that all is well, such as a heartbeat.
    pub routine: bool,
}

impl Told {
    /// Just words.
    pub fn words(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }

    /// The same with something before or after the words.
    pub(crate) fn wrapped(mut self, before: &str, after: &str) -> Self {
        self.words.insert_str(0, before);
        self.words.push_str(after);
        self
    }
}

/// Says what messages and notes mean, for traces and logs: a model knows the names of things.
pub trait Teller<P: Protocol> {
    /// A message.
    fn message(&self, message: &P::Message) -> Told {
        Told::words(message.to_string())
    }

    /// A note.
    fn note(&self, note: &P::Note) -> Told {
        Told::words(note.to_string())
    }
}

/// Lets messages and notes speak for themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl<P: Protocol> Teller<P> for Plain {}

/// The most lines of a trace; what comes later is only counted.
pub const MAX_LINES: usize = 1_000_000;

/// A recorded trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The lines in order.
    pub lines: Vec<Line>,
    /// How many further lines there were.
    pub omitted: u64,
}

impl Trace {
    pub(crate) fn push(&mut self, line: Line) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(line);
        } else {
            self.omitted += 1;
        }
    }

    /// The first line in which two traces differ; none where neither has one.
    pub fn first_difference<'a>(&'a self, other: &'a Self) -> Option<(Option<&'a Line>, Option<&'a Line>)> {
        let longest = self.lines.len().max(other.lines.len());
        let pairs = (0..longest).map(|at| (self.lines.get(at), other.lines.get(at)));
        pairs.into_iter().find(|(one, two)| one != two)
    }
}
