//! `millpond new`: writes a small scenario with its fields explained.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};

use millpond::exit::Exit;

use crate::args::{New, Taste};
use crate::{output, select, story};

/// The scenario that is written.
const TEXT: &str = include_str!("new.ron");

/// Writes the file unless it is there.
pub(crate) fn new(args: &New, taste: &Taste) -> Exit {
    let folder = select::parent(&args.file);
    if !folder.as_os_str().is_empty()
        && let Err(error) = fs::create_dir_all(folder)
    {
        return output::unwritable(&folder.display().to_string(), &error);
    }
    let file = OpenOptions::new().write(true).create_new(true).open(&args.file);
    match file.and_then(|mut file| file.write_all(TEXT.as_bytes())) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            output::fail(&format!("{} is there already: it is left as it is", args.file.display()));
            return Exit::Usage;
        }
        Err(error) => return output::unwritable(&args.file.display().to_string(), &error),
    }
    let path = story::quoted(&args.file);
    let text = format!("{path} is written. Go on with:\n  millpond check {path}\n  millpond run {path}\n");
    if taste.quiet { Exit::Good } else { output::print(taste.color, &text) }
}
