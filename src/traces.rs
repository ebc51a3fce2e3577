//! The trace of a replay: written to a file, and compared with another.

use std::fs;
use std::path::Path;

use millpond::exit::Exit;
use millpond::model::message;
use millpond::model::points;
use millpond::model::scenario::nearest::nearest;
use millpond::reports::folder::write_whole;
use millpond::reports::trace::lines::Lines;
use millpond::reports::trace::{Format, Recording, Window, write};
use millpond::sim::trace::Trace;
use millpond::sim::{ENGINE, NodeId};
use millpond::{Experiment, Tracing, Trial};

use crate::args::Replay;
use crate::output;
use crate::select::{self, Entry};

/// Writes and compares the trace of a seed as the flags ask for; what there is to say of it.
pub(crate) fn replay(args: &Replay, entry: &Entry, seed: u64) -> Result<String, Exit> {
    let mut text = String::new();
    if args.trace.is_none() && args.against.is_none() {
        return Ok(text);
    }
    let trial = Trial::new(&entry.name, entry.scenario.clone());
    let mut window = window(args, &trial)?;
    let trace = traced(&trial, seed);
    let nodes = &trial.catalog().names;
    if let Some(file) = &args.trace {
        let format = Format::of(file).map_err(usage)?;
        window.routine = args.all || !format.is_picture();
        let shown = window.lines(&trace);
        let recording = Recording { scenario: &entry.name, seed, engine: ENGINE, nodes, trace: &trace };
        let written = write(format, &recording, &shown);
        write_whole(file, &written)
            .map_err(|error| output::unwritable(&file.display().to_string(), &error))?;
        let (all, shown) = (trace.lines.len(), shown.len());
        text += &format!("Trace: {shown} of {all} lines in {}\n", file.display());
        if trace.omitted > 0 {
            text += &format!("{} lines more were too many to be kept.\n", trace.omitted);
        }
    }
    if let Some(file) = &args.against {
        window.routine = true;
        let ours = Lines::of(&window.lines(&trace), nodes);
        let theirs = other(file, seed, &window)?;
        text += &ours.against(&theirs, &file.display().to_string());
    }
    Ok(text)
}

fn traced(trial: &Trial, seed: u64) -> Trace {
    trial.run(seed, &trial.draw(seed), Tracing::On).trace.unwrap_or_default()
}

/// The window that the flags ask for.
fn window(args: &Replay, trial: &Trial) -> Result<Window, Exit> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && from > to
    {
        return Err(usage(format!("--from {from} is later than --to {to}")));
    }
    let names = &trial.catalog().names;
    let mut nodes = Vec::new();
    for name in &args.node {
        match names.iter().position(|known| known == name) {
            Some(at) => nodes.push(NodeId::of_number(at as u16)),
            None => return Err(unknown("node", name, names.iter().map(String::as_str))),
        }
    }
    let kinds = message::KINDS.iter().map(|kind| kind.name).chain(points::ALL.iter().map(|point| point.name));
    for kind in &args.kind {
        if !kinds.clone().any(|known| known == kind) {
            return Err(unknown("kind of message or point", kind, kinds));
        }
    }
    Ok(Window { from: args.from, to: args.to, nodes, kinds: args.kind.clone(), routine: args.all })
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Exit {
    let near = match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
    };
    usage(format!("no {what} is called `{name}`; {near}"))
}

fn usage(text: String) -> Exit {
    output::fail(&text);
    Exit::Usage
}

/// The lines to compare with: of a trace that was written before, or of another scenario that is run.
fn other(file: &Path, seed: u64, window: &Window) -> Result<Lines, Exit> {
    if file.extension().is_some_and(|ending| ending == "ron") {
        let entry = select::entry(file, select::parent(file)).map_err(|problem| {
            problem.tell();
            Exit::BadFile
        })?;
        let seed = entry.scenario.found.as_ref().map_or(seed, |found| found.seed);
        let trial = Trial::new(&entry.name, entry.scenario.clone());
        let trace = traced(&trial, seed);
        return Ok(Lines::of(&window.lines(&trace), &trial.catalog().names));
    }
    let text = fs::read_to_string(file).map_err(|error| error.to_string());
    text.and_then(|text| Lines::parse(&text)).map_err(|error| {
        output::fail(&format!("{}: {error}", file.display()));
        Exit::BadFile
    })
}
