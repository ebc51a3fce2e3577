//! Answers to punctuation that is missing, wrong or too much, and to what stands in its place.

use std::ops::Range;

use super::mistake::{Mistake, Path, Segment};
use super::repair::{example, names, owner};
use super::shape::{Form, Shape};
use super::syntax::Source;
use super::tokens::{Kind, skip_value};
use super::values::wrong_value;

/// The bracket that closes the scenario, and something behind it.
pub(crate) fn too_early(source: &Source<'_>, close: usize) -> Mistake {
    let goes_on = matches!(source.kind(close + 1), Some(Kind::Comma | Kind::Close(_)));
    let label =
        if goes_on { "this closes the scenario: is it one too many?" } else { "this closes the scenario" };
    Mistake::new("the scenario ends before the file does", Path::default())
        .span(source.span(close))
        .label(label)
        .related_span(source.span(close + 1), "but the file goes on here")
}

pub(crate) fn colon(source: &Source<'_>, at: usize, path: Path) -> Mistake {
    if source.word(at) == "=" {
        return Mistake::new("a `:` stands between a name and its value", path)
            .span(source.span(at))
            .label("expected `:`")
            .patch(source.span(at), ":", "write `:`");
    }
    let end = source.end_before(at);
    let mistake = Mistake::new(format!("`{}` has no value", source.content(at.saturating_sub(1))), path)
        .span(source.span(at.saturating_sub(1)))
        .label("expected `:` and a value after this");
    match source.kind(at) {
        // Nothing follows that could be the value.
        None | Some(Kind::Comma | Kind::Close(_)) => mistake,
        Some(_) => mistake.patch(end..end, ":", "add it"),
    }
}

pub(crate) fn identifier(source: &Source<'_>, at: usize, path: Path) -> Mistake {
    if source.kind(at) == Some(Kind::Text) && source.kind(at + 1) == Some(Kind::Colon) {
        return Mistake::new("names of fields take no quotes", path)
            .span(source.span(at))
            .label("expected a bare name")
            .patch(source.span(at), source.content(at), "leave the quotes out");
    }
    if source.kind(at) == Some(Kind::Open('(')) && source.kind(at.wrapping_sub(1)) == Some(Kind::Open('(')) {
        return brackets_twice(source, at, path);
    }
    if source.kind(at) == Some(Kind::Comma) && source.kind(at.wrapping_sub(1)) == Some(Kind::Comma) {
        return Mistake::new("one comma too many", path)
            .span(source.span(at))
            .label("nothing stands before this")
            .patch(source.span(at), "", "leave it out");
    }
    match Shape::at(&path).map(Shape::form) {
        Some(Form::Struct(fields)) if !path.0.is_empty() || source.kind(at) != Some(Kind::Open('{')) => {
            let fields: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
            let start = source.span(at).start;
            let mistake = Mistake::new(format!("expected the name of a field in {path}"), path.clone())
                .span(source.span(at))
                .label("each value has its field's name before it");
            match fields.as_slice() {
                [only] => mistake.patch(start..start, format!("{only}: "), "put its name before it"),
                _ => mistake.help(format!("{} has {}", owner(&path), names(&fields, &path))),
            }
        }
        _ => wrong_value(source, at, path),
    }
}

/// `Draw((crashes: 0..3))`: right elsewhere, but a choice with fields has them in its own brackets.
pub(crate) fn brackets_twice(source: &Source<'_>, at: usize, path: Path) -> Mistake {
    let inner = source.span(at).start..source.end_before(skip_value(&source.tokens, at));
    let text = &source.text[inner.clone()];
    let mistake = Mistake::new(format!("{path} has its brackets twice"), path)
        .span(source.span(at))
        .label("one pair is enough");
    match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(fields) if !text.contains('\n') => mistake.patch(inner, fields, "leave the inner one out"),
        _ => mistake,
    }
}

pub(crate) fn struct_like(source: &Source<'_>, at: usize, path: Path) -> Mistake {
    // `Liveness` without its fields: ron has read the word, and stands behind it.
    let Some(Segment::Name(name)) = path.0.last() else { return wrong_value(source, at, path) };
    let word = (at.saturating_sub(1)..=at).find(|index| source.word(*index) == name);
    let parent = Shape::at(&path.parent()).map(Shape::form);
    let (Some(word), Some(Form::Enum(variants)), Some(Kind::Word)) =
        (word, parent, word.and_then(|index| source.kind(index)))
    else {
        return wrong_value(source, at, path);
    };
    let content = variants.iter().find(|variant| variant.name == name).and_then(|variant| variant.content);
    let shown = match content.map(|inner| (inner, inner.form())) {
        Some((_, Form::Struct(fields))) => {
            let is_range = |shape: &Shape| matches!(shape.form(), Form::Range(_));
            let needed = |shape: &Shape| shape.default().is_none() || fields.len() <= 2;
            let mut shown: Vec<_> = fields.iter().filter(|(_, shape)| needed(shape)).collect();
            if shown.is_empty() {
                shown.extend(fields.iter().find(|(_, shape)| is_range(shape)));
            }
            let value = |shape: Shape| if is_range(&shape) { "0..3".into() } else { example(shape) };
            let shown: Vec<_> =
                shown.into_iter().map(|(field, shape)| format!("{field}: {}", value(*shape))).collect();
            shown.join(", ")
        }
        Some((inner, _)) => example(inner),
        None => String::new(),
    };
    let end = source.span(word).end;
    let what = match content.map(Shape::form) {
        Some(Form::Struct(_)) => "its fields",
        _ => "a value",
    };
    Mistake::new(format!("`{name}` needs {what}"), path)
        .span(source.span(word))
        .label("expected ( ) after this")
        .patch(end..end, format!("({shown})"), "such as")
}

