//! A log broker: keeps partitions as logs on its disk, and coordinates consumer groups.
//!
//! | module | what it is |
//! |--------|------------|
//! | [`partition`] | one partition's log: append, read, recover |
//! | [`group`] | one consumer group: members, generations, rebalance |

mod group;
mod partition;

use std::rc::Rc;
use std::sync::Arc;

use millpond_sim::disk::{LogId, SyncFailed, SyncId};
use millpond_sim::time::{Instant, Span};
use millpond_sim::{Actor, Context, NodeId, TimerId};

use self::group::{Group, Joined};
use self::partition::Partition;
use crate::bugs::Bug;
use crate::catalog::Catalog;
use crate::flush::Flush;
use crate::message::{Message, Refusal, Reply, Request, Streams};
use crate::points;
use crate::probes;
use crate::record::{Batch, Generation, GroupId, Offset, PartitionId, Position, Record};
use crate::scenario::schema::{Brokers, Flush as FlushPolicy};
use crate::sink::RESTART;
use crate::stored::Stored;

/// With `AfterAck`, how long an append may wait for its sync.
const LAZY_FLUSH: Span = Span::from_secs(1);

/// Timer tokens: a lazy flush, and above it one for each group.
const FLUSH_TOKEN: u64 = 0;
const GROUP_TOKENS: u64 = 1;

/// What waits for the disk.
#[derive(Debug)]
enum Durable {
    Append { partition: PartitionId, end: Offset, answer: Option<(NodeId, u64, Offset)> },
    Commit { group: GroupId, positions: Rc<[Position]>, answer: (NodeId, u64) },
    Generation { group: GroupId, joined: Vec<Joined> },
    Lazy,
}

/// The actor of a broker.
pub(crate) struct Broker {
    catalog: Arc<Catalog>,
    options: Brokers,
    partitions: Vec<Partition>,
    groups: Vec<Group>,
    offsets: Option<LogId>,
    flush: Flush<Durable>,
    lazy_flush_set: bool,
    /// The timer of each group of `groups`.
    group_timers: Vec<Option<TimerId>>,
}

impl Broker {
    pub(crate) fn new(catalog: Arc<Catalog>, options: Brokers) -> Self {
        Self {
            catalog,
            options,
            partitions: Vec::new(),
            groups: Vec::new(),
            offsets: None,
            flush: Flush::new(),
            lazy_flush_set: false,
            group_timers: Vec::new(),
        }
    }

    fn has(&self, bug: Bug) -> bool {
        self.catalog.bugs.has(bug)
    }

    /// The time by which members and rebalances are judged.
    fn now(&self, context: &mut Context<'_, Streams>) -> Instant {
        if self.has(Bug::WallClockDeadlines) {
            return Instant::from_nanos(context.wall().as_nanos().max(0).cast_unsigned());
        }
        context.monotonic()
    }

    fn partition(&mut self, id: PartitionId) -> Option<&mut Partition> {
        self.partitions.iter_mut().find(|partition| partition.id() == id)
    }

    fn group(&mut self, id: GroupId) -> Option<&mut Group> {
        self.groups.iter_mut().find(|group| group.id() == id)
    }

    fn produce(
        &mut self,
        context: &mut Context<'_, Streams>,
        id: PartitionId,
        records: Rc<[Record]>,
        answer: Option<(NodeId, u64)>,
    ) {
        let (policy, bugs) = (self.options.flush, self.catalog.bugs);
        let Some(partition) = self.partition(id) else { return };
        let batch = Batch { base: partition.end(), records };
        context.point(points::BEFORE_APPEND);
        if partition.append(context, batch.clone()).is_err() {
            context.probe(probes::APPEND_REFUSED);
            if let Some((to, call)) = answer {
                let reply = match bugs.has(Bug::FullDiskAcknowledged) {
                    true => Reply::Produced(batch.base),
                    false => Reply::Refused(Refusal::DiskFull),
                };
                context.send(to, Message::Reply(call, reply));
            }
            return;
        }
        context.point(points::AFTER_APPEND);
        match policy {
            FlushPolicy::BeforeAck => {
                if bugs.has(Bug::ShownBeforeDurable) {
                    partition.show(context, batch.end());
                }
                let answer = answer.map(|(to, call)| (to, call, batch.base));
                let then = Durable::Append { partition: id, end: batch.end(), answer };
                self.flush.after_sync(context, then);
            }
            FlushPolicy::AfterAck => {
                partition.show(context, batch.end());
                if let Some((to, call)) = answer {
                    context.send(to, Message::Reply(call, Reply::Produced(batch.base)));
                }
                if !self.lazy_flush_set {
                    self.lazy_flush_set = true;
                    context.set_timer(LAZY_FLUSH, FLUSH_TOKEN);
                }
            }
        }
    }

