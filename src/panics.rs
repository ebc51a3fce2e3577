//! Panics: those of actors are verdicts and print nothing; one of Millpond itself ends with a block
//! that says what to report.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, PoisonError};

use millpond::campaign::WORKER;

use crate::output;

/// What the last panics said and where they were: whoever catches one knows only what it said.
static LAST: Mutex<VecDeque<(String, String)>> = Mutex::new(VecDeque::new());

/// How many panics are remembered.
const REMEMBERED: usize = 32;

/// The thread in which commands run.
const MAIN: &str = "main";

/// Makes panics silent where they are caught and told otherwise.
pub(crate) fn install() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        remember(info);
        if !is_told_elsewhere() {
            default(info);
        }
    }));
}

#[expect(clippy::disallowed_methods, reason = "the hook asks whose panic this is; no run does")]
fn is_told_elsewhere() -> bool {
    std::thread::current().name().is_some_and(|name| name == WORKER || name == MAIN)
}

fn remember(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.len() == REMEMBERED {
        last.pop_front();
    }
    last.push_back((said(info.payload()), place));
}

/// What a panic said.
pub(crate) fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Tells of a fault in Millpond itself.
pub(crate) fn tell(message: &str, during: Option<&str>) {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let place = last.iter().rev().find(|(said, _)| said == message).map(|(_, place)| place.as_str());
    let mut text = format!("{:-<81}\n", "---- a fault in millpond itself ");
    text += &format!("{message}\n  at {}\n", place.unwrap_or("an unknown place"));
    if let Some(during) = during {
        text += &format!("  while it ran {during}\n");
    }
    text += "\nIt says nothing about the scenario. Please report this block together with the scenario\n\
             file, the command line, and what `millpond --version` prints.\n";
    text += &format!("{:-<81}\n", "");
    output::tell(&text);
}
