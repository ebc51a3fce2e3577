//! Millpond: deterministic simulation testing for stream systems.
//!
//! This is the façade for tests of your own: the kernel as [`sim`], stream systems and scenario files
//! as [`model`], texts and files as [`reports`].

pub use millpond_model as model;
pub use millpond_reports as reports;
pub use millpond_sim as sim;
