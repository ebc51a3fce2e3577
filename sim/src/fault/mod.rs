//! Faults as data: what the world does to the system, and when.
//!
//! A fault names its nodes and states what happens ([`What`]) and at which time or event
//! ([`When`]). It is one item with a beginning and an end: crash and restart, cut and heal go
//! together, so that removing an item never leaves half of it behind. Whatever still lasts when the
//! run heals ends then.
//!
//! | family  | kinds |
//! |---------|-------|
//! | node    | `Crash` `CrashLoop` `LoseDisk` `Stop` `Pause` |
//! | network | `Partition` `Cut` `Isolate` `Slow` `Lose` `LoseReplies` `Duplicate` `Reorder` `Hold` |
//! | disk    | `SlowDisk` `FullDisk` `FailSync` `TearTail` `Scatter` `Rot` |
//! | clock   | `Offset` `Drift` `Jump` |
//!
//! Each family meets the kernel in one place: [`crate::network`], [`crate::disk`], [`crate::clock`],
//! and `inject` for the nodes.

pub(crate) mod inject;
mod kind;
pub(crate) mod trigger;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::inject::PlanError;
pub use self::kind::Kind;
use crate::time::{Instant, Odds, Shift, Span};

/// One thing that the world does to the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// When it begins: at a time, or at an event.
    pub when: When,
    /// What happens.
    pub what: What,
}

/// When a fault begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum When {
    /// At a time since the start of the run.
    At(Instant),
    /// Just before an event: what the event would have done is not done if the node crashes.
    Before(Trigger),
    /// Just after an event: its effect has happened, what the node would do next has not.
    After(Trigger),
}

/// The n-th event of a kind on a node; one that never comes leaves the fault unused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// The node on which the event happens.
    pub node: String,
    /// The event.
    pub event: Event,
    /// Which of these events counts, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub nth: u32,
}

/// An event that a trigger can wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Event {
    /// The node sends a message of this kind, such as `Commit`.
    Sends(String),
    /// A message of this kind is delivered to the node.
    Receives(String),
    /// The node reaches a point that the model has labelled, such as `after sink write`.
    Reaches(String),
}

fn first() -> u32 {
    1
}

fn is_first(nth: &u32) -> bool {
    *nth == 1
}

