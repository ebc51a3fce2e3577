//! What nodes of a stream system send each other: requests and replies, paired by a call number.

use std::rc::Rc;

use millpond_sim::{Message as SimMessage, Protocol, digest};

use crate::note::Note;
use crate::record::{Batch, Generation, GroupId, Key, Offset, PartitionId, Position, Record};
use crate::sink::{Dump, WriteBatch};
use crate::stored::Stored;

/// The protocol of stream systems.
#[derive(Clone, Copy, Debug)]
pub struct Streams;

impl Protocol for Streams {
    type Message = Message;
    type Stored = Stored;
    type Note = Note;
}

/// A request or the reply to one.
#[derive(Clone, Debug)]
pub enum Message {
    /// A request, with the caller's number for it.
    Request(u64, Request),
    /// The reply to the request with this number.
    Reply(u64, Reply),
}

/// What a node asks of another.
#[derive(Clone, Debug)]
pub enum Request {
    /// To a broker: append these records.
    Produce {
        /// Where to.
        partition: PartitionId,
        /// The records.
        records: Rc<[Record]>,
        /// Whether an answer is wanted.
        acks: bool,
    },
    /// To a broker: the records from this place on, as soon as there are any.
    Fetch {
        /// Where from.
        from: Position,
        /// About how many at most; batches are given whole.
        max: u32,
    },
    /// To a broker: the end of a partition.
    End(PartitionId),
    /// To a coordinator: let me be a member.
    Join(GroupId),
    /// To a coordinator: I am leaving.
    Leave(GroupId),
    /// To a coordinator: I am alive.
    Heartbeat(GroupId, Generation),
    /// To a coordinator: these are the group's next offsets.
    Commit(GroupId, Generation, Rc<[Position]>),
    /// To a coordinator: what are the group's next offsets?
    Committed(GroupId),
    /// To a sink: apply these writes together.
    Write(Rc<WriteBatch>),
    /// To a sink: which input positions are stored beside the output of this group? A generation
    /// makes older writers of these partitions stale.
    Positions(GroupId, Generation, Rc<[u32]>),
    /// To a sink: the row of a key, once the input has been processed up to a position.
    Read(Key, Option<Position>),
    /// To a sink: everything.
    Dump,
    /// To a producer: how many records are still to be sent or acknowledged?
    Backlog,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Appended, the first record at this offset.
    Produced(Offset),
    /// Not done, for sure.
    Refused(Refusal),
    /// Records from the asked place on, and the end of what can be read.
    Fetched(Rc<[Batch]>, Offset),
    /// The asked place is not in the log, which ends here.
    OutOfRange(Offset),
    /// The end of a partition.
    End(Offset),
    /// A member of this generation, with these partition numbers.
    Joined(Generation, Rc<[u32]>),
    /// Still a member.
    Alive,
    /// A rebalance is on: join again.
    Rebalance,
    /// The offsets are stored.
    CommitDone,
    /// The group's next offsets, where it has any.
    Offsets(Rc<[Position]>),
    /// The writes are applied and durable.
    Written,
    /// The row: its value and the input position that wrote it last.
    Row(Option<(i64, Position)>),
    /// The content of a sink.
    Content(Rc<Dump>),
    /// How many records are still to be sent or acknowledged.
    Backlog(u64),
}

/// Why a request was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No space on the disk.
    DiskFull,
    /// The generation is not the group's, or the caller is no member.
    StaleGeneration,
    /// The sink has seen a newer owner of the partition.
    Fenced,
    /// The position stored with the output is not the one that the writer goes on from.
    PositionMoved,
}

/// A kind of message, as `Sends` and `Receives` of a trigger name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindInfo {
    /// The name.
    pub name: &'static str,
    /// From or to whom, and what it says.
    pub about: &'static str,
}

const fn kind(name: &'static str, about: &'static str) -> KindInfo {
    KindInfo { name, about }
}