pub(crate) fn comma(source: &Source<'_>, at: usize, path: Path) -> Mistake {
    let before = at.saturating_sub(1);
    let number = source.word(at);
    let is_integer = Shape::at(&path).is_some_and(|shape| matches!(shape.form(), Form::Integer { .. }));
    // ron reads the 4 of `4.5` and stops inside the number; of `0..3` it stops at the dots.
    if source.kind(at) == Some(Kind::Number) && number.contains('.')
        || is_integer && source.kind(at) == Some(Kind::Dots)
    {
        let first = if source.kind(at) == Some(Kind::Dots) { before } else { at };
        let last = if source.kind(at) == Some(Kind::Dots) { at + 1 } else { at };
        let words = Shape::at(&path).map_or("a whole number".into(), |shape| shape.form().words());
        let found = if source.kind(at) == Some(Kind::Dots) { "a range" } else { "a fraction" };
        return Mistake::new(format!("wrong kind of value for {path}"), path)
            .span(source.span(first).start..source.span(last).end)
            .label(format!("expected {words}, found {found}"));
    }
    if source.kind(at) == Some(Kind::Open('(')) && source.kind(before) == Some(Kind::Word) {
        let word = source.word(before);
        let end = source.span(skip_value(&source.tokens, before).saturating_sub(1)).end;
        return Mistake::new(format!("`{word}` has no fields"), path)
            .span(source.span(at).start..end.max(source.span(at).end))
            .label("nothing stands in brackets here")
            .patch(source.span(at).start..end.max(source.span(at).end), "", "leave them out");
    }
    if source.kind(at).is_none() {
        return wrong_value(source, at, path);
    }
    if source.word(at) == "=" {
        return colon(source, at, path);
    }
    if let Some(Kind::Other(mark)) = source.kind(at) {
        let replacement = if source.kind(at + 1) == Some(Kind::Comma) { "" } else { "," };
        return Mistake::new(format!("`{mark}` means nothing here"), path)
            .span(source.span(at))
            .label("expected a comma")
            .patch(source.span(at), replacement, "values are separated by commas");
    }
    // ron has stopped within this value, or found one too many.
    if matches!(source.kind(before), Some(Kind::Colon | Kind::Open(_) | Kind::Comma)) {
        return wrong_value(source, at, path);
    }
    let end = source.end_before(at);
    if source.kind(before) == Some(Kind::Text) && end == source.span(at).start {
        return Mistake::new("a text ends too early", path)
            .span(source.span(at))
            .label("the text has ended before this")
            .help("a quote within a text is written `\\\"`");
    }
    Mistake::new("a comma is missing", path)
        .span(source.span(at))
        .label("a comma is missing before this")
        .patch(end..end, ",", "add it")
}

pub(crate) fn escape(source: &Source<'_>, at: usize, path: Path) -> Mistake {
    let inside = (at.saturating_sub(1)..=at).find(|index| source.kind(*index) == Some(Kind::Text));
    let text = source.span(inside.unwrap_or(at));
    let mistake = Mistake::new("unknown escape in a text", path);
    let label = r#"a backslash begins one of \n, \t, \", \\ and \u{..}"#;
    match wrong_escape(&source.text[text.clone()]) {
        Some(escape) => mistake.span(text.start + escape.start..text.start + escape.end).label(label).patch(
            text.start + escape.start..text.start + escape.start,
            "\\",
            "for a backslash itself",
        ),
        None => mistake.span(text).label(label),
    }
}

/// The first backslash, and what follows it, that is no escape of RON.
fn wrong_escape(text: &str) -> Option<Range<usize>> {
    let mut chars = text.char_indices();
    while let Some((start, c)) = chars.next() {
        if c == '\\'
            && let Some((at, escaped)) = chars.next()
            && !['n', 'r', 't', '0', '\'', '"', '\\', 'x', 'u', '\n'].contains(&escaped)
        {
            return Some(start..at + escaped.len_utf8());
        }
    }
    None
}

pub(crate) fn comment(source: &Source<'_>, path: Path) -> Mistake {
    let start = source.text.rfind("/*").unwrap_or(0);
    Mistake::new("a comment is not closed", path)
        .span(start..source.text.len().min(start + 2))
        .label("`*/` is missing for this")
}
