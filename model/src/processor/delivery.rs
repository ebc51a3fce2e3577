//! How output and offsets leave a task, in the order that `commit` asks for.

use std::rc::Rc;

use millpond_sim::Context;

use super::task::{Snapshot, Stage, Work};
use super::{NodeDraw, Processor, Why, snapshot_name};
use crate::bugs::Bug;
use crate::catalog::Target;
use crate::message::{Refusal, Request, Streams};
use crate::note::Note;
use crate::points;
use crate::probes;
use crate::record::{Batch, Kind, PartitionId, Position, Record, RecordId};
use crate::scenario::schema::{Commit, State};
use crate::sink::{Moves, Output, WriteBatch};
use crate::stored::Stored;

impl Processor {
    /// Processes the next batch that has been read, if there is one and nothing else to do.
    pub(super) fn process_if_idle(&mut self, context: &mut Context<'_, Streams>, slot: u32) {
        if self.task(slot).is_some_and(|task| matches!(task.stage, Stage::Idle)) {
            self.process_ready(context, slot);
        }
    }

    /// Processes the next batch that has been read, and begins to deliver what comes of it.
    pub(super) fn process_ready(&mut self, context: &mut Context<'_, Streams>, slot: u32) {
        let (operator, bugs) = (self.setup.operator.clone(), self.bugs());
        if bugs.has(Bug::WatermarkShared) {
            let highest = self.tasks.iter().filter_map(|task| task.state.watermark()).max();
            self.tasks.iter_mut().for_each(|task| task.state.raise_watermark(highest));
        }
        let Some(task) = self.task(slot) else { return };
        let Some((input, _, batches)) = task.ready.pop_front() else { return };
        let mut outputs: Vec<Output> = Vec::new();
        let (mut waited, mut unmatched) = (false, false);
        for (offset, record) in batches.iter().flat_map(Batch::iter) {
            let next = &mut task.inputs[input].next;
            if offset < next.offset {
                continue;
            }
            let at = Position { offset, ..*next };
            next.offset = offset.next();
            let met =
                operator.apply(&mut task.state, input, at, record, &mut NodeDraw(context), &mut outputs);
            waited |= met.waited;
            unmatched |= met.unmatched;
            task.since_snapshot += 1;
        }
        for (met, probe) in [(waited, probes::JOIN_WAITED), (unmatched, probes::JOIN_UNMATCHED)] {
            if met {
                context.probe(probe);
            }
        }
        context.point(points::AFTER_PROCESS);
        if bugs.has(Bug::SnapshotAhead) {
            self.snapshot(context, slot);
        }
        self.deliver(context, slot, outputs.into());
        // Reading ahead of the writing, as clients do.
        self.fetch(context, slot);
    }

    /// Begins to write the outputs and to commit where the task now is.
    pub(super) fn deliver(&mut self, context: &mut Context<'_, Streams>, slot: u32, outputs: Rc<[Output]>) {
        let Some(task) = self.task(slot) else { return };
        task.work = Some(Work { outputs, after: task.positions() });
        match self.setup.options.commit {
            Commit::Before => self.commit(context, slot),
            Commit::After | Commit::Together => self.write(context, slot),
        }
    }

    fn write(&mut self, context: &mut Context<'_, Streams>, slot: u32) {
        let catalog = self.setup.catalog.clone();
        let (group, target) = (self.setup.group, catalog.group(self.setup.group).target);
        let generation = self.generation.unwrap_or_default();
        let together = self.setup.options.commit == Commit::Together;
        let Some(task) = self.task(slot) else { return };
        let Some(work) = task.work.clone() else { return };
        let moves = together.then(|| Moves { before: task.committed.clone(), after: work.after.clone() });
        if work.outputs.is_empty() && !together {
            return self.after_write(context, slot);
        }
        match target {
            Target::None => self.after_write(context, slot),
            Target::Sink(sink) => {
                task.stage = Stage::Writing(1);
                task.written += 1;
                let (sequence, outputs) = (task.written, work.outputs);
                let batch = WriteBatch { group, slot, generation, sequence, outputs, moves };
                context.point(points::BEFORE_WRITE);
                self.call(
                    context,
                    catalog.sinks[sink].node,
                    Request::Write(Rc::new(batch)),
                    Why::Write(slot),
                );
            }
            Target::Topic(topic) => {
                let mut lots: Vec<(PartitionId, Vec<Record>)> = Vec::new();
                for output in work.outputs.iter() {
                    let partition = catalog.partition_for(topic, output.key);
                    let record = self.record(context, output);
                    match lots.iter_mut().find(|(known, _)| *known == partition) {
                        Some((_, records)) => records.push(record),
                        None => lots.push((partition, vec![record])),
                    }
                }
                if let Some(task) = self.task(slot) {
                    task.stage = Stage::Writing(lots.len() as u32);
                }
                context.point(points::BEFORE_WRITE);
                for (partition, records) in lots {
                    let request = Request::Produce { partition, records: records.into(), acks: true };
                    self.call(context, catalog.leader(partition), request, Why::Write(slot));
                }
            }
        }
    }

