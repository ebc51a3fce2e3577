//! Millpond.
pub mod diagnostic;
