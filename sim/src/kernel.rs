//! Everything of a world but its actors: time, queue, nodes, network, faults, and what is recorded.
//!
//! Actors reach it through [`crate::Context`], the run loop through [`crate::World`].

use std::collections::VecDeque;
use std::fmt;

use crate::actor::{Message, Note, Protocol};
use crate::disk::SyncId;
use crate::fault::inject::Agenda;
use crate::fault::trigger::{Moment, Seen};
use crate::fingerprint::Fingerprint;
use crate::network::{Arrivals, Network};
use crate::node::{DiskEffect, DiskFault, Node, NodeId};
use crate::orders::Orders;
use crate::queue::{Entry, Handle, Queue};
use crate::random::{Key, Purpose};
use crate::time::{Instant, Span};
use crate::trace::{EventId, Happening, Line, Teller, Told, Trace};
use crate::world::{Bounds, Ending, Limit};

/// What waits in the queue.
pub(crate) enum Event<P: Protocol> {
    Start {
        node: NodeId,
        incarnation: u32,
    },
    Deliver {
        from: NodeId,
        to: NodeId,
        incarnation: u32,
        message: P::Message,
    },
    Timer {
        node: NodeId,
        incarnation: u32,
        local: Instant,
        token: u64,
    },
    Synced {
        node: NodeId,
        incarnation: u32,
        sync: SyncId,
    },
    /// What a node did in the instant in which it was paused takes effect when it goes on.
    Late {
        node: NodeId,
        incarnation: u32,
        deed: Deed<P>,
    },
}

impl<P: Protocol> Event<P> {
    /// What kind of event it is, as an order of events has it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Deliver { message, .. } => message.kind(),
            Self::Start { .. } => "start",
            Self::Timer { .. } => "timer",
            Self::Synced { .. } => "synced",
            Self::Late { .. } => "late",
        }
    }

    pub(crate) fn is_late(&self) -> bool {
        matches!(self, Self::Late { .. })
    }

    /// The bytes of the message on its way, if it is one.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Deliver { message, .. } => u64::from(message.size()),
            Self::Start { .. } | Self::Timer { .. } | Self::Synced { .. } | Self::Late { .. } => 0,
        }
    }
}

/// What a callback can do that others see.
pub(crate) enum Deed<P: Protocol> {
    Send {
        to: NodeId,
        message: P::Message,
        /// The faults that strike before it have been told.
        announced: bool,
    },
    Note(P::Note),
    Abort {
        restart: Span,
    },
    Finish,
}

/// An observation with its place in the run.
#[derive(Clone, Debug)]
pub struct Noted<N> {
    /// When it was noted, in true time.
    pub time: Instant,
    /// By which node.
    pub node: NodeId,
    /// In which life of the node, from 0.
    pub incarnation: u32,
    /// In which event.
    pub event: EventId,
    /// The observation.
    pub note: N,
}

/// What is true while an actor's callback runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current {
    pub(crate) node: NodeId,
    pub(crate) incarnation: u32,
    pub(crate) event: EventId,
    /// The node died in the middle of the callback: what it still does is not done.
    pub(crate) dead: bool,
    /// The node was paused in the middle of the callback: what it still does is done later.
    pub(crate) late: u64,
}

pub(crate) struct Kernel<P: Protocol> {
    pub(crate) key: Key,
    pub(crate) now: Instant,
    pub(crate) queue: Queue<Event<P>>,
    /// What came for nodes that stood still and now go on: it goes before all that waits in the queue.
    pub(crate) backlog: VecDeque<Entry<Event<P>>>,
    pub(crate) nodes: Vec<Node<P>>,
    pub(crate) network: Network,
    pub(crate) agenda: Agenda,
    pub(crate) current: Current,
    pub(crate) next_id: u64,
    pub(crate) bounds: Bounds,
    pub(crate) events: u64,
    pub(crate) queued_bytes: u64,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) trace: Option<Trace>,
    pub(crate) teller: Box<dyn Teller<P>>,
    pub(crate) orders: Option<Orders>,
    /// When to go on with other draws, and which; at the end of time where never.
    pub(crate) fork: (Instant, u64),
    pub(crate) history: Vec<Noted<P::Note>>,
    pub(crate) probes: Vec<(&'static str, u64)>,
    /// Nodes whose actor is to be dropped.
    pub(crate) reap: Vec<NodeId>,
    /// Nodes whose actor is to be told to stop, and why.
    pub(crate) stopping: Vec<(NodeId, EventId)>,
    pub(crate) ending: Option<Ending>,
    pub(crate) disk_sync: (Span, Span),
}

