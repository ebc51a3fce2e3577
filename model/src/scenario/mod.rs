//! Scenario files: the types, reading and writing, validation, and answers to mistakes.

pub mod map;
pub mod schema;
