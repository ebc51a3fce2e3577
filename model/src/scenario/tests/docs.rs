//! `docs/scenarios.md`: its tables are made from the types, and its examples are read.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::message::KINDS;
use crate::scenario::fields::{Field, Role, fields};
use crate::scenario::read;
use crate::scenario::read::options;
use crate::scenario::schema::Scenario;
use crate::scenario::validate::codes::CODES;
use crate::{bugs, points, probes};
use millpond_sim::fault::Kind;

const END: &str = "<!-- end of table -->";
/// The choices of a length of time are explained once, in words.
const SPREAD: &str = "`Fixed(..)` or `Uniform(..)`";

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md")
}

fn document() -> String {
    std::fs::read_to_string(path()).unwrap()
}

fn below(parent: &str, role: Role) -> impl Iterator<Item = &'static Field> {
    fields().iter().filter(move |field| {
        let above = field.path.rsplit_once('.').map_or("", |(above, _)| above);
        above == parent && field.role == role
    })
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A kind of value without its example: those stand in a table of their own.
fn short(kind: &str) -> &str {
    kind.split(" such as").next().unwrap_or(kind).trim_end_matches(',')
}

fn table(parent: &str) -> String {
    let mut text = String::from("| field | meaning | value | default |\n|---|---|---|---|\n");
    for field in below(parent, Role::Field) {
        let default = match field.default.as_deref() {
            None => "must be given".to_owned(),
            Some("None") if field.variants.is_empty() => "none".to_owned(),
            Some("()") => "see below".to_owned(),
            Some(default) => format!("`{default}`"),
        };
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            field.name(),
            cell(&field.about),
            cell(short(&field.kind)),
            cell(&default)
        );
    }
    // What has a section of its own is not repeated.
    let of_its_own = |field: &Field| parent.is_empty() || field.kind == SPREAD || field.path == "found.broke";
    for field in below(parent, Role::Field).filter(|it| !it.variants.is_empty() && !of_its_own(it)) {
        let form = if field.kind.starts_with("a list") { "a list of these" } else { "one of these" };
        let _ = write!(text, "\n`{}` is {form}:\n\n{}", field.name(), choices(&field.path));
    }
    text
}

fn choices(parent: &str) -> String {
    let mut text = String::new();
    for variant in below(parent, Role::Variant) {
        let is_list = variant.kind.starts_with("a list");
        let inner: Vec<_> = below(&variant.path, Role::Field).filter(|_| !is_list).collect();
        let names: Vec<_> = inner.iter().map(|field| field.name()).collect();
        let shown = match (names.len(), variant.kind.as_str()) {
            (0, "a choice without fields") => variant.name().to_owned(),
            (0, _) if is_list => format!("{}([..])", variant.name()),
            (0 | 6.., _) => format!("{}(..)", variant.name()),
            _ => format!("{}({})", variant.name(), names.join(", ")),
        };
        let _ = writeln!(text, "- `{shown}`: {}", variant.about);
        if inner.len() < 6 {
            for field in inner {
                let default = field.default.as_ref().filter(|it| *it != "None");
                let default = default.map_or(String::new(), |it| format!("; default `{it}`"));
                let _ = writeln!(
                    text,
                    "  - `{}`: {} ({}{default})",
                    field.name(),
                    field.about,
                    short(&field.kind)
                );
                // An event is explained once, in its own list.
                if field.kind != SPREAD && field.name() != "event" {
                    let choices = field.variants.iter();
                    text.extend(choices.map(|(name, about)| format!("    - `{name}`: {about}\n")));
                }
            }
        }
    }
    text
}

fn faults() -> String {
    let mut text = String::from("| fault | what happens | fields |\n|---|---|---|\n");
    for variant in below("faults.Plan.what", Role::Variant) {
        let inner: Vec<_> = below(&variant.path, Role::Field)
            .map(|field| format!("`{}`: {}", field.name(), lower(&field.about)))
            .collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            variant.name(),
            cell(&variant.about),
            cell(&inner.join("<br>"))
        );
    }
    text
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
    (first + chars.as_str()).trim_end_matches('.').to_owned()
}

fn codes() -> String {
    named("code", CODES.iter().map(|code| (code.name, code.about)))
}

fn named<'a>(what: &str, items: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let rows = items.map(|(name, about)| format!("| `{name}` | {} |\n", cell(about)));
    format!("| {what} | meaning |\n|---|---|\n{}", rows.collect::<String>())
}

fn planted() -> String {
    let rows = bugs::ALL.iter().map(|it| format!("| `{}` | {} | {} |\n", it.name, cell(it.about), it.report));
    format!("| bug | what the code does wrong | reported as |\n|---|---|---|\n{}", rows.collect::<String>())
}

/// The document with every table made anew.
fn renewed(document: &str) -> String {
    let mut text = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(text, "{line}");
        let marker = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->"));
        let made = match marker.map(|marker| marker.split_once(": ").unwrap_or((marker, ""))) {
            Some(("table of fields" | "table of fields:", parent)) => table(parent),
            Some(("choices of", parent)) => choices(parent),
            Some(("table of faults", _)) => faults(),
            Some(("table of codes", _)) => codes(),
            Some(("table of probes", _)) => named("probe", probes::ALL.iter().map(|it| (it.name, it.about))),
            Some(("table of bugs", _)) => planted(),
            Some(("table of points", _)) => named("point", points::ALL.iter().map(|it| (it.name, it.about))),
            Some(("messages", _)) => named("message", KINDS.iter().map(|it| (it.name, it.about))),
            _ => continue,
        };
        assert!(made.lines().count() > 1, "nothing for {line}");
        let _ = write!(text, "\n{made}\n{END}\n");
        assert!(lines.by_ref().any(|line| line == END), "{line} has no end");
    }
    text
}

#[test]
fn the_tables_are_those_of_the_types() {
    let document = document();
    let renewed = renewed(&document);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path(), renewed).unwrap();
    } else {
        assert!(
            document == renewed,
            "docs/scenarios.md is stale; update it with: UPDATE_DOCS=1 cargo test -p millpond-model docs"
        );
    }
}

/// The examples: whole files, or some fields of one.
fn examples(document: &str) -> Vec<&str> {
    let parts = document.split("```ron\n").skip(1);
    parts.map(|part| part.split("```").next().unwrap()).collect()
}

#[test]
fn the_examples_can_be_read() {
    let document = document();
    let examples = examples(&document);
    assert!(examples.len() > 10);
    for example in examples {
        if example.contains("Scenario(") {
            assert!(read(example).is_ok(), "{:#?}\n{example}", read(example));
            continue;
        }
        let given = |field: &str| example.lines().any(|line| line.starts_with(field));
        let needed = [("about:", "\"\""), ("topics:", "{}"), ("check:", "[]")];
        let rest: String =
            needed.iter().filter(|(field, _)| !given(field)).map(|(f, v)| format!("{f} {v},\n")).collect();
        let text = format!("Scenario(\n{example}{rest})");
        let parsed = options().from_str::<Scenario>(&text);
        assert!(parsed.is_ok(), "{parsed:?}\n{text}");
    }
}

#[test]
fn every_part_and_every_fault_has_an_example() {
    let document = document();
    let examples = examples(&document).concat();
    for field in below("", Role::Field) {
        if !["claims", "seeds"].contains(&field.name()) {
            assert!(examples.contains(&format!("{}:", field.path)), "{} has no example", field.path);
        }
    }
    for (_, name, _) in Kind::TABLE {
        assert!(examples.contains(&format!("what: {name}(")), "{name} has no example");
    }
}
