//! The history: only what a client could see. Invocations and results, never an actor's insides.
//!
//! A result is one of three: applied, not applied, or unknown (no answer came). An operation whose
//! result is never noted is unknown.

use std::rc::Rc;

use millpond_sim::{Note as SimNote, digest};

use crate::message::{Refusal, of_position, of_positions, of_records};
use crate::record::{Batch, Generation, GroupId, Key, Offset, PartitionId, Position, Record};
use crate::sink::{Dump, WriteBatch};

/// An observation of a client.
#[derive(Clone, Debug)]
pub enum Note {
    /// A producer was told that its records are stored, the first at this position.
    Acknowledged(Position, Rc<[Record]>),
    /// A producer gave up: whether its records are stored is unknown.
    SendUnknown(PartitionId, Rc<[Record]>),
    /// A producer looked for its record, stored at this position, in a view; the view had been
    /// written last, for that key, from the second position.
    ReadBack(Key, Position, Option<Position>),
    /// A member of a group begins to read at these positions, in this generation.
    Assigned(GroupId, Generation, Rc<[Position]>),
    /// A member of a group was given these records on reading from a position.
    Polled(GroupId, Position, Rc<[Batch]>),
    /// A member's commit is stored.
    Committed(GroupId, Rc<[Position]>),
    /// A member's commit was refused.
    CommitRefused(GroupId, Rc<[Position]>),
    /// A writer was told that its writes are applied.
    Written(Rc<WriteBatch>),
    /// A writer was told that its writes are not applied.
    WriteRefused(Rc<WriteBatch>, Refusal),
    /// After the faults: how far each group is behind, and how many records producers still hold.
    Lag(Rc<[(GroupId, u64)]>, u64),
    /// After the faults: everything has been caught up with.
    Settled,
    /// The final reading of a partition.
    LogRead(PartitionId, Rc<[Record]>),
    /// The final reading of a sink, by its index.
    SinkRead(u16, Rc<Dump>),
}

impl SimNote for Note {
    fn digest(&self) -> u64 {
        let (kind, one, two) = match self {
            Self::Acknowledged(at, records) => (1, of_position(at), of_records(records)),
            Self::SendUnknown(partition, records) => (2, u64::from(partition.0), of_records(records)),
            Self::ReadBack(key, at, seen) => {
                (3, of_position(at) ^ key.index() as u64, seen.as_ref().map_or(0, of_position))
            }
            Self::Assigned(group, generation, positions) => {
                (4, u64::from(group.0) << 32 | u64::from(generation.0), of_positions(positions))
            }
            Self::Polled(group, from, batches) => {
                let end = batches.last().map_or(Offset(0), Batch::end);
                (5, of_position(from) ^ u64::from(group.0), end.0)
            }
            Self::Committed(group, positions) => (6, u64::from(group.0), of_positions(positions)),
            Self::CommitRefused(group, positions) => (7, u64::from(group.0), of_positions(positions)),
            Self::Written(batch) => (8, batch.digest(), 0),
            Self::WriteRefused(batch, why) => (9, batch.digest(), *why as u64),
            Self::Lag(groups, backlog) => {
                let lag = groups
                    .iter()
                    .fold(0u64, |sum, (group, lag)| sum.rotate_left(9) ^ u64::from(group.0) ^ lag << 16);
                (10, lag, *backlog)
            }
            Self::Settled => (11, 0, 0),
            Self::LogRead(partition, records) => (12, u64::from(partition.0), of_records(records)),
            Self::SinkRead(sink, dump) => (13, u64::from(*sink), dump.digest()),
        };
        digest(&[kind ^ one.rotate_left(8), two])
    }
}
