//! Millpond.
fn main() {}
