//! Answers to a value of the wrong kind: what may stand there, what was found, and the likely cure.

use std::ops::Range;

use millpond_sim::time::Span;
use ron::error::Error;

use super::fields::name_of;
use super::mistake::{Mistake, Path, Segment};
use super::shape::{Form, Shape, Special, Variant};
use super::syntax::Source;
use super::tokens::{Kind, opener, skip_value};
use super::write::quoted;

/// A value of the wrong kind, beginning at a token.
pub(crate) fn wrong_value(source: &Source<'_>, index: usize, path: Path) -> Mistake {
    if let Some(mistake) = in_range(source, index, &path).or_else(|| in_tuple(source, index, &path)) {
        return mistake;
    }
    let Some(form) = Shape::at(&path).map(Shape::form) else {
        return Mistake::new(format!("wrong kind of value for {path}"), path)
            .span(source.span(index))
            .label(format!("found {}", found(source, index)));
    };
    if path.0.is_empty() {
        return no_scenario(source, index);
    }
    let mistake = Mistake::new(format!("wrong kind of value for {path}"), path)
        .span(value_span(source, index))
        .label(format!("expected {}, found {}", form.words(), found(source, index)));
    cure(source, index, &form, mistake)
}

/// A range of which ron has read a part: it is told as a whole.
fn in_range(source: &Source<'_>, index: usize, path: &Path) -> Option<Mistake> {
    let is_range = |path: &Path| matches!(Shape::at(path).map(Shape::form), Some(Form::Range(_)));
    let path = if is_range(path) { path.clone() } else { path.parent() };
    let start = (0..=index).rev().find(|at| source.kind(*at) == Some(Kind::Colon))? + 1;
    if !is_range(&path) || start >= index {
        return None;
    }
    let Some(Form::Range(ends)) = Shape::at(&path).map(Shape::form) else { return None };
    let text = &source.text[value_span(source, start)];
    let ends = match ends.form() {
        Form::Integer { least: 0, .. } => "whole numbers from 0",
        _ => "whole numbers",
    };
    Some(
        Mistake::new(format!("`{text}` is no range for {path}"), path)
            .span(value_span(source, start))
            .label(format!("expected two {ends}, such as 0..3")),
    )
}

/// More or fewer values than belong together.
fn in_tuple(source: &Source<'_>, index: usize, path: &Path) -> Option<Mistake> {
    let count = |path: &Path| match Shape::at(path).map(Shape::form) {
        Some(Form::Tuple(items)) => Some(items.len()),
        _ => None,
    };
    let told = |title, path: Path, count| {
        Mistake::new(title, path).span(source.span(index)).label(format!("expected {count} values"))
    };
    if let (Some(count), Some(Kind::Close(_))) = (count(path), source.kind(index)) {
        return Some(told(format!("too few values for {path}"), path.clone(), count));
    }
    let within = opener(&source.tokens, index).is_some_and(|open| source.word(open) == "(");
    if let (Some(count), Some(Kind::Comma), true) = (count(path), source.kind(index.wrapping_sub(1)), within)
    {
        return Some(told(format!("too many values for {path}"), path.clone(), count));
    }
    let parent = path.parent();
    match (count(&parent), path.0.last()) {
        (Some(count), Some(Segment::Index(at))) if *at >= count => {
            Some(told(format!("too many values for {parent}"), parent, count))
        }
        _ => None,
    }
}

fn no_scenario(source: &Source<'_>, index: usize) -> Mistake {
    if source.tokens.is_empty() {
        return Mistake::new("the file is empty", Path::default())
            .help("`millpond new FILE` writes a small scenario to begin with");
    }
    Mistake::new("a scenario file begins with `Scenario(`", Path::default())
        .span(source.span(index))
        .label(format!("expected `Scenario(`, found {}", found(source, index)))
}

/// The whole value if it is on one line, else its first token.
fn value_span(source: &Source<'_>, index: usize) -> Range<usize> {
    let first = source.span(index);
    let end = source.end_before(skip_value(&source.tokens, index)).max(first.end);
    if source.text[first.start..end].contains('\n') { first } else { first.start..end }
}

