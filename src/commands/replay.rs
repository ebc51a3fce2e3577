//! `millpond replay`: a recorded failure, or one seed of a scenario, run again and told.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use millpond::exit::Exit;
use millpond::model::scenario::schema::Found;
use millpond::reports::block::block;
use millpond::reports::console::Detail;
use millpond::reports::failure::{Cause, Failure};
use millpond::sim::ENGINE;
use millpond::sim::search::determinism::Checked;
use millpond::{Experiment, Options, Repeat, Trial, TrialOutcome, Twice, campaign};

use crate::args::{Replay, Taste};
use crate::campaign::Focus;
use crate::commands::run::detail;
use crate::explanation::{self, Effort, SCHEDULES};
use crate::output;
use crate::panics;
use crate::select::{self, Entry};
use crate::story::{self, Failed};
use crate::traces;

/// Runs it twice, tells what broke, and compares with what was recorded.
pub(crate) fn replay(args: &Replay, taste: &Taste) -> Exit {
    let entry = match select::entry(&args.file, select::parent(&args.file)) {
        Ok(entry) => entry,
        Err(problem) => {
            problem.tell();
            return Exit::BadFile;
        }
    };
    let recorded =
        entry.scenario.found.as_ref().filter(|found| args.seed.is_none_or(|seed| seed == found.seed));
    let Some(seed) = args.seed.or(recorded.map(|found| found.seed)) else {
        output::fail(&format!(
            "{} records no failure: name the seed to run with --seed",
            args.file.display()
        ));
        return Exit::Usage;
    };
    let effort = Effort { blame: args.blame.then_some(SCHEDULES), ..Effort::within(None, detail(taste)) };
    let told = match tell(&entry, seed, recorded, effort) {
        Ok(told) => told,
        Err(exit) => return exit,
    };
    let traced = match traces::replay(args, &entry, seed) {
        Ok(text) => text,
        Err(exit) => return exit,
    };
    told.exit.and(output::print(taste.color, &(told.text + &traced)))
}

/// What a replay says, and how it ends.
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) exit: Exit,
}

/// Replays a seed and tells its story.
pub(crate) fn tell(
    entry: &Entry,
    seed: u64,
    recorded: Option<&Found>,
    effort: Effort<'_>,
) -> Result<Told, Exit> {
    let trial = Trial::new(&entry.name, entry.scenario.clone());
    let mut text = String::new();
    if effort.detail > Detail::Quiet {
        let faults = trial.draw(seed).faults.len();
        let items = if faults == 1 { "1 fault".to_owned() } else { format!("{faults} faults") };
        text = format!("replaying {}: {items}, seed {seed}", entry.name);
        if let Some(found) = recorded {
            text += &format!(", recorded by engine {}", found.engine);
        }
        text += "\n";
    }
    if let Some(found) = recorded.filter(|found| found.engine != ENGINE) {
        text += &story::other_engine(found.engine);
        text += "\n";
    }
    let checked = run_once(entry, &trial, seed)?;
    let fingerprint = checked.outcome.fingerprint;
    let mut failure = Failed { entry, only: None, seed }.failure(trial.draw(seed), checked);
    if let Some(failure) = &mut failure {
        let focus = Focus { trial: &trial, only: None };
        explanation::explain(&focus, failure, effort);
        text += "\n";
        text += &block(failure, effort.detail);
        text += "\n";
    }
    let (line, exit) = verdict(entry, recorded, failure.as_ref(), fingerprint);
    text += &line;
    text += "\n";
    Ok(Told { text, exit })
}

pub(crate) fn run_once(entry: &Entry, trial: &Trial, seed: u64) -> Result<Checked<TrialOutcome>, Exit> {
    let twice = Twice { experiment: trial, repeat: Repeat::All };
    let options = Options { start: seed, count: 1, jobs: NonZeroUsize::MIN, stop: &|| false };
    let mut result = None;
    let ran = campaign::run(&twice, &options, |_, checked| {
        result = Some(checked);
        ControlFlow::Break(())
    });
    if let Err(crash) = ran {
        panics::tell(&crash.message, Some(&format!("seed {seed} of {}", entry.name)));
        return Err(Exit::Internal);
    }
    result.ok_or(Exit::Internal)
}

/// The last line: whether it fails, and whether it is the run that was recorded.
fn verdict(
    entry: &Entry,
    recorded: Option<&Found>,
    failure: Option<&Failure>,
    fingerprint: u64,
) -> (String, Exit) {
    let now = format!("fingerprint {fingerprint:016x}");
    if failure.is_some_and(|failure| matches!(failure.cause, Cause::Unsteady(_))) {
        return (format!("FAIL: not deterministic: {now}"), Exit::Unsteady);
    }
    let Some(found) = recorded else {
        return match failure {
            None => (format!("PASS: {now}"), Exit::Good),
            Some(failure) if failure.expected => (format!("FOUND, as expected: {now}"), Exit::Good),
            Some(_) => (format!("FAIL: {now}"), Exit::Violation),
        };
    };
    let broke =
        failure.is_some_and(|failure| failure.outcome.broken().any(|one| one.invariant == found.broke));
    let as_recorded = format!("{fingerprint:016x}") == found.fingerprint;
    // What has been fixed goes another way: its file expects to pass then.
    let fixed = failure.is_none() && entry.scenario.expect == millpond::Expect::Pass;
    if found.engine == ENGINE && !as_recorded && !fixed {
        let line = format!("FAIL, but not as recorded: {}", story::unlike(&found.fingerprint, fingerprint));
        return (line, Exit::Unsteady);
    }
    match (failure, broke) {
        (None, _) => (format!("PASS: {:?} holds now: {now}", found.broke), Exit::Good),
        (Some(_), true) if as_recorded => (format!("FAIL, as recorded: {now}"), Exit::Violation),
        (Some(_), true) => (format!("FAIL: {:?} is broken still: {now}", found.broke), Exit::Violation),
        (Some(failure), false) => {
            let (holds, breaks) = (found.broke, failure.cause.name());
            (format!("FAIL, but not as recorded: {holds:?} holds and {breaks} broke: {now}"), Exit::Violation)
        }
    }
}
