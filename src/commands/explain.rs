//! `millpond explain`: what a name means. Everything it says is made from the tables and doc comments
//! that the code itself uses.

use std::fmt::Write as _;

use anstyle::Style;
use millpond::exit::Exit;
use millpond::model::scenario::fields::{self, Field, Role};
use millpond::model::scenario::nearest::nearest;
use millpond::model::scenario::validate::codes;
use millpond::model::{bugs, message, points, probes};
use millpond::sim::fault::Kind;

use crate::args::{self, Explain, Taste};
use crate::output;

/// Names that explain more than one thing.
const TOPICS: [&str; 8] =
    ["exit-codes", "faults", "invariants", "probes", "points", "messages", "bugs", "errors"];

/// Prints what a name means.
pub(crate) fn explain(args: &Explain, taste: &Taste) -> Exit {
    let name = args.name.join(" ");
    let text = topic(&name).unwrap_or_else(|| thing(&name));
    if text.is_empty() {
        unknown(&name);
        return Exit::Usage;
    }
    output::print(taste.color, &text)
}

fn topic(name: &str) -> Option<String> {
    let text = match name {
        "exit-codes" | "exit codes" => {
            Exit::TABLE.iter().map(|(_, code, meaning)| format!("{code:>4}  {meaning}\n")).collect::<String>()
                + "\nWhere there are several, the gravest counts: 70, 74, 3, 2, 5, 1, 130, 143, 4.\n"
        }
        "faults" => {
            let (width, drawn) =
                (12, "\nIn `faults: Plan([...])` each is written as `(when: ..., what: Crash(...))`.\n");
            let lines = Kind::TABLE.iter().map(|(_, name, about)| format!("{name:<width$}  {about}\n"));
            lines.collect::<String>() + drawn
        }
        "invariants" => {
            args::invariants().iter().map(|(name, _)| format!("{name:<18}  {}\n", invariant(name))).collect()
        }
        "probes" => {
            probes::ALL.iter().map(|probe| format!("{:<20}  {}\n", probe.name, probe.about)).collect()
        }
        "points" => {
            let lines = points::ALL.iter().map(|point| format!("{:<18}  {}\n", point.name, point.about));
            lines.collect::<String>() + "\nA trigger names one as `event: Reaches(\"after write\")`.\n"
        }
        "messages" => {
            let lines = message::KINDS.iter().map(|kind| format!("{:<11}  {}\n", kind.name, kind.about));
            lines.collect::<String>() + "\nA trigger names one as `event: Sends(\"Commit\")` or `Receives`.\n"
        }
        "bugs" => {
            let lines =
                bugs::ALL.iter().map(|bug| format!("{:<31}  {} ({})\n", bug.name, bug.about, bug.report));
            lines.collect::<String>() + "\nA scenario plants one as `bugs: [\"fence forgotten\"]`.\n"
        }
        "errors" => codes::CODES.iter().map(|code| format!("{:<20}  {}\n", code.name, code.about)).collect(),
        _ => return None,
    };
    Some(text)
}

fn thing(name: &str) -> String {
    let mut text = String::new();
    if let Some((_, code, meaning)) = Exit::TABLE.iter().find(|(_, code, _)| code.to_string() == name) {
        let _ = writeln!(text, "exit code {code}: {meaning}");
    }
    if let Some((_, kind, about)) = Kind::TABLE.iter().find(|(_, kind, _)| *kind == name) {
        let _ = writeln!(text, "{}, a fault: {about}\n", heading(kind));
    }
    if let Some((invariant, _)) = args::invariants().iter().find(|(invariant, _)| invariant == name) {
        let _ = writeln!(text, "{}, an invariant: {}", heading(invariant), self::invariant(invariant));
    }
    if let Some(probe) = probes::ALL.iter().find(|probe| probe.name == name) {
        let _ = writeln!(text, "{}, a probe: {}", heading(probe.name), probe.about);
    }
    if let Some(point) = points::ALL.iter().find(|point| point.name == name) {
        let _ = writeln!(text, "{}, a point: {}", heading(point.name), point.about);
    }
    if let Some(kind) = message::KINDS.iter().find(|kind| kind.name == name) {
        let _ = writeln!(text, "{}, a message {}", heading(kind.name), kind.about);
    }
    if let Some(bug) = bugs::ALL.iter().find(|bug| bug.name == name) {
        let _ = writeln!(text, "{}, a bug: {}\n  Reported as {}.", heading(bug.name), bug.about, bug.report);
    }
    if let Some(code) = codes::find(name) {
        let _ = writeln!(text, "{}, a mistake in a scenario: {}", heading(code.name), code.about);
    }
    // An invariant and the choice of its name in `check` are one thing.
    let found = fields::find(name);
    let is_invariant = args::invariants().iter().any(|(invariant, _)| invariant == name);
    for found in found.iter().filter(|field| !is_invariant || field.role == Role::Field) {
        if !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
        field(&mut text, found);
    }
    text
}

fn field(text: &mut String, field: &Field) {
    let _ = writeln!(text, "{}: {}", heading(&field.path), field.kind);
    let _ = writeln!(text, "  {}", field.about.replace('\n', "\n  "));
    match (field.role, &field.default) {
        (Role::Field, Some(default)) => {
            let _ = writeln!(text, "  Left out, it is {default}.");
        }
        (Role::Field, None) => text.push_str("  It must be given.\n"),
        (Role::Variant, _) => {}
    }
    let start = format!("{}.", field.path);
    let inside = fields::fields()
        .iter()
        .filter(|other| other.path.strip_prefix(&start).is_some_and(|rest| !rest.contains('.')));
    for other in inside {
        let about = other.about.lines().next().unwrap_or_default();
        let _ = writeln!(text, "    {:<14}  {about}", other.name());
    }
}

/// What an invariant says: the doc comment of the check, or of the invariant that is always checked.
fn invariant(name: &str) -> String {
    let find = |path: String| fields::fields().iter().find(|field| field.path == path);
    let check = find(format!("check.{name}")).or_else(|| find(format!("found.broke.{name}")));
    check.map_or_else(String::new, |field| field.about.replace('\n', " "))
}

fn heading(name: &str) -> String {
    let bold = Style::new().bold();
    format!("{bold}{name}{bold:#}")
}

fn unknown(name: &str) {
    let mut known: Vec<&str> = TOPICS.to_vec();
    known.extend(Kind::TABLE.iter().map(|(_, kind, _)| *kind));
    known.extend(probes::ALL.iter().map(|probe| probe.name));
    known.extend(points::ALL.iter().map(|point| point.name));
    known.extend(message::KINDS.iter().map(|kind| kind.name));
    known.extend(bugs::ALL.iter().map(|bug| bug.name));
    known.extend(codes::CODES.iter().map(|code| code.name));
    let invariants = args::invariants();
    known.extend(invariants.iter().map(|(name, _)| name.as_str()));
    known.extend(fields::fields().iter().flat_map(|field| [field.name(), field.path.as_str()]));
    let mut near = Vec::new();
    while near.len() < 3 {
        let Some(one) = nearest(name, known.iter().copied()) else { break };
        near.push(format!("`{one}`"));
        known.retain(|known| *known != one);
    }
    let help = if near.is_empty() {
        format!(
            "it explains fields, faults, invariants, probes, points, messages, bugs and errors by name, and {}",
            TOPICS.join(", ")
        )
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    output::fail(&format!("nothing is called `{name}`; {help}"));
}
