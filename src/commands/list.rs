//! `millpond list`: scenarios with what they claim, check, reach and expect.

use std::fmt::Write as _;

use anstyle::Style;
use millpond::exit::Exit;
use millpond::reports::judge;

use crate::args::{Paths, Taste, expectation};
use crate::output;
use crate::select::{self, Entry};

/// Lists all.
pub(crate) fn list(args: &Paths, taste: &Taste) -> Exit {
    let entries = match select::load(&args.paths) {
        Ok(entries) => entries,
        Err(problems) => {
            problems.iter().for_each(select::Problem::tell);
            return Exit::BadFile;
        }
    };
    if entries.is_empty() {
        output::fail("there is no scenario to list");
        return Exit::Empty;
    }
    let text: String =
        entries.iter().map(|entry| if taste.quiet { short(entry) } else { long(entry) }).collect();
    output::print(taste.color, &text)
}

fn short(entry: &Entry) -> String {
    format!("{}\n", entry.name)
}

fn long(entry: &Entry) -> String {
    let bold = Style::new().bold();
    let scenario = &entry.scenario;
    let mut text = format!("{bold}{}{bold:#}", entry.name);
    if !scenario.claims.is_empty() {
        let _ = write!(text, "  {}", scenario.claims.join(" "));
    }
    let checks: Vec<_> =
        scenario.check.iter().map(|check| format!("{:?}", judge::invariant(*check))).collect();
    let _ = write!(text, "\n  {}\n  file     {}\n", scenario.about, entry.path.display());
    let _ = writeln!(text, "  checks   {}", checks.join(", "));
    let _ = writeln!(text, "  expects  {}", expectation(scenario.expect));
    if !scenario.bugs.is_empty() {
        let _ = writeln!(text, "  planted  {}", scenario.bugs.join(", "));
    }
    if !scenario.reach.is_empty() {
        let _ = writeln!(text, "  reaches  {}", scenario.reach.join(", "));
    }
    if let Some(found) = &scenario.found {
        let (broke, seed, engine) = (found.broke, found.seed, found.engine);
        let _ = writeln!(text, "  recorded {broke:?} at seed {seed}, by engine {engine}");
    }
    text
}
