//! The points of the model: labelled places in the work of its nodes at which a fault may strike, as
//! `Reaches` of a trigger names them. One table, as for probes.

/// A labelled place in a node's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The label, as used in `Reaches`.
    pub name: &'static str,
    /// What the node has done there, and what it has not.
    pub about: &'static str,
}

macro_rules! points {
    ($($constant:ident = $name:literal: $about:literal;)*) => {
        $(#[doc = $about] pub const $constant: &str = $name;)*
        /// Every point of the model.
        pub const ALL: &[Point] = &[$(Point { name: $name, about: $about }),*];
    };
}

points! {
    BEFORE_APPEND = "before append": "a broker has a produce request and has not written it";
    AFTER_APPEND = "after append": "a broker has written records to its log; they are not synced";
    AFTER_PROCESS = "after process": "a processor has computed the output of a batch and has sent nothing";
    BEFORE_WRITE = "before write": "a processor is about to send output";
    AFTER_WRITE = "after write": "a processor was told that its output is stored";
    BEFORE_COMMIT = "before commit": "a processor is about to commit its offsets";
    AFTER_COMMIT = "after commit": "a processor was told that its offsets are committed";
    BEFORE_SINK_WRITE = "before sink write": "a sink has accepted a batch and has not written it";
    AFTER_SINK_WRITE = "after sink write": "a sink has written and applied a batch; it is not synced";
}
