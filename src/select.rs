//! Finding and reading scenarios: files, and folders with all that is in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use millpond::model::scenario::mistake::Mistake;
use millpond::reports::diagnostic;
use millpond::{Scenario, read};

use crate::output;

/// Where scenarios are looked for where the command line does not say.
pub(crate) const DEFAULT: &str = "scenarios";

/// Folders of this name hold recorded failures.
pub(crate) const KNOWN: &str = "known";

/// How deep folders are searched.
const DEEPEST: usize = 32;

/// The largest file that is read: much more than a scenario may have.
const LARGEST: u64 = 64 << 20;

/// A scenario and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The file.
    pub(crate) path: PathBuf,
    /// The name: that of the file without its ending, longer where two have the same.
    pub(crate) name: String,
    /// The scenario.
    pub(crate) scenario: Scenario,
    /// Whether it lies in a folder of recorded failures.
    pub(crate) known: bool,
    /// The folder for recorded failures that belongs to it.
    pub(crate) keep_in: PathBuf,
}

/// Why a file is no scenario.
#[derive(Debug)]
pub(crate) enum Problem {
    /// It cannot be read.
    Unreadable(PathBuf, io::Error),
    /// It has mistakes.
    Wrong(PathBuf, String, Vec<Mistake>),
}

impl Problem {
    /// Says what is wrong.
    pub(crate) fn tell(&self) {
        match self {
            Self::Unreadable(path, error) => {
                output::fail(&format!("cannot read {}: {error}", path.display()))
            }
            Self::Wrong(path, text, mistakes) => {
                let text = diagnostic::render(&path.display().to_string(), text, mistakes, true);
                output::tell(&text);
            }
        }
    }
}

/// All scenarios of files and folders, recorded failures first, or all that is wrong with them.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Vec<Entry>, Vec<Problem>> {
    let default = [PathBuf::from(DEFAULT)];
    let mut paths = paths;
    if paths.is_empty() {
        if !default[0].exists() {
            return Ok(Vec::new());
        }
        paths = &default;
    }
    let (mut entries, mut problems, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for path in paths {
        let mut files = Vec::new();
        if let Err(problem) = collect(path, 0, &mut seen, &mut files) {
            problems.push(problem);
        }
        let root = if path.is_dir() { path.as_path() } else { parent(path) };
        for file in files {
            if !seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())) {
                continue;
            }
            match entry(&file, root) {
                Ok(entry) => entries.push(entry),
                Err(problem) => problems.push(problem),
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    name_apart(&mut entries);
    entries.sort_by_key(|entry| !entry.known);
    Ok(entries)
}

/// Reads one file.
pub(crate) fn entry(file: &Path, root: &Path) -> Result<Entry, Problem> {
    let unreadable = |error| Problem::Unreadable(file.to_owned(), error);
    let size = fs::metadata(file).map_err(unreadable)?.len();
    if size > LARGEST {
        return Err(unreadable(io::Error::other("it is larger than 64 MiB")));
    }
    let text = fs::read_to_string(file).map_err(unreadable)?;
    let scenario = read(&text).map_err(|mistakes| Problem::Wrong(file.to_owned(), text, mistakes))?;
    let known = file.parent().is_some_and(|folder| folder.iter().any(|part| part == KNOWN));
    let keep_in = if root.iter().any(|part| part == KNOWN) { root.to_owned() } else { root.join(KNOWN) };
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Entry { path: file.to_owned(), name, scenario, known, keep_in })
}

/// The folder of a file; that of a bare name is the current one, written as nothing.
pub(crate) fn parent(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// Adds the scenarios in a folder that was not seen before: links may go round in circles.
fn collect(
    path: &Path,
    depth: usize,
    seen: &mut BTreeSet<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> Result<(), Problem> {
    let unreadable = |error| Problem::Unreadable(path.to_owned(), error);
    if !fs::metadata(path).map_err(unreadable)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    if !seen.insert(path.canonicalize().map_err(unreadable)?) {
        return Ok(());
    }
    let mut inside = Vec::new();
    for item in fs::read_dir(path).map_err(unreadable)? {
        inside.push(item.map_err(unreadable)?.path());
    }
    inside.sort();
    for path in inside {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if path.is_dir() {
            if depth < DEEPEST {
                collect(&path, depth + 1, seen, files)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "ron") {
            files.push(path);
        }
    }
    Ok(())
}

/// Makes names of different files different, by the folders that they lie in.
fn name_apart(entries: &mut [Entry]) {
    for folders in 1..DEEPEST {
        let mut count = BTreeMap::new();
        for entry in entries.iter() {
            *count.entry(entry.name.clone()).or_insert(0) += 1;
        }
        for entry in entries.iter_mut().filter(|entry| count[&entry.name] > 1) {
            let parts: Vec<_> = parent(&entry.path).iter().map(|part| part.to_string_lossy()).collect();
            let stem = entry.path.file_stem().unwrap_or_default().to_string_lossy();
            let from = parts.len().saturating_sub(folders);
            let folder = parts[from..].join("/");
            entry.name = format!("{folder}/{stem}").trim_start_matches('/').to_owned();
        }
    }
}
