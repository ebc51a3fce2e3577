//! Faults at work: what begins and ends when, and the faults of nodes themselves.

use std::collections::{BTreeMap, BTreeSet};

use super::trigger::{Moment, Watch};
use super::{Fault, Kind, What, When};
use crate::actor::Protocol;
use crate::disk::CrashMode;
use crate::fingerprint::digest;
use crate::kernel::{Event, Kernel, Mark};
use crate::network::{Effect, Rule};
use crate::node::{DiskEffect, DiskFault, NodeId, NodeSet};
use crate::random::Purpose;
use crate::schedule::{Delay, Moved};
use crate::time::{Instant, Span};
use crate::trace::{EventId, Happening, Line, Told};

/// The least time from one jump of a clock to the next.
const SHORTEST_JUMP: Span = Span::from_micros(1);

/// How long a node of a crash loop stays down: long enough to tell one crash from the next.
fn outage(down: Span) -> Span {
    down.max(Span::NANO)
}

/// What happens at a time, beside events.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Begin(u32),
    End(u32),
    /// The next turn of a fault that goes back and forth: a crash loop, a flapping clock.
    Turn(u32, u32),
    /// A node that ended itself in this event is up again.
    Restart(NodeId, EventId),
}

/// A fault with its nodes resolved.
pub(crate) struct Armed {
    pub(crate) what: What,
    /// The nodes, or senders, or one side.
    first: NodeSet,
    /// Receivers, or the other side.
    second: NodeSet,
    bitten: bool,
    /// Of a fault that goes back and forth: whether what it did last is still to be undone.
    struck: bool,
    over: bool,
}

/// The faults of a run, and what is to be done about them when.
pub(crate) struct Agenda {
    actions: BTreeMap<(Instant, u32), Action>,
    /// The time of the first of them: every event looks at it.
    next: Instant,
    added: u32,
    pub(crate) armed: Vec<Armed>,
    heals_at: Instant,
}

/// Why a plan cannot be run in this world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It names a node that the world does not have.
    #[error("{item} {number} names the node `{node}`, which does not exist")]
    UnknownNode {
        /// What names it: a fault or a delay.
        item: &'static str,
        /// Its number in the plan, from 1.
        number: usize,
        /// The name.
        node: String,
    },
    /// It hits no node.
    #[error("fault {fault} names no node")]
    NoNode {
        /// The number of the fault in the plan, from 1.
        fault: usize,
    },
}

impl Agenda {
    pub(crate) fn new() -> Self {
        let (actions, armed) = (BTreeMap::new(), Vec::new());
        Self { actions, next: Instant::MAX, added: 0, armed, heals_at: Instant::MAX }
    }

    #[inline]
    pub(crate) fn next_time(&self) -> Instant {
        self.next
    }

    pub(crate) fn pop(&mut self) -> Option<Action> {
        let (_, action) = self.actions.pop_first()?;
        self.next = self.actions.first_key_value().map_or(Instant::MAX, |((time, _), _)| *time);
        Some(action)
    }

    pub(crate) fn heals_at(&self) -> Instant {
        self.heals_at
    }

    /// Marks that a fault has taken effect.
    pub(crate) fn bite(&mut self, fault: u32) {
        self.armed[fault as usize].bitten = true;
    }

    pub(crate) fn bite_if_drift(&mut self, fault: u32) {
        if self.armed[fault as usize].what.kind() == Kind::Drift {
            self.bite(fault);
        }
    }

    /// The kind of each fault of the plan, and whether it took effect.
    pub(crate) fn bitten(&self) -> impl Iterator<Item = (Kind, bool)> {
        self.armed.iter().map(|armed| (armed.what.kind(), armed.bitten))
    }

    fn add(&mut self, time: Instant, action: Action) {
        self.added += 1;
        self.actions.insert((time, self.added), action);
        self.next = self.next.min(time);
    }
}

