//! Schedule overrides: deviations from the order that the seed gives, each named by the messages that
//! it moves.
//!
//! The default schedule of a run is what its seed draws. A plan can move single messages of it, as a
//! search over schedules does; the fewest overrides with which a run still fails tell how deep the bug
//! lies. On a link in FIFO order what comes behind a delayed message waits for it. An override whose
//! messages are never sent does nothing. None acts after the run has healed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::node::NodeId;
use crate::time::Span;

/// Messages of one direction of one link that take longer than drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// The sender.
    pub from: String,
    /// The receiver.
    pub to: String,
    /// Which of the link's messages.
    pub which: Which,
    /// The time added to each.
    pub by: Span,
}

/// Messages of a link by their number in the run, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Which {
    /// This one.
    Nth(#[schemars(range(min = 1))] u32),
    /// This one and all later ones.
    From(#[schemars(range(min = 1))] u32),
}

impl Which {
    fn covers(self, nth: u32) -> bool {
        match self {
            Self::Nth(only) => nth == only,
            Self::From(first) => nth >= first,
        }
    }
}

/// A delay with its nodes resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) which: Which,
    pub(crate) by: Span,
}

impl Moved {
    /// The time added to the n-th message of a link, from 1.
    pub(crate) fn adds(&self, from: NodeId, to: NodeId, nth: u32) -> Span {
        let covers = (self.from, self.to) == (from, to) && self.which.covers(nth);
        if covers { self.by } else { Span::ZERO }
    }
}
