//! A world: nodes, their actors, and the loop that runs them in virtual time.
//!
//! ```text
//!            ┌───────────── agenda: faults begin and end ─────────────┐
//!            │                                                        ▼
//!   queue ── next event ──▶ its node ──▶ actor ──▶ Context ──▶ network, disk, timers ──▶ queue
//!  (time, tie)              up? paused?                │
//!                                                      └──▶ history, probes, fingerprint, trace
//! ```

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::actor::{Actor, Boot, Factory, Message, Protocol};
use crate::clock::Clock;
use crate::context::Context;
use crate::disk::{Disk, SyncFailed};
use crate::fault::inject::Agenda;
use crate::fault::trigger::{Moment, Seen};
use crate::fault::{Fault, Kind, PlanError};
use crate::fingerprint::Fingerprint;
use crate::kernel::{Current, Event, Kernel, Mark, Noted};
use crate::network::{Link, Network};
use crate::node::{DiskEffect, MAX_NODES, Node, NodeId};
use crate::orders::Orders;
use crate::queue::{Entry, Queue};
use crate::random::{Key, Purpose};
use crate::schedule::Delay;
use crate::time::{Instant, Span};
use crate::trace::{EventId, Happening, Line, Plain, Teller, Told, Trace};

/// How a world is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The seed of every draw.
    pub seed: u64,
    /// How links behave that were not set otherwise.
    pub link: Link,
    /// The shortest and the longest time that a sync takes.
    pub sync: (Span, Span),
    /// How much the run may use.
    pub bounds: Bounds,
    /// Whether to record a trace.
    pub trace: bool,
    /// Whether to record which kinds of events followed each other.
    pub orders: bool,
    /// From which time on to draw otherwise than the seed has it: the run is the same until then.
    pub fork: Option<Fork>,
}

/// A run that leaves its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// What happens at this time or later is drawn anew.
    pub at: Instant,
    /// Which of the other ways to go, from 1.
    pub salt: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            link: Link::default(),
            sync: (Span::from_micros(500), Span::from_millis(3)),
            bounds: Bounds::default(),
            trace: false,
            orders: false,
            fork: None,
        }
    }
}

/// How much a run may use; past it, it ends with [`Ending::Exceeded`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Events handled.
    pub events: u64,
    /// Bytes of messages on their way.
    pub queued_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { events: 10_000_000, queued_bytes: 1 << 30 }
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// An actor called [`Context::finish`].
    Finished,
    /// The time that it was given is over.
    TimeUp,
    /// Nothing was left to happen.
    Idle,
    /// It used more than its bounds allow.
    Exceeded(Limit),
    /// An actor panicked.
    Panicked {
        /// The node.
        node: NodeId,
        /// The event that it was handling.
        event: EventId,
        /// What the panic said.
        message: String,
    },
}

/// A bound that a run can exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Too many events: a livelock, most likely.
    Events,
    /// Too many bytes on their way: a runaway queue.
    QueuedBytes,
}