impl What {
    /// The nodes that the fault names, as one list or as two sides.
    pub fn nodes(&self) -> (&[String], &[String]) {
        match self {
            Self::Crash { nodes, .. }
            | Self::CrashLoop { nodes, .. }
            | Self::LoseDisk { nodes, .. }
            | Self::Stop { nodes, .. }
            | Self::Pause { nodes, .. }
            | Self::Isolate { nodes, .. }
            | Self::SlowDisk { nodes, .. }
            | Self::FullDisk { nodes, .. }
            | Self::FailSync { nodes, .. }
            | Self::TearTail { nodes, .. }
            | Self::Scatter { nodes, .. }
            | Self::Rot { nodes, .. }
            | Self::Offset { nodes, .. }
            | Self::Drift { nodes, .. }
            | Self::Jump { nodes, .. } => (nodes, &[]),
            Self::Partition { left, right, .. } => (left, right),
            Self::Cut { from, to, .. }
            | Self::Slow { from, to, .. }
            | Self::Lose { from, to, .. }
            | Self::LoseReplies { from, to, .. }
            | Self::Duplicate { from, to, .. }
            | Self::Reorder { from, to, .. }
            | Self::Hold { from, to, .. } => (from, to),
        }
    }

    /// Whether the fault has two sides.
    pub fn has_sides(&self) -> bool {
        self.kind().is_between_nodes()
    }

    /// How long the fault lasts: a crash loop until its last restart, rot no time.
    pub fn lasts(&self) -> Span {
        match self {
            Self::Crash { down, .. } | Self::LoseDisk { down, .. } | Self::Stop { down, .. } => *down,
            Self::CrashLoop { times, down, up, .. } => {
                let times = u64::from((*times).max(1));
                outage(*down).times(times) + up.times(times - 1)
            }
            Self::Rot { .. } => Span::ZERO,
            Self::Pause { lasts, .. }
            | Self::Partition { lasts, .. }
            | Self::Cut { lasts, .. }
            | Self::Isolate { lasts, .. }
            | Self::Slow { lasts, .. }
            | Self::Lose { lasts, .. }
            | Self::LoseReplies { lasts, .. }
            | Self::Duplicate { lasts, .. }
            | Self::Reorder { lasts, .. }
            | Self::Hold { lasts, .. }
            | Self::SlowDisk { lasts, .. }
            | Self::FullDisk { lasts, .. }
            | Self::FailSync { lasts, .. }
            | Self::TearTail { lasts, .. }
            | Self::Scatter { lasts, .. }
            | Self::Offset { lasts, .. }
            | Self::Drift { lasts, .. }
            | Self::Jump { lasts, .. } => *lasts,
        }
    }
}

impl<P: Protocol> Kernel<P> {
    pub(crate) fn arm(&mut self, faults: &[Fault], heals_at: Instant) -> Result<(), PlanError> {
        self.agenda.heals_at = heals_at;
        for (index, fault) in faults.iter().enumerate() {
            let number = index + 1;
            let resolve = |names: &[String]| self.resolve(names, number);
            let (first, second) = fault.what.nodes();
            let (first, second) = (resolve(first)?, resolve(second)?);
            let missing =
                first == NodeSet::default() || fault.what.has_sides() && second == NodeSet::default();
            if missing {
                return Err(PlanError::NoNode { fault: number });
            }
            let index = index as u32;
            match &fault.when {
                When::At(time) => self.agenda.add(*time, Action::Begin(index)),
                When::Before(trigger) | When::After(trigger) => {
                    let before = matches!(fault.when, When::Before(_));
                    let moment = if before { Moment::Before } else { Moment::After };
                    let node = self.resolve(std::slice::from_ref(&trigger.node), number)?;
                    let watch = Watch::new(index, moment, trigger);
                    node.iter().for_each(|node| self.node_mut(node).watches.push(watch.clone()));
                }
            }
            let what = fault.what.clone();
            let (bitten, struck, over) = (false, false, false);
            self.agenda.armed.push(Armed { what, first, second, bitten, struck, over });
        }
        Ok(())
    }