fn found(source: &Source<'_>, index: usize) -> String {
    match source.kind(index) {
        None => "the end of the file".into(),
        Some(Kind::Text | Kind::OpenText) => "text".into(),
        Some(Kind::Quoted) => "text in single quotes".into(),
        Some(Kind::Number) if source.kind(index + 1) == Some(Kind::Dots) => "a range".into(),
        Some(Kind::Number) => {
            let number = source.word(index);
            let plain = number.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit());
            if plain { "a number".into() } else { format!("`{number}`") }
        }
        Some(Kind::Word) => format!("the word `{}`", source.word(index)),
        Some(Kind::Open('(')) => "fields in ( )".into(),
        Some(Kind::Open('[')) => "a list in [ ]".into(),
        Some(Kind::Open(_)) => "{ }".into(),
        Some(Kind::Close(_) | Kind::Comma) => "no value".into(),
        Some(Kind::Colon | Kind::Dots | Kind::Other(_)) => format!("`{}`", source.word(index)),
    }
}

fn cure(source: &Source<'_>, index: usize, form: &Form, mistake: Mistake) -> Mistake {
    let span = value_span(source, index);
    let text = &source.text[span.clone()];
    let content = source.content(index);
    match (form, source.kind(index)) {
        (Form::Text, Some(Kind::Word | Kind::Number)) => {
            mistake.patch(span, quoted(text), "put it in quotes")
        }
        (Form::Special(Special::Share), Some(Kind::Number)) => {
            mistake.help("write a share as a ratio in quotes: \"1/100\"")
        }
        (Form::Special(_), Some(Kind::Number | Kind::Word)) if text.parse::<Span>().is_ok() => {
            mistake.patch(span, quoted(text), "put it in quotes")
        }
        (Form::Special(_), Some(Kind::Number)) => {
            mistake.help(format!("write the unit, in quotes: \"{text}ms\" or \"{text}s\""))
        }
        (Form::Integer { .. }, Some(Kind::Text)) if content.parse::<i128>().is_ok() => {
            mistake.patch(span, content, "numbers take no quotes")
        }
        (Form::Bool, Some(Kind::Text)) if ["true", "false"].contains(&content) => {
            mistake.patch(span, content, "`true` and `false` take no quotes")
        }
        (Form::Enum(variants), Some(kind)) => cure_choice(text, content, kind, variants, mistake, span),
        (Form::Range(_), Some(Kind::Number)) => match text.parse::<u32>() {
            Ok(most) => {
                let replacement = format!("0..{}", u64::from(most) + 1);
                mistake.patch(span, replacement, format!("for up to {most}; the end is not included"))
            }
            Err(_) => mistake,
        },
        (Form::List(_), Some(Kind::Text | Kind::Word | Kind::Number)) => {
            mistake.patch(span, format!("[{text}]"), "a list has brackets, also around a single value")
        }
        (Form::Struct(_), Some(Kind::Open('{'))) => swap(text, '(', ')', mistake, span),
        (Form::Map(_), Some(Kind::Open('('))) => swap(text, '{', '}', mistake, span),
        (Form::Range(_), Some(Kind::Text)) if content.contains("..") => {
            mistake.patch(span, content, "ranges take no quotes")
        }
        (Form::Bool, Some(Kind::Word)) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => mistake.patch(span, "true", "write `true`"),
            "false" | "no" | "off" => mistake.patch(span, "false", "write `false`"),
            _ => mistake,
        },
        (Form::Struct(fields), _) => match field_for(fields, source.word(index)) {
            Some(field) => {
                mistake.patch(span, format!("({field}: {text})"), "fields have names and brackets")
            }
            None => {
                let names: Vec<_> = fields.iter().map(|(name, _)| format!("`{name}`")).take(6).collect();
                mistake.help(format!("its fields are {}", names.join(", ")))
            }
        },
        _ => mistake,
    }
}

