//! The reference of scenario files as data: every field, with its type, meaning, default and range.
//!
//! Made from the doc comments and attributes of the types in [`schema`](super::schema).
//! `millpond explain`, the messages about mistakes and `docs/scenarios.md` read it here.

use std::sync::OnceLock;

use super::mistake::{Path, Segment};
use super::shape::{Form, Shape, one_line};
use super::write::flat;

/// A field of a scenario file, or a choice for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The way to it; names in maps and places in lists are left out: `topics.partitions`,
    /// `faults.Plan.what.Crash.nodes`.
    pub path: String,
    /// What may stand there, in words: "a whole number from 1 to 64".
    pub kind: String,
    /// What it means.
    pub about: String,
    /// Whether it is a field, or a choice for one, such as `faults.Draw`.
    pub role: Role,
    /// The default as RON text; `None` where a file must give it.
    pub default: Option<String>,
    /// The least and the greatest value of a whole number.
    pub range: Option<(i128, i128)>,
    /// The choices by name, each with its meaning; those of its items where it is a list.
    pub variants: Vec<(String, String)>,
}

/// What a [`Field`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A field of a struct.
    Field,
    /// A choice.
    Variant,
}

impl Field {
    /// The last name of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }
}

/// Every field and every choice, in the order in which the types declare them.
pub fn fields() -> &'static [Field] {
    static FIELDS: OnceLock<Vec<Field>> = OnceLock::new();
    FIELDS.get_or_init(|| {
        let mut found = Vec::new();
        walk(Shape::scenario(), "", &mut found);
        found
    })
}

/// What a name may mean: a whole path, or the end of some paths (`partitions`, `Crash.nodes`).
/// Choices of the same meaning, such as the `Fixed` of every length of time, are given once.
pub fn find(name: &str) -> Vec<&'static Field> {
    if let Some(exact) = fields().iter().find(|field| field.path == name) {
        return vec![exact];
    }
    let end = format!(".{name}");
    let mut found: Vec<&Field> = Vec::new();
    for field in fields().iter().filter(|field| field.path.ends_with(&end)) {
        let same = |other: &&Field| other.about == field.about && other.kind == field.kind;
        if field.role == Role::Field || !found.iter().any(same) {
            found.push(field);
        }
    }
    found
}

/// The default of a field as RON text, given the path of a value.
pub(crate) fn default_text(shape: Shape) -> Option<String> {
    shape.default().map(|value| flat(shape, value))
}

/// The name under which [`find`] knows the value at a path.
pub(crate) fn name_of(path: &Path) -> String {
    let mut shape = Shape::scenario();
    let mut names = Vec::new();
    for (at, segment) in path.0.iter().enumerate() {
        if let (Segment::Name(name), false) = (segment, matches!(shape.form(), Form::Map(_))) {
            names.push(name.as_str());
        }
        match Shape::at(&Path(path.0[..=at].to_vec())) {
            Some(next) => shape = next,
            None => break,
        }
    }
    names.join(".")
}

fn walk(shape: Shape, path: &str, found: &mut Vec<Field>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match shape.form() {
        Form::Struct(fields) => {
            for (name, shape) in fields {
                let field = field(below(name), shape);
                let path = field.path.clone();
                found.push(field);
                walk(shape, &path, found);
            }
        }
        Form::Enum(variants) => {
            for variant in variants {
                found.push(Field {
                    path: below(variant.name),
                    kind: variant
                        .content
                        .map_or("a choice without fields".into(), |inner| inner.form().words()),
                    about: one_line(variant.about.unwrap_or_default()),
                    role: Role::Variant,
                    default: None,
                    range: variant.content.and_then(range),
                    variants: Vec::new(),
                });
                if let Some(inner) = variant.content {
                    walk(inner, &below(variant.name), found);
                }
            }
        }
        Form::List(inner) | Form::Map(inner) => walk(inner, path, found),
        Form::Tuple(_)
        | Form::Text
        | Form::Special(_)
        | Form::Integer { .. }
        | Form::Bool
        | Form::Range(_) => {}
    }
}

fn field(path: String, shape: Shape) -> Field {
    let item = match shape.form() {
        Form::List(item) => Some(item.form()),
        _ => None,
    };
    let kind = match &item {
        Some(item) => format!("a list of {}", plural(item)),
        None => shape.form().words(),
    };
    let variants = match item.unwrap_or_else(|| shape.form()) {
        Form::Enum(variants) => variants
            .iter()
            .map(|variant| (variant.name.to_owned(), one_line(variant.about.unwrap_or_default())))
            .collect(),
        _ => Vec::new(),
    };
    Field {
        path,
        kind,
        about: shape.about().unwrap_or_default(),
        role: Role::Field,
        default: default_text(shape),
        range: range(shape),
        variants,
    }
}

/// What the items of a list are.
fn plural(item: &Form) -> &'static str {
    match item {
        Form::Text => "texts",
        Form::Special(_) => "times or shares",
        Form::Integer { .. } => "whole numbers",
        Form::Bool => "`true` and `false`",
        Form::Range(_) => "ranges",
        Form::List(_) | Form::Tuple(_) => "( )",
        Form::Map(_) => "{ }",
        Form::Struct(_) => "fields in ( )",
        Form::Enum(_) => "choices",
    }
}

fn range(shape: Shape) -> Option<(i128, i128)> {
    match shape.form() {
        Form::Integer { least, most } => Some((least, most)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::mistake::at;

    #[test]
    fn every_field_and_every_choice_has_a_meaning() {
        let silent: Vec<_> = fields().iter().filter(|field| field.about.is_empty()).collect();
        assert!(silent.is_empty(), "{silent:#?}");
        assert!(fields().iter().flat_map(|field| &field.variants).all(|(_, about)| !about.is_empty()));
    }

    #[test]
    fn a_field_has_its_range_and_default() {
        let found = find("topics.partitions");
        assert_eq!(found[0].range, Some((1, 64)));
        assert_eq!(found[0].default.as_deref(), Some("1"));
        assert_eq!(find("producers.every")[0].default.as_deref(), Some("Uniform(\"20ms\", \"120ms\")"));
        assert_eq!(find("producers.topic")[0].default, None);
    }

    #[test]
    fn the_end_of_a_path_is_enough() {
        assert_eq!(find("Crash.nodes")[0].path, "faults.Plan.what.Crash.nodes");
        assert_eq!(find("Fixed").len(), 1);
        assert_eq!(find("timeout").len(), 2);
        assert!(find("nonsense").is_empty());
    }

    #[test]
    fn a_path_of_a_value_has_the_name_of_its_field() {
        assert_eq!(name_of(&at!["processors", "totals", "from", 1]), "processors.from");
        assert_eq!(
            name_of(&at!["faults", "Plan", 0, "what", "Crash", "down"]),
            "faults.Plan.what.Crash.down"
        );
    }
}
