//! Stream systems as actors, for the Millpond kernel: brokers, clients, processors and sinks, their
//! histories, the invariants that must hold, and the scenario files that describe it all.

pub mod outcome;
pub mod probes;
pub mod scenario;
pub mod trial;
