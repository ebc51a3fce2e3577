//! Nodes: the unit of failure. One actor, one disk, one pair of clocks, one state, one incarnation.

use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use crate::actor::Protocol;
use crate::clock::Clock;
use crate::disk::Disk;
use crate::fault::trigger::Watch;
use crate::kernel::Event;
use crate::queue::Entry;
use crate::random::Stream;
use crate::time::Instant;

/// The most nodes of a world.
pub const MAX_NODES: usize = 128;

/// A node of one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u16);

impl NodeId {
    /// No node of any world.
    pub(crate) const NOBODY: Self = Self(u16::MAX);

    /// The node that is added to a world as the n-th, from 0: for nodes that know each other before
    /// the world is built.
    pub const fn of_number(number: u16) -> Self {
        Self(number)
    }

    pub(crate) fn new(index: usize) -> Self {
        debug_assert!(index < MAX_NODES);
        Self(index as u16)
    }

    /// The number of the node: nodes are numbered in the order in which they were added, from 0.
    pub const fn number(self) -> u16 {
        self.0
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of nodes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NodeSet(u128);

impl NodeSet {
    pub(crate) fn insert(&mut self, node: NodeId) {
        self.0 |= 1 << node.0;
    }

    #[inline]
    pub(crate) fn contains(self, node: NodeId) -> bool {
        self.0 >> node.0 & 1 == 1
    }

    pub(crate) fn complement(self) -> Self {
        Self(!self.0)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = NodeId> {
        (0..MAX_NODES).map(NodeId::new).filter(move |node| self.contains(*node))
    }
}

impl fmt::Debug for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// The state of a node: how many faults keep it down or paused. It is up where none does.
pub(crate) struct Node<P: Protocol> {
    pub(crate) name: Rc<str>,
    pub(crate) incarnation: u32,
    pub(crate) alive: bool,
    /// Alive, but its actor has not been told so yet.
    pub(crate) starting: bool,
    pub(crate) down: u32,
    pub(crate) paused: u32,
    /// When the last pause ends.
    pub(crate) paused_until: Instant,
    /// The faults that pause it.
    pub(crate) paused_by: Vec<u32>,
    /// What came for the node while it was paused, after what it did itself when the pause struck.
    pub(crate) held: VecDeque<Entry<Event<P>>>,
    pub(crate) disk: Disk<P::Stored>,
    /// What a callback sees and writes in place of the disk after a fault has struck in the middle of
    /// it. After a pause it becomes the disk, if the node goes on alive; after a crash it is dropped.
    pub(crate) aside: Option<Box<Disk<P::Stored>>>,
    /// The event that a pause struck just before: its triggers have seen it.
    pub(crate) announced: Option<u64>,
    pub(crate) disk_faults: Vec<DiskFault>,
    pub(crate) clock: Clock,
    pub(crate) watches: Vec<Watch>,
    pub(crate) timer_ties: Stream,
    pub(crate) syncs: Stream,
    pub(crate) syncs_begun: u64,
    /// Made when an actor first draws, a new one for each incarnation.
    pub(crate) draws: Option<Stream>,
}

/// A fault at work on a disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskFault {
    pub(crate) fault: u32,
    pub(crate) effect: DiskEffect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskEffect {
    Slow(crate::time::Span),
    Full,
    FailSync,
    Tear,
    Scatter,
}

impl<P: Protocol> Node<P> {
    /// The disk as the running callback sees it.
    #[inline]
    pub(crate) fn seen_disk(&mut self) -> &mut Disk<P::Stored> {
        self.aside.as_deref_mut().unwrap_or(&mut self.disk)
    }

    /// From here on, what the running callback writes does not reach the disk.
    pub(crate) fn set_disk_aside(&mut self) {
        let disk = &self.disk;
        self.aside.get_or_insert_with(|| Box::new(disk.clone()));
    }

    /// The fault with this effect that is at work on the disk.
    pub(crate) fn disk_fault(&self, effect: DiskEffect) -> Option<u32> {
        self.disk_faults.iter().find(|at_work| at_work.effect == effect).map(|at_work| at_work.fault)
    }
}
