//! Planted bugs: mistakes that are no setting a user could get wrong, made in the model's own code
//! where a scenario names them in `bugs`. They measure how well the harness finds what real systems
//! got wrong; without a name nothing changes.
//!
//! One table, as for probes. Each mistake stands in the code where it would be made, behind one test:
//! `if bugs.has(Bug::CommitAhead)`. The folder `bugs/` has a scenario for each, with its correct twin.

/// A planted bug as people name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The bug.
    pub bug: Bug,
    /// The name, as used in `bugs`.
    pub name: &'static str,
    /// What the code does wrong.
    pub about: &'static str,
    /// A public report of a mistake like this: a ticket, an issue or pull request, or an article.
    pub report: &'static str,
}

macro_rules! bugs {
    ($($bug:ident = $name:literal, $report:literal: $about:literal;)*) => {
        /// A mistake that can be planted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Bug { $(#[doc = $about] $bug),* }

        /// Every bug that can be planted.
        pub const ALL: &[Planted] = &[$(Planted { bug: Bug::$bug, name: $name, about: $about, report: $report }),*];
    };
}

bugs! {
    // What an acknowledgement is worth.
    FullDiskAcknowledged = "full disk acknowledged", "pulsar#5218":
        "a broker acknowledges an append that its full disk has refused";
    FailedSyncIgnored = "failed sync ignored", "beanstalkd#477":
        "a broker goes on after a failed sync as if it had succeeded";
    GivenUpAcknowledged = "given up, told as stored", "outboxx#110":
        "a producer that gives up on a record reports it as stored: it has left the queue, after all";
    AnswerBeforeSync = "sink answers before its sync", "FLINK-33545":
        "a sink says that a batch is written when it is only in its buffer";
    RefusalTakenForSuccess = "refusal taken for success", "vector#24543":
        "a processor counts a batch that the sink refused as delivered";

    // Twice.
    ResumeInclusive = "resume inclusive", "risingwave#5192":
        "a processor that resumes begins with the last record that was processed, not with the next one";
    GuardsInMemory = "guards only in memory", "rabbitmq-message-deduplication#92":
        "a sink forgets at a restart which offsets its rows have had";
    RepeatApplied = "repeated batch applied", "paimon#9666":
        "a sink does not look at the position that a batch goes on from, and applies it again";
    PositionApart = "position stored apart", "kafka-sink-pg-json#18":
        "a sink stores the rows and the position that they lead to in two writes";

    // Out of order.
    NextBesideRetry = "next request beside a retry", "KAFKA-3197":
        "a producer that waits to send a request again lets the next one go first";
    ShownBeforeDurable = "shown before durable", "redpanda#15330":
        "a broker lets readers see records that a crash can still take back";
    RetryOvertaken = "retry overtaken", "spring-kafka#920":
        "a processor sets a batch that timed out aside, to be sent again beside those that follow";
    LateCopyApplied = "late copy applied", "yugabyte-db#399":
        "a fenced sink applies an old copy of a batch that a newer one of the same writer has overtaken";

    // Offsets.
    CommitAhead = "commit ahead of processing", "streamsx.kafka#76":
        "a processor commits what it has fetched, not what it has processed";
    StaleCommitTaken = "stale commit taken", "vector#9587":
        "a coordinator takes commits of members that the group has gone on without";
    LateCommitTaken = "late commit taken", "iceberg#17340":
        "a coordinator takes the commit that comes last for the newest one";
    BufferKept = "buffer kept over a rebalance", "smallrye-reactive-messaging#1403":
        "a processor keeps the records that it has read ahead when its partitions are assigned anew";
    PositionKept = "position kept over a rebalance", "librdkafka#1802":
        "a processor that gets a partition back goes on at its own old position, not at the group's";
    CommitInMemory = "commit only in memory", "pulsar#26498":
        "a coordinator answers a commit before it is on disk";
    CommitWithoutSpace = "commit without space", "KAFKA-14339":
        "a coordinator answers a commit as stored that its full disk has refused";
    ResumeSkips = "resume skips a record", "iggy#1436":
        "a processor that resumes takes the next offset for the last one done, and begins behind it";
    TimeoutTakenForSuccess = "time-out taken for success", "KAFKA-4473":
        "a processor whose write timed out goes on and commits";

    // Zombies.
    FenceForgotten = "fence forgotten", "oxia#87":
        "a fenced sink forgets at a restart which generations it has seen";
    FenceOneBehind = "fence one behind", "amazon-kinesis-client#265":
        "a fenced sink lets the owner before the newest one through";
    RefusedCommitIgnored = "refused commit ignored", "kafka-connect-splunk#260":
        "a processor whose commit is refused takes it for a warning and goes on";

    // State.
    SnapshotAhead = "snapshot ahead of its offsets", "KAFKA-9891":
        "a snapshot holds a batch that the offsets stored with it do not cover yet";
    SnapshotBehind = "snapshot behind its offsets", "camunda#504":
        "a snapshot is stored with the offsets of what has been read, beyond what is in it";
    SnapshotShared = "one snapshot for all partitions", "amazonica#452":
        "all partitions of an instance keep their snapshots in the same place";
    SnapshotInclusive = "snapshot read on inclusively", "protoactor-dotnet#221":
        "the last record of a snapshot is applied to it again";
    StateKept = "state kept on a rebuild", "materialize#14211":
        "the log is read again into a state that is not empty";
    WaitingLeftOut = "waiting records left out", "FLINK-20645":
        "a snapshot leaves out the records that wait for a watermark";

    // Joins.
    RowsByArrival = "rows by arrival", "KAFKA-6455":
        "a row that comes late replaces the newer one";
    JoinDoesNotWait = "join does not wait", "ksql#2133":
        "a record is joined with the rows that are there, though older ones may still come";
    WatermarkShared = "one watermark for all partitions", "FLINK-20500":
        "a task takes the watermark of another partition for its own";

    // Clocks.
    TimeRunsBack = "event time runs back", "laminardb#388":
        "a producer's clock may step back behind the watermark that it has sent";
    WallClockDeadlines = "wall clock deadlines", "KAFKA-4051":
        "a coordinator measures sessions and rebalances by its wall clock";

    // Disks.
    DamagedTailKept = "damaged tail kept", "cqlite#1390":
        "a broker appends behind an entry that it could not read, where no recovery will find it";

    // Standing still.
    FetchNotRetried = "fetch not sent again", "librdkafka#2363":
        "a processor waits for ever for the answer to a fetch";
    JoinLeftWaiting = "join left waiting", "kop#380":
        "a join that comes while a generation is being stored is never answered";
    StuckStoring = "rebalance stuck on a full disk", "KAFKA-12890":
        "a coordinator that cannot store a generation waits for ever for it to be stored";
    LaneHeld = "refused append holds its lane", "nats-server#6387":
        "a producer drops a refused request and still counts it as in flight";
}

// One bit each.
const _: () = assert!(ALL.len() <= 64);

/// The bugs that are planted in a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bugs(u64);

impl Bugs {
    /// The bugs of these names; what is no bug is left out.
    pub fn named(names: &[String]) -> Self {
        let planted = ALL.iter().filter(|planted| names.iter().any(|name| name == planted.name));
        Self(planted.fold(0, |bits, planted| bits | 1 << planted.bug as u8))
    }

    /// Whether the bug is planted.
    #[inline]
    pub fn has(self, bug: Bug) -> bool {
        self.0 & 1 << bug as u8 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = ALL.iter().map(|planted| planted.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }

    #[test]
    fn a_set_has_what_it_was_given() {
        let bugs = Bugs::named(&["late commit taken".to_owned(), "no such bug".to_owned()]);
        for planted in ALL {
            assert_eq!(bugs.has(planted.bug), planted.bug == Bug::LateCommitTaken);
        }
    }
}
