//! Scenarios as RON text, as a careful person would write them.
//!
//! Defaults are left out, what fits on a line stays on one, and only the outermost struct is named.
//! What is left out and how a value is written follows from its `Shape`; what is written reads
//! back as the same scenario.

use std::fmt::Write as _;

use serde_json::Value;

use super::schema::Scenario;
use super::shape::{Form, Shape};

/// The longest line that is not broken into several.
const WIDTH: usize = 100;
const INDENT: &str = "    ";

/// A scenario as text, with `header` as comment lines before it.
pub fn write(scenario: &Scenario, header: &str) -> String {
    let mut text = String::new();
    for line in header.lines() {
        let _ = writeln!(text, "{}", format!("// {line}").trim_end());
    }
    let value = serde_json::to_value(scenario).unwrap_or_default();
    let fields = fields(Shape::scenario(), &value, Keep::Given);
    text.push_str("Scenario");
    Block { open: "(", close: ")", children: fields }.broken(&mut text, 0);
    text.push('\n');
    text
}

/// A value on one line.
pub(crate) fn flat(shape: Shape, value: &Value) -> String {
    match layout(shape, value) {
        Layout::Leaf(text) => text,
        Layout::Block(head, block) => {
            let children: Vec<_> = block
                .children
                .iter()
                .map(|child| child.name.clone() + &flat(child.shape, &child.value))
                .collect();
            let close = if head.ends_with('(') { ")" } else { "" };
            format!("{head}{}{}{}{close}", block.open, children.join(", "), block.close)
        }
    }
}

/// How a value is written: in one piece, or as an opening, children and a closing.
enum Layout {
    Leaf(String),
    Block(String, Block),
}

struct Block {
    open: &'static str,
    close: &'static str,
    children: Vec<Child>,
}

struct Child {
    /// `name: `, or nothing.
    name: String,
    shape: Shape,
    value: Value,
}

/// Which fields of a struct are written.
#[derive(Clone, Copy, PartialEq)]
enum Keep {
    /// Those that differ from their default.
    Given,
    /// All that have a value: `Liveness(within: "30s")` says more than `Liveness()`.
    All,
}

fn fields(shape: Shape, value: &Value, keep: Keep) -> Vec<Child> {
    let Form::Struct(fields) = shape.form() else { return Vec::new() };
    let given = |shape: Shape, value: &Value| match keep {
        Keep::Given => shape.default() != Some(value),
        Keep::All => !value.is_null(),
    };
    let fields = fields.into_iter().filter_map(|(name, shape)| Some((name, shape, value.get(name)?)));
    fields
        .filter(|(_, shape, value)| given(*shape, value))
        .map(|(name, shape, value)| Child { name: format!("{name}: "), shape, value: value.clone() })
        .collect()
}

fn items(value: &Value, shape: impl Fn(usize) -> Option<Shape>) -> Vec<Child> {
    let items = value.as_array().into_iter().flatten().enumerate();
    items
        .filter_map(|(at, value)| {
            Some(Child { name: String::new(), shape: shape(at)?, value: value.clone() })
        })
        .collect()
}

fn layout(shape: Shape, value: &Value) -> Layout {
    let block = |open, close, children| Layout::Block(String::new(), Block { open, close, children });
    match shape.form() {
        _ if value.is_null() => Layout::Leaf("None".into()),
        Form::Text | Form::Special(_) => Layout::Leaf(quoted(value.as_str().unwrap_or_default())),
        Form::Integer { .. } | Form::Bool => Layout::Leaf(value.to_string()),
        Form::Range(_) => Layout::Leaf(format!("{}..{}", value["start"], value["end"])),
        Form::List(item) => block("[", "]", items(value, |_| Some(item))),
        Form::Tuple(shapes) => block("(", ")", items(value, |at| shapes.get(at).copied())),
        Form::Map(shape) => {
            let entries = value.as_object().into_iter().flatten();
            let children = entries.map(|(name, value)| Child {
                name: format!("{}: ", quoted(name)),
                shape,
                value: value.clone(),
            });
            block("{", "}", children.collect())
        }
        Form::Struct(_) => block("(", ")", fields(shape, value, Keep::Given)),
        Form::Enum(variants) => {
            let Some((name, content)) = value.as_object().and_then(|object| object.iter().next()) else {
                return Layout::Leaf(value.as_str().unwrap_or_default().to_owned());
            };
            let Some(inner) = variants.iter().find(|v| v.name == name).and_then(|v| v.content) else {
                return Layout::Leaf(name.clone());
            };
            match layout(inner, content) {
                Layout::Block(_, mut block) if block.open == "(" => {
                    if block.children.is_empty() {
                        block.children = fields(inner, content, Keep::All);
                    }
                    Layout::Block(name.clone(), block)
                }
                Layout::Block(head, block) => Layout::Block(format!("{name}({head}"), block),
                Layout::Leaf(text) => Layout::Leaf(format!("{name}({text})")),
            }
        }
    }
}

impl Block {
    /// Writes one child a line.
    fn broken(&self, text: &mut String, depth: usize) {
        text.push_str(self.open);
        text.push('\n');
        for child in &self.children {
            text.push_str(&INDENT.repeat(depth + 1));
            text.push_str(&child.name);
            let used = (depth + 1) * INDENT.len() + child.name.chars().count();
            child.write(text, depth + 1, used);
            text.push_str(",\n");
        }
        text.push_str(&INDENT.repeat(depth));
        text.push_str(self.close);
    }
}

impl Child {
    fn write(&self, text: &mut String, depth: usize, used: usize) {
        let flat = flat(self.shape, &self.value);
        let always_broken = matches!(self.shape.form(), Form::Map(_)) && flat != "{}";
        if !always_broken && used + flat.chars().count() < WIDTH {
            text.push_str(&flat);
            return;
        }
        match layout(self.shape, &self.value) {
            Layout::Leaf(leaf) => text.push_str(&leaf),
            Layout::Block(head, block) => {
                text.push_str(&head);
                block.broken(text, depth);
                if head.ends_with('(') {
                    text.push(')');
                }
            }
        }
    }
}

/// Text in double quotes, with RON's escapes.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{{{:x}}}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