    fn commit(
        &mut self,
        context: &mut Context<'_, Streams>,
        id: GroupId,
        generation: Generation,
        positions: Rc<[Position]>,
        answer: (NodeId, u64),
    ) {
        let (log, bugs) = (self.offsets, self.catalog.bugs);
        let (Some(group), Some(log)) = (self.group(id), log) else { return };
        let refusal = if !group.owns(answer.0, generation) && !bugs.has(Bug::StaleCommitTaken) {
            context.probe(probes::COMMIT_REFUSED);
            Some(Refusal::StaleGeneration)
        } else if group.is_overtaken(answer, &positions) && !bugs.has(Bug::LateCommitTaken) {
            // Its member has gone on: no answer is waited for.
            return context.probe(probes::LATE_COMMIT_IGNORED);
        } else if context.append(log, Stored::Commit(id, positions.clone())).is_err()
            && !bugs.has(Bug::CommitWithoutSpace)
        {
            Some(Refusal::DiskFull)
        } else {
            None
        };
        match refusal {
            Some(refusal) => context.send(answer.0, Message::Reply(answer.1, Reply::Refused(refusal))),
            None => {
                let then = Durable::Commit { group: id, positions, answer };
                if bugs.has(Bug::CommitInMemory) {
                    return self.on_done(context, then);
                }
                self.flush.after_sync(context, then);
            }
        }
    }

    /// Ends a rebalance that can end: the new generation is stored before any member learns of it.
    fn complete(&mut self, context: &mut Context<'_, Streams>, id: GroupId, now: Instant) {
        let (log, bugs) = (self.offsets, self.catalog.bugs);
        let (Some(group), Some(log)) = (self.group(id), log) else { return };
        let Some(joined) = group.complete(now) else { return };
        let generation = group.generation();
        if generation > Generation(1) {
            context.probe(probes::REBALANCED);
        }
        if context.append(log, Stored::Generation(id, generation)).is_ok() {
            self.flush.after_sync(context, Durable::Generation { group: id, joined });
        } else if let Some(group) = self.group(id).filter(|_| !bugs.has(Bug::StuckStoring)) {
            group.postpone(joined, now);
        }
    }

    fn watch_group(&mut self, context: &mut Context<'_, Streams>, id: GroupId, now: Instant) {
        let Some(at) = self.groups.iter().position(|group| group.id() == id) else { return };
        if let Some(timer) = self.group_timers[at].take() {
            context.cancel_timer(timer);
        }
        if let Some(wait) = self.groups[at].next_deadline(now) {
            self.group_timers[at] = Some(context.set_timer(wait, GROUP_TOKENS + u64::from(id.0)));
        }
    }

    fn on_done(&mut self, context: &mut Context<'_, Streams>, done: Durable) {
        match done {
            Durable::Append { partition, end, answer } => {
                if let Some(partition) = self.partition(partition) {
                    partition.show(context, end);
                }
                if let Some((to, call, base)) = answer {
                    context.send(to, Message::Reply(call, Reply::Produced(base)));
                }
            }
            Durable::Commit { group, positions, answer: (to, call) } => {
                if let Some(group) = self.group(group) {
                    group.committed(&positions);
                }
                context.send(to, Message::Reply(call, Reply::CommitDone));
            }
            Durable::Generation { group: id, joined } => {
                let now = self.now(context);
                if let Some(group) = self.group(id) {
                    for Joined { member, call, slots, generation } in joined {
                        context.send(member, Message::Reply(call, Reply::Joined(generation, slots)));
                    }
                    group.announced(now);
                }
                self.complete(context, id, now);
                self.watch_group(context, id, now);
            }
            Durable::Lazy => {}
        }
    }
}

