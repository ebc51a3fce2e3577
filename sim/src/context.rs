//! The only way out of an actor.

use crate::actor::Protocol;
use crate::clock::WallTime;
use crate::disk::{CellId, Disk, DiskFull, LogId, SyncId};
use crate::fault::trigger::{Moment, Seen};
use crate::kernel::{Deed, Effective, Kernel};
use crate::node::{DiskEffect, NodeId};
use crate::queue::Handle;
use crate::time::{Instant, Odds, Span};
use crate::trace::{Happening, Told};
use crate::world::Ending;

/// A timer that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerId(Handle);

/// What an actor can do, on its own node.
///
/// A fault may strike in the middle of a callback (see [`crate::fault::When`]). What a node that has
/// crashed still does has no effect; what a node that was paused still does happens when it goes on,
/// and never if it crashes before. Only points and probes are passed at once.
pub struct Context<'a, P: Protocol> {
    pub(crate) kernel: &'a mut Kernel<P>,
}

impl<P: Protocol> Context<'_, P> {
    /// The node of this actor.
    pub fn node(&self) -> NodeId {
        self.kernel.current.node
    }

    /// How often the node has started before.
    pub fn incarnation(&self) -> u32 {
        self.kernel.current.incarnation
    }

    /// What the node's wall clock shows. It may be off, jump, and run backwards.
    pub fn wall(&mut self) -> WallTime {
        let node = self.node();
        self.kernel.feel_wall(node);
        let now = self.base().unwrap_or(self.kernel.now);
        self.kernel.node(node).clock.wall(now)
    }

    /// What the node's monotonic clock shows. It may run too fast or too slow.
    pub fn monotonic(&mut self) -> Instant {
        let node = self.node();
        self.kernel.feel_drift(node);
        let now = self.base().unwrap_or(self.kernel.now);
        self.kernel.node(node).clock.monotonic(now)
    }

    /// Sends a message. It may arrive late, twice, or never, and nobody says so.
    #[inline]
    pub fn send(&mut self, to: NodeId, message: P::Message) {
        let from = self.node();
        match self.kernel.effective() {
            Effective::Now => self.kernel.send(from, to, message),
            Effective::Never => {}
            Effective::Late(_) => self.kernel.put_off(Deed::Send { to, message, announced: false }),
        }
    }

    /// Sets a timer on the monotonic clock; `token` comes back in [`crate::Actor::timer`].
    pub fn set_timer(&mut self, after: Span, token: u64) -> TimerId {
        let node = self.node();
        let base = self.base().unwrap_or(self.kernel.now);
        let handle = self.kernel.set_timer(node, base, after, token);
        TimerId(handle)
    }

    /// Cancels a timer; one that has fired is no mistake.
    pub fn cancel_timer(&mut self, timer: TimerId) {
        self.kernel.cancel(timer.0);
    }

    /// The node's disk, to read from and to recover.
    pub fn disk(&mut self) -> &mut Disk<P::Stored> {
        let node = self.node();
        self.kernel.node_mut(node).seen_disk()
    }

    /// Appends to a log; the index of the new entry. It is volatile until a sync has covered it.
    ///
    /// # Errors
    /// [`DiskFull`] while no space is left.
    pub fn append(&mut self, log: LogId, value: P::Stored) -> Result<usize, DiskFull> {
        self.space()?;
        Ok(self.disk().append(log, value))
    }

    /// Replaces the value of a cell. It is volatile until a sync has covered it.
    ///
    /// # Errors
    /// [`DiskFull`] while no space is left.
    pub fn set(&mut self, cell: CellId, value: P::Stored) -> Result<(), DiskFull> {
        self.space()?;
        self.disk().set(cell, value);
        Ok(())
    }

    /// Begins a sync of everything written so far; [`crate::Actor::synced`] tells when it has ended.
    pub fn sync(&mut self) -> SyncId {
        let node = self.node();
        match self.base() {
            Some(base) => self.kernel.sync(node, base),
            None => SyncId(u64::MAX),
        }
    }

    /// 64 bits from the node's own stream of draws.
    pub fn random(&mut self) -> u64 {
        let node = self.node();
        self.kernel.draws(node).bits()
    }

    /// A number below `bound` from the node's own stream of draws.
    pub fn random_below(&mut self, bound: u64) -> u64 {
        let node = self.node();
        self.kernel.draws(node).below(bound)
    }

    /// Whether a case with these odds is a hit, from the node's own stream of draws.
    pub fn random_hit(&mut self, odds: Odds) -> bool {
        let node = self.node();
        self.kernel.draws(node).hit(odds)
    }

    /// Notes an observation for the history.
    pub fn note(&mut self, note: P::Note) {
        let node = self.node();
        match self.kernel.effective() {
            Effective::Now => self.kernel.note(node, note),
            Effective::Never => {}
            Effective::Late(_) => self.kernel.put_off(Deed::Note(note)),
        }
    }

    /// Counts that a situation was reached.
    pub fn probe(&mut self, name: &'static str) {
        if !self.kernel.current.dead {
            self.kernel.probe(name);
        }
    }

    /// Marks a point in the actor's work at which a fault may strike.
    pub fn point(&mut self, label: &'static str) {
        let node = self.node();
        if self.kernel.trace.is_some() && !self.kernel.current.dead {
            let told = Told { kind: label, routine: true, ..Told::words(label) };
            self.kernel.tell(self.kernel.line(Some(node), Happening::Point, self.kernel.current.event, told));
        }
        if !self.kernel.node(node).watches.is_empty() {
            self.kernel.watch(node, Moment::Before, Seen::Reaches(label));
            self.kernel.watch(node, Moment::After, Seen::Reaches(label));
        }
    }

    /// Ends the node's process, as after an error that it cannot survive; it starts again after
    /// `restart`.
    pub fn abort(&mut self, restart: Span) {
        let node = self.node();
        match self.kernel.effective() {
            Effective::Now => self.kernel.abort(node, restart),
            Effective::Never => {}
            Effective::Late(_) => {
                self.kernel.put_off(Deed::Abort { restart });
                self.kernel.current.dead = true;
            }
        }
    }

    /// Ends the run: everything that was to be seen has been seen.
    pub fn finish(&mut self) {
        match self.kernel.effective() {
            Effective::Now => self.kernel.end(Ending::Finished),
            Effective::Never => {}
            Effective::Late(_) => self.kernel.put_off(Deed::Finish),
        }
    }

    /// When what the callback does now happens, none where it never does.
    fn base(&mut self) -> Option<Instant> {
        match self.kernel.effective() {
            Effective::Now => Some(self.kernel.now),
            Effective::Never => None,
            Effective::Late(time) => Some(time),
        }
    }

    fn space(&mut self) -> Result<(), DiskFull> {
        let node = self.node();
        if self.kernel.current.dead {
            return Ok(());
        }
        match self.kernel.node(node).disk_fault(DiskEffect::Full) {
            None => Ok(()),
            Some(fault) => {
                self.kernel.agenda.bite(fault);
                Err(DiskFull)
            }
        }
    }
}