/// What is left of a world when its run is over.
#[derive(Debug)]
pub struct Record<N> {
    /// Why it ended.
    pub ending: Ending,
    /// When, in true time.
    pub time: Instant,
    /// How many events were handled.
    pub events: u64,
    /// 64 bits over everything that happened.
    pub fingerprint: u64,
    /// The observations in order.
    pub history: Vec<Noted<N>>,
    /// The probes that were reached, with counts, in the order of their names.
    pub probes: Vec<(&'static str, u64)>,
    /// The kind of each fault of the plan, and whether it took effect.
    pub faults: Vec<(Kind, bool)>,
    /// The names of all nodes, in order.
    pub nodes: Vec<Rc<str>>,
    /// The nodes that were down at the end.
    pub down: Vec<NodeId>,
    /// The trace, if it was asked for.
    pub trace: Option<Trace>,
    /// Which kinds of events followed each other on which node, as numbers, if asked for.
    pub orders: Vec<u64>,
}

/// A simulated system.
pub struct World<P: Protocol> {
    kernel: Kernel<P>,
    actors: Vec<Option<Box<dyn Actor<P>>>>,
    factories: Vec<Factory<P>>,
    schedule: Vec<Delay>,
}

const NOBODY: NodeId = NodeId::NOBODY;

impl<P: Protocol> World<P> {
    /// An empty world.
    pub fn new(settings: Settings) -> Self {
        let key = Key::new(settings.seed);
        let current = Current { node: NOBODY, incarnation: 0, event: EventId::GENESIS, dead: false, late: 0 };
        let kernel = Kernel {
            now: Instant::ZERO,
            queue: Queue::new(),
            backlog: VecDeque::new(),
            nodes: Vec::new(),
            network: Network::new(key.clone(), settings.link),
            key,
            agenda: Agenda::new(),
            current,
            next_id: 0,
            bounds: settings.bounds,
            events: 0,
            queued_bytes: 0,
            fingerprint: Fingerprint::new(),
            trace: settings.trace.then(Trace::default),
            teller: Box::new(Plain),
            orders: settings.orders.then(Orders::default),
            fork: settings.fork.map_or((Instant::MAX, 0), |fork| (fork.at, fork.salt)),
            history: Vec::new(),
            probes: Vec::new(),
            reap: Vec::new(),
            stopping: Vec::new(),
            ending: None,
            disk_sync: settings.sync,
        };
        Self { kernel, actors: Vec::new(), factories: Vec::new(), schedule: Vec::new() }
    }

    /// Adds a node; it starts when the run does.
    ///
    /// # Panics
    /// Past [`MAX_NODES`] nodes, or if the name is taken.
    pub fn add_node(&mut self, name: &str, factory: impl Fn(Boot) -> Box<dyn Actor<P>> + 'static) -> NodeId {
        let kernel = &mut self.kernel;
        assert!(kernel.nodes.len() < MAX_NODES, "a world has at most {MAX_NODES} nodes");
        assert!(kernel.nodes.iter().all(|node| *node.name != *name), "the name {name} is taken");
        let id = NodeId::new(kernel.nodes.len());
        let entity = u64::from(id.number());
        kernel.nodes.push(Node {
            name: name.into(),
            incarnation: 0,
            alive: false,
            starting: false,
            down: 0,
            paused: 0,
            paused_until: Instant::ZERO,
            paused_by: Vec::new(),
            aside: None,
            announced: None,
            held: VecDeque::new(),
            disk: Disk::new(),
            disk_faults: Vec::new(),
            clock: Clock::default(),
            watches: Vec::new(),
            timer_ties: kernel.key.stream(Purpose::Timer, entity),
            syncs: kernel.key.stream(Purpose::Sync, entity),
            syncs_begun: 0,
            draws: None,
        });
        self.actors.push(None);
        self.factories.push(Box::new(factory));
        id
    }

    /// Sets how one direction of a link behaves.
    pub fn set_link(&mut self, from: NodeId, to: NodeId, link: Link) {
        self.kernel.network.set_link(from, to, link);
    }

    /// Sets who says what messages and notes mean, for traces and logs.
    pub fn set_teller(&mut self, teller: impl Teller<P> + 'static) {
        self.kernel.teller = Box::new(teller);
    }

    /// Overrides the schedule that the seed gives.
    pub fn set_schedule(&mut self, delays: &[Delay]) {
        self.schedule = delays.to_vec();
    }