impl Actor<Streams> for Broker {
    fn start(&mut self, context: &mut Context<'_, Streams>) {
        let catalog = self.catalog.clone();
        let me = context.node();
        for (index, info) in catalog.partitions.iter().enumerate().filter(|(_, info)| info.leader == me) {
            let name = format!("{}-{}", catalog.topics[info.topic].name, info.number);
            self.partitions.push(Partition::recover(context, PartitionId(index as u16), &name, catalog.bugs));
        }
        let log = context.disk().log("offsets");
        self.offsets = Some(log);
        for (index, info) in catalog.groups.iter().enumerate().filter(|(_, info)| info.coordinator == me) {
            let id = GroupId(index as u16);
            let (slots, rebalance) = (catalog.slots(id), self.options.rebalance);
            self.groups.push(Group::new(id, slots, info.session, rebalance, catalog.bugs));
            self.group_timers.push(None);
        }
        let disk = context.disk();
        let mut intact = 0;
        for entry in disk.entries(log) {
            match entry {
                Ok(Stored::Commit(id, positions)) => {
                    if let Some(group) = self.groups.iter_mut().find(|group| group.id() == *id) {
                        group.committed(positions);
                    }
                }
                Ok(Stored::Generation(id, generation)) => {
                    if let Some(group) = self.groups.iter_mut().find(|group| group.id() == *id) {
                        group.restore(*generation);
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
    }

    fn message(&mut self, context: &mut Context<'_, Streams>, from: NodeId, message: Message) {
        let Message::Request(call, request) = message else { return };
        let now = self.now(context);
        match request {
            Request::Produce { partition, records, acks } => {
                self.produce(context, partition, records, acks.then_some((from, call)));
            }
            Request::Fetch { from: position, max } => {
                if let Some(partition) = self.partition(position.partition) {
                    partition.fetch(context, from, call, position.offset, max);
                }
            }
            Request::End(partition) => {
                if let Some(partition) = self.partition(partition) {
                    context.send(from, Message::Reply(call, Reply::End(partition.shown())));
                }
            }
            Request::Join(id) => {
                if let Some(group) = self.group(id) {
                    group.join(from, call, now);
                    self.complete(context, id, now);
                    self.watch_group(context, id, now);
                }
            }
            Request::Leave(id) => {
                if let Some(group) = self.group(id) {
                    group.leave(from, now);
                    self.complete(context, id, now);
                    self.watch_group(context, id, now);
                }
            }
            Request::Heartbeat(id, generation) => {
                if let Some(group) = self.group(id) {
                    context.send(from, Message::Reply(call, group.heartbeat(from, generation, now)));
                }
            }
            Request::Commit(id, generation, positions) => {
                self.commit(context, id, generation, positions, (from, call));
            }
            Request::Committed(id) => {
                if let Some(group) = self.group(id) {
                    context.send(from, Message::Reply(call, Reply::Offsets(group.offsets())));
                }
            }
            Request::Write(_)
            | Request::Positions(..)
            | Request::Read(..)
            | Request::Dump
            | Request::Backlog => {}
        }
    }

    fn timer(&mut self, context: &mut Context<'_, Streams>, token: u64) {
        if token == FLUSH_TOKEN {
            self.lazy_flush_set = false;
            return self.flush.after_sync(context, Durable::Lazy);
        }
        let id = GroupId((token - GROUP_TOKENS) as u16);
        let now = self.now(context);
        if let Some(group) = self.group(id) {
            for _ in 0..group.expire(now) {
                context.probe(probes::SESSION_EXPIRED);
            }
            self.complete(context, id, now);
            self.watch_group(context, id, now);
        }
    }

    fn synced(&mut self, context: &mut Context<'_, Streams>, sync: SyncId, result: Result<(), SyncFailed>) {
        if result.is_err() && !self.has(Bug::FailedSyncIgnored) {
            context.probe(probes::SYNC_FAILED);
            return context.abort(RESTART);
        }
        for done in self.flush.synced(context, sync) {
            self.on_done(context, done);
        }
    }
}
