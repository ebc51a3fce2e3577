//! The probes of the model: every situation that a run can report to have reached.
//!
//! One table: names are checked against it in `reach`, listed by `millpond list` and explained by
//! `millpond explain`. An actor names a probe by its constant.

/// A situation that a run can reach: its name and a sentence about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The name, as used in `reach`.
    pub name: &'static str,
    /// What it means that a run reached it.
    pub about: &'static str,
}

macro_rules! probes {
    ($($constant:ident = $name:literal: $about:literal;)*) => {
        $(#[doc = $about] pub const $constant: &str = $name;)*
        /// Every probe of the model.
        pub const ALL: &[Probe] = &[$(Probe { name: $name, about: $about }),*];
    };
}

probes! {
    APPEND_RESENT = "append resent": "a producer sent records again because no acknowledgement came";
    APPEND_DUPLICATED = "append duplicated": "a broker appended records that it had appended before";
    SEND_GIVEN_UP = "send given up": "a producer gave up on a record: whether it is stored is unknown";
    LOG_DAMAGED = "log damaged": "a broker found an unreadable entry in its log and cut the log there";
    APPEND_REFUSED = "append refused": "a broker refused an append because its disk was full";
    SYNC_FAILED = "sync failed": "a node ended itself because its disk failed to sync";
    REBALANCED = "group rebalanced": "a consumer group moved to a new generation after its first";
    SESSION_EXPIRED = "session expired": "a coordinator gave up a member that had not been heard of";
    COMMIT_REFUSED = "commit refused": "a coordinator refused a commit of an older generation";
    OFFSET_RESET = "offset reset": "a consumer found no usable committed offset and began where its policy says";
    RESUMED = "resumed at offset": "a consumer went on at an offset that was committed before";
    STATE_REBUILT = "state rebuilt": "a processor rebuilt its state from the input log";
    SNAPSHOT_RESTORED = "snapshot restored": "a processor restored its state from a snapshot";
    WRITE_RETRIED = "write retried": "a processor sent a batch to a sink again because no answer came";
    WRITE_REPEATED = "write repeated": "a sink was given a record's effect that it had applied before";
    GUARD_SKIPPED = "guard skipped": "a sink skipped a record because the stored offset says that it was applied";
    ZOMBIE_FENCED = "zombie fenced": "a sink refused a writer of an older generation";
    ZOMBIE_WROTE = "zombie wrote": "a sink accepted a write of an older generation than it had seen";
    LATE_WRITE_REFUSED = "late write refused": "a fenced sink refused a batch that a newer one of the same writer had overtaken";
    LATE_COMMIT_IGNORED = "late commit ignored": "a coordinator ignored a commit that a newer one of the same member had overtaken";
    JOIN_WAITED = "join waited": "a record waited for the watermark of the table";
    JOIN_UNMATCHED = "join unmatched": "a record found no row in the table";
    READ_BACK = "read back": "a producer looked for its write in the derived view";
    LAG_SEEN = "lag seen": "after the faults had healed, the pipeline still had records to catch up with";
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = super::ALL.iter().map(|probe| probe.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), super::ALL.len());
    }
}