    /// Runs the world: starts its nodes, lets the faults strike until `heals_at`, when all damage
    /// ends, and goes on to `until` at most.
    ///
    /// # Errors
    /// If the faults or the schedule name nodes that the world does not have, or none.
    pub fn run(
        mut self,
        faults: &[Fault],
        heals_at: Instant,
        until: Instant,
    ) -> Result<Record<P::Note>, PlanError> {
        self.kernel.network.set_nodes(self.kernel.nodes.len());
        self.kernel.arm(faults, heals_at)?;
        self.kernel.arrange(&self.schedule, heals_at)?;
        for index in 0..self.kernel.nodes.len() {
            self.kernel.boot(NodeId::new(index));
        }
        let ending = self.run_to_the_end(until);
        Ok(self.record(ending))
    }

    fn run_to_the_end(&mut self, until: Instant) -> Ending {
        loop {
            if self.kernel.ending.is_some() || !self.kernel.backlog.is_empty() {
                if let Some(ending) = self.kernel.ending.take() {
                    return ending;
                }
                if let Some(entry) = self.kernel.backlog.pop_front() {
                    self.step(entry);
                }
                continue;
            }
            let event_time = self.kernel.queue.next_time();
            let action_time = self.kernel.agenda.next_time();
            if event_time.is_some_and(|time| time >= self.kernel.fork.0) {
                let (_, salt) = std::mem::replace(&mut self.kernel.fork, (Instant::MAX, 0));
                self.kernel.rekey(salt);
            }
            // Faults come before events of the same time.
            if event_time.is_none_or(|time| action_time <= time) {
                if action_time == Instant::MAX {
                    return Ending::Idle;
                }
                if action_time > until {
                    self.kernel.now = until;
                    return Ending::TimeUp;
                }
                self.kernel.now = action_time;
                // Turns back and forth cost as events do: a run cannot spend for ever on them.
                if !self.kernel.count_event() {
                    continue;
                }
                if let Some(action) = self.kernel.agenda.pop() {
                    self.kernel.act(action);
                }
                self.settle();
                continue;
            }
            let Some(time) = event_time.filter(|time| *time <= until) else {
                self.kernel.now = until;
                return Ending::TimeUp;
            };
            if let Some(entry) = self.kernel.queue.pop() {
                self.kernel.now = time;
                self.step(entry);
            }
        }
    }

