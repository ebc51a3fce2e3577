//! A folder of its own for each test, and the binary run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Increments guarded by the offset: nothing is to be found.
pub(crate) const SOUND: &str = include_str!("../../scenarios/delivery/increment_guarded.ron");

/// The same with bare increments: a violation is found, and expected.
pub(crate) const BROKEN: &str = include_str!("../../scenarios/delivery/increment_bare.ron");

/// The first seed at which it is found.
pub(crate) const FIRST: u64 = 1;

/// A folder to run in.
pub(crate) struct Here(TempDir);

/// What a run of the binary gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Here {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with one scenario in `scenarios/`.
    pub(crate) fn with(name: &str, text: &str) -> Self {
        let here = Self::new();
        here.write(&format!("scenarios/{name}.ron"), text);
        here
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names in a folder, in order.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).into_iter().flatten();
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// The path of the only failure that was kept.
    pub(crate) fn failure(&self) -> String {
        match self.list("millpond.out/failures").as_slice() {
            [one] => format!("millpond.out/failures/{one}"),
            more => panic!("not one failure: {more:?}"),
        }
    }

    /// The binary, ready to be run here through pipes.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_millpond"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MILLPOND_") {
                command.env_remove(name);
            }
        }
        command
    }

    /// Runs the binary here.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::from(self.command(args).output().expect("the binary runs"))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    /// The last line of stdout, without its time.
    pub(crate) fn last(&self) -> String {
        without_times(self.out.lines().last().unwrap_or_default())
    }
}

/// Text with every time such as `0.3 s` made the same.
pub(crate) fn without_times(text: &str) -> String {
    let mut same = String::new();
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let mut out = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1).is_some_and(|next| next.trim_end_matches(':') == "s");
            let is_time = next && word.parse::<f64>().is_ok();
            out.push(if is_time { "T" } else { word });
        }
        same.push_str(&out.join(" ").split_whitespace().collect::<Vec<_>>().join(" "));
        same.push('\n');
    }
    same.trim_end().to_owned()
}

/// Whether a file is there.
pub(crate) fn is_there(path: &Path) -> bool {
    path.exists()
}