/// The field of a struct that a choice is for: `write`, for `Upsert`.
pub(crate) fn field_for(fields: &[(&'static str, Shape)], choice: &str) -> Option<&'static str> {
    let takes = |shape: Shape| match shape.form() {
        Form::Enum(variants) => variants.iter().any(|variant| variant.name == choice),
        _ => false,
    };
    fields.iter().find(|(_, shape)| takes(*shape)).map(|(name, _)| *name)
}

/// The choice that holds another one: `Violation`, for `Liveness`.
pub(crate) fn choice_around(variants: &[Variant], choice: &str) -> Option<&'static str> {
    let holds = |variant: &&Variant| match variant.content.map(Shape::form) {
        Some(Form::Enum(inner)) => inner.iter().any(|inner| inner.name == choice),
        _ => false,
    };
    variants.iter().find(holds).map(|variant| variant.name)
}

/// A value where a choice was expected: the choice that could hold it.
fn cure_choice(
    text: &str,
    content: &str,
    kind: Kind,
    variants: &[Variant],
    mistake: Mistake,
    span: Range<usize>,
) -> Mistake {
    if kind == Kind::Text && variants.iter().any(|variant| variant.name == content) {
        return mistake.patch(span, content, "choices take no quotes");
    }
    let is_time = content.parse::<Span>().is_ok();
    let holds = |variant: &&Variant| match variant.content.map(Shape::form) {
        Some(Form::Special(_)) => is_time,
        Some(Form::Integer { .. }) => kind == Kind::Number && !text.contains('.'),
        Some(Form::List(_)) => kind == Kind::Open('['),
        Some(Form::Tuple(_)) => kind == Kind::Open('('),
        _ => false,
    };
    let Some(variant) = variants.iter().find(holds) else {
        let takes_time = |variant: &Variant| {
            variant.content.is_some_and(|inner| matches!(inner.form(), Form::Special(Special::Time)))
        };
        return match kind {
            Kind::Number if variants.iter().any(takes_time) => {
                mistake.help(format!("such as Fixed(\"{text}ms\") or Uniform(\"1ms\", \"{text}ms\")"))
            }
            _ => mistake,
        };
    };
    let name = variant.name;
    let message = "name the choice";
    match kind {
        Kind::Open('(') => mistake.patch(span.start..span.start, name, message),
        Kind::Open(_) => mistake.help(format!("write {name}([..])")),
        Kind::Number if is_time => mistake.patch(span, format!("{name}({})", quoted(text)), message),
        _ => mistake.patch(span, format!("{name}({text})"), message),
    }
}

fn swap(text: &str, open: char, close: char, mistake: Mistake, span: Range<usize>) -> Mistake {
    let whole = text.len() > 1 && text.ends_with([')', '}']);
    let what = if open == '(' { "fields stand in ( )" } else { "names and values stand in { }" };
    if whole {
        mistake.patch(span, format!("{open}{}{close}", &text[1..text.len() - 1]), what)
    } else {
        mistake.help(what)
    }
}

/// A number outside the range of its field, or of a form that is no whole number.
pub(crate) fn bad_number(source: &Source<'_>, index: usize, path: Path, error: &Error) -> Mistake {
    let number = source.word(index);
    let form = Shape::at(&path).map(Shape::form);
    let words = form.as_ref().map_or("a whole number".into(), Form::words);
    let mistake = Mistake::new(String::new(), path.clone()).span(source.span(index));
    match (form, error) {
        (Some(Form::Integer { least, most }), Error::IntegerOutOfBounds) => {
            let mut mistake = mistake.label(format!("must be from {least} to {most}"));
            mistake.title = format!("{number} is out of range for {path}");
            mistake.help(format!("`millpond explain {}` says what it means", name_of(&path)))
        }
        (_, Error::InvalidIntegerDigit { .. }) => {
            let mut mistake = mistake.label(format!("expected {words}, in digits"));
            mistake.title = format!("`{number}` is not a whole number");
            mistake.help("write all digits; `_` may group them: 1_000")
        }
        _ => {
            let mut mistake = mistake.label(format!("expected {words}"));
            mistake.title = format!("`{number}` does not fit {path}");
            mistake
        }
    }
}