    #[inline]
    fn step(&mut self, entry: Entry<Event<P>>) {
        let kernel = &mut self.kernel;
        let (id, incarnation) = match &entry.event {
            Event::Deliver { from, to, incarnation, message } => {
                kernel.queued_bytes -= u64::from(message.size());
                if !kernel.network.rules.is_empty()
                    && let Some(fault) = kernel.network.cut(*from, *to)
                {
                    kernel.agenda.bite(fault);
                    return self.lose(entry, "its link is cut", Some(fault));
                }
                (*to, *incarnation)
            }
            Event::Start { node, incarnation }
            | Event::Timer { node, incarnation, .. }
            | Event::Synced { node, incarnation, .. }
            | Event::Late { node, incarnation, .. } => (*node, *incarnation),
        };
        let node = &mut kernel.nodes[id.index()];
        if !node.alive || node.incarnation != incarnation {
            return self.lose(entry, "the process it was for is gone", None);
        }
        if node.paused > 0 || node.starting && !matches!(entry.event, Event::Start { .. }) {
            kernel.queued_bytes += entry.event.size();
            return kernel.hold(id, entry);
        }
        let watched = !node.watches.is_empty();
        if !kernel.count_event() {
            return;
        }
        kernel.current =
            Current { node: id, incarnation, event: EventId::event(entry.id), dead: false, late: 0 };
        if let Some(orders) = &mut kernel.orders {
            orders.take(id, entry.event.kind());
        }
        if watched
            && let Event::Deliver { message, .. } = &entry.event
            && kernel.node_mut(id).announced.take() != Some(entry.id)
        {
            kernel.watch(id, Moment::Before, Seen::Receives(message.kind()));
            if kernel.current.dead || kernel.node(id).paused > 0 {
                return self.postpone(id, entry);
            }
        }
        let kernel = &mut self.kernel;
        let cause = entry.cause;
        match entry.event {
            Event::Deliver { from, message, .. } => {
                let place = u64::from(id.number()) << 8 | u64::from(from.number()) << 32;
                let what = Mark::Deliver as u64 | place;
                kernel.fingerprint.absorb([kernel.now.as_nanos(), what, message.digest()]);
                tracing::trace!(
                    target: "millpond", t = %kernel.now, node = %kernel.nodes[id.index()].name,
                    event = entry.id, from = %kernel.nodes[from.index()].name, "receives {}",
                    kernel.teller.message(&message).words
                );
                if kernel.trace.is_some() {
                    let told = kernel.tell_message(&message).wrapped("receives ", "");
                    kernel.tell_event(id, Happening::Deliver { from }, cause, told);
                }
                let kind = message.kind();
                self.call(id, |actor, context| actor.message(context, from, message));
                if watched {
                    self.kernel.watch(id, Moment::After, Seen::Receives(kind));
                }
            }
            Event::Timer { token, .. } => {
                kernel.mark(Mark::Timer, id, token);
                if kernel.trace.is_some() {
                    let told = Told { routine: true, digest: token, ..Told::words("timer") };
                    kernel.tell_event(id, Happening::Timer, cause, told);
                }
                self.call(id, |actor, context| actor.timer(context, token));
            }
            Event::Synced { sync, .. } => {
                let failed = kernel.node(id).disk_fault(DiskEffect::FailSync);
                if let Some(fault) = failed {
                    kernel.agenda.bite(fault);
                }
                let result = if failed.is_some() { Err(SyncFailed) } else { Ok(()) };
                kernel.mark(Mark::Synced, id, sync.0 << 1 | u64::from(failed.is_some()));
                kernel.node_mut(id).disk.end_sync(sync, failed.is_some());
                if kernel.trace.is_some() {
                    let told = match failed {
                        Some(_) => Told::words("sync fails"),
                        None => Told { routine: true, ..Told::words("sync ends") },
                    };
                    kernel.tell_event(id, Happening::Synced, cause, told);
                }
                self.call(id, |actor, context| actor.synced(context, sync, result));
            }
            Event::Start { .. } => {
                kernel.mark(Mark::Start, id, u64::from(incarnation));
                tracing::debug!(
                    target: "millpond", t = %kernel.now, node = %kernel.nodes[id.index()].name,
                    event = entry.id, "starts"
                );
                if kernel.trace.is_some() {
                    let told = match incarnation {
                        0 => Told { routine: true, ..Told::words("starts") },
                        _ => Told::words("starts again"),
                    };
                    kernel.tell_event(id, Happening::Start, cause, told);
                }
                // What came in the same instant before the start comes after it.
                let Kernel { nodes, backlog, .. } = kernel;
                nodes[id.index()].starting = false;
                backlog.append(&mut nodes[id.index()].held);
                let factory = &self.factories[id.index()];
                match catch_unwind(AssertUnwindSafe(|| factory(Boot { node: id, incarnation }))) {
                    Ok(actor) => self.actors[id.index()] = Some(actor),
                    Err(panic) => return self.panicked(id, &*panic),
                }
                self.call(id, |actor, context| actor.start(context));
            }
            // The cause is the event in which the node was paused.
            Event::Late { deed, .. } => {
                kernel.current.event = EventId::from_raw(cause);
                kernel.do_late(id, deed);
            }
        }
        self.settle();
    }

    /// The node crashed or was paused as the message reached it: it is lost with the node, or is
    /// handled when the node goes on.
    #[cold]
    fn postpone(&mut self, node: NodeId, entry: Entry<Event<P>>) {
        if self.kernel.current.dead {
            self.lose(entry, "the process it was for is gone", None);
        } else {
            let kernel = &mut self.kernel;
            kernel.queued_bytes += entry.event.size();
            kernel.node_mut(node).announced = Some(entry.id);
            kernel.hold(node, entry);
        }
        self.settle();
    }