    /// Takes in overrides of the schedule.
    pub(crate) fn arrange(&mut self, delays: &[Delay], until: Instant) -> Result<(), PlanError> {
        self.network.moved_until = until;
        for (delay, number) in delays.iter().zip(1..) {
            let find = |name: &str| self.find("delay", number, name);
            let (from, to) = (find(&delay.from)?, find(&delay.to)?);
            self.network.moved.push(Moved { from, to, which: delay.which, by: delay.by });
        }
        Ok(())
    }

    fn find(&self, item: &'static str, number: usize, name: &str) -> Result<NodeId, PlanError> {
        let at = self.nodes.iter().position(|node| *node.name == *name);
        let unknown = || PlanError::UnknownNode { item, number, node: name.to_owned() };
        at.map(NodeId::new).ok_or_else(unknown)
    }

    fn resolve(&self, names: &[String], fault: usize) -> Result<NodeSet, PlanError> {
        let mut set = NodeSet::default();
        for name in names {
            set.insert(self.find("fault", fault, name)?);
        }
        Ok(set)
    }

    pub(crate) fn act(&mut self, action: Action) {
        match action {
            Action::Begin(fault) => self.begin_fault(fault),
            Action::End(fault) => self.as_fault(fault, |kernel| {
                kernel.tell_fault(fault, EventId::fault(fault), "ends");
                kernel.end_fault(fault);
            }),
            Action::Turn(fault, turn) => self.as_fault(fault, |kernel| kernel.turn(fault, turn)),
            Action::Restart(node, event) => self.on_behalf_of(event, |kernel| kernel.release(node)),
        }
    }

    /// Does something in the name of a fault: what follows from it has the fault as its cause.
    fn as_fault(&mut self, fault: u32, action: impl FnOnce(&mut Self)) {
        self.on_behalf_of(EventId::fault(fault), action);
    }

    fn on_behalf_of(&mut self, event: EventId, action: impl FnOnce(&mut Self)) {
        let event = std::mem::replace(&mut self.current.event, event);
        action(self);
        self.current.event = event;
    }

    fn tell_fault(&mut self, fault: u32, cause: EventId, verb: &str) {
        if self.trace.is_some() || tracing::enabled!(target: "millpond", tracing::Level::DEBUG) {
            let kind = self.agenda.armed[fault as usize].what.kind();
            let label = format!("{kind} {verb}");
            tracing::debug!(target: "millpond", t = %self.now, event = %EventId::fault(fault), "{label}");
            let line = self.line(None, Happening::Fault, cause, Told::words(label));
            self.tell(Line { faults: vec![fault as usize], ..line });
        }
    }

    pub(crate) fn begin_fault(&mut self, fault: u32) {
        if self.now >= self.agenda.heals_at {
            return;
        }
        // The event that a trigger waited for; the start of the world where a time came.
        let cause = self.current.event;
        self.as_fault(fault, |kernel| {
            kernel.tell_fault(fault, cause, "begins");
            let armed = &kernel.agenda.armed[fault as usize];
            let until = (kernel.now + armed.what.lasts()).min(kernel.agenda.heals_at);
            let (what, first, second) = (armed.what.clone(), armed.first, armed.second);
            let kind = what.kind() as u64;
            kernel.fingerprint.absorb([
                kernel.now.as_nanos(),
                Mark::Fault as u64 | kind << 8,
                digest(&[kind]),
            ]);
            kernel.begin(fault, &what, first, second, until);
        });
    }

