//! A sink: a database that applies batches of writes, each atomically and durably, and keeps a log of
//! its changes. Its answer to a batch that it has seen before is what the guarantees turn on:
//!
//! - `Append` adds the rows again;
//! - `Upsert` sets the values again;
//! - `Increment` adds the values again;
//! - `Guarded` adds a value only if the input offset stored in the row is older.
//!
//! A batch may carry the input positions that it goes on from and leads to; the sink applies it only
//! if it stores the former, and then stores the latter in the same write.

use std::rc::Rc;

use millpond_sim::disk::{DiskFull, LogId, SyncFailed, SyncId};
use millpond_sim::time::Span;
use millpond_sim::{Actor, Context, NodeId, digest};

use smallvec::SmallVec;

use crate::bugs::{Bug, Bugs};
use crate::flush::Flush;
use crate::message::{Message, Refusal, Reply, Request, Streams, of_position, of_positions};
use crate::points;
use crate::probes;
use crate::record::{Generation, GroupId, Key, Position};
use crate::scenario::schema::Write;
use crate::stored::Stored;

/// How long a node that ended itself stays down.
pub(crate) const RESTART: Span = Span::from_millis(500);

/// One row that a processor writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: i64,
    /// The input record that it comes from.
    pub from: Position,
}

/// Writes that are applied together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteBatch {
    /// The group that writes.
    pub group: GroupId,
    /// The number of the input partitions that the writes come from.
    pub slot: u32,
    /// The generation of the writer.
    pub generation: Generation,
    /// Which of the writer's batches it is, in this generation. With the generation it makes a
    /// fencing token that only grows (Kleppmann, "How to do distributed locking", 2016).
    pub sequence: u32,
    /// The rows.
    pub outputs: Rc<[Output]>,
    /// The input positions stored with the output: before and after.
    pub moves: Option<Moves>,
}

/// Input positions before and after a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moves {
    /// What the sink must have stored.
    pub before: Rc<[Position]>,
    /// What it stores then.
    pub after: Rc<[Position]>,
}

impl WriteBatch {
    pub(crate) fn digest(&self) -> u64 {
        let rows = self.outputs.iter().fold(self.outputs.len() as u64, |sum, output| {
            sum.rotate_left(5)
                ^ of_position(&output.from)
                ^ (output.key.index() as u64) << 32
                ^ output.value.cast_unsigned().rotate_left(11)
        });
        let moves = self.moves.as_ref().map_or(0, |moves| of_positions(&moves.after));
        let token = u64::from(self.generation.0) << 40 ^ u64::from(self.sequence) << 8;
        rows ^ token ^ u64::from(self.slot) << 56 ^ moves.rotate_left(23)
    }
}

/// The value of a key and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: i64,
    /// The input record of the last write.
    pub from: Position,
}

/// One applied write, as the sink's log of changes has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: Key,
    /// The value before, none where there was no row.
    pub before: Option<i64>,
    /// The value after.
    pub after: i64,
    /// The input record of the write.
    pub from: Position,
    /// The generation of the writer.
    pub generation: Generation,
}

/// The content of a sink as a client can read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// The rows: by key, or for `Append` in the order in which they were added.
    pub rows: Vec<Row>,
    /// All changes in order.
    pub changes: Vec<Change>,
}

impl Dump {
    pub(crate) fn digest(&self) -> u64 {
        self.rows.iter().fold(self.changes.len() as u64, |sum, row| {
            digest(&[sum, row.value.cast_unsigned(), of_position(&row.from) ^ (row.key.index() as u64) << 32])
        })
    }
}

/// The stored state of one writer of one input partition.
#[derive(Clone, Debug)]
struct Writer {
    group: GroupId,
    slot: u32,
    generation: Generation,
    /// The sequence of its last batch in this generation.
    sequence: u32,
    positions: Vec<Position>,
}

impl Writer {
    /// Makes writers of older generations stale.
    fn begin(&mut self, generation: Generation) {
        if generation > self.generation {
            (self.generation, self.sequence) = (generation, 0);
        }
    }
}

/// The state that the sink's log of writes leads to.
#[derive(Debug, Default)]
struct State {
    /// By the index of the key, for all kinds of writes but `Append`.
    table: Vec<Option<Row>>,
    /// By the index of the key, for `Guarded`: how far each input partition has been added.
    guards: Vec<SmallVec<[Position; 1]>>,
    appended: Vec<Row>,
    changes: Vec<Change>,
    writers: Vec<Writer>,
    /// How far each input partition has been applied.
    reached: Vec<Position>,
}

/// What applying a batch met.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    /// A row came from an input that had been applied before.
    repeated: bool,
    /// The guard skipped a row.
    skipped: bool,
}

impl State {
    fn writer(&mut self, group: GroupId, slot: u32) -> &mut Writer {
        let at = self.writers.iter().position(|writer| writer.group == group && writer.slot == slot);
        let at = at.unwrap_or_else(|| {
            let (generation, positions) = (Generation(0), Vec::new());
            self.writers.push(Writer { group, slot, generation, sequence: 0, positions });
            self.writers.len() - 1
        });
        &mut self.writers[at]
    }

