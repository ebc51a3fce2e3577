//! `millpond shrink`: looks longer for the smallest cause of a failure, and writes it as a file of its
//! own: a complete scenario, with its explanation in the opening comment.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use millpond::exit::Exit;
use millpond::reports::block::block;
use millpond::reports::failure::{self, Failure};
use millpond::reports::folder::write_whole;
use millpond::{Experiment, Invariant, Trial};

use crate::args::{self, Taste};
use crate::campaign::Focus;
use crate::commands::replay;
use crate::commands::run::detail;
use crate::explanation::{self, Effort};
use crate::interrupt;
use crate::output;
use crate::select::{self, Entry};
use crate::story::{Failed, quoted};

/// Shrinks a recorded failure, or one seed of a scenario.
pub(crate) fn shrink(args: &args::Shrink, taste: &Taste) -> Exit {
    let entry = match select::entry(&args.file, select::parent(&args.file)) {
        Ok(entry) => entry,
        Err(problem) => {
            problem.tell();
            return Exit::BadFile;
        }
    };
    let Some(seed) = args.seed.or(entry.scenario.found.as_ref().map(|found| found.seed)) else {
        output::fail(&format!("{} records no failure: name a failing seed with --seed", args.file.display()));
        return Exit::Usage;
    };
    interrupt::listen();
    match smallest(&entry, seed, args, taste) {
        Ok(text) => output::print(taste.color, &text),
        Err(exit) => exit,
    }
}

/// Finds the smallest cause, writes its files, and says so.
fn smallest(entry: &Entry, seed: u64, args: &args::Shrink, taste: &Taste) -> Result<String, Exit> {
    let trial = Trial::new(&entry.name, entry.scenario.clone());
    let checked = replay::run_once(entry, &trial, seed)?;
    let found = Failed { entry, only: None, seed }.failure(trial.draw(seed), checked);
    let Some((mut failure, broke)) = found.and_then(|it| it.cause.invariant().map(|broke| (it, broke)))
    else {
        output::fail(&format!("seed {seed} of {} breaks nothing: there is nothing to shrink", entry.name));
        return Err(Exit::Empty);
    };
    failure.scenario = stem(entry);
    let limit = Duration::from_nanos(args.budget.as_nanos());
    let focus = Focus { trial: &trial, only: None };
    let pulse = Pulse { runs: AtomicU64::new(0), quiet: taste.quiet };
    explanation::explain(
        &focus,
        &mut failure,
        Effort {
            shrink: Some(limit),
            schedules: args.schedules,
            blame: None,
            detail: detail(taste),
            pulse: &|| pulse.run(),
        },
    );

    let name = format!("{}-{}.ron", failure::file_stem(&failure.scenario), failure.id);
    let folder = args.out.clone().unwrap_or_else(|| select::parent(&args.file).to_owned());
    let file = folder.join(&name);
    failure.replay = format!("millpond replay {}", quoted(&file));
    write(&folder, &file, &failure::failure_file(&entry.scenario, &failure, broke, &name))?;
    let mut text = block(&failure, detail(taste));
    let _ = writeln!(text, "\nWritten: {}", file.display());
    if args.test {
        let test = file.with_extension("rs");
        write(&folder, &test, &rust_test(&failure, broke, &name))?;
        let _ = writeln!(text, "Written: {}", test.display());
    }
    Ok(text)
}

fn write(folder: &Path, file: &Path, text: &str) -> Result<(), Exit> {
    let made = if folder.as_os_str().is_empty() { Ok(()) } else { std::fs::create_dir_all(folder) };
    made.and_then(|()| write_whole(file, text))
        .map_err(|error| output::unwritable(&file.display().to_string(), &error))
}

/// The name of the scenario that a failure was found in: that of its file without the failure's own.
fn stem(entry: &Entry) -> String {
    let is_id = |text: &str| text.len() == 8 && text.chars().all(|digit| digit.is_ascii_hexdigit());
    match entry.name.rsplit_once('-') {
        Some((stem, id)) if entry.scenario.found.is_some() && is_id(id) => stem.to_owned(),
        _ => entry.name.clone(),
    }
}

/// A test that fails as long as the failure is there.
fn rust_test(failure: &Failure, broke: Invariant, file: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = failure.scenario.chars().chain(['_']).chain(failure.id.chars()).map(word).collect();
    format!(
        "//! A failure that `millpond` found in {scenario} at seed {seed}: its scenario lies beside this file.\n\
         \n\
         #[test]\n\
         fn holds_{name}() {{\n    \
             let text = include_str!({file:?});\n    \
             let outcome = millpond::replay({file:?}, text).expect(\"a scenario without mistakes\");\n    \
             let broken: Vec<_> = outcome.broken().map(|verdict| verdict.invariant).collect();\n    \
             assert!(!broken.contains(&millpond::Invariant::{broke:?}), \"{{:#?}}\", outcome.verdicts);\n\
         }}\n",
        scenario = failure.scenario,
        seed = failure.seed,
    )
}

/// Says how far it is: a line at each power of two of runs.
struct Pulse {
    runs: AtomicU64,
    quiet: bool,
}

impl Pulse {
    /// From so many runs on there is something to wait for.
    const FIRST: u64 = 1_024;

    fn run(&self) {
        let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.quiet && runs >= Self::FIRST && runs.is_power_of_two() {
            output::tell(&format!("#{runs}  shrinking\n"));
        }
    }
}