    fn begin(&mut self, fault: u32, what: &What, first: NodeSet, second: NodeSet, until: Instant) {
        let mut rule = |from, to, effect| {
            self.network.rules.push(Rule { fault, from, to, until, effect });
        };
        match what {
            What::Crash { .. } => first.iter().for_each(|node| self.crash_by(fault, node, false)),
            What::LoseDisk { .. } => first.iter().for_each(|node| self.crash_by(fault, node, true)),
            What::CrashLoop { .. } | What::Jump { .. } => self.turn(fault, 0),
            What::Stop { .. } => {
                for node in first.iter() {
                    let stopping = self.node(node).alive;
                    self.node_mut(node).down += 1;
                    if stopping {
                        self.agenda.bite(fault);
                        self.stopping.push((node, EventId::fault(fault)));
                    }
                }
            }
            What::Pause { .. } => first.iter().for_each(|node| self.pause(fault, node, until)),
            What::Partition { .. } => {
                rule(first, second, Effect::Cut);
                rule(second, first, Effect::Cut);
            }
            What::Isolate { .. } => {
                rule(first, first.complement(), Effect::Cut);
                rule(first.complement(), first, Effect::Cut);
            }
            What::Cut { .. } => rule(first, second, Effect::Cut),
            What::Slow { by, .. } => rule(first, second, Effect::Slow(*by)),
            What::Lose { odds, .. } => rule(first, second, Effect::Lose(*odds)),
            What::LoseReplies { count, .. } => rule(first, second, Effect::LoseReplies { left: *count }),
            What::Duplicate { odds, .. } => rule(first, second, Effect::Duplicate(*odds)),
            What::Reorder { spread, .. } => rule(first, second, Effect::Reorder(*spread)),
            What::Hold { .. } => rule(first, second, Effect::Hold),
            What::SlowDisk { by, .. } => self.disk_fault(fault, first, DiskEffect::Slow(*by)),
            What::FullDisk { .. } => self.disk_fault(fault, first, DiskEffect::Full),
            What::FailSync { .. } => self.disk_fault(fault, first, DiskEffect::FailSync),
            What::TearTail { .. } => self.disk_fault(fault, first, DiskEffect::Tear),
            What::Scatter { .. } => self.disk_fault(fault, first, DiskEffect::Scatter),
            What::Rot { entries, .. } => {
                for node in first.iter() {
                    // Keyed by time: another fault more or less leaves this one as it is.
                    let at = self.now.as_nanos() & ((1 << 48) - 1);
                    let mut draw = self.key.stream(Purpose::Rot, u64::from(node.number()) << 48 | at);
                    let node = self.node_mut(node);
                    if let Some(aside) = &mut node.aside {
                        aside.rot(*entries, &mut draw.clone());
                    }
                    if node.disk.rot(*entries, &mut draw) > 0 {
                        self.agenda.bite(fault);
                    }
                }
            }
            What::Offset { by, .. } => {
                first.iter().for_each(|node| self.shift_clock(node, i128::from(by.as_nanos())));
                self.clock_fault(fault, first);
            }
            What::Drift { ppm, .. } => {
                self.clock_fault(fault, first);
                for node in first.iter() {
                    if self.drift_clock(node, i64::from(*ppm)) {
                        self.agenda.bite(fault);
                    }
                }
            }
        }
        self.agenda.add(until, Action::End(fault));
    }

    fn end_fault(&mut self, fault: u32) {
        let armed = &mut self.agenda.armed[fault as usize];
        armed.over = true;
        let (what, first) = (armed.what.clone(), armed.first);
        match what {
            What::Crash { .. } | What::LoseDisk { .. } | What::Stop { .. } => {
                first.iter().for_each(|node| self.release(node));
            }
            What::CrashLoop { .. } | What::Jump { .. } => self.undo_turn(fault),
            What::Rot { .. } => {}
            What::Pause { .. } => first.iter().for_each(|node| self.resume(fault, node)),
            What::Partition { .. }
            | What::Cut { .. }
            | What::Isolate { .. }
            | What::Slow { .. }
            | What::Lose { .. }
            | What::LoseReplies { .. }
            | What::Duplicate { .. }
            | What::Reorder { .. }
            | What::Hold { .. } => self.network.rules.retain(|rule| rule.fault != fault),
            What::SlowDisk { .. }
            | What::FullDisk { .. }
            | What::FailSync { .. }
            | What::TearTail { .. }
            | What::Scatter { .. } => {
                first.iter().for_each(|node| self.node_mut(node).disk_faults.retain(|at| at.fault != fault));
            }
            What::Offset { by, .. } => {
                first.iter().for_each(|node| self.shift_clock(node, -i128::from(by.as_nanos())));
                self.end_clock_fault(fault, first);
            }
            What::Drift { ppm, .. } => {
                for node in first.iter() {
                    self.drift_clock(node, -i64::from(ppm));
                }
                self.end_clock_fault(fault, first);
            }
        }
    }

