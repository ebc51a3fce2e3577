//! What messages and notes say in words, with the names of things where the catalog is at hand.
//!
//! One place for traces, logs and witnesses: `Commit(orders/1 = 32, generation 4)` says that 32 is the
//! next offset, `k3 = 5 from orders/1@31` that a row comes from the record at offset 31.

use std::fmt;
use std::sync::Arc;

use millpond_sim::digest;
use millpond_sim::trace::{Teller, Told};

use crate::catalog::Catalog;
use crate::message::{Message, Refusal, Reply, Request, Streams};
use crate::note::Note;
use crate::record::{Batch, Key, Kind, Offset, PartitionId, Position, Record, RecordId};
use crate::sink::{Output, WriteBatch};

/// How many records or rows are spelt out before they are only counted.
const SPELT: usize = 3;

/// The names of partitions; without a catalog they go by their numbers.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a>(pub(crate) Option<&'a Catalog>);

impl Names<'_> {
    /// A partition: `orders/3`.
    pub(crate) fn partition(self, partition: PartitionId) -> String {
        match self.0 {
            Some(catalog) => catalog.partition_name(partition),
            None => format!("p{}", partition.0),
        }
    }

    /// The place of a record: `orders/3@17`, or the end of the log.
    fn place(self, at: Position) -> String {
        let partition = self.partition(at.partition);
        if at.offset == Offset::MAX {
            format!("the end of {partition}")
        } else {
            format!("{partition}@{}", at.offset)
        }
    }

    /// Next offsets: `orders/3 = 17`.
    fn offsets(self, positions: &[Position]) -> String {
        match positions {
            [] => "none".to_owned(),
            _ => spelt(positions, "offset", |position| {
                let partition = self.partition(position.partition);
                let end = position.offset == Offset::MAX;
                if end { format!("{partition} = end") } else { format!("{partition} = {}", position.offset) }
            }),
        }
    }

    fn rows(self, batch: &WriteBatch) -> String {
        let rows = spelt(&batch.outputs, "row", |Output { key, value, from }| {
            format!("{key} = {value} from {}", self.place(*from))
        });
        match &batch.moves {
            Some(moves) => format!("{rows}, offsets {}", self.offsets(&moves.after)),
            None => rows,
        }
    }

    fn request(self, request: &Request) -> String {
        match request {
            Request::Produce { partition, records, .. } => {
                format!("Produce({}: {})", self.partition(*partition), of_records(records))
            }
            Request::Fetch { from, .. } => format!("Fetch({})", self.place(*from)),
            Request::End(partition) => format!("End({})", self.partition(*partition)),
            Request::Join(_) => "Join".to_owned(),
            Request::Leave(_) => "Leave".to_owned(),
            Request::Heartbeat(_, generation) => format!("Heartbeat(generation {})", generation.0),
            Request::Commit(_, generation, positions) => {
                format!("Commit({}, generation {})", self.offsets(positions), generation.0)
            }
            Request::Committed(_) => "Committed".to_owned(),
            Request::Write(batch) => {
                format!("Write({}, generation {})", self.rows(batch), batch.generation.0)
            }
            Request::Positions(_, generation, _) => format!("Positions(generation {})", generation.0),
            Request::Read(key, _) => format!("Read({key})"),
            Request::Dump => "Dump".to_owned(),
            Request::Backlog => "Backlog".to_owned(),
        }
    }

    fn reply(self, reply: &Reply) -> String {
        match reply {
            Reply::Produced(offset) => format!("Produced(at {offset})"),
            Reply::Refused(why) => format!("Refused({})", refusal(*why)),
            Reply::Fetched(batches, end) => {
                let records: Vec<_> = batches.iter().flat_map(Batch::iter).collect();
                let records =
                    spelt(&records, "record", |(offset, record)| format!("{} at {offset}", Spelt(record)));
                format!("Fetched({records}, end {end})")
            }
            Reply::OutOfRange(end) => format!("OutOfRange(end {end})"),
            Reply::End(end) => format!("EndIs({end})"),
            Reply::Joined(generation, slots) => {
                let slots = spelt(slots, "partition", |slot| format!("partition {slot}"));
                format!("Joined(generation {}, {slots})", generation.0)
            }
            Reply::Alive => "Alive".to_owned(),
            Reply::Rebalance => "Rebalance".to_owned(),
            Reply::CommitDone => "CommitDone".to_owned(),
            Reply::Offsets(positions) => format!("Offsets({})", self.offsets(positions)),
            Reply::Written => "Written".to_owned(),
            Reply::Row(Some((value, from))) => format!("Row({value} from {})", self.place(*from)),
            Reply::Row(None) => "Row(none)".to_owned(),
            Reply::Content(_) => "Content".to_owned(),
            Reply::Backlog(backlog) => format!("BacklogIs({backlog})"),
        }
    }

    fn note(self, note: &Note) -> String {
        match note {
            Note::Acknowledged(at, records) => {
                format!("was told that {} is stored at {}", of_records(records), self.place(*at))
            }
            Note::SendUnknown(partition, records) => {
                let partition = self.partition(*partition);
                format!("does not know whether {} is stored in {partition}", of_records(records))
            }
            Note::ReadBack(key, at, Some(seen)) => {
                format!("reads {key} back for {}: written from {}", self.place(*at), self.place(*seen))
            }
            Note::ReadBack(key, at, None) => format!("reads {key} back for {}: not there", self.place(*at)),
            Note::Assigned(_, generation, positions) => {
                format!("reads from {} on, in generation {}", self.offsets(positions), generation.0)
            }
            Note::Polled(_, from, batches) => {
                let records: usize = batches.iter().map(|batch| batch.records.len()).sum();
                format!("polls {} from {}", Counted(records, "record"), self.place(*from))
            }
            Note::Committed(_, positions) => {
                format!("was told that {} is committed", self.offsets(positions))
            }
            Note::CommitRefused(_, positions) => {
                format!("was told that its commit of {} is refused", self.offsets(positions))
            }
            Note::Written(batch) => format!("was told that {} is applied", self.rows(batch)),
            Note::WriteRefused(batch, why) => {
                format!("was told that its write of {} is refused: {}", self.rows(batch), refusal(*why))
            }
            Note::Lag(groups, backlog) => {
                let lag: u64 = groups.iter().map(|(_, lag)| lag).sum();
                format!("finds a lag of {lag} and a backlog of {backlog}")
            }
            Note::Settled => "finds that all has been caught up with".to_owned(),
            Note::LogRead(partition, records) => {
                format!("reads all of {}: {}", self.partition(*partition), of_records(records))
            }
            Note::SinkRead(sink, dump) => {
                let name = match self.0 {
                    Some(catalog) => catalog.sinks[usize::from(*sink)].name.as_str(),
                    None => "the sink",
                };
                let rows = spelt(&dump.rows, "row", |row| format!("{} = {}", row.key, row.value));
                format!("reads all of {name}: {rows}")
            }
        }
    }
}

