//! The codes of mistakes of meaning: one table, for messages, `millpond explain` and the documentation.

/// A mistake of meaning: its code and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The code, as in `error[unknown-topic]`.
    pub name: &'static str,
    /// What is wrong, and why it matters.
    pub about: &'static str,
}

macro_rules! codes {
    ($($name:literal: $about:literal;)*) => {
        /// Every code, in the order in which the rules are checked.
        pub const CODES: &[Code] = &[$(Code { name: $name, about: $about }),*];
    };
}

codes! {
    "out-of-range": "A whole number is smaller or larger than its field allows.";
    "too-long": "A time is longer than an hour.";
    "no-time": "A time that must be longer than `0s` is not.";
    "too-short": "A producer sends records less than a microsecond apart.";
    "bad-range": "A range is empty, its ends are the wrong way round, or it draws too many faults.";
    "slow-heartbeat": "A processor's heartbeat does not fit into its session: the group would lose it again and again.";
    "too-many": "There are more nodes, topics, partitions, records or faults than a run may have.";
    "empty-name": "A topic, producer, processor or sink has an empty name.";
    "reserved-name": "`broker` and `observer` are names that Millpond uses itself.";
    "name-taken": "Two things, or two nodes, would have the same name.";
    "unknown-topic": "A topic is used but not defined in `topics`.";
    "unknown-sink": "A sink is used but not defined in `sinks`.";
    "unknown-output": "A processor writes to what is neither a topic nor a sink.";
    "unknown-table": "A `Join` names a table that its processor does not read.";
    "unknown-name": "`among` names what is no producer, processor or sink, nor `broker`.";
    "unknown-node": "A fault, trigger or item names a node that does not exist, or one that cannot do this.";
    "unknown-probe": "`reach` names a probe that does not exist.";
    "unknown-bug": "`bugs` names a mistake that cannot be planted.";
    "bad-claim": "`claims` names something that does not look like `C07`.";
    "no-input": "A processor reads no topic.";
    "read-twice": "A processor reads the same topic twice.";
    "unlike-partitions": "A processor reads topics with unlike numbers of partitions: an instance owns the same partitions of each.";
    "loop": "A processor reads what it writes.";
    "together-needs-sink": "`commit: Together` needs an output that writes output and offset in one step: a sink.";
    "two-joins": "A processor has more than one `Join`.";
    "two-aggregates": "A processor has more than one `Count` or `Sum`.";
    "join-alone": "A `Join` has no topic beside its table.";
    "table-source": "The table of a versioned join is not fed by exactly one producer with one instance, so that it has no watermark.";
    "two-writers": "A topic or sink has two processors, or a producer and a processor, that write to it.";
    "no-progress": "`when: Processed` needs a `Guarded` sink, which keeps the offset that it has reached.";
    "no-way": "A producer reads back from a sink to which no processor brings its records.";
    "never-acknowledged": "A producer reads back acknowledged records, but waits for no acknowledgement.";
    "nothing-to-check": "An invariant has nothing to look at in this scenario, or none is listed: it would always hold.";
    "listed-twice": "An invariant is listed twice in `check`.";
    "no-right-output": "The output depends on how inputs are mixed, so that there is no single right one to compare with.";
    "not-checked": "`expect` names an invariant that `check` does not list.";
    "no-node": "A fault names no node.";
    "unknown-event": "A trigger waits for a message or a point that the model does not have.";
    "too-late": "A fault begins after the time in which faults may begin.";
}

/// What a code means; `None` if it is none.
pub fn find(name: &str) -> Option<&'static Code> {
    CODES.iter().find(|code| code.name == name)
}