/// What a fault does. Every list of nodes names nodes such as `broker-0`; none may be empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum What {
    /// The processes die at once and start again, from their disks, after `down`.
    /// Naming all nodes of a cluster is a power cut.
    Crash {
        /// The nodes that crash together.
        nodes: Vec<String>,
        /// How long they stay down.
        down: Span,
    },
    /// A process dies again and again.
    CrashLoop {
        /// The nodes that crash together.
        nodes: Vec<String>,
        /// How many crashes, 1 to 100.
        #[schemars(range(min = 1, max = 100))]
        times: u32,
        /// How long a crash lasts.
        down: Span,
        /// How long the node is up between two crashes.
        up: Span,
    },
    /// A crash after which the disk is empty.
    LoseDisk {
        /// The nodes that lose process and disk together.
        nodes: Vec<String>,
        /// How long they stay down.
        down: Span,
    },
    /// A clean stop: the process is told, its disk is synced, then it starts again after `down`.
    Stop {
        /// The nodes that are stopped.
        nodes: Vec<String>,
        /// How long they stay down.
        down: Span,
    },
    /// The process stands still (a long garbage collection, a frozen machine), then goes on as if
    /// nothing had happened.
    Pause {
        /// The nodes that stand still.
        nodes: Vec<String>,
        /// How long.
        lasts: Span,
    },
    /// No message passes between the two sides, either way.
    Partition {
        /// One side.
        left: Vec<String>,
        /// The other side.
        right: Vec<String>,
        /// How long.
        lasts: Span,
    },
    /// No message passes from one side to the other; the way back is open.
    Cut {
        /// Senders whose messages are lost.
        from: Vec<String>,
        /// Receivers that do not get them.
        to: Vec<String>,
        /// How long.
        lasts: Span,
    },
    /// The nodes reach no one else and no one else reaches them; among themselves they can talk.
    Isolate {
        /// The nodes cut off together.
        nodes: Vec<String>,
        /// How long.
        lasts: Span,
    },
    /// Messages take longer.
    Slow {
        /// Senders.
        from: Vec<String>,
        /// Receivers.
        to: Vec<String>,
        /// Time added to each message.
        by: Span,
        /// How long.
        lasts: Span,
    },
    /// A share of the messages is lost.
    Lose {
        /// Senders.
        from: Vec<String>,
        /// Receivers.
        to: Vec<String>,
        /// The share that is lost.
        odds: Odds,
        /// How long.
        lasts: Span,
    },
    /// Requests arrive and are applied, their replies are lost.
    LoseReplies {
        /// The nodes that answer.
        from: Vec<String>,
        /// The nodes that wait for the answer.
        to: Vec<String>,
        /// At most this many replies, from 1.
        #[schemars(range(min = 1))]
        count: u32,
        /// How long.
        lasts: Span,
    },
    /// A share of the messages arrives twice.
    Duplicate {
        /// Senders.
        from: Vec<String>,
        /// Receivers.
        to: Vec<String>,
        /// The share that is sent twice.
        odds: Odds,
        /// How long.
        lasts: Span,
    },
    /// Messages of one link overtake each other.
    Reorder {
        /// Senders.
        from: Vec<String>,
        /// Receivers.
        to: Vec<String>,
        /// Up to this much time is added to each message, drawn for each.
        spread: Span,
        /// How long.
        lasts: Span,
    },
    /// Messages are held back, then arrive all at once when the fault ends.
    Hold {
        /// Senders.
        from: Vec<String>,
        /// Receivers.
        to: Vec<String>,
        /// How long.
        lasts: Span,
    },
    /// Syncs take longer.
    SlowDisk {
        /// The nodes whose disks are slow.
        nodes: Vec<String>,
        /// Time added to each sync.
        by: Span,
        /// How long.
        lasts: Span,
    },
    /// Writes are refused: no space is left.
    FullDisk {
        /// The nodes whose disks are full.
        nodes: Vec<String>,
        /// How long.
        lasts: Span,
    },
    /// Syncs report an error, and what they should have covered never becomes durable.
    FailSync {
        /// The nodes whose disks fail.
        nodes: Vec<String>,
        /// How long.
        lasts: Span,
    },
    /// A crash while this lasts leaves the first lost entry of each log torn: there, but unreadable.
    TearTail {
        /// The nodes whose disks tear.
        nodes: Vec<String>,
        /// How long.
        lasts: Span,
    },
    /// A crash while this lasts keeps an arbitrary subset of the unsynced writes, not a prefix.
    Scatter {
        /// The nodes whose disks reorder writes.
        nodes: Vec<String>,
        /// How long.
        lasts: Span,
    },
    /// Entries that were durable become unreadable; the reader's checksum finds it.
    Rot {
        /// The nodes whose disks rot.
        nodes: Vec<String>,
        /// How many entries rot, from 1; which ones is drawn.
        #[schemars(range(min = 1))]
        entries: u32,
    },
    /// The wall clock is off by a constant.
    Offset {
        /// The nodes whose clocks are off.
        nodes: Vec<String>,
        /// How far, backwards where negative.
        by: Shift,
        /// How long.
        lasts: Span,
    },
    /// Both clocks of a node run too fast or too slow.
    Drift {
        /// The nodes whose clocks drift.
        nodes: Vec<String>,
        /// Parts per million too fast, too slow where negative; -500000 to 1000000.
        #[schemars(range(min = -500_000, max = 1_000_000))]
        ppm: i32,
        /// How long; what the clocks have gained or lost stays.
        lasts: Span,
    },
    /// The wall clock jumps back and forth between right and wrong.
    Jump {
        /// The nodes whose clocks jump.
        nodes: Vec<String>,
        /// How far, backwards where negative.
        by: Shift,
        /// The time from one jump to the next, at least 1us.
        every: Span,
        /// How long; the clock ends up right.
        lasts: Span,
    },
}
