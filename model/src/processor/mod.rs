//! A processor: a member of a consumer group that reads topics, computes, writes its output and
//! commits its offsets.
//!
//! | module | what it is |
//! |--------|------------|
//! | [`operator`] | the steps over their state, free of delivery |
//! | `task` | the partitions of one number on the instance that owns them |
//! | `delivery` | how output and offsets leave a task |
//! | `relics` | what planted bugs make of the tasks of an earlier assignment |

mod delivery;
pub mod operator;
#[cfg(test)]
mod operator_tests;
mod relics;
mod task;

use std::rc::Rc;
use std::sync::Arc;

use millpond_sim::disk::{SyncFailed, SyncId};
use millpond_sim::{Actor, Context, NodeId, TimerId};

use self::operator::{Draw, Operator, TaskState};
use self::relics::Relics;
pub use self::task::Snapshot;
use self::task::{Stage, Task};
use crate::bugs::{Bug, Bugs};
use crate::call::{Call, Calls};
use crate::catalog::{Catalog, Target};
use crate::message::{Message, Refusal, Reply, Request, Streams};
use crate::note::Note;
use crate::probes;
use crate::record::{Batch, Generation, GroupId, Offset, Position};
use crate::scenario::schema::{Processor as Options, Reset, State};
use crate::sink::RESTART;
use crate::stored::Stored;

const HEARTBEAT: u64 = 0;

/// What the processor is set up with.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) group: GroupId,
    pub(crate) options: Arc<Options>,
    pub(crate) operator: Operator,
}

/// Why a request was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Join,
    Heartbeat,
    /// The offsets of all tasks, on taking them over.
    Offsets,
    /// Records of an input of a task.
    Fetch(u32, usize),
    Write(u32),
    /// A write that has been set aside: nothing waits for it.
    Aside,
    Commit(u32),
}

/// The actor of a processor.
pub(crate) struct Processor {
    setup: Setup,
    generation: Option<Generation>,
    /// The partition numbers that this instance owns.
    slots: Rc<[u32]>,
    tasks: Vec<Task>,
    calls: Calls<Why>,
    heartbeat: Option<TimerId>,
    /// Records that it has sent to a topic.
    numbered: u32,
    relics: Relics,
}

/// The node's own stream of draws.
struct NodeDraw<'a, 'b>(&'a mut Context<'b, Streams>);

impl Draw for NodeDraw<'_, '_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.random_below(bound)
    }
}

impl Processor {
    pub(crate) fn new(setup: Setup, incarnation: u32) -> Self {
        let calls = Calls::new(incarnation);
        Self {
            setup,
            generation: None,
            slots: Rc::new([]),
            tasks: Vec::new(),
            calls,
            heartbeat: None,
            numbered: 0,
            relics: Relics::default(),
        }
    }

    fn call(&mut self, context: &mut Context<'_, Streams>, to: NodeId, request: Request, why: Why) {
        self.calls.send(context, to, request, self.setup.options.timeout, why);
    }

    fn bugs(&self) -> Bugs {
        self.setup.catalog.bugs
    }

    fn coordinator(&self) -> NodeId {
        self.setup.catalog.group(self.setup.group).coordinator
    }

    fn task(&mut self, slot: u32) -> Option<&mut Task> {
        self.tasks.iter_mut().find(|task| task.slot == slot)
    }

    /// Leaves everything and asks to be a member again.
    fn join(&mut self, context: &mut Context<'_, Streams>) {
        self.calls.drop_where(context, |_| true);
        let bugs = self.bugs();
        self.relics.keep(bugs, self.tasks.drain(..));
        self.generation = None;
        if let Some(timer) = self.heartbeat.take() {
            context.cancel_timer(timer);
        }
        self.call(context, self.coordinator(), Request::Join(self.setup.group), Why::Join);
    }

