//! The shape of scenario files: what may stand where.
//!
//! A view of the JSON schema that `schemars` makes of the types; the one file that knows JSON
//! schema. The reference, the messages about mistakes, the check of ranges and the writer walk it.

use std::sync::OnceLock;

use schemars::schema_for;
use serde_json::Value;

use super::mistake::{Path, Segment};
use super::schema::Scenario;

/// The shape of one value: a field, an item, the content of a variant, or the whole scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape(&'static Value);

/// What kind of value it is.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// Any text.
    Text,
    /// A time, a signed time, an instant or a share: text with a form of its own.
    Special(Special),
    /// A whole number, both ends included.
    Integer { least: i128, most: i128 },
    /// `true` or `false`.
    Bool,
    /// `start..end`.
    Range(Shape),
    /// Any number of values.
    List(Shape),
    /// A fixed number of values.
    Tuple(Vec<Shape>),
    /// Values by name.
    Map(Shape),
    /// Fields, in the order of their declaration.
    Struct(Vec<(&'static str, Shape)>),
    /// A choice.
    Enum(Vec<Variant>),
}

/// Text with a form of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Time,
    Instant,
    Shift,
    Share,
}

/// One of several choices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it means.
    pub(crate) about: Option<&'static str>,
    /// What it holds, if anything.
    pub(crate) content: Option<Shape>,
}

fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| schema_for!(Scenario).to_value())
}

impl Shape {
    /// The whole scenario.
    pub(crate) fn scenario() -> Self {
        Self(schema())
    }

    /// The value at the end of a path.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        path.0.iter().try_fold(Self::scenario(), Self::step)
    }

    fn step(self, segment: &Segment) -> Option<Self> {
        match (self.form(), segment) {
            (Form::Map(value), Segment::Name(_)) => Some(value),
            (Form::Struct(fields), Segment::Name(name)) => {
                fields.iter().find(|(field, _)| field == name).map(|(_, shape)| *shape)
            }
            (Form::Enum(variants), Segment::Name(name)) => {
                variants.iter().find(|variant| variant.name == name)?.content
            }
            (Form::Range(end), Segment::Name(_)) => Some(end),
            (Form::List(item), Segment::Index(_)) => Some(item),
            (Form::Tuple(items), Segment::Index(index)) => items.get(*index).copied(),
            _ => None,
        }
    }

    /// What it means, in the words of its doc comment, as one line.
    pub(crate) fn about(self) -> Option<String> {
        self.get("description").and_then(Value::as_str).map(one_line)
    }

    /// What it is where a file leaves it out; `None` if it must be given.
    pub(crate) fn default(self) -> Option<&'static Value> {
        self.get("default")
    }

    /// The kind of value.
    pub(crate) fn form(self) -> Form {
        if let Some(target) = self.reference() {
            let end = Self(target).get("properties").and_then(|fields| fields.get("end"));
            return match end {
                Some(end) if self.type_name().is_some_and(|name| name.starts_with("Range_of_")) => {
                    Form::Range(Self(end))
                }
                _ => Self(target).form(),
            };
        }
        if let Some(choices) = self.get("oneOf").and_then(Value::as_array) {
            return Form::Enum(choices.iter().filter_map(variant).collect());
        }
        let kind = self.get("type").map_or("", |kind| match kind {
            Value::Array(kinds) => kinds.first().and_then(Value::as_str).unwrap_or(""),
            kind => kind.as_str().unwrap_or(""),
        });
        match kind {
            "integer" => self.integer(),
            "boolean" => Form::Bool,
            "array" => match self.get("prefixItems").and_then(Value::as_array) {
                Some(items) => Form::Tuple(items.iter().map(Self).collect()),
                None => Form::List(Self(self.get("items").unwrap_or(self.0))),
            },
            "object" => match self.get("additionalProperties").filter(|value| value.is_object()) {
                Some(value) => Form::Map(Self(value)),
                None => Form::Struct(self.fields()),
            },
            _ => match self.get("format").and_then(Value::as_str) {
                Some("time") => Form::Special(Special::Time),
                Some("instant") => Form::Special(Special::Instant),
                Some("shift") => Form::Special(Special::Shift),
                Some("share") => Form::Special(Special::Share),
                _ => Form::Text,
            },
        }
    }

    /// The name of its Rust type, if it has one of its own.
    pub(crate) fn type_name(self) -> Option<&'static str> {
        let link = self.get("$ref").or_else(|| self.get("anyOf")?.get(0)?.get("$ref"));
        link.and_then(Value::as_str)?.rsplit('/').next()
    }

    fn get(self, key: &str) -> Option<&'static Value> {
        self.0.get(key)
    }

    fn reference(self) -> Option<&'static Value> {
        schema().get("$defs")?.get(self.type_name()?)
    }

    fn fields(self) -> Vec<(&'static str, Self)> {
        let fields = self.get("properties").and_then(Value::as_object);
        fields.into_iter().flatten().map(|(name, shape)| (name.as_str(), Self(shape))).collect()
    }

    fn integer(self) -> Form {
        let (low, high) = match self.get("format").and_then(Value::as_str) {
            Some("uint32") => (0, u32::MAX.into()),
            Some("int32") => (i32::MIN.into(), i32::MAX.into()),
            Some("uint64") => (0, u64::MAX.into()),
            _ => (i64::MIN.into(), i64::MAX.into()),
        };
        Form::Integer {
            least: self.get("minimum").and_then(whole).unwrap_or(low),
            most: self.get("maximum").and_then(whole).unwrap_or(high),
        }
    }
}

