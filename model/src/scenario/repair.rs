//! From an error of ron to what a person did wrong.
//!
//! ron says what it expected next at the place where it stopped. A person wants to know which field,
//! what is wrong with it and how to put it right. Each kind of error has its answer here.

use ron::error::{Error, SpannedError};

use super::fields::{default_text, name_of};
use super::mistake::{Mistake, Path, Segment};
use super::nearest::nearest;
use super::punctuation::{colon, comma, comment, escape, identifier, struct_like, too_early};
use super::shape::{Form, Shape, any_of, choices};
use super::syntax::{Source, brackets, lexical};
use super::tokens::{Kind, index_at, opener, skip_value};
use super::values::{bad_number, choice_around, field_for, wrong_value};

/// What a person did wrong, given ron's error and the path at which it came up; `whole` says
/// whether the path is known to its end.
pub(crate) fn repair(source: &Source<'_>, error: &SpannedError, path: Path, whole: bool) -> Mistake {
    let start = source.byte(error.span.start);
    let at = index_at(&source.tokens, start).unwrap_or(source.tokens.len());
    let path = if whole { path } else { source.path_at(at) };
    if source.tokens.is_empty() && !source.text.contains("/*") {
        return wrong_value(source, at, Path::default());
    }
    if let Some(mistake) = lexical(source, at) {
        return mistake;
    }
    match &error.code {
        Error::NoSuchStructField { expected, found, .. } => unknown_field(source, at, &path, expected, found),
        Error::NoSuchEnumVariant { expected, found, .. } => {
            unknown_variant(source, at, path, expected, found)
        }
        Error::MissingStructField { field, outer } => {
            missing_field(source, at, path, field, outer.as_deref())
        }
        Error::DuplicateStructField { field, .. } => twice(source, at, &path, field),
        Error::IntegerOutOfBounds | Error::InvalidIntegerDigit { .. } | Error::UnderscoreAtBeginning => {
            bad_number(source, at, path, &error.code)
        }
        Error::Message(text) => custom(source, at, path, text),
        Error::ExpectedDifferentStructName { expected, .. } => struct_name(source, at, path, expected),
        Error::InvalidEscape(_) => escape(source, at, path),
        Error::UnclosedBlockComment => comment(source, path),
        // With a bracket too many, the scenario ends early: that is told by where it ends.
        Error::TrailingCharacters => syntax(source, at, path, &error.code),
        code => brackets(source, at).unwrap_or_else(|| syntax(source, at, path, code)),
    }
}

fn syntax(source: &Source<'_>, at: usize, path: Path, code: &Error) -> Mistake {
    match code {
        Error::ExpectedAttribute => Mistake::new("the file begins with something strange", Path::default())
            .span(source.span(at))
            .label("expected `Scenario(`"),
        Error::TrailingCharacters => too_early(source, at.saturating_sub(1)),
        Error::ExpectedMapColon => colon(source, at, path),
        Error::ExpectedIdentifier | Error::InvalidIdentifier(_) | Error::SuggestRawIdentifier(_) => {
            identifier(source, at, path)
        }
        Error::ExpectedStructLike | Error::ExpectedNamedStructLike(_) => struct_like(source, at, path),
        Error::ExpectedString if names_a_key(source, at, &path) => {
            Mistake::new(format!("names in {path} are text"), path)
                .span(source.span(at))
                .label("not in quotes")
                .patch(source.span(at), format!("\"{}\"", source.word(at)), "put it in quotes")
        }
        Error::ExpectedComma
        | Error::ExpectedArrayEnd
        | Error::ExpectedMapEnd
        | Error::ExpectedStructLikeEnd
        | Error::ExpectedOptionEnd => comma(source, at, path),
        Error::ExpectedString
        | Error::ExpectedInteger
        | Error::ExpectedBoolean
        | Error::ExpectedArray
        | Error::ExpectedMap
        | Error::ExpectedRangeSyntax
        | Error::ExpectedDifferentLength { .. }
        | Error::InvalidValueForType { .. }
        | Error::UnexpectedChar(_)
        | Error::Eof => wrong_value(source, at, path),
        other => {
            let text = other.to_string();
            Mistake::new("the file cannot be read", path).span(source.span(at)).label(text)
        }
    }
}

fn names_a_key(source: &Source<'_>, at: usize, path: &Path) -> bool {
    source.kind(at) == Some(Kind::Word)
        && source.kind(at + 1) == Some(Kind::Colon)
        && Shape::at(path).is_some_and(|shape| matches!(shape.form(), Form::Map(_)))
}

