//! A task: the partitions with one number of all inputs of a processor, on the instance that owns
//! them. It reads, computes, writes and commits, one batch at a time.
//!
//! ```text
//!   Restoring ──(state as of the committed offsets)──▶ Idle ◀───────────────────────────┐
//!                                                       │ a batch has been read          │
//!      commit: After      write ──▶ commit ─────────────┤                                │
//!      commit: Before     commit ──▶ write ─────────────┼────────────────────────────────┘
//!      commit: Together   write with the position ──────┘
//! ```

use std::collections::VecDeque;
use std::rc::Rc;

use super::operator::TaskState;
use crate::record::{Batch, Offset, PartitionId, Position};
use crate::sink::Output;

/// The state of a task on disk, and the offsets that it was taken at.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) positions: Vec<Position>,
    pub(crate) state: TaskState,
}

/// What a task waits for.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// Reading its inputs up to the offsets where it is to go on, without output.
    Restoring,
    /// For records.
    Idle,
    /// For its output to be acknowledged, by so many nodes.
    Writing(u32),
    /// For its offsets to be committed.
    Committing,
}

/// One input of a task.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// What is read next.
    pub(crate) next: Position,
    /// Where output begins: what comes before has been processed already.
    pub(crate) live_from: Offset,
    /// Whether a fetch is under way.
    pub(crate) fetching: bool,
}

/// The work of one batch that has been processed.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) outputs: Rc<[Output]>,
    /// Where the task goes on after it.
    pub(crate) after: Rc<[Position]>,
}

/// One task.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) slot: u32,
    pub(crate) inputs: Vec<Input>,
    pub(crate) state: TaskState,
    pub(crate) stage: Stage,
    /// Batches that were read while the task was busy.
    pub(crate) ready: VecDeque<(usize, Position, Rc<[Batch]>)>,
    /// What is being written and committed.
    pub(crate) work: Option<Work>,
    /// The positions that were committed last, or that it began with.
    pub(crate) committed: Rc<[Position]>,
    /// How many batches were written to a sink.
    pub(crate) written: u32,
    /// Records processed since the last snapshot.
    pub(crate) since_snapshot: u32,
}

impl Task {
    /// A task that goes on at `positions` with this state, as of `restored`.
    pub(crate) fn new(slot: u32, positions: &[Position], restored: &[Position], state: TaskState) -> Self {
        let inputs = positions.iter().zip(restored).map(|(live, next)| Input {
            next: *next,
            live_from: live.offset,
            fetching: false,
        });
        let mut task = Self {
            slot,
            inputs: inputs.collect(),
            state,
            stage: Stage::Restoring,
            ready: VecDeque::new(),
            work: None,
            committed: positions.into(),
            written: 0,
            since_snapshot: 0,
        };
        task.go_live_if_restored();
        task
    }

    /// Where the task goes on.
    pub(crate) fn positions(&self) -> Rc<[Position]> {
        self.inputs.iter().map(|input| input.next).collect()
    }

    /// Where reading has come to: beyond what has been processed.
    pub(crate) fn fetched(&self) -> Rc<[Position]> {
        let end = |at: usize| {
            let batches = self.ready.iter().filter(|(input, ..)| *input == at);
            batches.filter_map(|(_, _, batches)| batches.last().map(Batch::end)).max()
        };
        let position = |(at, input): (usize, &Input)| {
            let offset = end(at).map_or(input.next.offset, |end| end.max(input.next.offset));
            Position { offset, ..input.next }
        };
        self.inputs.iter().enumerate().map(position).collect()
    }

    /// Whether one of its inputs is this partition.
    pub(crate) fn reads(&self, partition: PartitionId) -> bool {
        self.inputs.iter().any(|input| input.next.partition == partition)
    }

    /// Ends restoring when every input has been read up to where output begins.
    pub(crate) fn go_live_if_restored(&mut self) -> bool {
        let restoring = matches!(self.stage, Stage::Restoring);
        // Past the end of any log means that the reader's policy decides where to begin.
        let behind = |input: &Input| input.next.offset < input.live_from && input.live_from != Offset::MAX;
        if restoring && !self.inputs.iter().any(behind) {
            self.stage = Stage::Idle;
            return true;
        }
        false
    }

    /// Whether this input still has to be restored.
    pub(crate) fn is_restoring(&self, input: usize) -> bool {
        matches!(self.stage, Stage::Restoring) && {
            let input = &self.inputs[input];
            input.next.offset < input.live_from
        }
    }
}