    fn on_joined(&mut self, context: &mut Context<'_, Streams>, generation: Generation, slots: Rc<[u32]>) {
        self.generation = Some(generation);
        self.slots = slots.clone();
        self.heartbeat = Some(context.set_timer(self.setup.options.heartbeat, HEARTBEAT));
        if slots.is_empty() {
            return;
        }
        let catalog = self.setup.catalog.clone();
        let group = catalog.group(self.setup.group);
        let (to, request) = match group.target {
            Target::Sink(sink) if group.positions_in_sink => {
                (catalog.sinks[sink].node, Request::Positions(self.setup.group, generation, slots))
            }
            _ => (group.coordinator, Request::Committed(self.setup.group)),
        };
        self.call(context, to, request, Why::Offsets);
    }

    /// The offsets of all tasks are known: each finds its state and begins.
    fn on_offsets(&mut self, context: &mut Context<'_, Streams>, known: &[Position]) {
        let catalog = self.setup.catalog.clone();
        let Some(generation) = self.generation else { return };
        let bugs = self.bugs();
        for slot in self.slots.clone().iter() {
            let positions: Rc<[Position]> = catalog
                .task_inputs(self.setup.group, *slot)
                .map(|partition| {
                    let stored = known.iter().find(|position| position.partition == partition);
                    let offset = match (stored, self.setup.options.reset) {
                        (Some(position), _) => resume_at(bugs, position.offset),
                        (None, Reset::Earliest) => Offset(0),
                        (None, Reset::Latest) => Offset::MAX,
                    };
                    Position { partition, offset }
                })
                .collect();
            if positions.iter().any(|position| position.offset > Offset(0) && position.offset < Offset::MAX) {
                context.probe(probes::RESUMED);
            }
            let positions = self.relics.positions(bugs, *slot).unwrap_or(positions);
            let (state, restored) = self.restore(context, *slot, &positions);
            let mut task = Task::new(*slot, &positions, &restored, state);
            if bugs.has(Bug::ResumeInclusive) {
                task.committed = known.iter().filter(|at| task.reads(at.partition)).copied().collect();
            }
            task.ready = self.relics.ready(bugs, *slot);
            context.note(Note::Assigned(self.setup.group, generation, restored.into()));
            self.tasks.push(task);
            self.process_if_idle(context, *slot);
            self.fetch(context, *slot);
        }
    }

    /// The state that a task begins with, and the offsets as of which it is: reading on from there
    /// without output leads to the offsets at which the task goes on.
    fn restore(
        &self,
        context: &mut Context<'_, Streams>,
        slot: u32,
        positions: &[Position],
    ) -> (TaskState, Vec<Position>) {
        let start = || positions.iter().map(|position| Position { offset: Offset(0), ..*position }).collect();
        let unread =
            positions.iter().all(|position| position.offset == Offset(0) || position.offset == Offset::MAX);
        let (empty, bugs) = (TaskState::default(), self.bugs());
        if !self.setup.operator.is_stateful() || unread {
            return (empty, positions.to_vec());
        }
        match self.setup.options.state {
            State::Memory => (empty, positions.to_vec()),
            State::Rebuild => {
                context.probe(probes::STATE_REBUILT);
                (self.relics.state(bugs, slot).unwrap_or(empty), start())
            }
            State::Snapshot { with_offset, .. } => {
                let disk = context.disk();
                let cell = disk.cell(&snapshot_name(slot, bugs));
                let snapshot = match disk.get(cell) {
                    Some(Ok(Stored::Snapshot(snapshot))) => Some(snapshot.clone()),
                    _ => None,
                };
                match snapshot {
                    // Without its offset, a snapshot can only be taken for the state at the
                    // committed offset.
                    Some(snapshot) if !with_offset => {
                        context.probe(probes::SNAPSHOT_RESTORED);
                        (snapshot.state.clone(), positions.to_vec())
                    }
                    // A snapshot that is ahead of where output begins cannot be taken back.
                    Some(snapshot) if is_behind(&snapshot.positions, positions) => {
                        context.probe(probes::SNAPSHOT_RESTORED);
                        (snapshot.state.clone(), read_on(bugs, &snapshot.positions, positions))
                    }
                    _ => {
                        context.probe(probes::STATE_REBUILT);
                        (empty, start())
                    }
                }
            }
        }
    }