/// The type of a struct, or the variant, in which a field was looked for.
pub(crate) fn owner(parent: &Path) -> String {
    let shape = Shape::at(parent);
    match (shape.and_then(Shape::type_name), parent.0.last()) {
        (Some(name), _) => name.to_owned(),
        (None, Some(Segment::Name(name))) => name.clone(),
        _ => "Scenario".into(),
    }
}

fn unknown_field(source: &Source<'_>, at: usize, path: &Path, expected: &[&str], found: &str) -> Mistake {
    let parent = match path.0.last() {
        Some(Segment::Name(last)) if last == found => path.parent(),
        _ => path.clone(),
    };
    let owner = owner(&parent);
    let mistake = Mistake::new(format!("unknown field `{found}` in {parent}"), parent.then(found))
        .span(source.span(at))
        .label(format!("not a field of {owner}"));
    if let Some(outer) = enclosing(&parent, found) {
        let end =
            source.end_before(if source.kind(at.wrapping_sub(1)) == Some(Kind::Comma) { at - 1 } else { at });
        let mut mistake = mistake;
        mistake.label = format!("a field of {outer}, not of {owner}: is a `)` missing before this?");
        return if brackets(source, at).is_some() {
            mistake.patch(end..end, ")", format!("close {parent}"))
        } else {
            mistake
        };
    }
    if let Some(near) = nearest(found, expected.iter().copied()) {
        return mistake.patch(source.span(at), near, format!("did you mean `{near}`?"));
    }
    if let Some(Form::Struct(fields)) = Shape::at(&parent).map(Shape::form)
        && let Some(field) = field_for(&fields, found)
    {
        let start = source.span(at).start;
        return mistake.patch(start..start, format!("{field}: "), "put the field's name before it");
    }
    mistake.help(format!("{owner} has {}", names(expected, &parent)))
}

/// The thing around a path that has a field of this name.
fn enclosing(parent: &Path, field: &str) -> Option<Path> {
    let mut outer = parent.clone();
    while !outer.0.is_empty() {
        outer = outer.parent();
        if let Form::Struct(fields) = Shape::at(&outer)?.form()
            && fields.iter().any(|(name, _)| *name == field)
        {
            return Some(outer);
        }
    }
    None
}

pub(crate) fn names(expected: &[&str], path: &Path) -> String {
    let shown: Vec<_> = expected.iter().take(12).map(|name| format!("`{name}`")).collect();
    let more = expected.len().saturating_sub(12);
    match (shown.as_slice(), more) {
        ([], _) => "no fields".into(),
        (_, 0) => shown.join(", "),
        _ => format!("{} and {more} more; see `millpond explain {}`", shown.join(", "), name_of(path)),
    }
}

fn unknown_variant(source: &Source<'_>, at: usize, path: Path, expected: &[&str], found: &str) -> Mistake {
    let quoted: Vec<_> = expected.iter().map(|name| format!("`{name}`")).collect();
    let known = match Shape::at(&path).map(Shape::form) {
        Some(Form::Enum(variants)) => choices(&variants),
        _ => any_of(&quoted),
    };
    let around = match Shape::at(&path).map(Shape::form) {
        Some(Form::Enum(variants)) => choice_around(&variants, found),
        _ => None,
    };
    let mistake = Mistake::new(format!("unknown choice `{found}` for {path}"), path).span(source.span(at));
    if let Some(around) = around {
        return mistake.label(format!("expected {known}")).patch(
            source.span(at),
            format!("{around}({found})"),
            "did you mean this?",
        );
    }
    match nearest(found, expected.iter().copied()) {
        Some(near) => mistake.label(format!("expected {known}")).patch(
            source.span(at),
            near,
            format!("did you mean `{near}`?"),
        ),
        None => mistake.label("not one of the choices").help(format!("write {known}")),
    }
}

/// A value to begin with.
pub(crate) fn example(shape: Shape) -> String {
    if let Some(default) = default_text(shape) {
        return default;
    }
    match shape.form() {
        Form::Text => "\"..\"".into(),
        Form::Special(_) => "\"1s\"".into(),
        Form::Integer { least, .. } => least.max(1).to_string(),
        Form::Bool => "true".into(),
        Form::Range(_) => "0..3".into(),
        Form::List(_) => "[..]".into(),
        Form::Map(_) => "{..}".into(),
        Form::Tuple(_) | Form::Struct(_) => "(..)".into(),
        Form::Enum(variants) => variants.first().map_or(String::new(), |variant| match variant.content {
            Some(_) => format!("{}(..)", variant.name),
            None => variant.name.to_owned(),
        }),
    }
}