/// What the fingerprint takes in beside messages and notes: never renumber.
#[repr(u64)]
pub(crate) enum Mark {
    Start = 1,
    Deliver = 2,
    Timer = 3,
    Synced = 4,
    Note = 5,
    Down = 6,
    Fault = 7,
}

impl<P: Protocol> Kernel<P> {
    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> &Node<P> {
        &self.nodes[id.index()]
    }

    #[inline]
    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node<P> {
        &mut self.nodes[id.index()]
    }

    /// Takes what happened on a node into the fingerprint.
    #[inline]
    pub(crate) fn mark(&mut self, mark: Mark, node: NodeId, detail: u64) {
        self.fingerprint.absorb([self.now.as_nanos(), mark as u64 | u64::from(node.number()) << 8, detail]);
    }

    #[inline]
    pub(crate) fn schedule(&mut self, time: Instant, tie: u32, event: Event<P>) -> Handle {
        self.next_id += 1;
        let entry = Entry { id: self.next_id, cause: self.current.event.raw(), event };
        self.queue.push(time, tie, entry)
    }

    /// Whether what the current callback does has an effect, and if so, when. A node that dies or is
    /// paused in the middle of a callback does the rest never, or when it goes on.
    #[inline]
    pub(crate) fn effective(&mut self) -> Effective {
        if self.current.dead {
            return Effective::Never;
        }
        let node = &self.nodes[self.current.node.index()];
        if node.paused == 0 {
            return Effective::Now;
        }
        self.current.late += 1;
        Effective::Late(node.paused_until + Span::from_nanos(self.current.late))
    }

    /// Does something now that a callback has done late: its node had been paused in the middle of it.
    pub(crate) fn do_late(&mut self, node: NodeId, deed: Deed<P>) {
        let before = self.node(node).paused;
        self.do_deed(node, deed);
        if before == 0 && self.node(node).paused > 0 {
            let by = self.node(node).paused_until.since(self.now);
            self.put_timers_off(node, self.current.event, by);
        }
    }

    /// What a callback does late comes later still: so does what it did after that, such as setting a
    /// timer for the answer.
    #[cold]
    pub(crate) fn put_timers_off(&mut self, id: NodeId, event: EventId, by: Span) {
        let Self { nodes, queue, .. } = self;
        let clock = &nodes[id.index()].clock;
        queue.retime(|entry| match &mut entry.event {
            Event::Timer { node, local, .. } if *node == id && entry.cause == event.raw() => {
                *local += by;
                Some(clock.true_time(*local))
            }
            _ => None,
        });
    }

    fn do_deed(&mut self, node: NodeId, deed: Deed<P>) {
        match deed {
            Deed::Send { to, message, announced: false } => self.send(node, to, message),
            Deed::Send { to, message, announced: true } => self.send_watched(node, to, message),
            Deed::Note(note) => self.note(node, note),
            Deed::Abort { restart } => self.abort(node, restart),
            Deed::Finish => self.end(Ending::Finished),
        }
    }

    /// Keeps a deed of the current callback until its node goes on.
    #[cold]
    pub(crate) fn put_off(&mut self, deed: Deed<P>) {
        let Current { node, incarnation, event, .. } = self.current;
        self.next_id += 1;
        let entry =
            Entry { id: self.next_id, cause: event.raw(), event: Event::Late { node, incarnation, deed } };
        self.hold(node, entry);
    }

    /// Keeps an event until its node goes on.
    #[cold]
    pub(crate) fn hold(&mut self, node: NodeId, entry: Entry<Event<P>>) {
        let Self { nodes, agenda, .. } = self;
        let node = &mut nodes[node.index()];
        node.paused_by.iter().for_each(|fault| agenda.bite(*fault));
        node.held.push_back(entry);
    }

    #[inline]
    pub(crate) fn send(&mut self, from: NodeId, to: NodeId, message: P::Message) {
        if self.node(from).watches.is_empty() {
            return self.dispatch(from, to, message);
        }
        self.watch(from, Moment::Before, Seen::Sends(message.kind()));
        match self.effective() {
            Effective::Now => self.send_watched(from, to, message),
            Effective::Never => {}
            Effective::Late(_) => self.put_off(Deed::Send { to, message, announced: true }),
        }
    }

    /// Sends a message of which the faults that strike before it have been told.
    fn send_watched(&mut self, from: NodeId, to: NodeId, message: P::Message) {
        let kind = message.kind();
        self.dispatch(from, to, message);
        self.watch(from, Moment::After, Seen::Sends(kind));
    }