    fn row(&self, key: Key) -> Option<&Row> {
        self.table.get(key.index()).and_then(Option::as_ref)
    }

    /// Whether the input has been applied up to this position.
    fn has_reached(&self, at: Position) -> bool {
        self.reached.iter().any(|known| known.partition == at.partition && known.offset >= at.offset)
    }

    /// Whether a key takes a value from this position, which its guard then knows.
    fn guard(&mut self, index: usize, from: Position) -> bool {
        if index >= self.guards.len() {
            self.guards.resize(index + 1, SmallVec::new());
        }
        match self.guards[index].iter_mut().find(|known| known.partition == from.partition) {
            Some(known) if known.offset >= from.offset => false,
            Some(known) => {
                known.offset = from.offset;
                true
            }
            None => {
                self.guards[index].push(from);
                true
            }
        }
    }

    fn reach(&mut self, at: Position) {
        match self.reached.iter_mut().find(|known| known.partition == at.partition) {
            Some(known) => known.offset = known.offset.max(at.offset),
            None => self.reached.push(at),
        }
    }

    fn apply(&mut self, write: Write, batch: &WriteBatch) -> Met {
        let writer = self.writer(batch.group, batch.slot);
        writer.begin(batch.generation);
        if batch.generation == writer.generation {
            writer.sequence = writer.sequence.max(batch.sequence);
        }
        if let Some(moves) = &batch.moves {
            writer.positions = moves.after.to_vec();
        }
        let mut met = Met::default();
        for Output { key, value, from } in batch.outputs.iter().copied() {
            met.repeated |= self.has_reached(from);
            self.reach(from);
            if write == Write::Append {
                self.appended.push(Row { key, value, from });
                self.changes.push(Change {
                    key,
                    before: None,
                    after: value,
                    from,
                    generation: batch.generation,
                });
                continue;
            }
            let index = key.index();
            if index >= self.table.len() {
                self.table.resize(index + 1, None);
            }
            let row = self.table[index];
            let before = row.map(|row| row.value);
            let after = match write {
                Write::Append | Write::Upsert => value,
                Write::Increment => before.unwrap_or(0).wrapping_add(value),
                Write::Guarded => {
                    if !self.guard(index, from) {
                        met.skipped = true;
                        continue;
                    }
                    before.unwrap_or(0).wrapping_add(value)
                }
            };
            self.table[index] = Some(Row { key, value: after, from });
            self.changes.push(Change { key, before, after, from, generation: batch.generation });
        }
        met
    }

    fn dump(&self) -> Dump {
        let mut rows = self.appended.clone();
        rows.extend(self.table.iter().flatten());
        Dump { rows, changes: self.changes.clone() }
    }
}

/// What waits for the disk.
#[derive(Debug)]
struct Answer {
    to: NodeId,
    call: u64,
    reply: Reply,
}

/// A read that waits until the input has been processed up to a position.
#[derive(Debug)]
struct WaitingRead {
    from: NodeId,
    call: u64,
    key: Key,
    at: Position,
}

/// The actor of a sink.
pub(crate) struct Sink {
    write: Write,
    fence: bool,
    bugs: Bugs,
    log: Option<LogId>,
    state: State,
    flush: Flush<Answer>,
    reads: Vec<WaitingRead>,
}

impl Sink {
    pub(crate) fn new(write: Write, fence: bool, bugs: Bugs) -> Self {
        let (state, flush) = (State::default(), Flush::new());
        Self { write, fence, bugs, log: None, state, flush, reads: Vec::new() }
    }

    fn store(&mut self, context: &mut Context<'_, Streams>, stored: Stored) -> Result<(), DiskFull> {
        match self.log {
            Some(log) => context.append(log, stored).map(drop),
            None => Err(DiskFull),
        }
    }

    /// Stores a batch; its rows and the position that they lead to in one write.
    fn store_batch(
        &mut self,
        context: &mut Context<'_, Streams>,
        batch: &Rc<WriteBatch>,
    ) -> Result<(), DiskFull> {
        if batch.moves.is_some() && self.bugs.has(Bug::PositionApart) {
            let rows = WriteBatch { moves: None, ..WriteBatch::clone(batch) };
            self.store(context, Stored::Write(Rc::new(rows)))?;
            let position = WriteBatch { outputs: Rc::new([]), ..WriteBatch::clone(batch) };
            return self.store(context, Stored::Write(Rc::new(position)));
        }
        self.store(context, Stored::Write(batch.clone()))
    }