    /// Asks for records of every input of a task that has none under way.
    fn fetch(&mut self, context: &mut Context<'_, Streams>, slot: u32) {
        let batch = self.setup.options.batch;
        let mut wanted = Vec::new();
        if let Some(task) = self.task(slot) {
            let restoring = matches!(task.stage, Stage::Restoring);
            for at in 0..task.inputs.len() {
                let busy = task.inputs[at].fetching || task.ready.iter().any(|(input, ..)| *input == at);
                if !busy && (!restoring || task.is_restoring(at)) {
                    task.inputs[at].fetching = true;
                    wanted.push((at, task.inputs[at].next));
                }
            }
        }
        for (input, from) in wanted {
            let to = self.setup.catalog.leader(from.partition);
            self.call(context, to, Request::Fetch { from, max: batch }, Why::Fetch(slot, input));
        }
    }

    fn on_fetched(
        &mut self,
        context: &mut Context<'_, Streams>,
        (slot, input): (u32, usize),
        asked: Position,
        batches: Rc<[Batch]>,
    ) {
        context.note(Note::Polled(self.setup.group, asked, batches.clone()));
        let Some(task) = self.task(slot) else { return };
        task.inputs[input].fetching = false;
        if matches!(task.stage, Stage::Restoring) {
            return self.restore_from(context, slot, input, &batches);
        }
        task.ready.push_back((input, asked, batches));
        self.process_if_idle(context, slot);
    }

    /// Takes in records that were processed in an earlier life, without output.
    fn restore_from(
        &mut self,
        context: &mut Context<'_, Streams>,
        slot: u32,
        input: usize,
        batches: &[Batch],
    ) {
        let operator = self.setup.operator.clone();
        let Some(task) = self.task(slot) else { return };
        let mut unused = Vec::new();
        for (offset, record) in batches.iter().flat_map(Batch::iter) {
            let at = &mut task.inputs[input];
            if offset < at.next.offset || offset >= at.live_from {
                continue;
            }
            let position = Position { partition: at.next.partition, offset };
            at.next.offset = offset.next();
            operator.apply(&mut task.state, input, position, record, &mut NodeDraw(context), &mut unused);
        }
        if task.go_live_if_restored() {
            // What was read beyond the committed offsets is read again, now for real: a seek.
            let positions = task.positions();
            let generation = self.generation.unwrap_or_default();
            context.note(Note::Assigned(self.setup.group, generation, positions));
        }
        self.fetch(context, slot);
    }

    /// The asked offset is not in the log: the policy says where to begin.
    fn on_out_of_range(&mut self, context: &mut Context<'_, Streams>, slot: u32, input: usize, end: Offset) {
        let reset = self.setup.options.reset;
        context.probe(probes::OFFSET_RESET);
        let generation = self.generation.unwrap_or_default();
        let group = self.setup.group;
        let Some(task) = self.task(slot) else { return };
        let offset = match reset {
            Reset::Earliest => Offset(0),
            Reset::Latest => end,
        };
        let at = &mut task.inputs[input];
        at.fetching = false;
        at.next.offset = offset;
        at.live_from = offset;
        task.go_live_if_restored();
        let positions = task.positions();
        let settled = positions.iter().all(|position| position.offset != Offset::MAX);
        let idle = matches!(task.stage, Stage::Idle) && task.work.is_none();
        context.note(Note::Assigned(group, generation, positions));
        if settled && idle {
            // Commit where the policy has put the group, though there is no record yet.
            self.deliver(context, slot, Rc::new([]));
        }
        self.fetch(context, slot);
    }
}

/// Whether every offset of `snapshot` is at most the one where output begins.
fn is_behind(snapshot: &[Position], positions: &[Position]) -> bool {
    snapshot.len() == positions.len()
        && snapshot.iter().zip(positions).all(|(one, other)| one.offset <= other.offset)
}

/// Where a task goes on whose group has committed this offset.
fn resume_at(bugs: Bugs, committed: Offset) -> Offset {
    match () {
        () if bugs.has(Bug::ResumeInclusive) => Offset(committed.0.saturating_sub(1)),
        () if bugs.has(Bug::ResumeSkips) => committed.next(),
        () => committed,
    }
}