    /// The next turn of a fault that goes back and forth: even turns strike, odd ones undo.
    fn turn(&mut self, fault: u32, turn: u32) {
        let armed = &mut self.agenda.armed[fault as usize];
        if armed.over {
            return;
        }
        let strikes = turn.is_multiple_of(2);
        let next = match armed.what {
            What::CrashLoop { down, up, .. } => {
                if strikes {
                    outage(down)
                } else {
                    up
                }
            }
            What::Jump { every, .. } => every.max(SHORTEST_JUMP),
            _ => return,
        };
        if strikes {
            armed.struck = true;
            let (what, first) = (armed.what.clone(), armed.first);
            match what {
                What::CrashLoop { .. } => first.iter().for_each(|node| self.crash_by(fault, node, false)),
                What::Jump { by, .. } => {
                    first.iter().for_each(|node| self.shift_clock(node, i128::from(by.as_nanos())));
                    self.clock_fault(fault, first);
                }
                _ => {}
            }
        } else {
            self.undo_turn(fault);
        }
        self.agenda.add(self.now + next, Action::Turn(fault, turn + 1));
    }

    /// Undoes the last turn that struck, if that is still to be done.
    fn undo_turn(&mut self, fault: u32) {
        let armed = &mut self.agenda.armed[fault as usize];
        if !std::mem::take(&mut armed.struck) {
            return;
        }
        let (what, first) = (armed.what.clone(), armed.first);
        match what {
            What::CrashLoop { .. } => first.iter().for_each(|node| self.release(node)),
            What::Jump { by, .. } => {
                first.iter().for_each(|node| self.shift_clock(node, -i128::from(by.as_nanos())));
                self.end_clock_fault(fault, first);
            }
            _ => {}
        }
    }

    fn crash_by(&mut self, fault: u32, node: NodeId, wipe: bool) {
        if self.node(node).alive || wipe && !self.node(node).disk.is_blank() {
            self.agenda.bite(fault);
        }
        self.crash(node);
        if wipe {
            self.node_mut(node).disk.wipe();
        }
    }

    /// A node ends itself, and is started again after a while.
    pub(crate) fn abort(&mut self, node: NodeId, restart: Span) {
        self.crash(node);
        self.agenda.add(self.now + restart, Action::Restart(node, self.current.event));
    }

    /// Ends a node's life at once and keeps it down until it is released.
    fn crash(&mut self, id: NodeId) {
        self.node_mut(id).down += 1;
        if !self.node(id).alive {
            return;
        }
        if self.current.node == id {
            self.node_mut(id).set_disk_aside();
        }
        let tear = self.node(id).disk_fault(DiskEffect::Tear);
        let scatter = self.node(id).disk_fault(DiskEffect::Scatter);
        let mode = CrashMode { tear: tear.is_some(), scatter: scatter.is_some() };
        let entity = u64::from(id.number()) << 32 | u64::from(self.node(id).incarnation);
        let mut draw = self.key.stream(Purpose::Survival, entity);
        let report = self.node_mut(id).disk.crash(mode, &mut draw);
        for (fault, bites) in [(tear, report.tore), (scatter, report.scattered)] {
            if let (Some(fault), true) = (fault, bites) {
                self.agenda.bite(fault);
            }
        }
        self.bury(id, "crashes");
    }

