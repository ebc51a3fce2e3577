//! The command line of Millpond: parse, dispatch, exit.

mod args;
mod campaign;
mod clock;
mod commands;
mod explanation;
mod interrupt;
mod log;
mod output;
mod panics;
mod progress;
mod search;
mod select;
mod story;
mod traces;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use millpond::exit::Exit;

use crate::args::Cli;

fn main() -> ExitCode {
    panics::install();
    let cli = Cli::parse();
    output::set_colors(cli.taste.color);
    output::warn_of_unknown_variables(&Cli::command());
    if let Some(Err(error)) = cli.taste.log.as_deref().map(log::begin) {
        output::fail(&format!("--log: {error}"));
        return Exit::Usage.into();
    }
    let exit = catch_unwind(AssertUnwindSafe(|| commands::run(cli))).unwrap_or_else(|panic| {
        panics::tell(&panics::said(&*panic), None);
        Exit::Internal
    });
    exit.into()
}