fn variant(choice: &'static Value) -> Option<Variant> {
    let about = choice.get("description").and_then(Value::as_str);
    if let Some(name) = choice.get("const").and_then(Value::as_str) {
        return Some(Variant { name, about, content: None });
    }
    let (name, content) = choice.get("properties")?.as_object()?.iter().next()?;
    Some(Variant { name, about, content: Some(Shape(content)) })
}

/// A JSON number as a whole number.
pub(crate) fn whole(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}

/// A doc comment without its line breaks.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Form {
    /// The kind of value in words, such as "a whole number from 1 to 16".
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Text => "text in double quotes".into(),
            Self::Special(Special::Time) => "a time such as \"250ms\" or \"1.5s\"".into(),
            Self::Special(Special::Instant) => "a time since the start, such as \"4.2s\"".into(),
            Self::Special(Special::Shift) => "a time forward or back, such as \"-2s\"".into(),
            Self::Special(Special::Share) => "a share such as \"1/100\"".into(),
            Self::Integer { least, most } => match limits(*least, *most) {
                Some(limits) => format!("a whole number {limits}"),
                None => "a whole number".into(),
            },
            Self::Bool => "`true` or `false`".into(),
            Self::Range(_) => "a range such as 0..3".into(),
            Self::List(_) => "a list in [ ]".into(),
            Self::Tuple(items) => format!("{} values in ( )", items.len()),
            Self::Map(_) => "names and values in { }".into(),
            Self::Struct(_) => "fields in ( )".into(),
            Self::Enum(variants) => choices(variants),
        }
    }
}

/// "from 1 to 16", "from 1"; `None` if only the type limits it.
pub(crate) fn limits(least: i128, most: i128) -> Option<String> {
    let bounded = ![u32::MAX.into(), i32::MAX.into(), u64::MAX.into(), i64::MAX.into()].contains(&most);
    match (bounded, least) {
        (true, _) => Some(format!("from {least} to {most}")),
        (false, 0..) => Some(format!("from {least}")),
        (false, _) => None,
    }
}

/// "`Fixed(..)` or `Uniform(..)`".
pub(crate) fn choices(variants: &[Variant]) -> String {
    let shown: Vec<_> = variants
        .iter()
        .map(|variant| match variant.content {
            Some(_) => format!("`{}(..)`", variant.name),
            None => format!("`{}`", variant.name),
        })
        .collect();
    any_of(&shown)
}

/// "a, b or c".
pub(crate) fn any_of(items: &[String]) -> String {
    match items {
        [] => "nothing".into(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::mistake::at;

    #[test]
    fn a_path_leads_through_maps_lists_and_variants() {
        let words = |path| Shape::at(&path).unwrap().form().words();
        assert_eq!(words(at!["topics", "orders", "partitions"]), "a whole number from 1 to 64");
        assert_eq!(words(at!["processors", "p", "steps", 0, "Route", "ways"]), "a whole number from 2 to 16");
        assert_eq!(
            words(at!["faults", "Plan", 0, "what", "Crash", "down"]),
            "a time such as \"250ms\" or \"1.5s\""
        );
        assert_eq!(words(at!["faults", "Draw", "crashes"]), "a range such as 0..3");
        assert!(Shape::at(&at!["topics", "orders", "nothing"]).is_none());
    }
}
