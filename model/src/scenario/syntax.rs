//! A text that could not be read: its tokens, and the mistakes that show in them alone.
//!
//! A quote or a bracket that is not closed makes ron fail far behind it. These are looked for first,
//! by counting, and are named where they begin.

use std::ops::Range;

use ron::error::Position;

use super::mistake::{Mistake, Path, Segment};
use super::shape::{Form, Shape};
use super::tokens::{Kind, Token, tokens};

/// A text and its tokens.
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<Token>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, tokens: tokens(text) }
    }

    /// The text of a token; empty behind the last one.
    pub(crate) fn word(&self, index: usize) -> &'a str {
        self.tokens.get(index).map_or("", |token| &self.text[token.span.clone()])
    }

    pub(crate) fn kind(&self, index: usize) -> Option<Kind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// The bytes of a token; the end of the text behind the last one.
    pub(crate) fn span(&self, index: usize) -> Range<usize> {
        let end = self.tokens.last().map_or(0, |token| token.span.end);
        self.tokens.get(index).map_or(end..end, |token| token.span.clone())
    }

    /// The end of the token before this one.
    pub(crate) fn end_before(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.span(before).end)
    }

    /// What a quoted token says.
    pub(crate) fn content(&self, index: usize) -> &'a str {
        self.word(index).trim_matches(['"', '\''])
    }

    /// The byte of a line and column, both from 1, columns in characters.
    pub(crate) fn byte(&self, position: Position) -> usize {
        let mut lines = self.text.split_inclusive('\n');
        let before: usize = lines.by_ref().take(position.line.saturating_sub(1)).map(str::len).sum();
        let line = lines.next().unwrap_or("");
        let within = line.char_indices().nth(position.col.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
        before + within
    }

    /// The path of the value that a token belongs to.
    pub(crate) fn path_at(&self, index: usize) -> Path {
        struct Frame<'a> {
            bracket: char,
            variant: &'a str,
            name: Option<&'a str>,
            index: usize,
        }
        let mut frames: Vec<Frame<'_>> = Vec::new();
        for at in 0..index.min(self.tokens.len()) {
            match self.tokens[at].kind {
                Kind::Open(bracket) => {
                    let named = at > 0 && self.kind(at - 1) == Some(Kind::Word);
                    let variant = if named { self.word(at - 1) } else { "" };
                    frames.push(Frame { bracket, variant, name: None, index: 0 });
                }
                Kind::Close(_) => drop(frames.pop()),
                Kind::Comma => {
                    if let Some(frame) = frames.last_mut() {
                        frame.name = None;
                        frame.index += 1;
                    }
                }
                Kind::Colon => {
                    if let Some(frame) = frames.last_mut() {
                        frame.name = Some(self.content(at - 1));
                    }
                }
                _ => {}
            }
        }
        let mut path = Path::default();
        for frame in frames {
            let is_variant = Shape::at(&path).is_some_and(|shape| match shape.form() {
                Form::Enum(variants) => variants.iter().any(|variant| variant.name == frame.variant),
                _ => false,
            });
            if is_variant {
                path.0.push(Segment::from(frame.variant));
            }
            let in_tuple = || Shape::at(&path).is_some_and(|shape| matches!(shape.form(), Form::Tuple(_)));
            match frame.name {
                Some(name) => path.0.push(Segment::from(name)),
                None if frame.bracket == '[' || in_tuple() => path.0.push(Segment::Index(frame.index)),
                None => {}
            }
        }
        path
    }
}

/// A mistake in quotes, comments or brackets that explains an error at a token.
pub(crate) fn lexical(source: &Source<'_>, at: usize) -> Option<Mistake> {
    open_quote(source).or_else(|| single_quotes(source, at)).or_else(|| hash_comment(source, at))
}

/// A `"` without its partner. The next `"`, words or lines later, then ends the text where no text
/// can end, and the file has an odd number of them.
fn open_quote(source: &Source<'_>) -> Option<Mistake> {
    let last = source.tokens.iter().position(|token| token.kind == Kind::OpenText)?;
    let ends_strangely = |index: &usize| {
        source.kind(*index) == Some(Kind::Text)
            && !matches!(source.kind(index + 1), Some(Kind::Comma | Kind::Close(_) | Kind::Colon))
    };
    let index = (0..last).find(ends_strangely).unwrap_or(last);
    let start = source.span(index).start;
    let end = start + likely_length(source.word(index));
    Some(
        Mistake::new("a quote is not closed", source.path_at(index))
            .span(start..end)
            .label("this text has no closing quote")
            .patch(end..end, "\"", "close it where the text ends"),
    )
}

/// How long a text without an end was meant to be: up to a bracket that it does not open, or to the
/// end of the line.
fn likely_length(text: &str) -> usize {
    let line = text.lines().next().unwrap_or(text);
    let mut depth = 0_usize;
    for (at, c) in line.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return at.max(1),
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    let whole_line = line.len() < text.len();
    let end = if whole_line {
        line.trim_end().trim_end_matches(',').len()
    } else {
        line.find(',').unwrap_or(line.len())
    };
    end.max(1)
}

fn single_quotes(source: &Source<'_>, at: usize) -> Option<Mistake> {
    let index = (0..=at).find(|index| source.kind(*index) == Some(Kind::Quoted))?;
    let content = source.content(index);
    Some(
        Mistake::new("text takes double quotes", source.path_at(index))
            .span(source.span(index))
            .label("in single quotes")
            .patch(source.span(index), format!("\"{content}\""), "use double quotes"),
    )
}

fn hash_comment(source: &Source<'_>, at: usize) -> Option<Mistake> {
    let hash = |index: &usize| source.kind(*index) == Some(Kind::Other('#'));
    let index = (0..=at).find(|index| hash(index) && source.kind(index + 1) != Some(Kind::Other('!')))?;
    Some(
        Mistake::new("comments start with `//`", Path::default())
            .span(source.span(index))
            .label("`#` means nothing here")
            .patch(source.span(index), "//", "write the comment so"),
    )
}

/// A bracket without its partner.
pub(crate) fn brackets(source: &Source<'_>, at: usize) -> Option<Mistake> {
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in source.tokens.iter().enumerate() {
        match token.kind {
            Kind::Open(_) => open.push(index),
            Kind::Close(close) => match open.pop() {
                None => {
                    return Some(
                        Mistake::new(format!("this `{close}` closes nothing"), Path::default())
                            .span(token.span.clone())
                            .label("the scenario has ended before this"),
                    );
                }
                Some(opened) if partner(source.word(opened)) != close => {
                    return (opened <= at).then(|| {
                        not_closed(source, opened)
                            .related_span(token.span.clone(), format!("`{close}` cannot close it"))
                    });
                }
                Some(_) => {}
            },
            _ => {}
        }
    }
    let opened = *open.last()?;
    Some(not_closed(source, opened))
}

fn not_closed(source: &Source<'_>, opened: usize) -> Mistake {
    let bracket = source.word(opened);
    Mistake::new(format!("a `{bracket}` is not closed"), source.path_at(opened))
        .span(source.span(opened))
        .label(format!("a `{}` is missing for this", partner(bracket)))
}

fn partner(open: &str) -> char {
    match open {
        "(" => ')',
        "[" => ']',
        _ => '}',
    }
}
