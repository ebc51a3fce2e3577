//! The search over runs. A run is a pure function of an experiment, a plan and a seed; everything
//! here is a few lines over that function.
//!
//! | module | what it is |
//! |--------|------------|
//! | [`campaign`] | many seeds on many threads, one result at any number of them |
//! | [`determinism`] | the check that a run is the same twice |
//! | [`strategy`] | how what is run is chosen; the strategies are peers |
//! | [`swarm`], [`priorities`], [`systematic`], [`exhaustive`], [`guided`] | the strategies |
//! | [`boundaries`] | the places of a run at which a fault can make a difference |
//! | [`shrink`] | making a failing plan smaller |
//! | [`certificate`] | evidence that what is left is the cause |
//! | [`blame`] | how likely the failure had become after each event |
//! | [`story`] | what happened, from the faults to the witnesses |

pub mod blame;
pub mod boundaries;
pub mod campaign;
pub mod certificate;
pub mod determinism;
pub mod exhaustive;
pub mod guided;
pub mod priorities;
pub mod shrink;
pub mod story;
pub mod strategy;
pub mod swarm;
pub mod systematic;
#[cfg(test)]
mod toy;

use crate::fault::Kind;
use crate::time::Instant;
use crate::trace::Trace;
use crate::world::Fork;

/// Something that can be run for any seed: a scenario, in most cases.
///
/// It is shared between threads; each run builds its own world and shares nothing.
pub trait Experiment: Sync {
    /// What the world does to the system, item by item.
    type Plan: Send;
    /// What a run gives.
    type Outcome: Outcome + Send;

    /// The plan of a seed.
    fn draw(&self, seed: u64) -> Self::Plan;

    /// Runs a plan. The same plan and seed give the same outcome, always.
    fn run(&self, seed: u64, plan: &Self::Plan, trace: Tracing) -> Self::Outcome;
}

/// An experiment whose faults are drawn from a menu.
pub trait Faulty: Experiment {
    /// What there is to draw from; none where its faults are given.
    fn menu(&self) -> Option<swarm::Menu>;
}

/// An experiment whose runs can leave their seed half-way.
pub trait Forkable: Experiment {
    /// Runs a plan as the seed has it up to a time, and with other draws from then on.
    fn fork(&self, seed: u64, plan: &Self::Plan, fork: Fork) -> Self::Outcome;
}

/// Whether a run records its trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracing {
    /// No: the fast way.
    #[default]
    Off,
    /// Yes.
    On,
    /// Only which kinds of events followed each other on which node.
    Orders,
}

/// What the search needs to know of an outcome.
pub trait Outcome {
    /// 64 bits over everything that happened.
    fn fingerprint(&self) -> u64;

    /// Whether anything was wrong.
    fn failed(&self) -> bool;

    /// How many events the run had.
    fn events(&self) -> u64;

    /// The probes that were reached, with counts.
    fn probes(&self) -> &[(&'static str, u64)];

    /// The kind of each fault of the plan, and whether it took effect.
    fn faults(&self) -> &[(Kind, bool)];

    /// The trace, if it was asked for.
    fn trace(&self) -> Option<&Trace>;

    /// The names of the nodes, by number.
    fn nodes(&self) -> &[String] {
        &[]
    }

    /// Which kinds of events followed each other on which node, as numbers, if they were asked for.
    fn orders(&self) -> &[u64] {
        &[]
    }

    /// When the last of what is wrong was seen.
    fn seen_at(&self) -> Option<Instant> {
        None
    }
}
