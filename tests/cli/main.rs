//! The command line, end to end, through the binary, as a user would.

mod commands;
mod exits;
mod finding;
mod known;
mod output;
mod replay;
mod stopping;
mod support;
mod traces;
