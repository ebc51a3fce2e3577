//! The types of a scenario file: what RON text is read into and written from.
//!
//! The doc comments, defaults and ranges here are the reference: `millpond explain`, the messages
//! about mistakes and `docs/scenarios.md` are all made from them (through `schemars`).

use std::ops::Range;

use millpond_sim::fault::Fault;
use millpond_sim::schedule::Delay;
use millpond_sim::time::{Instant, Odds, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::map::Map;

mod defaults;

/// What is built, what is done to it, and what must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// One or two sentences: what this scenario shows.
    pub about: String,
    /// The claims that it supports, such as `["C28"]`.
    #[serde(default)]
    pub claims: Vec<String>,
    /// How many seeds a campaign runs where the command line does not say; 1 to 100000000.
    #[serde(default = "defaults::seeds")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub seeds: u64,
    /// The brokers that keep the topics.
    #[serde(default)]
    pub brokers: Brokers,
    /// How messages travel where no fault says otherwise.
    #[serde(default)]
    pub network: Network,
    /// How disks behave where no fault says otherwise.
    #[serde(default)]
    pub disk: DiskTiming,
    /// The topics by name.
    pub topics: Map<Topic>,
    /// The producers by name; instance 0 of `shop` is the node `shop-0`.
    #[serde(default)]
    pub producers: Map<Producer>,
    /// The processors by name; each is a consumer group, instance 0 of `totals` is the node `totals-0`.
    #[serde(default)]
    pub processors: Map<Processor>,
    /// The sinks (databases) by name; `ledger` is the node `ledger`.
    #[serde(default)]
    pub sinks: Map<Sink>,
    /// Mistakes that are planted in the code of the nodes, by name: the correct scenario has none.
    #[serde(default)]
    pub bugs: Vec<String>,
    /// How long the parts of a run last.
    #[serde(default)]
    pub phases: Phases,
    /// What the world does to the system.
    #[serde(default)]
    pub faults: Faults,
    /// The records to send, one by one, instead of records drawn from the seed; a failure file has
    /// them, and any may be deleted.
    #[serde(default)]
    pub workload: Option<Vec<Item>>,
    /// Messages that take longer than the seed has them, one by one; a failure file has them where
    /// the search has moved any.
    #[serde(default)]
    pub schedule: Vec<Delay>,
    /// The invariants to check at the end of each run.
    pub check: Vec<Check>,
    /// Probes that a campaign must reach at least once, or it has proved nothing.
    #[serde(default)]
    pub reach: Vec<String>,
    /// What a campaign is expected to find.
    #[serde(default)]
    pub expect: Expect,
    /// How much one run may use before it is ended with a verdict.
    #[serde(default)]
    pub budget: Budget,
    /// Where this file comes from, if a campaign wrote it: the failing run that it records.
    #[serde(default)]
    pub found: Option<Found>,
}

/// The brokers. Partition `p` of a topic lives on one of them; the coordinator of a group too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Brokers {
    /// How many brokers, 1 to 16: the nodes `broker-0`, `broker-1`, and so on.
    #[schemars(range(min = 1, max = 16))]
    pub count: u32,
    /// Whether an append is durable before it is acknowledged.
    pub flush: Flush,
    /// How long a rebalance waits for the members of a group to join again.
    pub rebalance: Span,
}

/// When a broker syncs an append to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Flush {
    /// Sync, then acknowledge: what was acknowledged survives a power cut.
    BeforeAck,
    /// Acknowledge, then sync once in a while: a crash may lose what was acknowledged.
    AfterAck,
}

/// How messages travel from node to node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// How long a message is on its way, drawn for each message.
    pub latency: Spread,
    /// The share of messages that is lost, always.
    pub loss: Odds,
    /// The share of messages that arrives twice, always.
    pub duplicates: Odds,
    /// Whether messages of one link can overtake each other.
    pub order: Order,
}

/// The order of messages on one direction of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Order {
    /// As sent, as a connection gives.
    Fifo,
    /// As the drawn latencies have it.
    Free,
}

/// How disks behave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DiskTiming {
    /// How long a sync takes, drawn for each.
    pub sync: Spread,
}

