//! From a failed run to a failure: its name, its file, and the commands that go with it.

use std::path::Path;

use millpond::reports::failure::{self, Cause, Failure};
use millpond::reports::folder::Folder;
use millpond::reports::judge;
use millpond::sim::search::determinism::Checked;
use millpond::{Invariant, Plan, TrialOutcome};

use crate::output;
use crate::select::Entry;

/// A run of a scenario that failed.
pub(crate) struct Failed<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) only: Option<Invariant>,
    pub(crate) seed: u64,
}

impl Failed<'_> {
    /// The failure of a plan, without a file.
    pub(crate) fn failure(&self, plan: Plan, checked: Checked<TrialOutcome>) -> Option<Failure> {
        let scenario = &self.entry.scenario;
        let expected = judge::expected(scenario, self.only);
        let cause = Cause::of(&checked.outcome, checked.difference.as_deref(), expected)?;
        let recorded = scenario.found.is_some();
        let is_expected =
            checked.difference.is_none() && judge::is_expected(&checked.outcome, expected, recorded);
        let (name, seed, path) = (&self.entry.name, self.seed, quoted(&self.entry.path));
        let replay = if recorded {
            format!("millpond replay {path}")
        } else {
            format!("millpond replay {path} --seed {seed}")
        };
        Some(Failure {
            scenario: name.clone(),
            seed,
            schedule: seed,
            id: failure::id(name, &cause.name(), &plan),
            plan,
            drawn: !recorded,
            outcome: checked.outcome,
            cause,
            explanation: None,
            expected: is_expected,
            file: None,
            replay,
            keep: None,
        })
    }

    /// Writes the file of a failure, and makes its commands name it. What was recorded before, and
    /// what is not the same twice, has no file.
    pub(crate) fn keep(&self, failure: &mut Failure, folder: &Folder) -> std::io::Result<()> {
        let Some(broke) = failure.cause.invariant().filter(|_| failure.drawn) else { return Ok(()) };
        let name = format!("{}-{}.ron", failure::file_stem(&failure.scenario), failure.id);
        let text = failure::failure_file(&self.entry.scenario, failure, broke, &name);
        let file = folder.failure(&name, &text)?;
        let path = quoted(&folder.path().join(&file));
        failure.replay = format!("millpond replay {path}");
        if !failure.expected {
            let into = &self.entry.keep_in;
            let make = if into.is_dir() { String::new() } else { format!("mkdir -p {} && ", quoted(into)) };
            failure.keep = Some(format!("{make}cp {path} {}/", quoted(into)));
        }
        failure.file = Some(file);
        Ok(())
    }
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:@%,".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.into_owned();
    }
    let text = if text.starts_with('-') { format!("./{text}") } else { text.into_owned() };
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Says that a recorded run went another way, in lines.
pub(crate) fn unlike(recorded: &str, now: u64) -> String {
    format!(
        "fingerprint {now:016x}, recorded {recorded}: the same engine ran it another way. Either the run is not \
         deterministic, or the file was changed after it was recorded (delete its `found` then)"
    )
}

/// Says that another engine has recorded a run.
pub(crate) fn other_engine(engine: u32) -> String {
    format!(
        "another engine ({engine}) recorded this: the seed may draw other choices; the plan is run as listed"
    )
}

/// Warns that a failure could not be kept.
pub(crate) fn not_kept(folder: &Folder, error: &std::io::Error) -> millpond::exit::Exit {
    output::unwritable(&format!("failures to {}", folder.path().display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_as_a_shell_wants_it() {
        for (path, text) in [
            ("scenarios/a-b_1.ron", "scenarios/a-b_1.ron"),
            ("my files/it's.ron", r"'my files/it'\''s.ron'"),
            ("$HOME;ls", "'$HOME;ls'"),
            ("-rf", "'./-rf'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(Path::new(path)), text);
        }
    }
}