    fn record(&mut self, context: &mut Context<'_, Streams>, output: &Output) -> Record {
        let id =
            RecordId { sender: context.node(), life: context.incarnation() as u16, number: self.numbered };
        self.numbered += 1;
        let time = context.wall().as_nanos();
        Record { id, key: output.key, value: output.value, time, kind: Kind::Data }
    }

    pub(super) fn on_written(&mut self, context: &mut Context<'_, Streams>, slot: u32, request: &Request) {
        if let Request::Write(batch) = request {
            context.note(Note::Written(batch.clone()));
        }
        self.written(context, slot);
    }

    /// A write has gone well, or counts as if it had.
    fn written(&mut self, context: &mut Context<'_, Streams>, slot: u32) {
        let Some(task) = self.task(slot) else { return };
        if let Stage::Writing(left @ 2..) = &mut task.stage {
            *left -= 1;
            return;
        }
        context.point(points::AFTER_WRITE);
        self.after_write(context, slot);
    }

    /// A write that has not gone well counts as if it had.
    pub(super) fn count_as_written(&mut self, context: &mut Context<'_, Streams>, call: u64) {
        if let Some(Why::Write(slot)) = self.calls.timed_out(call).map(|call| call.why) {
            self.calls.settle(context, call);
            self.written(context, slot);
        }
    }

    /// A write is to be sent until it is answered, and nothing waits for it.
    pub(super) fn set_aside(&mut self, context: &mut Context<'_, Streams>, slot: u32, call: u64) {
        if let Some(call) = self.calls.timed_out(call) {
            call.why = Why::Aside;
        }
        self.written(context, slot);
    }

    fn after_write(&mut self, context: &mut Context<'_, Streams>, slot: u32) {
        match self.setup.options.commit {
            Commit::After => self.commit(context, slot),
            Commit::Before | Commit::Together => self.done(context, slot),
        }
    }

    fn commit(&mut self, context: &mut Context<'_, Streams>, slot: u32) {
        let (generation, bugs) = (self.generation.unwrap_or_default(), self.bugs());
        let Some(task) = self.task(slot) else { return };
        let Some(work) = &task.work else { return };
        let after = if bugs.has(Bug::CommitAhead) { task.fetched() } else { work.after.clone() };
        task.stage = Stage::Committing;
        let request = Request::Commit(self.setup.group, generation, after);
        context.point(points::BEFORE_COMMIT);
        self.call(context, self.coordinator(), request, Why::Commit(slot));
    }

    pub(super) fn on_committed(&mut self, context: &mut Context<'_, Streams>, slot: u32, request: &Request) {
        if let Request::Commit(group, _, positions) = request {
            context.note(Note::Committed(*group, positions.clone()));
        }
        self.committed(context, slot);
    }

    /// A commit has gone well, or counts as if it had.
    pub(super) fn committed(&mut self, context: &mut Context<'_, Streams>, slot: u32) {
        context.point(points::AFTER_COMMIT);
        match self.setup.options.commit {
            Commit::Before => self.write(context, slot),
            Commit::After | Commit::Together => self.done(context, slot),
        }
    }

    /// A batch is written and committed.
    fn done(&mut self, context: &mut Context<'_, Streams>, slot: u32) {
        let Some(task) = self.task(slot) else { return };
        task.stage = Stage::Idle;
        if let Some(work) = task.work.take() {
            task.committed = work.after;
        }
        self.snapshot(context, slot);
        let ready = self.task(slot).is_some_and(|task| !task.ready.is_empty());
        if ready {
            self.process_ready(context, slot);
        } else {
            self.fetch(context, slot);
        }
    }

    /// Takes a snapshot if one is due. It is as good as it gets durable: nothing waits for it.
    fn snapshot(&mut self, context: &mut Context<'_, Streams>, slot: u32) {
        let State::Snapshot { every, .. } = self.setup.options.state else { return };
        let bugs = self.bugs();
        let Some(task) = self.task(slot).filter(|task| task.since_snapshot >= every) else { return };
        task.since_snapshot = 0;
        let mut snapshot = Snapshot { positions: task.committed.to_vec(), state: task.state.clone() };
        if bugs.has(Bug::SnapshotBehind) {
            snapshot.positions = task.fetched().to_vec();
        }
        if bugs.has(Bug::WaitingLeftOut) {
            snapshot.state.drop_waiting();
        }
        let cell = context.disk().cell(&snapshot_name(slot, bugs));
        if context.set(cell, Stored::Snapshot(Rc::new(snapshot))).is_ok() {
            context.sync();
        }
    }

    pub(super) fn note_refusal(
        &mut self,
        context: &mut Context<'_, Streams>,
        request: Request,
        why: Refusal,
    ) {
        match request {
            Request::Commit(group, _, positions) => context.note(Note::CommitRefused(group, positions)),
            Request::Write(batch) => context.note(Note::WriteRefused(batch, why)),
            _ => {}
        }
    }
}