/// A length of time, fixed or drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Spread {
    /// Always the same.
    Fixed(Span),
    /// Drawn evenly, both ends included.
    Uniform(Span, Span),
}

/// A topic: a named log in partitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Topic {
    /// How many partitions, 1 to 64.
    #[schemars(range(min = 1, max = 64))]
    pub partitions: u32,
    /// Whether readers of the topic want every record or the last one of each key. It decides how
    /// an output topic is compared with the reference; nothing is deleted.
    pub cleanup: Cleanup,
}

/// What a topic means to its readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Cleanup {
    /// Every record counts.
    Delete,
    /// The last record of each key counts.
    Compact,
}

/// A producer: sends keyed records to a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    /// How many instances, 1 to 16.
    #[serde(default = "defaults::one")]
    #[schemars(range(min = 1, max = 16))]
    pub count: u32,
    /// The topic it sends to.
    pub topic: String,
    /// What it waits for before a record counts as sent.
    #[serde(default)]
    pub acks: Acks,
    /// How many records each instance sends, 1 to 10000.
    #[schemars(range(min = 1, max = 10_000))]
    pub records: u32,
    /// How keys are drawn.
    #[serde(default)]
    pub keys: Keys,
    /// The values, drawn evenly; the end is not included.
    #[serde(default = "defaults::values")]
    pub values: Range<i64>,
    /// The time from one record to the next.
    #[serde(default = "defaults::every")]
    pub every: Spread,
    /// How long it waits for an acknowledgement before it sends again.
    #[serde(default = "defaults::timeout")]
    pub timeout: Span,
    /// How often a record is sent again before it is given up; 0 to 1000.
    #[serde(default = "defaults::retries")]
    #[schemars(range(min = 0, max = 1_000))]
    pub retries: u32,
    /// How many requests to one partition may be unanswered; more than one can reorder. 1 to 16.
    #[serde(default = "defaults::one")]
    #[schemars(range(min = 1, max = 16))]
    pub in_flight: u32,
    /// A sink in which the producer looks for the effect of each record that was acknowledged.
    #[serde(default)]
    pub read_back: Option<ReadBack>,
}

/// What makes a record count as sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Acks {
    /// Nothing: send and forget.
    None,
    /// The broker's answer that it has stored the record.
    #[default]
    Stored,
}

/// How keys are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Keys {
    /// This many keys (1 to 10000), all alike.
    Uniform(#[schemars(range(min = 1, max = 10_000))] u32),
    /// This many keys (1 to 10000), the n-th with weight 1/n.
    Zipf(#[schemars(range(min = 1, max = 10_000))] u32),
}

/// Reading one's own writes from a derived view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadBack {
    /// The sink to read from.
    pub sink: String,
    /// When to read.
    pub when: ReadWhen,
}

/// When a producer reads its write back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ReadWhen {
    /// As soon as the record is acknowledged, taking "stored" for "processed".
    Acknowledged,
    /// When the view has reached the record's offset.
    Processed,
}

/// A processor: a consumer group that reads topics, computes, and writes its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// How many instances share the partitions, 1 to 16.
    #[serde(default = "defaults::one")]
    #[schemars(range(min = 1, max = 16))]
    pub instances: u32,
    /// The topics it reads; all must have as many partitions as the first.
    pub from: Vec<String>,
    /// The topic or sink it writes to; left out, it only reads.
    #[serde(default)]
    pub to: Option<String>,
    /// What it does with each record, in this order; left out, records pass as they are.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// When the input offset is committed.
    #[serde(default)]
    pub commit: Commit,
    /// Where the state of `Count`, `Sum` and `Join` comes from after a restart or a rebalance.
    #[serde(default)]
    pub state: State,
    /// Where to begin in a partition that has no committed offset, or one that the log lacks.
    #[serde(default)]
    pub reset: Reset,
    /// The most records of one fetch, 1 to 1000.
    #[serde(default = "defaults::batch")]
    #[schemars(range(min = 1, max = 1_000))]
    pub batch: u32,
    /// How long the group waits for a sign of life before it gives the partitions to others.
    #[serde(default = "defaults::session")]
    pub session: Span,
    /// The time from one sign of life to the next.
    #[serde(default = "defaults::heartbeat")]
    pub heartbeat: Span,
    /// How long it waits for an answer before it asks again.
    #[serde(default = "defaults::timeout")]
    pub timeout: Span,
}

