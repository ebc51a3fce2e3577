//! What is printed, and where: results on stdout, everything else on stderr.

use std::io::{self, ErrorKind, Write};

use anstream::{AutoStream, ColorChoice};
use millpond::exit::Exit;
use millpond::model::scenario::nearest::nearest;

use crate::args::When;

/// stdout, with colours where they are wanted.
pub(crate) fn stdout(color: When) -> AutoStream<io::Stdout> {
    AutoStream::new(io::stdout(), choice(color, &io::stdout()))
}

/// Sets what `anstream::eprintln` does with colours.
pub(crate) fn set_colors(color: When) {
    match color {
        When::Auto => {}
        When::Always => ColorChoice::Always.write_global(),
        When::Never => ColorChoice::Never.write_global(),
    }
}

fn choice(color: When, stream: &io::Stdout) -> ColorChoice {
    match color {
        When::Auto => AutoStream::choice(stream),
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
    }
}

/// Prints the result of a command.
pub(crate) fn print(color: When, text: &str) -> Exit {
    let mut out = stdout(color);
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Exit::Good,
        // Whoever closed the pipe has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Exit::Good,
        Err(error) => unwritable("stdout", &error),
    }
}

/// Says that something could not be written.
pub(crate) fn unwritable(target: &str, error: &io::Error) -> Exit {
    fail(&format!("cannot write {target}: {error}"));
    Exit::Output
}

/// Writes to stderr. Whoever closed it does not want to know.
pub(crate) fn tell(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Says what is wrong.
pub(crate) fn fail(message: &str) {
    let style = anstyle::AnsiColor::Red.on_default().bold();
    tell(&format!("{style}error{style:#}: {message}\n"));
}

/// Warns.
pub(crate) fn warn(message: &str) {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    tell(&format!("{style}warning{style:#}: {message}\n"));
}

/// Warns of variables that look like flags of ours and are none.
pub(crate) fn warn_of_unknown_variables(command: &clap::Command) {
    let commands = std::iter::once(command).chain(command.get_subcommands());
    let flags = commands.flat_map(clap::Command::get_arguments).filter_map(clap::Arg::get_env);
    let known: Vec<String> = flags.map(|name| name.to_string_lossy().into_owned()).collect();
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if !name.starts_with("MILLPOND_") || known.iter().any(|known| *known == name) {
            continue;
        }
        match nearest(&name, known.iter().map(String::as_str)) {
            Some(near) => warn(&format!("the variable {name} means nothing here; did you mean {near}?")),
            None => warn(&format!("the variable {name} means nothing here")),
        }
    }
}