    #[cold]
    fn lose(&mut self, entry: Entry<Event<P>>, why: &str, fault: Option<u32>) {
        let kernel = &mut self.kernel;
        if kernel.trace.is_some()
            && let Event::Deliver { from, to, message, .. } = &entry.event
        {
            kernel.current.event = EventId::event(entry.id);
            let told = kernel.tell_message(message).wrapped("", " is lost: ").wrapped("", why);
            let happening = Happening::Lost { from: *from };
            let line = kernel.line(Some(*to), happening, EventId::from_raw(entry.cause), told);
            kernel.tell(Line { faults: fault.into_iter().map(|fault| fault as usize).collect(), ..line });
            kernel.current.event = EventId::GENESIS;
        }
    }

    /// Calls an actor; a panic in it ends the run.
    #[inline]
    fn call(&mut self, id: NodeId, callback: impl FnOnce(&mut dyn Actor<P>, &mut Context<'_, P>)) {
        let Some(actor) = &mut self.actors[id.index()] else { return };
        let mut context = Context { kernel: &mut self.kernel };
        let result = catch_unwind(AssertUnwindSafe(|| callback(&mut **actor, &mut context)));
        if let Err(panic) = result {
            self.panicked(id, &*panic);
        }
    }

    #[cold]
    fn panicked(&mut self, node: NodeId, panic: &(dyn std::any::Any + Send)) {
        // A process that a fault has killed in this callback cannot panic any more.
        if self.kernel.current.dead {
            return;
        }
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let message = message.unwrap_or_else(|| "a panic without a message".to_owned());
        self.kernel.end(Ending::Panicked { node, event: self.kernel.current.event, message });
    }

    /// Drops the actors of nodes that died, and stops those that are to stop.
    #[inline]
    fn settle(&mut self) {
        if !self.kernel.reap.is_empty() || !self.kernel.stopping.is_empty() {
            self.reap_and_stop();
        }
        self.kernel.current.node = NOBODY;
        self.kernel.current.event = EventId::GENESIS;
    }

    #[cold]
    fn reap_and_stop(&mut self) {
        while let Some((id, event)) = self.kernel.stopping.pop() {
            let node = self.kernel.node(id);
            if !node.alive {
                continue;
            }
            let incarnation = node.incarnation;
            // A paused process cannot be asked to stop; it is killed.
            let answers = node.paused == 0;
            self.kernel.current = Current { node: NOBODY, incarnation, event, dead: false, late: 0 };
            if answers {
                self.kernel.current.node = id;
                self.call(id, |actor, context| actor.stop(context));
            }
            if self.kernel.node(id).alive {
                let failed = self.kernel.node(id).disk_fault(DiskEffect::FailSync);
                failed.iter().for_each(|fault| self.kernel.agenda.bite(*fault));
                self.kernel.node_mut(id).disk.sync_all(failed.is_some());
                self.kernel.bury(id, "stops");
            }
        }
        for id in std::mem::take(&mut self.kernel.reap) {
            self.actors[id.index()] = None;
            self.kernel.node_mut(id).aside = None;
        }
    }

    fn record(self, ending: Ending) -> Record<P::Note> {
        let kernel = self.kernel;
        let mut probes = kernel.probes;
        probes.sort_unstable();
        let down = kernel.nodes.iter().enumerate().filter(|(_, node)| !node.alive);
        Record {
            ending,
            time: kernel.now,
            events: kernel.events,
            fingerprint: kernel.fingerprint.value(),
            history: kernel.history,
            probes,
            faults: kernel.agenda.bitten().collect(),
            down: down.map(|(index, _)| NodeId::new(index)).collect(),
            nodes: kernel.nodes.into_iter().map(|node| node.name).collect(),
            trace: kernel.trace,
            orders: kernel.orders.map_or_else(Vec::new, Orders::seen),
        }
    }
}
