//! The commands, one file each.

mod bugs;
mod check;
mod completions;
mod demo;
mod explain;
mod list;
mod new;
mod replay;
mod run;
mod shrink;

use millpond::exit::Exit;

use crate::args::{Cli, Command};

/// Does what the command line asks for.
pub(crate) fn run(cli: Cli) -> Exit {
    let taste = &cli.taste;
    match cli.command {
        Command::Run(args) => run::run(&args, taste),
        Command::Replay(args) => replay::replay(&args, taste),
        Command::Shrink(args) => shrink::shrink(&args, taste),
        Command::Bugs(args) => bugs::bugs(&args, taste),
        Command::Check(args) => check::check(&args, taste),
        Command::List(args) => list::list(&args, taste),
        Command::Explain(args) => explain::explain(&args, taste),
        Command::New(args) => new::new(&args, taste),
        Command::Demo => demo::demo(taste),
        Command::Completions(args) => completions::completions(&args, taste),
    }
}
