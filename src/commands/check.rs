//! `millpond check`: reads scenarios and says what is wrong with them.

use millpond::exit::Exit;

use crate::args::{Paths, Taste};
use crate::output;
use crate::select;

/// Reads all and prints all mistakes.
pub(crate) fn check(args: &Paths, taste: &Taste) -> Exit {
    match select::load(&args.paths) {
        Err(problems) => {
            problems.iter().for_each(select::Problem::tell);
            Exit::BadFile
        }
        Ok(entries) if entries.is_empty() => {
            output::fail("there is no scenario to check");
            Exit::Empty
        }
        Ok(_) if taste.quiet => Exit::Good,
        Ok(entries) => {
            let count = match entries.len() {
                1 => "1 scenario".to_owned(),
                more => format!("{more} scenarios"),
            };
            output::print(taste.color, &format!("{count}, no mistakes\n"))
        }
    }
}
