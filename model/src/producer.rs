//! A producer: sends the records of its workload, in batches for each partition, and tells what it
//! was told of them.
//!
//! While as many requests as allowed are unanswered, records wait and go out together, as in Kafka's
//! accumulator. Records that were due while the node was down are never sent; records in its memory
//! die with it. Event times never run backwards, even where the wall clock does.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use millpond_sim::time::{Instant, Span};
use millpond_sim::{Actor, Context, NodeId};

use crate::bugs::Bug;
use crate::call::Calls;
use crate::catalog::Catalog;
use crate::message::{Message, Refusal, Reply, Request, Streams};
use crate::note::Note;
use crate::probes;
use crate::record::{Key, Kind, Offset, PartitionId, Position, Record, RecordId};
use crate::scenario::schema::{Acks, Producer as Options, ReadWhen};

/// The most records of one request.
const BATCH: usize = 100;

/// The time from one watermark to the next.
const WATERMARK_EVERY: Span = Span::from_millis(200);

const NEXT: u64 = 0;
const WATERMARK: u64 = 1;

/// A record to be sent at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) at: Instant,
    pub(crate) key: Key,
    pub(crate) value: i64,
}

/// What the producer is set up with.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) topic: usize,
    pub(crate) options: Arc<Options>,
    /// The sink to read back from, and when.
    pub(crate) read_back: Option<(NodeId, ReadWhen)>,
    /// In the order of time.
    pub(crate) work: Rc<[Due]>,
}

#[derive(Debug)]
enum Why {
    Produce(PartitionId, Rc<[Record]>),
    ReadBack(Key, Position),
}

#[derive(Debug)]
struct Lane {
    partition: PartitionId,
    waiting: VecDeque<Record>,
    in_flight: u32,
    /// Where the next record lies, as far as the producer knows.
    end: Offset,
}

/// The actor of a producer.
pub(crate) struct Producer {
    setup: Setup,
    next: usize,
    numbered: u32,
    last_time: i64,
    lanes: Vec<Lane>,
    calls: Calls<Why>,
    final_watermark_sent: bool,
}

impl Producer {
    pub(crate) fn new(setup: Setup, incarnation: u32) -> Self {
        let partitions = &setup.catalog.topics[setup.topic].partitions;
        let lane = |partition: &PartitionId| Lane {
            partition: *partition,
            waiting: VecDeque::new(),
            in_flight: 0,
            end: Offset(0),
        };
        Self {
            lanes: partitions.iter().map(lane).collect(),
            setup,
            next: 0,
            numbered: 0,
            last_time: i64::MIN,
            calls: Calls::new(incarnation),
            final_watermark_sent: false,
        }
    }

    fn has(&self, bug: Bug) -> bool {
        self.setup.catalog.bugs.has(bug)
    }

    fn watermarked(&self) -> bool {
        self.setup.catalog.topics[self.setup.topic].watermarked
    }

    fn record(
        &mut self,
        context: &Context<'_, Streams>,
        key: Key,
        value: i64,
        time: i64,
        kind: Kind,
    ) -> Record {
        let id =
            RecordId { sender: context.node(), life: context.incarnation() as u16, number: self.numbered };
        self.numbered += 1;
        Record { id, key, value, time, kind }
    }

    /// Puts the records that are due into their lanes, and sets the timer for the next one.
    fn take_due(&mut self, context: &mut Context<'_, Streams>) {
        let now = context.monotonic();
        let work = self.setup.work.clone();
        while let Some(due) = work.get(self.next).filter(|due| due.at <= now) {
            self.next += 1;
            let mut time = context.wall().as_nanos();
            if !self.has(Bug::TimeRunsBack) {
                time = time.max(self.last_time.saturating_add(1));
            }
            self.last_time = time;
            let record = self.record(context, due.key, due.value, time, Kind::Data);
            let partition = self.setup.catalog.partition_for(self.setup.topic, due.key);
            self.enqueue(context, partition, record);
        }
        match work.get(self.next) {
            Some(due) => drop(context.set_timer(due.at - now, NEXT)),
            None if self.watermarked() && !self.final_watermark_sent => {
                self.final_watermark_sent = true;
                self.send_watermark(context, i64::MAX);
            }
            None => {}
        }
    }

    fn send_watermark(&mut self, context: &mut Context<'_, Streams>, time: i64) {
        for at in 0..self.lanes.len() {
            let record = self.record(context, Key::new(0), 0, time, Kind::Watermark);
            let partition = self.lanes[at].partition;
            self.enqueue(context, partition, record);
        }
    }

    fn enqueue(&mut self, context: &mut Context<'_, Streams>, partition: PartitionId, record: Record) {
        if let Some(lane) = self.lanes.iter().position(|lane| lane.partition == partition) {
            self.lanes[lane].waiting.push_back(record);
            self.send_lane(context, lane);
        }
    }

    fn send_lane(&mut self, context: &mut Context<'_, Streams>, lane: usize) {
        let options = self.setup.options.clone();
        let acks = options.acks == Acks::Stored;
        let lane = &mut self.lanes[lane];
        while !lane.waiting.is_empty() && (!acks || lane.in_flight < options.in_flight) {
            let count = lane.waiting.len().min(BATCH);
            let records: Rc<[Record]> = lane.waiting.drain(..count).collect();
            let to = self.setup.catalog.leader(lane.partition);
            let request = Request::Produce { partition: lane.partition, records: records.clone(), acks };
            if acks {
                lane.in_flight += 1;
                self.calls.send(context, to, request, options.timeout, Why::Produce(lane.partition, records));
            } else {
                context.send(to, Message::Request(0, request));
                context.note(Note::SendUnknown(lane.partition, records));
            }
        }
    }

