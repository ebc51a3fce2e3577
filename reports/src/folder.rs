//! The folder of results: who may write it, what becomes of the one before, and files that are
//! there as a whole or not at all.
//!
//! ```text
//! millpond.out/         the last run; the one before it is millpond.out.old/
//!   lock                held while a run writes here
//!   results.jsonl       grows while the run goes on
//!   summary.json        the same for the same scenarios and seeds
//!   failures/*.ron      a complete scenario for each failure
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder of results that this process writes.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: Lock,
}

/// A lock that is held. It is given back by hand: closing the file would not do while a process that
/// was started meanwhile has not yet closed its copy.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Where this fails, closing the file is all that is left.
        let _ = self.0.unlock();
    }
}

/// Why a folder cannot be used for results.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another process writes it.
    #[error("another run writes to {0}: wait for it, or choose another folder with --out")]
    Busy(PathBuf),
    /// It has files that no run wrote.
    #[error("{0} holds files that are no results: choose another folder with --out")]
    Foreign(PathBuf),
    /// The system says no.
    #[error("{path}: {error}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

const LOCK: &str = "lock";
const RESULTS: &str = "results.jsonl";
const FAILURES: &str = "failures";

impl Folder {
    /// Makes the folder and locks it; a folder of an earlier run is renamed to `.old` first.
    ///
    /// # Errors
    /// Where another process writes there, where the folder holds anything but results, or where the
    /// system says no.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| FolderError::Io { path, error }
        };
        if path.exists() {
            // Held until the folder has its new name, so that no one else moves it meanwhile.
            let _earlier = lock_earlier(path)?;
            let old = old_name(path);
            if old.exists() {
                let _older = lock_earlier(&old)?;
                fs::remove_dir_all(&old).map_err(io(&old))?;
            }
            fs::rename(path, &old).map_err(io(path))?;
        }
        fs::create_dir_all(path).map_err(io(path))?;
        let lock = lock(&path.join(LOCK), path)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file that grows: the results, line by line.
    ///
    /// # Errors
    /// Where the file cannot be made.
    pub fn results(&self) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).open(self.path.join(RESULTS))
    }

    /// Where the summary is written to.
    pub fn summary(&self) -> PathBuf {
        self.path.join("summary.json")
    }

    /// Writes the file of a failure and gives its name within the folder.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn failure(&self, name: &str, text: &str) -> io::Result<String> {
        fs::create_dir_all(self.path.join(FAILURES))?;
        let name = format!("{FAILURES}/{name}");
        write_whole(&self.path.join(&name), text)?;
        Ok(name)
    }
}

/// Locks the folder of an earlier run, which must be one.
fn lock_earlier(path: &Path) -> Result<Option<Lock>, FolderError> {
    let io = |error| FolderError::Io { path: path.to_owned(), error };
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(io)? {
        names.push(entry.map_err(io)?.file_name());
    }
    if names.is_empty() {
        return Ok(None);
    }
    if !names.iter().any(|name| name == LOCK) {
        return Err(FolderError::Foreign(path.to_owned()));
    }
    lock(&path.join(LOCK), path).map(Some)
}

fn lock(file: &Path, folder: &Path) -> Result<Lock, FolderError> {
    let io = |error| FolderError::Io { path: file.to_owned(), error };
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(file).map_err(io)?;
    match lock.try_lock() {
        Ok(()) => Ok(Lock(lock)),
        Err(TryLockError::WouldBlock) => Err(FolderError::Busy(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(io(error)),
    }
}

fn old_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".old");
    path.with_file_name(name)
}

/// Writes a file so that it is there as a whole or not at all: aside first, then renamed.
///
/// # Errors
/// Where the file cannot be written or renamed; nothing is left beside it then.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    // A pipe or a device has no name to be renamed to.
    if path.exists() && !path.is_file() {
        return fs::write(path, text);
    }
    let mut aside = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    aside.push(".new");
    let aside = path.with_file_name(aside);
    let write = || {
        let mut file = File::create(&aside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&aside, path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&aside);
    })
}
