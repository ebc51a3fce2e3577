//! The kernel of Millpond: a world of nodes under a seeded, single-threaded scheduler in virtual
//! time, and the search over its runs. It knows nothing of streams.
//!
//! | module | what it is |
//! |--------|------------|
//! | [`actor`] | what a user writes: a protocol and its actors |
//! | [`context`] | the only way out of an actor |
//! | [`world`] | nodes, actors, and the loop that runs them |
//! | `kernel` | everything of a world but its actors |
//! | `queue` | events in the order of (time, tie) |
//! | [`random`] | keyed draws |
//! | [`time`] | virtual time and its text form |
//! | [`node`] | the unit of failure |
//! | [`network`], [`disk`], [`clock`] | what faults meet, one place each |
//! | [`fault`] | faults as data, their triggers, and how they strike |
//! | [`schedule`] | overrides of the order that the seed gives |
//! | [`search`] | the search over runs: campaigns over seeds, the determinism check |
//! | `orders` | which events followed each other, for a search that is guided by it |
//! | [`trace`], `fingerprint` | what happened: in lines when asked, in 64 bits always |

pub mod actor;
pub mod clock;
pub mod context;
pub mod disk;
pub mod fault;
mod fingerprint;
mod kernel;
pub mod network;
pub mod node;
mod orders;
mod queue;
pub mod random;
pub mod schedule;
pub mod search;
pub mod time;
pub mod trace;
pub mod world;

pub use self::actor::{Actor, Boot, Message, Note, Protocol};
pub use self::context::{Context, TimerId};
pub use self::fingerprint::digest;
pub use self::kernel::Noted;
pub use self::node::NodeId;
pub use self::world::{Bounds, Ending, Fork, Limit, Record, Settings, World};

/// The version of the engine: it changes whenever the same seed may mean another run.
pub const ENGINE: u32 = 1;