    /// A request that was sent so often has ended, one way or the other.
    fn ended(&mut self, context: &mut Context<'_, Streams>, partition: PartitionId, sent: u32) {
        // With this bug, the lane was freed when the request timed out first.
        if sent == 1 || !self.has(Bug::NextBesideRetry) {
            self.free_lane(context, partition);
        }
    }

    /// The lane is free for the next request.
    fn free_lane(&mut self, context: &mut Context<'_, Streams>, partition: PartitionId) {
        if let Some(lane) = self.lanes.iter().position(|lane| lane.partition == partition) {
            self.lanes[lane].in_flight -= 1;
            self.send_lane(context, lane);
        }
    }

    /// Sends records no more: no one knows whether they are stored.
    fn give_up(&mut self, context: &mut Context<'_, Streams>, partition: PartitionId, records: Rc<[Record]>) {
        context.probe(probes::SEND_GIVEN_UP);
        let lane = self.lanes.iter().find(|lane| lane.partition == partition);
        match lane.filter(|_| self.has(Bug::GivenUpAcknowledged)) {
            Some(lane) => context.note(Note::Acknowledged(Position { partition, offset: lane.end }, records)),
            None => context.note(Note::SendUnknown(partition, records)),
        }
    }

    fn read_back(
        &mut self,
        context: &mut Context<'_, Streams>,
        partition: PartitionId,
        base: Offset,
        records: &[Record],
    ) {
        let Some((sink, when)) = self.setup.read_back else { return };
        for (record, offset) in records.iter().zip(base.0..) {
            let at = Position { partition, offset: Offset(offset) };
            let until = match when {
                ReadWhen::Acknowledged => None,
                ReadWhen::Processed => Some(at),
            };
            let request = Request::Read(record.key, until);
            self.calls.send(
                context,
                sink,
                request,
                self.setup.options.timeout,
                Why::ReadBack(record.key, at),
            );
        }
    }

    /// How many records are still to be sent or answered.
    fn backlog(&self) -> u64 {
        let waiting: usize = self.lanes.iter().map(|lane| lane.waiting.len()).sum();
        (self.setup.work.len() - self.next + waiting + self.calls.len()) as u64
    }
}

impl Actor<Streams> for Producer {
    fn start(&mut self, context: &mut Context<'_, Streams>) {
        if context.incarnation() > 0 {
            let now = context.monotonic();
            self.next = self.setup.work.partition_point(|due| due.at <= now);
        }
        self.take_due(context);
        if self.watermarked() {
            context.set_timer(WATERMARK_EVERY, WATERMARK);
        }
    }

    fn message(&mut self, context: &mut Context<'_, Streams>, from: NodeId, message: Message) {
        let (call, reply) = match message {
            Message::Request(call, Request::Backlog) => {
                return context.send(from, Message::Reply(call, Reply::Backlog(self.backlog())));
            }
            Message::Request(..) => return,
            Message::Reply(call, reply) => (call, reply),
        };
        // A refusal is no end: the request is sent again when its timer fires.
        if let Reply::Refused(Refusal::DiskFull) = reply {
            if self.has(Bug::LaneHeld) {
                self.calls.settle(context, call);
            }
            return;
        }
        let Some(call) = self.calls.settle(context, call) else { return };
        match (call.why, reply) {
            (Why::Produce(partition, records), Reply::Produced(base)) => {
                context.note(Note::Acknowledged(Position { partition, offset: base }, records.clone()));
                if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.partition == partition) {
                    lane.end = Offset(base.0 + records.len() as u64);
                }
                self.read_back(context, partition, base, &records);
                self.ended(context, partition, call.sent);
            }
            (Why::ReadBack(key, at), Reply::Row(row)) => {
                context.probe(probes::READ_BACK);
                context.note(Note::ReadBack(key, at, row.map(|(_, from)| from)));
            }
            _ => {}
        }
    }

    fn timer(&mut self, context: &mut Context<'_, Streams>, token: u64) {
        if token == NEXT {
            return self.take_due(context);
        }
        if token == WATERMARK {
            if !self.final_watermark_sent {
                if self.last_time > i64::MIN {
                    self.send_watermark(context, self.last_time);
                }
                context.set_timer(WATERMARK_EVERY, WATERMARK);
            }
            return;
        }
        let retries = self.setup.options.retries;
        match self.calls.timed_out(token).map(|call| (call.sent, &call.why)) {
            Some((sent, Why::Produce(partition, records))) if sent > retries => {
                let (partition, records) = (*partition, records.clone());
                self.calls.settle(context, token);
                self.give_up(context, partition, records);
                self.ended(context, partition, sent);
            }
            Some((sent, why)) => {
                if let Why::Produce(partition, _) = why {
                    let partition = *partition;
                    context.probe(probes::APPEND_RESENT);
                    if sent == 1 && self.has(Bug::NextBesideRetry) {
                        self.free_lane(context, partition);
                    }
                }
                self.calls.retry(context, token);
            }
            None => {}
        }
    }
}