/// Every kind of message: requests, then replies.
pub const KINDS: &[KindInfo] = &[
    kind("Produce", "to a broker: append these records"),
    kind("Fetch", "to a broker: the records from a place on, as soon as there are any"),
    kind("End", "to a broker: where does a partition end?"),
    kind("Join", "to a coordinator: let me be a member"),
    kind("Leave", "to a coordinator: I am leaving"),
    kind("Heartbeat", "to a coordinator: I am alive"),
    kind("Commit", "to a coordinator: these are the group's next offsets"),
    kind("Committed", "to a coordinator: what are the group's next offsets?"),
    kind("Write", "to a sink: apply these rows together"),
    kind("Positions", "to a sink: which input offsets are stored beside the output?"),
    kind("Read", "to a sink: the row of a key"),
    kind("Dump", "to a sink: everything"),
    kind("Backlog", "to a producer: how many records are still to be sent or acknowledged?"),
    kind("Produced", "from a broker: appended, the first record at this offset"),
    kind("Refused", "from a broker or sink: not done, for sure"),
    kind("Fetched", "from a broker: records"),
    kind("OutOfRange", "from a broker: the asked place is not in the log"),
    kind("EndIs", "from a broker: the end of a partition"),
    kind("Joined", "from a coordinator: a member of this generation, with these partitions"),
    kind("Alive", "from a coordinator: still a member"),
    kind("Rebalance", "from a coordinator: join again"),
    kind("CommitDone", "from a coordinator: the offsets are stored"),
    kind("Offsets", "from a coordinator or sink: the group's next offsets"),
    kind("Written", "from a sink: the rows are applied and durable"),
    kind("Row", "from a sink: the row of a key"),
    kind("Content", "from a sink: everything"),
    kind("BacklogIs", "from a producer: how many are left"),
];

impl Request {
    fn kind(&self) -> &'static str {
        match self {
            Self::Produce { .. } => "Produce",
            Self::Fetch { .. } => "Fetch",
            Self::End(_) => "End",
            Self::Join(_) => "Join",
            Self::Leave(_) => "Leave",
            Self::Heartbeat(..) => "Heartbeat",
            Self::Commit(..) => "Commit",
            Self::Committed(_) => "Committed",
            Self::Write(_) => "Write",
            Self::Positions(..) => "Positions",
            Self::Read(..) => "Read",
            Self::Dump => "Dump",
            Self::Backlog => "Backlog",
        }
    }

    fn digest(&self) -> u64 {
        match self {
            Self::Produce { partition, records, acks } => {
                of(1, u64::from(partition.0) << 1 | u64::from(*acks), of_records(records))
            }
            Self::Fetch { from, max } => of(2, of_position(from), u64::from(*max)),
            Self::End(partition) => of(3, u64::from(partition.0), 0),
            Self::Join(group) => of(4, u64::from(group.0), 0),
            Self::Leave(group) => of(5, u64::from(group.0), 0),
            Self::Heartbeat(group, generation) => of(6, u64::from(group.0), u64::from(generation.0)),
            Self::Commit(group, generation, positions) => {
                of(7, u64::from(group.0) << 32 | u64::from(generation.0), of_positions(positions))
            }
            Self::Committed(group) => of(8, u64::from(group.0), 0),
            Self::Write(batch) => of(9, batch.digest(), 0),
            Self::Positions(group, generation, slots) => {
                of(10, u64::from(group.0) << 32 | u64::from(generation.0), of_slots(slots))
            }
            Self::Read(key, at) => of(11, key.index() as u64, at.as_ref().map_or(0, of_position)),
            Self::Dump => 12,
            Self::Backlog => 13,
        }
    }
}

impl Reply {
    fn kind(&self) -> &'static str {
        match self {
            Self::Produced(_) => "Produced",
            Self::Refused(_) => "Refused",
            Self::Fetched(..) => "Fetched",
            Self::OutOfRange(_) => "OutOfRange",
            Self::End(_) => "EndIs",
            Self::Joined(..) => "Joined",
            Self::Alive => "Alive",
            Self::Rebalance => "Rebalance",
            Self::CommitDone => "CommitDone",
            Self::Offsets(_) => "Offsets",
            Self::Written => "Written",
            Self::Row(_) => "Row",
            Self::Content(_) => "Content",
            Self::Backlog(_) => "BacklogIs",
        }
    }

    fn digest(&self) -> u64 {
        match self {
            Self::Produced(offset) => of(33, offset.0, 0),
            Self::Refused(why) => of(34, *why as u64, 0),
            Self::Fetched(batches, end) => {
                let content = batches
                    .iter()
                    .fold(0, |sum, batch| sum ^ of(0, batch.base.0, of_records(&batch.records)));
                of(35, content, end.0)
            }
            Self::OutOfRange(end) => of(36, end.0, 0),
            Self::End(end) => of(37, end.0, 0),
            Self::Joined(generation, slots) => of(38, u64::from(generation.0), of_slots(slots)),
            Self::Alive => 39,
            Self::Rebalance => 40,
            Self::CommitDone => 41,
            Self::Offsets(positions) => of(42, of_positions(positions), 0),
            Self::Written => 43,
            Self::Row(row) => match row {
                Some((value, position)) => of(44, value.cast_unsigned(), of_position(position)),
                None => 44,
            },
            Self::Content(dump) => of(45, dump.digest(), 0),
            Self::Backlog(backlog) => of(46, *backlog, 0),
        }
    }
}