    /// Hands a message to the network.
    #[inline]
    pub(crate) fn dispatch(&mut self, from: NodeId, to: NodeId, message: P::Message) {
        if self.trace.is_some() {
            return self.dispatch_traced(from, to, message);
        }
        let agenda = &mut self.agenda;
        let arrivals =
            self.network.route(self.now, from, to, || message.is_reply(), |fault| agenda.bite(fault));
        if let Some(arrivals) = arrivals {
            self.send_off(from, to, message, arrivals);
        }
    }

    #[cold]
    fn dispatch_traced(&mut self, from: NodeId, to: NodeId, message: P::Message) {
        let (agenda, mut faults) = (&mut self.agenda, Vec::new());
        let arrivals = self.network.route(
            self.now,
            from,
            to,
            || message.is_reply(),
            |fault| {
                agenda.bite(fault);
                faults.push(fault as usize);
            },
        );
        let told = self.tell_message(&message).wrapped("sends ", "");
        let arrivals = match arrivals {
            Some(arrivals) => self.send_off(from, to, message, arrivals).map(|id| id.map(EventId::event)),
            None => [None, None],
        };
        let copies = arrivals.iter().flatten().count().max(1);
        for arrives in arrivals.into_iter().take(copies) {
            let line =
                self.line(Some(from), Happening::Send { to, arrives }, self.current.event, told.clone());
            self.tell(Line { faults: faults.clone(), ..line });
        }
    }

    /// Puts a message on its way; the events of its arrivals.
    // Always inlined: the untraced path asks for no events, and must not pay for them.
    #[inline(always)]
    fn send_off(
        &mut self,
        from: NodeId,
        to: NodeId,
        message: P::Message,
        arrivals: Arrivals,
    ) -> [Option<u64>; 2] {
        let incarnation = self.node(to).incarnation;
        let size = u64::from(message.size());
        let mut second = None;
        if let Some((time, tie)) = arrivals.second {
            let message = message.clone();
            self.queued_bytes += size;
            second = Some(self.schedule(time, tie, Event::Deliver { from, to, incarnation, message }).id());
        }
        self.queued_bytes += size;
        if self.queued_bytes > self.bounds.queued_bytes {
            self.end(Ending::Exceeded(Limit::QueuedBytes));
        }
        let (time, tie) = arrivals.first;
        let first = self.schedule(time, tie, Event::Deliver { from, to, incarnation, message }).id();
        [Some(first), second]
    }

    /// What a message means, with its digest.
    pub(crate) fn tell_message(&self, message: &P::Message) -> Told {
        Told { kind: message.kind(), digest: message.digest(), ..self.teller.message(message) }
    }

    pub(crate) fn set_timer(&mut self, id: NodeId, base: Instant, after: Span, token: u64) -> Handle {
        self.feel_drift(id);
        let node = self.node_mut(id);
        let local = node.clock.monotonic(base) + after;
        let time = node.clock.true_time(local).max(base);
        let tie = node.timer_ties.bits() as u32;
        // The life that set it: a node that died in this callback has begun to count its next one.
        let incarnation = self.current.incarnation;
        self.schedule(time, tie, Event::Timer { node: id, incarnation, local, token })
    }

    pub(crate) fn sync(&mut self, id: NodeId, base: Instant) -> SyncId {
        let (shortest, longest) = self.disk_sync;
        let node = self.node_mut(id);
        node.syncs_begun += 1;
        let sync = SyncId(node.syncs_begun);
        node.seen_disk().begin_sync(sync);
        let mut takes = node.syncs.span(shortest, longest);
        let tie = node.syncs.bits() as u32;
        let incarnation = node.incarnation;
        for at in 0..self.node(id).disk_faults.len() {
            let DiskFault { fault, effect } = self.node(id).disk_faults[at];
            if let DiskEffect::Slow(by) = effect {
                takes = takes + by;
                self.agenda.bite(fault);
            }
        }
        self.schedule(base + takes, tie, Event::Synced { node: id, incarnation, sync });
        sync
    }

    pub(crate) fn note(&mut self, node: NodeId, note: P::Note) {
        self.mark(Mark::Note, node, note.digest());
        tracing::debug!(
            target: "millpond", t = %self.now, node = %self.nodes[node.index()].name,
            event = %self.current.event, "{}", self.teller.note(&note).words
        );
        if self.trace.is_some() {
            let told = Told { digest: note.digest(), ..self.teller.note(&note) };
            self.tell(self.line(Some(node), Happening::Note, self.current.event, told));
        }
        let incarnation = self.node(node).incarnation;
        self.history.push(Noted { time: self.now, node, incarnation, event: self.current.event, note });
    }

