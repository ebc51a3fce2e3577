//! The observer: a fresh client that, after the faults have healed, waits until everything has been
//! caught up with, then reads all logs and sinks and ends the run.

use std::rc::Rc;
use std::sync::Arc;

use millpond_sim::time::{Instant, Span};
use millpond_sim::{Actor, Context, NodeId};

use crate::call::Calls;
use crate::catalog::{Catalog, Target};
use crate::message::{Message, Reply, Request, Streams};
use crate::note::Note;
use crate::probes;
use crate::record::{Batch, Generation, GroupId, Offset, PartitionId, Position, Record};

/// The time from one look to the next.
const LOOK_EVERY: Span = Span::from_millis(200);

/// How long everything must have stood still: longer than the time-outs after which a client that
/// has had no answer does something.
const STILL_FOR: Span = Span::from_millis(1_500);

const TIMEOUT: Span = Span::from_millis(300);

const LOOK: u64 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    End(PartitionId),
    Offsets(GroupId),
    Backlog,
    Log(PartitionId),
    Sink(u16),
}

/// What one look has shown so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Look {
    ends: Vec<Offset>,
    positions: Vec<Vec<Position>>,
    backlog: u64,
}

/// The actor of the observer.
pub(crate) struct Observer {
    catalog: Arc<Catalog>,
    /// When the faults have healed, and when waiting ends.
    heals_at: Instant,
    until: Instant,
    calls: Calls<Why>,
    look: Look,
    /// The last look at which nothing was left to do, and since when it was like this.
    still: Option<(Look, Instant)>,
    looked: bool,
    reading: bool,
    logs: Vec<Vec<Record>>,
}

impl Observer {
    pub(crate) fn new(catalog: Arc<Catalog>, heals_at: Instant, until: Instant) -> Self {
        let logs = vec![Vec::new(); catalog.partitions.len()];
        Self {
            catalog,
            heals_at,
            until,
            calls: Calls::new(0),
            look: Look::default(),
            still: None,
            looked: false,
            reading: false,
            logs,
        }
    }

    fn begin_look(&mut self, context: &mut Context<'_, Streams>) {
        let catalog = self.catalog.clone();
        self.look = Look {
            ends: vec![Offset(0); catalog.partitions.len()],
            positions: vec![Vec::new(); catalog.groups.len()],
            backlog: 0,
        };
        for node in catalog.producers.iter().flat_map(|producer| &producer.nodes) {
            self.calls.send(context, *node, Request::Backlog, TIMEOUT, Why::Backlog);
        }
        // Positions before ends: what is appended between the two makes a lag, never hides one.
        for (index, group) in catalog.groups.iter().enumerate() {
            let id = GroupId(index as u16);
            let (to, request) = match group.target {
                Target::Sink(sink) if group.positions_in_sink => {
                    let slots: Rc<[u32]> = (0..catalog.slots(id)).collect();
                    (catalog.sinks[sink].node, Request::Positions(id, Generation(0), slots))
                }
                _ => (group.coordinator, Request::Committed(id)),
            };
            self.calls.send(context, to, request, TIMEOUT, Why::Offsets(id));
        }
        for (index, info) in catalog.partitions.iter().enumerate() {
            let id = PartitionId(index as u16);
            self.calls.send(context, info.leader, Request::End(id), TIMEOUT, Why::End(id));
        }
    }

    /// Every answer of a look is there.
    fn end_look(&mut self, context: &mut Context<'_, Streams>) {
        let lags: Vec<(GroupId, u64)> = (0..self.catalog.groups.len() as u16)
            .map(|group| (GroupId(group), self.lag(GroupId(group))))
            .collect();
        let now = context.monotonic();
        let backlog = self.look.backlog;
        let behind = backlog > 0 || lags.iter().any(|(_, lag)| *lag > 0);
        if behind {
            if !self.looked {
                context.probe(probes::LAG_SEEN);
            }
            self.still = None;
        } else {
            match &self.still {
                Some((look, since)) if *look == self.look => {
                    if now - *since >= STILL_FOR {
                        context.note(Note::Settled);
                        return self.begin_reading(context);
                    }
                }
                _ => self.still = Some((self.look.clone(), now)),
            }
        }
        self.looked = true;
        if now >= self.until {
            context.note(Note::Lag(lags.into(), backlog));
            return self.begin_reading(context);
        }
        let wait = if self.still.is_some() { STILL_FOR } else { LOOK_EVERY };
        context.set_timer(wait, LOOK);
    }