/// One step of a processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Step {
    /// Each value becomes `value * times + plus`.
    Map {
        /// The factor.
        #[serde(default = "defaults::factor")]
        times: i64,
        /// What is added.
        #[serde(default)]
        plus: i64,
    },
    /// Only records whose value lies in the range pass.
    Filter {
        /// The least value that passes.
        #[serde(default)]
        at_least: Option<i64>,
        /// The greatest value that passes.
        #[serde(default)]
        at_most: Option<i64>,
    },
    /// Each record goes on under one of `ways` keys made from its own.
    Route {
        /// How many keys are made from one, 2 to 16.
        #[schemars(range(min = 2, max = 16))]
        ways: u32,
        /// What decides.
        by: RouteBy,
    },
    /// The number of records so far, for each key.
    Count,
    /// The sum of the values so far, for each key.
    Sum,
    /// Each record is enriched by the row of the same key: its value is multiplied by the row's.
    /// A record without a row yields nothing.
    Join {
        /// The topic that holds the rows; it must be one of `from`.
        table: String,
        /// Which version of the row counts.
        with: Version,
    },
}

/// What decides the way of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RouteBy {
    /// The record itself: a replay decides alike.
    Record,
    /// A random draw: a replay may decide otherwise.
    Draw,
}

/// Which version of a table's row a record is joined with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Version {
    /// The row that is there when the record is processed.
    Latest,
    /// The row that was valid at the record's event time; the record waits until the table's
    /// watermark has passed that time.
    Versioned,
}

/// When a processor commits its input offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Commit {
    /// Before the output is written: at most once.
    Before,
    /// After the output was acknowledged: at least once.
    #[default]
    After,
    /// With the output, in the same atomic write of the sink.
    Together,
}

/// Where a processor's state comes from when it takes over a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum State {
    /// From the input log, read again from its start to the committed offset.
    #[default]
    Rebuild,
    /// From a snapshot on the node's disk and the log behind it.
    Snapshot {
        /// A snapshot is taken after this many records of a partition, 1 to 100000.
        #[schemars(range(min = 1, max = 100_000))]
        every: u32,
        /// Whether the snapshot records the offset at which it was taken.
        #[serde(default = "defaults::yes")]
        with_offset: bool,
    },
    /// From nowhere: it starts empty.
    Memory,
}

/// Where to begin without a committed offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Reset {
    /// At the start of the log.
    #[default]
    Earliest,
    /// At its end, skipping what is there.
    Latest,
}

/// A sink: a database that processors write to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sink {
    /// What a write does.
    pub write: Write,
    /// Whether it refuses writers of an older group generation than it has seen, and batches that a
    /// newer one of the same writer has overtaken on the way.
    #[serde(default)]
    pub fence: bool,
}

/// What a write to a sink does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Write {
    /// Adds a row.
    Append,
    /// Sets the value of the key.
    Upsert,
    /// Adds to the value of the key.
    Increment,
    /// Adds to the value of the key unless the input offset stored with it says that it was added.
    Guarded,
}

/// How long the parts of a run last. After the faults comes a quiet time, until the pipeline has
/// caught up or `Liveness(within: ...)` is over, then the final reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Phases {
    /// Before the first drawn fault.
    pub warm_up: Span,
    /// The time in which faults begin; whatever lasts longer ends with it.
    pub faults: Span,
}

/// What the world does to the system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Faults {
    /// Nothing.
    #[default]
    None,
    /// Faults drawn from the seed.
    Draw(Box<Draw>),
    /// These faults.
    Plan(Vec<Fault>),
}