    fn on_write(&mut self, context: &mut Context<'_, Streams>, batch: Rc<WriteBatch>) -> Reply {
        let writer = self.state.writer(batch.group, batch.slot);
        let one_behind = batch.generation.0 + 1 == writer.generation.0;
        if batch.generation < writer.generation {
            if self.fence && !(one_behind && self.bugs.has(Bug::FenceOneBehind)) {
                context.probe(probes::ZOMBIE_FENCED);
                return Reply::Refused(Refusal::Fenced);
            }
            context.probe(probes::ZOMBIE_WROTE);
        } else if self.fence
            && batch.generation == writer.generation
            && batch.sequence < writer.sequence
            && !self.bugs.has(Bug::LateCopyApplied)
        {
            // A copy of a batch that has been answered, overtaken on the way.
            context.probe(probes::LATE_WRITE_REFUSED);
            return Reply::Refused(Refusal::Fenced);
        }
        if let Some(moves) = batch.moves.as_ref().filter(|_| !self.bugs.has(Bug::RepeatApplied)) {
            if writer.positions == *moves.after && *moves.before != *moves.after {
                // The same batch again: its answer was lost.
                context.probe(probes::WRITE_REPEATED);
                return Reply::Written;
            }
            if !writer.positions.is_empty() && *writer.positions != *moves.before {
                return Reply::Refused(Refusal::PositionMoved);
            }
        }
        context.point(points::BEFORE_SINK_WRITE);
        if self.store_batch(context, &batch).is_err() {
            context.probe(probes::APPEND_REFUSED);
            return Reply::Refused(Refusal::DiskFull);
        }
        let met = self.state.apply(self.write, &batch);
        for (met, probe) in [(met.repeated, probes::WRITE_REPEATED), (met.skipped, probes::GUARD_SKIPPED)] {
            if met {
                context.probe(probe);
            }
        }
        context.point(points::AFTER_SINK_WRITE);
        Reply::Written
    }

    fn on_positions(
        &mut self,
        context: &mut Context<'_, Streams>,
        group: GroupId,
        generation: Generation,
        slots: &Rc<[u32]>,
    ) -> Reply {
        let mut positions = Vec::new();
        for slot in slots.iter() {
            let writer = self.state.writer(group, *slot);
            let asks_as_owner = generation > Generation(0);
            if self.fence && asks_as_owner && generation < writer.generation {
                return Reply::Refused(Refusal::Fenced);
            }
            writer.begin(generation);
            positions.extend_from_slice(&writer.positions);
        }
        // The observer asks in no generation; it makes no one stale.
        if generation > Generation(0)
            && self.store(context, Stored::Fence(group, generation, slots.clone())).is_err()
        {
            return Reply::Refused(Refusal::DiskFull);
        }
        Reply::Offsets(positions.into())
    }

    fn read(&self, key: Key) -> Reply {
        Reply::Row(self.state.row(key).map(|row| (row.value, row.from)))
    }

    fn answer_reads(&mut self, context: &mut Context<'_, Streams>) {
        for read in std::mem::take(&mut self.reads) {
            if self.state.has_reached(read.at) {
                context.send(read.from, Message::Reply(read.call, self.read(read.key)));
            } else {
                self.reads.push(read);
            }
        }
    }
}

impl Actor<Streams> for Sink {
    fn start(&mut self, context: &mut Context<'_, Streams>) {
        let disk = context.disk();
        let log = disk.log("writes");
        self.log = Some(log);
        let mut intact = 0;
        for entry in disk.entries(log) {
            match entry {
                Ok(Stored::Write(batch)) => drop(self.state.apply(self.write, batch)),
                Ok(Stored::Fence(group, generation, slots)) => {
                    for slot in slots.iter() {
                        self.state.writer(*group, *slot).begin(*generation);
                    }
                }
                Ok(_) => {}
                Err(_) => break,
            }
            intact += 1;
        }
        if intact < disk.len(log) {
            disk.truncate(log, intact);
            context.probe(probes::LOG_DAMAGED);
        }
        if self.bugs.has(Bug::GuardsInMemory) {
            self.state.guards.clear();
        }
        if self.bugs.has(Bug::FenceForgotten) {
            self.state.writers.iter_mut().for_each(|writer| writer.generation = Generation(0));
        }
    }

    fn message(&mut self, context: &mut Context<'_, Streams>, from: NodeId, message: Message) {
        let Message::Request(call, request) = message else { return };
        let reply = match request {
            Request::Write(batch) => self.on_write(context, batch),
            Request::Positions(group, generation, slots) => {
                self.on_positions(context, group, generation, &slots)
            }
            Request::Read(key, Some(at)) if !self.state.has_reached(at) => {
                self.reads.retain(|read| read.from != from || read.call != call);
                self.reads.push(WaitingRead { from, call, key, at });
                return;
            }
            Request::Read(key, _) => self.read(key),
            Request::Dump => Reply::Content(Rc::new(self.state.dump())),
            _ => return,
        };
        match reply {
            Reply::Written if self.bugs.has(Bug::AnswerBeforeSync) => {
                context.send(from, Message::Reply(call, reply));
                context.sync();
            }
            Reply::Written | Reply::Offsets(_) => {
                self.flush.after_sync(context, Answer { to: from, call, reply })
            }
            _ => context.send(from, Message::Reply(call, reply)),
        }
    }

    fn synced(&mut self, context: &mut Context<'_, Streams>, sync: SyncId, result: Result<(), SyncFailed>) {
        if result.is_err() {
            context.probe(probes::SYNC_FAILED);
            return context.abort(RESTART);
        }
        for Answer { to, call, reply } in self.flush.synced(context, sync) {
            context.send(to, Message::Reply(call, reply));
        }
        self.answer_reads(context);
    }
}
