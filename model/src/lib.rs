//! Stream systems as actors, for the Millpond kernel: brokers, clients, processors and sinks, their
//! histories, the invariants that must hold, and the scenario files that describe it all.

mod broker;
pub mod bugs;
mod call;
pub mod catalog;
mod draw;
pub mod evidence;
mod flush;
pub mod invariants;
pub mod message;
pub mod note;
mod observer;
pub mod outcome;
pub mod points;
pub mod probes;
pub mod processor;
mod producer;
pub mod record;
pub mod reference;
pub mod scenario;
pub mod sink;
#[cfg(test)]
mod sink_tests;
pub mod stored;
pub mod trial;
pub mod words;
