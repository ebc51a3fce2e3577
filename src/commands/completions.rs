//! `millpond completions`: completions for a shell.

use clap::CommandFactory;
use millpond::exit::Exit;

use crate::args::{Cli, Completions, Taste};
use crate::output;

/// Prints the completions.
pub(crate) fn completions(args: &Completions, taste: &Taste) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "millpond", &mut script);
    output::print(taste.color, &String::from_utf8_lossy(&script))
}