fn of(kind: u64, one: u64, two: u64) -> u64 {
    digest(&[kind ^ one.rotate_left(8), two])
}

pub(crate) fn of_records(records: &[Record]) -> u64 {
    records.iter().fold(records.len() as u64, |sum, record| sum.rotate_left(5) ^ record.digest())
}

pub(crate) fn of_position(position: &Position) -> u64 {
    u64::from(position.partition.0) << 48 ^ position.offset.0
}

pub(crate) fn of_positions(positions: &[Position]) -> u64 {
    positions.iter().fold(positions.len() as u64, |sum, position| sum.rotate_left(7) ^ of_position(position))
}

fn of_slots(slots: &[u32]) -> u64 {
    slots.iter().fold(slots.len() as u64, |sum, slot| sum.rotate_left(7) ^ u64::from(*slot))
}

impl SimMessage for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_, request) => request.kind(),
            Self::Reply(_, reply) => reply.kind(),
        }
    }

    fn digest(&self) -> u64 {
        match self {
            Self::Request(call, request) => request.digest() ^ call,
            Self::Reply(call, reply) => reply.digest() ^ call,
        }
    }

    fn size(&self) -> u32 {
        let records = match self {
            Self::Request(_, Request::Produce { records, .. }) => records.len(),
            Self::Reply(_, Reply::Fetched(batches, _)) => {
                batches.iter().map(|batch| batch.records.len()).sum()
            }
            Self::Request(_, Request::Write(batch)) => batch.outputs.len(),
            _ => 0,
        };
        64 + 40 * records as u32
    }

    fn is_reply(&self) -> bool {
        matches!(self, Self::Reply(..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::WriteBatch;

    #[test]
    fn the_kinds_are_those_of_the_messages() {
        let (partition, group, generation) = (PartitionId(0), GroupId(0), Generation(0));
        let at = Position { partition, offset: Offset(0) };
        let batch = WriteBatch { group, slot: 0, generation, sequence: 0, outputs: Rc::new([]), moves: None };
        let requests = [
            Request::Produce { partition, records: Rc::new([]), acks: true },
            Request::Fetch { from: at, max: 1 },
            Request::End(partition),
            Request::Join(group),
            Request::Leave(group),
            Request::Heartbeat(group, generation),
            Request::Commit(group, generation, Rc::new([])),
            Request::Committed(group),
            Request::Write(Rc::new(batch)),
            Request::Positions(group, generation, Rc::new([])),
            Request::Read(Key::new(0), None),
            Request::Dump,
            Request::Backlog,
        ];
        let replies = [
            Reply::Produced(Offset(0)),
            Reply::Refused(Refusal::Fenced),
            Reply::Fetched(Rc::new([]), Offset(0)),
            Reply::OutOfRange(Offset(0)),
            Reply::End(Offset(0)),
            Reply::Joined(generation, Rc::new([])),
            Reply::Alive,
            Reply::Rebalance,
            Reply::CommitDone,
            Reply::Offsets(Rc::new([])),
            Reply::Written,
            Reply::Row(None),
            Reply::Content(Rc::default()),
            Reply::Backlog(0),
        ];
        let kinds: Vec<_> =
            requests.iter().map(Request::kind).chain(replies.iter().map(Reply::kind)).collect();
        assert!(kinds.into_iter().eq(KINDS.iter().map(|kind| kind.name)));
    }
}