/// Why a request was not done, in words.
pub(crate) fn refusal(why: Refusal) -> &'static str {
    match why {
        Refusal::DiskFull => "the disk is full",
        Refusal::StaleGeneration => "not of this generation",
        Refusal::Fenced => "there is a newer owner",
        Refusal::PositionMoved => "the stored offset is another one",
    }
}

fn of_records(records: &[Record]) -> String {
    spelt(records, "record", |record| Spelt(record).to_string())
}

/// A record: its key and value.
struct Spelt<'a>(&'a Record);

impl fmt::Display for Spelt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind {
            Kind::Data => write!(f, "{} = {}", self.0.key, self.0.value),
            Kind::Watermark => f.write_str("a watermark"),
        }
    }
}

/// Things one by one where they are few, else how many.
fn spelt<T>(things: &[T], name: &'static str, spell: impl Fn(&T) -> String) -> String {
    if things.is_empty() || things.len() > SPELT {
        return Counted(things.len(), name).to_string();
    }
    things.iter().map(spell).collect::<Vec<_>>().join(", ")
}

/// "1 record", "2 records".
pub(crate) struct Counted(pub(crate) usize, pub(crate) &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Names(None).message(self))
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Names(None).note(self))
    }
}

impl Names<'_> {
    fn message(self, message: &Message) -> String {
        match message {
            Message::Request(_, request) => self.request(request),
            Message::Reply(_, reply) => self.reply(reply),
        }
    }
}

/// The teller of stream systems.
pub(crate) struct Voice(pub(crate) Arc<Catalog>);

impl Teller<Streams> for Voice {
    fn message(&self, message: &Message) -> Told {
        let (about, routine) = match message {
            Message::Request(_, request) => (of_request(request), is_routine_request(request)),
            Message::Reply(_, reply) => (of_reply(reply), is_routine_reply(reply)),
        };
        Told { about, routine, ..Told::words(Names(Some(&self.0)).message(message)) }
    }

    fn note(&self, note: &Note) -> Told {
        let routine = matches!(note, Note::Polled(_, _, batches) if batches.is_empty());
        Told { about: of_note(note), routine, ..Told::words(Names(Some(&self.0)).note(note)) }
    }
}

/// The number of a record, for stories to follow.
pub fn subject_of_record(id: RecordId) -> u64 {
    digest(&[1, id.bits()])
}

/// The number of the place of a record.
pub fn subject_of_place(at: Position) -> u64 {
    digest(&[2, u64::from(at.partition.0), at.offset.0])
}

/// The number of a partition as a whole.
pub fn subject_of_partition(partition: PartitionId) -> u64 {
    digest(&[4, u64::from(partition.0)])
}

