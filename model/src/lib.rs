//! Stream systems as actors.
pub mod probes;
pub mod scenario;