    pub(crate) fn probe(&mut self, name: &'static str) {
        match self.probes.iter_mut().find(|(known, _)| std::ptr::eq(*known, name) || *known == name) {
            Some((_, count)) => *count += 1,
            None => self.probes.push((name, 1)),
        }
        tracing::debug!(
            target: "millpond", t = %self.now, node = %self.nodes[self.current.node.index()].name,
            event = %self.current.event, probe = name
        );
        if self.trace.is_some() {
            let node = Some(self.current.node);
            self.tell(self.line(node, Happening::Probe, self.current.event, Told::words(name)));
        }
    }

    /// Tells the faults that watch this node what happens, and begins those that waited for it.
    pub(crate) fn watch(&mut self, id: NodeId, moment: Moment, seen: Seen) {
        if self.current.dead || self.now >= self.agenda.heals_at() {
            return;
        }
        let mut at = 0;
        while at < self.node(id).watches.len() {
            if self.node_mut(id).watches[at].sees(moment, seen) {
                let watch = self.node_mut(id).watches.remove(at);
                self.begin_fault(watch.fault);
            } else {
                at += 1;
            }
        }
    }

    /// Cancels a timer. One that came due while its node stood still waits in the backlog.
    #[inline]
    pub(crate) fn cancel(&mut self, timer: Handle) {
        if self.queue.cancel(timer).is_none() && !self.backlog.is_empty() {
            self.backlog.retain(|entry| entry.id != timer.id());
        }
    }

    /// Marks the faults on a wall clock that was read.
    pub(crate) fn feel_wall(&mut self, id: NodeId) {
        for fault in &self.nodes[id.index()].clock.faults {
            self.agenda.bite(*fault);
        }
    }

    /// Marks the drifts on a clock that was read or that a timer was set by.
    pub(crate) fn feel_drift(&mut self, id: NodeId) {
        for fault in &self.nodes[id.index()].clock.faults {
            self.agenda.bite_if_drift(*fault);
        }
    }

    /// Counts an event; whether it is within the budget.
    #[inline]
    pub(crate) fn count_event(&mut self) -> bool {
        self.events += 1;
        let within = self.events <= self.bounds.events;
        if !within {
            self.end(Ending::Exceeded(Limit::Events));
        }
        within
    }

    pub(crate) fn end(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
    }

    /// Tells what the current event is.
    pub(crate) fn tell_event(&mut self, node: NodeId, happening: Happening, cause: u64, told: Told) {
        let cause = EventId::from_raw(cause);
        let line = self.line(Some(node), happening, cause, told);
        self.tell(Line { faults: cause.as_fault().into_iter().collect(), ..line });
    }

    /// A line about the current event.
    pub(crate) fn line(
        &self,
        node: Option<NodeId>,
        happening: Happening,
        cause: EventId,
        told: Told,
    ) -> Line {
        Line { id: self.current.event, cause, time: self.now, node, happening, told, faults: Vec::new() }
    }

    #[cold]
    pub(crate) fn tell(&mut self, line: Line) {
        if let Some(trace) = &mut self.trace {
            trace.push(line);
        }
    }

    /// Goes on with other draws than those of the seed.
    #[cold]
    pub(crate) fn rekey(&mut self, salt: u64) {
        let key = self.key.forked(salt);
        self.network.rekey(key.clone());
        for (node, number) in self.nodes.iter_mut().zip(0..) {
            node.timer_ties = key.stream(Purpose::Timer, number);
            node.syncs = key.stream(Purpose::Sync, number);
            node.draws = None;
        }
        self.key = key;
    }

    /// Makes a node's first or next life begin.
    pub(crate) fn boot(&mut self, id: NodeId) {
        let now = self.now;
        let node = self.node_mut(id);
        node.alive = true;
        node.starting = true;
        node.draws = None;
        let incarnation = node.incarnation;
        let tie = node.timer_ties.bits() as u32;
        self.schedule(now, tie, Event::Start { node: id, incarnation });
    }

    /// The actor's own stream of draws.
    pub(crate) fn draws(&mut self, id: NodeId) -> &mut crate::random::Stream {
        let Self { key, nodes, .. } = self;
        let node = &mut nodes[id.index()];
        let entity = u64::from(id.number()) << 32 | u64::from(node.incarnation);
        node.draws.get_or_insert_with(|| key.stream(Purpose::Actor, entity))
    }
}

/// Whether and when the effects of a callback happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effective {
    Now,
    Never,
    Late(Instant),
}

impl<P: Protocol> fmt::Debug for Event<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start { .. } => "Start",
            Self::Deliver { .. } => "Deliver",
            Self::Timer { .. } => "Timer",
            Self::Synced { .. } => "Synced",
            Self::Late { .. } => "Late",
        })
    }
}