/// Where reading goes on behind a snapshot of `old` positions, in the partitions of these.
fn read_on(bugs: Bugs, old: &[Position], positions: &[Position]) -> Vec<Position> {
    let again = u64::from(bugs.has(Bug::SnapshotInclusive));
    let next = |old: &Position| Offset(old.offset.0.saturating_sub(again));
    old.iter().zip(positions).map(|(old, at)| Position { offset: next(old), ..*at }).collect()
}

fn snapshot_name(slot: u32, bugs: Bugs) -> String {
    let place = if bugs.has(Bug::SnapshotShared) { 0 } else { slot };
    format!("snapshot-{place}")
}

impl Actor<Streams> for Processor {
    fn start(&mut self, context: &mut Context<'_, Streams>) {
        self.join(context);
    }

    fn message(&mut self, context: &mut Context<'_, Streams>, _from: NodeId, message: Message) {
        let Message::Reply(number, reply) = message else { return };
        // Not done for want of space: it is asked again when its timer fires.
        if let Reply::Refused(Refusal::DiskFull) = reply {
            if self.bugs().has(Bug::RefusalTakenForSuccess) {
                self.count_as_written(context, number);
            }
            return;
        }
        let Some(Call { request, why, .. }) = self.calls.settle(context, number) else { return };
        match (why, reply) {
            (Why::Join, Reply::Joined(generation, slots)) => self.on_joined(context, generation, slots),
            (Why::Heartbeat, Reply::Alive) => {}
            (Why::Heartbeat, Reply::Rebalance) => self.join(context),
            (Why::Offsets, Reply::Offsets(known)) => self.on_offsets(context, &known),
            (Why::Fetch(slot, input), Reply::Fetched(batches, _)) => {
                if let Request::Fetch { from, .. } = request {
                    self.on_fetched(context, (slot, input), from, batches);
                }
            }
            (Why::Fetch(slot, input), Reply::OutOfRange(end)) => {
                self.on_out_of_range(context, slot, input, end)
            }
            (Why::Write(slot), Reply::Written | Reply::Produced(_)) => {
                self.on_written(context, slot, &request)
            }
            (Why::Commit(slot), Reply::CommitDone) => self.on_committed(context, slot, &request),
            (why, Reply::Refused(refusal)) => {
                self.note_refusal(context, request, refusal);
                match why {
                    Why::Commit(slot) if self.bugs().has(Bug::RefusedCommitIgnored) => {
                        self.committed(context, slot)
                    }
                    _ => self.join(context),
                }
            }
            _ => {}
        }
    }

    fn timer(&mut self, context: &mut Context<'_, Streams>, token: u64) {
        if token == HEARTBEAT {
            if let Some(generation) = self.generation {
                let request = Request::Heartbeat(self.setup.group, generation);
                // One at a time: a heartbeat without answer is replaced by the next.
                self.calls.drop_where(context, |why| *why == Why::Heartbeat);
                self.call(context, self.coordinator(), request, Why::Heartbeat);
                self.heartbeat = Some(context.set_timer(self.setup.options.heartbeat, HEARTBEAT));
            }
            return;
        }
        match self.calls.timed_out(token).map(|call| call.why) {
            Some(Why::Write(_)) if self.bugs().has(Bug::TimeoutTakenForSuccess) => {
                self.count_as_written(context, token)
            }
            Some(Why::Write(slot)) => {
                context.probe(probes::WRITE_RETRIED);
                self.calls.retry(context, token);
                if self.bugs().has(Bug::RetryOvertaken) {
                    self.set_aside(context, slot, token);
                }
            }
            Some(Why::Fetch(..)) if self.bugs().has(Bug::FetchNotRetried) => {}
            Some(Why::Join | Why::Offsets | Why::Fetch(..) | Why::Aside | Why::Commit(_)) => {
                self.calls.retry(context, token)
            }
            Some(Why::Heartbeat) | None => {}
        }
    }

    fn synced(&mut self, context: &mut Context<'_, Streams>, _sync: SyncId, result: Result<(), SyncFailed>) {
        if result.is_err() {
            context.probe(probes::SYNC_FAILED);
            context.abort(RESTART);
        }
    }

    fn stop(&mut self, context: &mut Context<'_, Streams>) {
        context.send(self.coordinator(), Message::Request(0, Request::Leave(self.setup.group)));
    }
}