fn missing_field(source: &Source<'_>, at: usize, path: Path, field: &str, outer: Option<&str>) -> Mistake {
    // ron stops in front of the closing bracket, or behind it.
    let is_close = |index: &usize| source.kind(*index) == Some(Kind::Close(')'));
    let close = [at, at.saturating_sub(1), at + 1].into_iter().find(is_close).unwrap_or(at);
    if path.0.is_empty() && close + 1 < source.tokens.len() {
        return too_early(source, close);
    }
    let value = Shape::at(&path.then(field)).map_or("..".into(), example);
    let about = Shape::at(&path.then(field)).and_then(Shape::about);
    let before = close.saturating_sub(1);
    let end = source.span(before).end;
    // A bracket on a line of its own: the field gets a line too.
    let own_line = source.text[end..source.span(close).start].contains('\n');
    let blank = if own_line { format!("\n{}", indent(source, end)) } else { " ".into() };
    let insertion = match source.kind(before) {
        Some(Kind::Open(_)) => format!("{field}: {value}"),
        Some(Kind::Comma) => format!("{blank}{field}: {value},"),
        _ => format!(",{blank}{field}: {value}"),
    };
    let mistake = Mistake::new(format!("missing field `{field}` in {path}"), path.clone())
        .span(source.span(close))
        .label(format!("{} needs `{field}`", outer.map_or_else(|| owner(&path), str::to_owned)))
        .patch(end..end, insertion, "add it, such as");
    match about {
        Some(about) => mistake.help(format!("{field}: {about}")),
        None => mistake,
    }
}

/// The blanks at the start of the line that holds a byte.
fn indent<'a>(source: &Source<'a>, byte: usize) -> &'a str {
    let start = source.text[..byte].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &source.text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The other place in the same brackets that has this name, before a token.
fn first_of(source: &Source<'_>, at: usize, name: &str) -> Option<usize> {
    let mut index = opener(&source.tokens, at)? + 1;
    while index < at {
        if source.kind(index + 1) == Some(Kind::Colon) && source.content(index) == name {
            return Some(index);
        }
        index = skip_value(&source.tokens, index) + 1;
    }
    None
}

fn twice(source: &Source<'_>, at: usize, path: &Path, name: &str) -> Mistake {
    let parent = match path.0.last() {
        Some(Segment::Name(last)) if last == name => path.parent(),
        _ => source.path_at(opener(&source.tokens, at).map_or(at, |open| open + 1)),
    };
    let mistake = Mistake::new(format!("`{name}` is defined twice in {parent}"), parent.then(name))
        .span(source.span(at))
        .label("again here");
    match first_of(source, at, name) {
        Some(first) => mistake.related_span(source.span(first), "first here"),
        None => mistake,
    }
}

/// The texts of our own types: times, shares, maps; and ron's one about ranges.
fn custom(source: &Source<'_>, at: usize, path: Path, text: &str) -> Mistake {
    if let Some(name) = text.strip_suffix("` is defined twice").and_then(|text| text.strip_prefix('`')) {
        return twice(source, at, &path, name);
    }
    let dots = (at.saturating_sub(2)..=at).find(|index| source.word(*index) == "..=");
    if let (Some(dots), true) = (dots, text.contains("`..=`")) {
        let span = source.span(dots.saturating_sub(1)).start..source.span(dots + 1).end;
        let mistake = Mistake::new(format!("the range of {path} is written with `..`"), path)
            .span(span.clone())
            .label("`..` leaves the end out");
        return match source.word(dots + 1).replace('_', "").parse::<i64>() {
            Ok(end) => {
                let start = source.word(dots.saturating_sub(1));
                mistake.patch(span, format!("{start}..{}", end.saturating_add(1)), "the same range is")
            }
            Err(_) => mistake,
        };
    }
    let (title, label) = text.split_once(": ").unwrap_or((text, ""));
    Mistake::new(format!("{title} (in {path})"), path).span(source.span(at)).label(label)
}

fn struct_name(source: &Source<'_>, at: usize, path: Path, expected: &str) -> Mistake {
    if source.kind(at + 1) != Some(Kind::Open('(')) {
        return wrong_value(source, at, path);
    }
    if source.word(at) == "Some" {
        return Mistake::new(format!("{path} is never left out, so it takes no `Some`"), path)
            .span(source.span(at))
            .label("leave this and its brackets out");
    }
    Mistake::new(format!("{path} begins with the wrong name"), path)
        .span(source.span(at))
        .label(format!("expected `{expected}` or no name"))
        .patch(source.span(at), expected, format!("write `{expected}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::mistake::at;

    #[test]
    fn an_example_is_the_default_where_there_is_one() {
        let shape = Shape::at(&at!["check", 0, "Liveness", "within"]).unwrap();
        assert_eq!(example(shape), "\"30s\"");
    }
}
