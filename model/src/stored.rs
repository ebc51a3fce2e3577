//! What nodes of a stream system keep on their disks.

use std::rc::Rc;

use crate::processor::Snapshot;
use crate::record::{Batch, Generation, GroupId, Position};
use crate::sink::WriteBatch;

/// An entry of a disk.
#[derive(Clone, Debug)]
pub enum Stored {
    /// In a partition's log.
    Batch(Batch),
    /// In a coordinator's log: the group is in this generation.
    Generation(GroupId, Generation),
    /// In a coordinator's log: the group has committed these offsets.
    Commit(GroupId, Rc<[Position]>),
    /// In a sink's log: these writes were applied.
    Write(Rc<WriteBatch>),
    /// In a sink's log: writers of these partitions that are older than the generation are stale.
    Fence(GroupId, Generation, Rc<[u32]>),
    /// On a processor's disk: the state of a partition.
    Snapshot(Rc<Snapshot>),
}
