//! What a run gives: verdicts with their witnesses, and what the search counts.

use millpond_sim::fault::{Fault, Kind};
use millpond_sim::schedule::Delay;
use millpond_sim::search;
use millpond_sim::search::shrink::Lists;
use millpond_sim::time::Instant;
use millpond_sim::trace::{EventId, Trace};

use crate::scenario::schema::{Invariant, Item};

/// Times of records are rounded to this when a plan is made simpler: ten milliseconds.
const ROUND: u64 = 10_000_000;

/// The explicit lists of what the world does to the system in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The records that producers send.
    pub workload: Vec<Item>,
    /// The faults.
    pub faults: Vec<Fault>,
    /// What is moved in the schedule that the seed gives.
    pub schedule: Vec<Delay>,
}

impl Lists for Plan {
    type Item = Item;

    fn items(&self) -> &[Item] {
        &self.workload
    }

    fn faults(&self) -> &[Fault] {
        &self.faults
    }

    fn delays(&self) -> &[Delay] {
        &self.schedule
    }

    fn of(workload: Vec<Item>, faults: Vec<Fault>, schedule: Vec<Delay>) -> Self {
        Self { workload, faults, schedule }
    }

    fn client(item: &Item) -> &str {
        &item.0
    }

    fn about(item: &Item) -> u64 {
        u64::from(item.2)
    }

    fn due(item: &Item) -> Instant {
        item.1
    }

    /// A record with the value 1, the key 0, a round time.
    fn simpler(item: &Item) -> Vec<Item> {
        let Item(node, at, key, value) = item;
        let round = Instant::from_nanos(at.as_nanos() / ROUND * ROUND);
        let mut forms = Vec::new();
        if *value != 1 {
            forms.push(Item(node.clone(), *at, *key, 1));
        }
        if *key != 0 {
            forms.push(Item(node.clone(), *at, 0, *value));
        }
        if round != *at && round > Instant::ZERO {
            forms.push(Item(node.clone(), round, *key, *value));
        }
        forms
    }
}

/// The outcome of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// 64 bits over everything that happened.
    pub fingerprint: u64,
    /// How many events were handled.
    pub events: u64,
    /// How long the run was, in virtual time.
    pub time: Instant,
    /// The verdict of every invariant that was checked, in the order of the scenario.
    pub verdicts: Vec<Verdict>,
    /// The probes that were reached, with counts, in the order of their names.
    pub probes: Vec<(&'static str, u64)>,
    /// The kind of each fault of the plan, and whether it took effect.
    pub faults: Vec<(Kind, bool)>,
    /// The names of the nodes, by number.
    pub nodes: Vec<String>,
    /// The trace, if it was asked for.
    pub trace: Option<Trace>,
    /// Which kinds of events followed each other on which node, if asked for.
    pub orders: Vec<u64>,
}

/// What an invariant says of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The invariant.
    pub invariant: Invariant,
    /// How many non-trivial comparisons it made; none means that it has proved nothing.
    pub comparisons: u64,
    /// What broke it; empty where it held. Only the first few are kept, all are counted.
    pub violations: Vec<Violation>,
    /// How many violations there were.
    pub count: u64,
}

/// One way in which an invariant was broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// What is wrong, in one or two sentences that name the records and operations.
    pub sentence: String,
    /// The operations that show it, in order of time.
    pub witnesses: Vec<Witness>,
    /// Two texts that ought to be equal, to be shown as a diff.
    pub diff: Option<(String, String)>,
    /// The things that it is about, as a trace names them (see [`crate::words`]).
    pub about: Vec<u64>,
}

/// An operation that shows a violation.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// When its result was seen.
    pub time: Instant,
    /// The node that saw it.
    pub node: String,
    /// The event in which it was seen.
    pub event: EventId,
    /// The operation and its result, in words.
    pub what: String,
}

impl Outcome {
    /// The invariants that were broken, in the order of the verdicts.
    pub fn broken(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| verdict.count > 0)
    }
}

impl search::Outcome for Outcome {
    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn failed(&self) -> bool {
        self.broken().next().is_some()
    }

    fn events(&self) -> u64 {
        self.events
    }

    fn probes(&self) -> &[(&'static str, u64)] {
        &self.probes
    }

    fn faults(&self) -> &[(Kind, bool)] {
        &self.faults
    }

    fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

    fn nodes(&self) -> &[String] {
        &self.nodes
    }

    fn orders(&self) -> &[u64] {
        &self.orders
    }

    fn seen_at(&self) -> Option<Instant> {
        let violations = self.broken().flat_map(|verdict| &verdict.violations);
        violations.flat_map(|violation| &violation.witnesses).map(|witness| witness.time).max()
    }
}