    /// Ends a node's life: its actor, its timers and what is on its way to it are gone.
    pub(crate) fn bury(&mut self, id: NodeId, how: &str) {
        self.mark(Mark::Down, id, 0);
        tracing::debug!(target: "millpond", t = %self.now, node = %self.node(id).name, "{how}");
        if self.trace.is_some() {
            self.tell_state(id, Happening::Down, how.to_owned());
        }
        let node = self.node_mut(id);
        node.alive = false;
        node.incarnation += 1;
        node.announced = None;
        let held: u64 = node.held.drain(..).map(|entry| entry.event.size()).sum();
        self.queued_bytes -= held;
        self.reap.push(id);
        if self.current.node == id {
            self.current.dead = true;
        } else {
            self.node_mut(id).aside = None;
        }
    }

    /// Tells what has become of a node, in the name of the fault that did it.
    fn tell_state(&mut self, id: NodeId, happening: Happening, words: String) {
        let cause = self.current.event;
        let line = self.line(Some(id), happening, cause, Told::words(words));
        self.tell(Line { faults: cause.as_fault().into_iter().collect(), ..line });
    }

    /// Undoes one crash or stop; the node starts again when nothing keeps it down.
    fn release(&mut self, id: NodeId) {
        let node = self.node_mut(id);
        node.down = node.down.saturating_sub(1);
        if node.down == 0 && !node.alive {
            self.boot(id);
        }
    }

    fn pause(&mut self, fault: u32, id: NodeId, until: Instant) {
        let in_callback = self.current.node == id && !self.current.dead;
        let node = self.node_mut(id);
        // What was to be done late when an earlier pause ends is done later.
        let longer = until.since(node.paused_until);
        let late: BTreeSet<u64> =
            node.held.iter().filter(|entry| entry.event.is_late()).map(|it| it.cause).collect();
        if node.paused > 0 && longer > Span::ZERO {
            for event in late {
                self.put_timers_off(id, EventId::from_raw(event), longer);
            }
        }
        let node = self.node_mut(id);
        node.paused += 1;
        node.paused_until = node.paused_until.max(until);
        node.paused_by.push(fault);
        if in_callback {
            node.set_disk_aside();
        }
        if self.trace.is_some() {
            self.tell_state(id, Happening::Pause, "stands still".to_owned());
        }
    }

    fn resume(&mut self, fault: u32, id: NodeId) {
        let node = self.node_mut(id);
        node.paused -= 1;
        node.paused_by.retain(|by| *by != fault);
        if node.paused > 0 {
            return;
        }
        if let Some(aside) = node.aside.take() {
            node.disk = *aside;
        }
        let mut held = std::mem::take(&mut node.held);
        self.backlog.append(&mut held);
        if self.trace.is_some() {
            self.tell_state(id, Happening::Pause, "goes on".to_owned());
        }
    }

    fn disk_fault(&mut self, fault: u32, nodes: NodeSet, effect: DiskEffect) {
        nodes.iter().for_each(|node| self.node_mut(node).disk_faults.push(DiskFault { fault, effect }));
    }

    fn clock_fault(&mut self, fault: u32, nodes: NodeSet) {
        nodes.iter().for_each(|node| self.node_mut(node).clock.faults.push(fault));
    }

    fn end_clock_fault(&mut self, fault: u32, nodes: NodeSet) {
        nodes.iter().for_each(|node| self.node_mut(node).clock.faults.retain(|at| *at != fault));
    }

    fn shift_clock(&mut self, node: NodeId, by: i128) {
        self.node_mut(node).clock.shift(by);
    }

    /// Changes the rate of a clock; whether that moved a timer.
    fn drift_clock(&mut self, id: NodeId, ppm: i64) -> bool {
        let now = self.now;
        let Self { nodes, queue, .. } = self;
        let clock = &mut nodes[id.index()].clock;
        clock.add_drift(now, ppm);
        queue.retime(|entry| match &entry.event {
            Event::Timer { node, local, .. } if *node == id => Some(clock.true_time(*local).max(now)),
            _ => None,
        })
    }
}
