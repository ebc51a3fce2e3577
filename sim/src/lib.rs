//! The kernel.
pub mod fault;
pub mod time;