/// The number of a key.
pub fn subject_of_key(key: Key) -> u64 {
    digest(&[3, key.origin().index() as u64])
}

fn of_data(records: &[Record]) -> Vec<u64> {
    let data = records.iter().filter(|record| record.kind == Kind::Data);
    data.flat_map(|record| [subject_of_record(record.id), subject_of_key(record.key)]).collect()
}

/// A next offset is about the records on both sides of it.
fn of_offsets(positions: &[Position]) -> Vec<u64> {
    let last =
        |at: &Position| at.offset.0.checked_sub(1).map(|last| Position { offset: Offset(last), ..*at });
    positions.iter().flat_map(|at| [Some(*at), last(at)]).flatten().map(subject_of_place).collect()
}

fn of_batch(batch: &WriteBatch) -> Vec<u64> {
    let rows = batch.outputs.iter();
    let mut about: Vec<u64> =
        rows.flat_map(|output| [subject_of_place(output.from), subject_of_key(output.key)]).collect();
    if let Some(moves) = &batch.moves {
        about.extend(of_offsets(&moves.after));
    }
    about
}

fn of_batches(batches: &[Batch]) -> Vec<u64> {
    batches.iter().flat_map(|batch| of_data(&batch.records)).collect()
}

fn of_request(request: &Request) -> Vec<u64> {
    match request {
        Request::Produce { records, .. } => of_data(records),
        Request::Commit(_, _, positions) => of_offsets(positions),
        Request::Write(batch) => of_batch(batch),
        Request::Read(key, at) => {
            at.map(subject_of_place).into_iter().chain([subject_of_key(*key)]).collect()
        }
        Request::Fetch { .. }
        | Request::End(_)
        | Request::Join(_)
        | Request::Leave(_)
        | Request::Heartbeat(..)
        | Request::Committed(_)
        | Request::Positions(..)
        | Request::Dump
        | Request::Backlog => Vec::new(),
    }
}

fn of_reply(reply: &Reply) -> Vec<u64> {
    match reply {
        Reply::Fetched(batches, _) => of_batches(batches),
        Reply::Offsets(positions) => of_offsets(positions),
        Reply::Row(Some((_, from))) => vec![subject_of_place(*from)],
        Reply::Produced(_)
        | Reply::Refused(_)
        | Reply::OutOfRange(_)
        | Reply::End(_)
        | Reply::Joined(..)
        | Reply::Alive
        | Reply::Rebalance
        | Reply::CommitDone
        | Reply::Written
        | Reply::Row(None)
        | Reply::Content(_)
        | Reply::Backlog(_) => Vec::new(),
    }
}

fn of_note(note: &Note) -> Vec<u64> {
    match note {
        Note::Acknowledged(at, records) => {
            let places = (at.offset.0..)
                .zip(records.iter())
                .map(|(offset, _)| Position { offset: Offset(offset), ..*at });
            places.map(subject_of_place).chain(of_data(records)).collect()
        }
        Note::SendUnknown(_, records) => of_data(records),
        Note::LogRead(partition, records) => {
            of_data(records).into_iter().chain([subject_of_partition(*partition)]).collect()
        }
        Note::SinkRead(_, dump) => dump.rows.iter().map(|row| subject_of_key(row.key)).collect(),
        Note::ReadBack(key, at, _) => vec![subject_of_key(*key), subject_of_place(*at)],
        Note::Polled(_, _, batches) => of_batches(batches),
        Note::Assigned(_, _, positions)
        | Note::Committed(_, positions)
        | Note::CommitRefused(_, positions) => of_offsets(positions),
        Note::Written(batch) | Note::WriteRefused(batch, _) => of_batch(batch),
        Note::Lag(..) | Note::Settled => Vec::new(),
    }
}

fn is_routine_request(request: &Request) -> bool {
    match request {
        Request::Fetch { .. }
        | Request::End(_)
        | Request::Heartbeat(..)
        | Request::Committed(_)
        | Request::Positions(..)
        | Request::Dump
        | Request::Backlog => true,
        Request::Produce { records, .. } => records.iter().all(|record| record.kind == Kind::Watermark),
        Request::Join(_)
        | Request::Leave(_)
        | Request::Commit(..)
        | Request::Write(_)
        | Request::Read(..) => false,
    }
}

fn is_routine_reply(reply: &Reply) -> bool {
    match reply {
        Reply::End(_) | Reply::Alive | Reply::Content(_) | Reply::Backlog(_) => true,
        Reply::Fetched(batches, _) => of_batches(batches).is_empty(),
        Reply::Produced(_)
        | Reply::Refused(_)
        | Reply::OutOfRange(_)
        | Reply::Joined(..)
        | Reply::Rebalance
        | Reply::CommitDone
        | Reply::Offsets(_)
        | Reply::Written
        | Reply::Row(_) => false,
    }
}
