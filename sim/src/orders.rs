//! Which kinds of events followed each other on which node: what a guided search calls new.

use std::collections::BTreeSet;

use crate::digest;
use crate::node::NodeId;

/// The orders of a run, as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    last: Vec<u64>,
    seen: BTreeSet<u64>,
}

impl Orders {
    /// Takes in an event of a kind on a node.
    pub(crate) fn take(&mut self, node: NodeId, kind: &str) {
        let kind = kind.bytes().fold(0, |hash, byte| digest(&[hash, u64::from(byte)]));
        if self.last.len() <= node.index() {
            self.last.resize(node.index() + 1, 0);
        }
        let before = std::mem::replace(&mut self.last[node.index()], kind);
        self.seen.insert(digest(&[u64::from(node.number()), before, kind]));
    }

    /// All of them, sorted.
    pub(crate) fn seen(self) -> Vec<u64> {
        self.seen.into_iter().collect()
    }
}
