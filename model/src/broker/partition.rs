//! One partition: a log of batches on the broker's disk.
//!
//! Readers see it up to where the broker shows it: what is durable, or with `Flush::AfterAck` what
//! was appended. A fetch at the end waits until there is more to show.

use std::rc::Rc;

use millpond_sim::disk::{DiskFull, LogId};
use millpond_sim::{Context, NodeId};

use crate::bugs::{Bug, Bugs};
use crate::message::{Message, Reply, Streams};
use crate::probes;
use crate::record::{Batch, Offset, PartitionId, RecordId};
use crate::stored::Stored;

/// A fetch that waits for records.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    from: NodeId,
    call: u64,
    offset: Offset,
    max: u32,
}

#[derive(Debug)]
pub(crate) struct Partition {
    id: PartitionId,
    log: LogId,
    batches: Vec<Batch>,
    shown: Offset,
    waiting: Vec<Waiting>,
    /// The last record of each sender, to notice what was appended before.
    last: Vec<RecordId>,
}

impl Partition {
    /// Reads the log back from disk, up to the first entry that cannot be read.
    pub(crate) fn recover(
        context: &mut Context<'_, Streams>,
        id: PartitionId,
        name: &str,
        bugs: Bugs,
    ) -> Self {
        let disk = context.disk();
        let log = disk.log(name);
        let mut batches: Vec<Batch> = Vec::new();
        for entry in disk.entries(log) {
            let Ok(Stored::Batch(batch)) = entry else { break };
            batches.push(batch.clone());
        }
        if batches.len() < disk.len(log) {
            if !bugs.has(Bug::DamagedTailKept) {
                disk.truncate(log, batches.len());
            }
            context.probe(probes::LOG_DAMAGED);
        }
        let shown = batches.last().map_or(Offset(0), Batch::end);
        let mut partition =
            Self { id, log, batches: Vec::new(), shown, waiting: Vec::new(), last: Vec::new() };
        for batch in &batches {
            partition.remember(batch);
        }
        partition.batches = batches;
        partition
    }

    pub(crate) fn id(&self) -> PartitionId {
        self.id
    }

    /// The offset of the next record.
    pub(crate) fn end(&self) -> Offset {
        self.batches.last().map_or(Offset(0), Batch::end)
    }

    /// The end of what readers see.
    pub(crate) fn shown(&self) -> Offset {
        self.shown
    }

    pub(crate) fn append(
        &mut self,
        context: &mut Context<'_, Streams>,
        batch: Batch,
    ) -> Result<(), DiskFull> {
        context.append(self.log, Stored::Batch(batch.clone()))?;
        if self.remember(&batch) {
            context.probe(probes::APPEND_DUPLICATED);
        }
        self.batches.push(batch);
        Ok(())
    }

    /// Lets readers see the log up to an offset, and answers those who waited.
    pub(crate) fn show(&mut self, context: &mut Context<'_, Streams>, end: Offset) {
        self.shown = self.shown.max(end);
        let shown = self.shown;
        let (ready, waiting) =
            std::mem::take(&mut self.waiting).into_iter().partition(|fetch| fetch.offset < shown);
        self.waiting = waiting;
        let ready: Vec<Waiting> = ready;
        for fetch in ready {
            self.answer(context, fetch);
        }
    }

    pub(crate) fn fetch(
        &mut self,
        context: &mut Context<'_, Streams>,
        from: NodeId,
        call: u64,
        offset: Offset,
        max: u32,
    ) {
        // A client has one fetch of a partition at a time: a newer one replaces it.
        self.waiting.retain(|fetch| fetch.from != from);
        let fetch = Waiting { from, call, offset, max };
        if offset > self.shown {
            context.send(from, Message::Reply(call, Reply::OutOfRange(self.shown)));
        } else if offset == self.shown {
            self.waiting.push(fetch);
        } else {
            self.answer(context, fetch);
        }
    }

    fn answer(&self, context: &mut Context<'_, Streams>, fetch: Waiting) {
        let first = self.batches.partition_point(|batch| batch.end() <= fetch.offset);
        let mut records = 0;
        let batches: Rc<[Batch]> = self.batches[first..]
            .iter()
            .take_while(|batch| {
                let fits = records < fetch.max as usize && batch.end() <= self.shown;
                records += batch.records.len();
                fits
            })
            .cloned()
            .collect();
        context.send(fetch.from, Message::Reply(fetch.call, Reply::Fetched(batches, self.shown)));
    }

    /// Keeps the last record of each sender; whether the batch begins with one that was there before.
    fn remember(&mut self, batch: &Batch) -> bool {
        let (Some(first), Some(last)) = (batch.records.first(), batch.records.last()) else { return false };
        match self.last.iter_mut().find(|known| known.sender == last.id.sender) {
            Some(known) => {
                let before = first.id <= *known;
                *known = last.id.max(*known);
                before
            }
            None => {
                self.last.push(last.id);
                false
            }
        }
    }
}