/// Which faults to draw. Each seed first switches whole kinds on or off, then draws how many of
/// each (the end of a range is not included), when, where, and how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Draw {
    /// Nodes that faults may hit: names of producers, processors, sinks, or `broker`; empty means all.
    pub among: Vec<String>,
    /// How long a crashed or stopped node stays down.
    pub down: Spread,
    /// How long any other fault lasts.
    pub lasts: Spread,
    /// Crashes of one node.
    pub crashes: Range<u32>,
    /// Crash loops of one node.
    pub crash_loops: Range<u32>,
    /// Crashes of all brokers at once.
    pub power_cuts: Range<u32>,
    /// Crashes that lose the disk. Nothing here survives that by design.
    pub disk_losses: Range<u32>,
    /// Clean stops of one node.
    pub stops: Range<u32>,
    /// Pauses of one node.
    pub pauses: Range<u32>,
    /// Symmetric partitions of all nodes into two sides.
    pub partitions: Range<u32>,
    /// One-way cuts between two nodes.
    pub cuts: Range<u32>,
    /// Isolations of one node.
    pub isolations: Range<u32>,
    /// Slow links between two nodes.
    pub slow_links: Range<u32>,
    /// Lossy links between two nodes.
    pub losses: Range<u32>,
    /// Lost replies from one node to another.
    pub lost_replies: Range<u32>,
    /// Links that deliver some messages twice.
    pub duplicates: Range<u32>,
    /// Links on which messages overtake each other.
    pub reorders: Range<u32>,
    /// Links that hold messages, then release them at once.
    pub holds: Range<u32>,
    /// Slow disks.
    pub slow_disks: Range<u32>,
    /// Full disks.
    pub full_disks: Range<u32>,
    /// Failing syncs.
    pub failed_syncs: Range<u32>,
    /// Torn tails: seen when the node crashes meanwhile.
    pub torn_tails: Range<u32>,
    /// Arbitrary subsets of unsynced writes surviving: seen when the node crashes meanwhile.
    pub scatters: Range<u32>,
    /// Rotten entries. Nothing here survives that by design.
    pub rots: Range<u32>,
    /// Wall clocks that are off.
    pub clock_offsets: Range<u32>,
    /// Clocks that drift.
    pub clock_drifts: Range<u32>,
    /// Wall clocks that jump, there and back.
    pub clock_jumps: Range<u32>,
    /// How far a wall clock is off or jumps at most, either way.
    pub clock_skew: Span,
}

/// One record of an explicit workload: producer node, time of sending, key, value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Item(pub String, pub Instant, pub u32, pub i64);

/// An invariant to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Check {
    /// The visible output is what a run without faults would give.
    ExactlyOnceOutput,
    /// An input offset that is delivered again has no further effect.
    OffsetIdempotency,
    /// Each partition is read in the order in which it was written, without gaps.
    PartitionOrder,
    /// A join gives the same output for every legal interleaving of its inputs.
    JoinDeterminism,
    /// A record that was acknowledged can be read at the end.
    NoAcknowledgedLoss,
    /// A producer that reads its write back finds it.
    ReadYourWrites,
    /// After the faults everything is up and the lag returns to zero.
    Liveness {
        /// Within this time after the last fault has healed.
        #[serde(default = "defaults::within")]
        within: Span,
    },
}

/// What a campaign is expected to find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Expect {
    /// No violation.
    #[default]
    Pass,
    /// A violation of this invariant, and of no other.
    Violation(Invariant),
}

/// The name of an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Invariant {
    /// The visible output is what a run without faults would give.
    ExactlyOnceOutput,
    /// An input offset that is delivered again has no further effect.
    OffsetIdempotency,
    /// Each partition is read in the order in which it was written, without gaps.
    PartitionOrder,
    /// A join gives the same output for every legal interleaving of its inputs.
    JoinDeterminism,
    /// A record that was acknowledged can be read at the end.
    NoAcknowledgedLoss,
    /// A producer that reads its write back finds it.
    ReadYourWrites,
    /// After the faults everything is up and the lag returns to zero.
    Liveness,
    /// No actor panics. Always checked.
    NoPanic,
    /// The run stays within its budget. Always checked.
    Bounds,
}

/// How much one run may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Events, 1 to 100000000.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub events: u64,
    /// Bytes of messages on their way, 1 to 1000000000.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub queued_bytes: u64,
}

/// The failing run that a file records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The version of the engine that ran it; another one may draw other choices.
    pub engine: u32,
    /// The seed.
    pub seed: u64,
    /// The fingerprint of the run, 16 hexadecimal digits.
    pub fingerprint: String,
    /// The invariant that it broke.
    pub broke: Invariant,
}
