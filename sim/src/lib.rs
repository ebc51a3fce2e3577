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
//!
//! A false claim, and how it is refuted: a node that answers "stored" before its sync has ended.
//!
//! ```
//! use millpond_sim::fault::{Event, Fault, Trigger, What, When};
//! use millpond_sim::time::{Instant, Span};
//! use millpond_sim::{Actor, Context, Message, NodeId, Note, Protocol, Settings, World};
//!
//! #[derive(Clone, Copy, Debug)]
//! enum Msg { Store, Stored }
//! impl std::fmt::Display for Msg {
//!     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "{self:?}") }
//! }
//! impl Message for Msg {
//!     fn kind(&self) -> &'static str { match self { Msg::Store => "Store", Msg::Stored => "Stored" } }
//!     fn digest(&self) -> u64 { *self as u64 }
//! }
//!
//! /// How many entries the server has found on its disk at a start.
//! struct Found(usize);
//! impl std::fmt::Display for Found {
//!     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "{}", self.0) }
//! }
//! impl Note for Found { fn digest(&self) -> u64 { self.0 as u64 } }
//!
//! struct Store;
//! impl Protocol for Store { type Message = Msg; type Stored = (); type Note = Found; }
//!
//! struct Server;
//! impl Actor<Store> for Server {
//!     fn start(&mut self, context: &mut Context<'_, Store>) {
//!         let log = context.disk().log("entries");
//!         let found = context.disk().len(log);
//!         context.note(Found(found));
//!     }
//!     fn message(&mut self, context: &mut Context<'_, Store>, from: NodeId, _: Msg) {
//!         let log = context.disk().log("entries");
//!         if context.append(log, ()).is_ok() {
//!             context.sync();
//!             context.send(from, Msg::Stored); // Too early: the sync has only begun.
//!         }
//!     }
//! }
//!
//! struct Client(NodeId);
//! impl Actor<Store> for Client {
//!     fn start(&mut self, context: &mut Context<'_, Store>) { context.send(self.0, Msg::Store) }
//!     fn message(&mut self, _: &mut Context<'_, Store>, _: NodeId, _: Msg) {}
//! }
//!
//! // The claim: what was answered with "stored" is there after a crash. The crash comes where it hurts.
//! let answered = Trigger { node: "server".into(), event: Event::Sends("Stored".into()), nth: 1 };
//! let crash = What::Crash { nodes: vec!["server".into()], down: Span::from_millis(10) };
//! let plan = [Fault { when: When::After(answered), what: crash }];
//! let refuted = (0..100).find(|seed| {
//!     let mut world: World<Store> = World::new(Settings { seed: *seed, ..Settings::default() });
//!     let server = world.add_node("server", |_| Box::new(Server));
//!     world.add_node("client", move |_| Box::new(Client(server)));
//!     let (heals, end) = (Instant::from_nanos(500_000_000), Instant::from_nanos(1_000_000_000));
//!     let record = world.run(&plan, heals, end).expect("the plan names nodes of this world");
//!     record.history.last().is_some_and(|noted| noted.incarnation == 1 && noted.note.0 == 0)
//! });
//! assert!(refuted.is_some(), "some seed loses what was answered");
//! ```

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