    fn lag(&self, group: GroupId) -> u64 {
        let positions = &self.look.positions[group.0 as usize];
        let topics = self.catalog.group(group).inputs.iter();
        let partitions = topics.flat_map(|topic| &self.catalog.topics[*topic].partitions);
        partitions
            .map(|partition| {
                let end = self.look.ends[partition.index()];
                let position = positions.iter().find(|position| position.partition == *partition);
                end.0.saturating_sub(position.map_or(0, |position| position.offset.0))
            })
            .sum()
    }

    fn begin_reading(&mut self, context: &mut Context<'_, Streams>) {
        self.reading = true;
        for index in 0..self.catalog.partitions.len() {
            self.read_log(context, PartitionId(index as u16));
        }
        let catalog = self.catalog.clone();
        for (index, sink) in catalog.sinks.iter().enumerate() {
            self.calls.send(context, sink.node, Request::Dump, TIMEOUT, Why::Sink(index as u16));
        }
        self.finish_if_done(context);
    }

    /// Reads on in a partition, up to the end that the last look has shown.
    fn read_log(&mut self, context: &mut Context<'_, Streams>, partition: PartitionId) {
        let read = &self.logs[partition.index()];
        let offset = Offset(read.len() as u64);
        if offset >= self.look.ends[partition.index()] {
            let records = read.as_slice().into();
            return context.note(Note::LogRead(partition, records));
        }
        let request = Request::Fetch { from: Position { partition, offset }, max: u32::MAX };
        self.calls.send(context, self.catalog.leader(partition), request, TIMEOUT, Why::Log(partition));
    }

    fn finish_if_done(&mut self, context: &mut Context<'_, Streams>) {
        if self.reading && self.calls.len() == 0 {
            context.finish();
        }
    }
}

impl Actor<Streams> for Observer {
    fn start(&mut self, context: &mut Context<'_, Streams>) {
        let now = context.monotonic();
        context.set_timer(self.heals_at - now, LOOK);
    }

    fn message(&mut self, context: &mut Context<'_, Streams>, _from: NodeId, message: Message) {
        let Message::Reply(call, reply) = message else { return };
        let Some(call) = self.calls.settle(context, call) else { return };
        match (call.why, reply) {
            (Why::End(partition), Reply::End(end)) => self.look.ends[partition.index()] = end,
            (Why::Offsets(group), Reply::Offsets(positions)) => {
                self.look.positions[group.0 as usize] = positions.to_vec();
            }
            (Why::Backlog, Reply::Backlog(backlog)) => self.look.backlog += backlog,
            (Why::Log(partition), Reply::Fetched(batches, _)) => {
                let log = &mut self.logs[partition.index()];
                batches
                    .iter()
                    .map(Batch::iter)
                    .for_each(|records| log.extend(records.map(|(_, record)| *record)));
                self.read_log(context, partition);
            }
            (Why::Sink(sink), Reply::Content(dump)) => context.note(Note::SinkRead(sink, dump)),
            _ => {}
        }
        if self.reading {
            self.finish_if_done(context);
        } else if self.calls.len() == 0 {
            self.end_look(context);
        }
    }

    fn timer(&mut self, context: &mut Context<'_, Streams>, token: u64) {
        if token == LOOK {
            return self.begin_look(context);
        }
        let now = context.monotonic();
        // Who does not answer until the end is counted as behind.
        if now >= self.until && !self.reading {
            let unanswered: Vec<Why> = self.calls.iter().map(|call| call.why).collect();
            self.calls.drop_where(context, |_| true);
            self.look.backlog += unanswered.len() as u64;
            return self.end_look(context);
        }
        self.calls.retry(context, token);
    }
}
