//! The tokens of RON text, right or wrong, each with its bytes.
//!
//! This is no parser: `ron` alone decides what a file means. Tokens find the place of a path in a
//! text, and turn ron's "expected comma" into what a person did wrong.

use std::ops::Range;

/// A piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `(`, `[` or `{`.
    Open(char),
    /// `)`, `]` or `}`.
    Close(char),
    Comma,
    Colon,
    /// `..` or `..=`.
    Dots,
    /// Text in double quotes.
    Text,
    /// Text in double quotes without the second one, up to the end of the file.
    OpenText,
    /// Something in single quotes.
    Quoted,
    /// A number, or what begins like one.
    Number,
    /// A name.
    Word,
    /// Any other character.
    Other(char),
}

/// The tokens of a text; blanks and comments are left out.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '/' if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, block_comment(rest)),
            '(' | '[' | '{' => (Some(Kind::Open(first)), 1),
            ')' | ']' | '}' => (Some(Kind::Close(first)), 1),
            ',' => (Some(Kind::Comma), 1),
            ':' => (Some(Kind::Colon), 1),
            '.' if rest.starts_with("..=") => (Some(Kind::Dots), 3),
            '.' if rest.starts_with("..") => (Some(Kind::Dots), 2),
            '"' => text_token(rest),
            'r' if begins_raw_text(rest) => raw_text(rest),
            '\'' => match rest[1..].find(['\'', '\n']).map(|end| end + 1) {
                Some(end) if rest[end..].starts_with('\'') => (Some(Kind::Quoted), end + 1),
                _ => (Some(Kind::Other(first)), 1),
            },
            '0'..='9' => (Some(Kind::Number), number(rest)),
            '+' | '-' | '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                (Some(Kind::Number), 1 + number(&rest[1..]))
            }
            _ if first.is_alphabetic() || first == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                (Some(Kind::Word), end)
            }
            _ => (Some(Kind::Other(first)), first.len_utf8()),
        };
        if let Some(kind) = kind {
            found.push(Token { kind, span: at..at + length });
        }
        at += length;
    }
    found
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn text_token(rest: &str) -> (Option<Kind>, usize) {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return (Some(Kind::Text), at + 1),
            _ => {}
        }
    }
    (Some(Kind::OpenText), rest.len())
}

fn begins_raw_text(rest: &str) -> bool {
    rest[1..].trim_start_matches('#').starts_with('"')
}

fn raw_text(rest: &str) -> (Option<Kind>, usize) {
    let hashes = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
    let start = 1 + hashes + 1;
    match rest[start..].find(&format!("\"{}", "#".repeat(hashes))) {
        Some(end) => (Some(Kind::Text), start + end + 1 + hashes),
        None => (Some(Kind::OpenText), rest.len()),
    }
}

fn number(rest: &str) -> usize {
    let mut end = 0;
    for c in rest.chars() {
        let dots = c == '.' && rest[end..].starts_with("..");
        if dots || !(c.is_alphanumeric() || c == '_' || c == '.') {
            break;
        }
        end += c.len_utf8();
    }
    end
}

/// The first token that ends behind a byte: the one there, or the next one.
pub(crate) fn index_at(tokens: &[Token], byte: usize) -> Option<usize> {
    let index = tokens.partition_point(|token| token.span.end <= byte);
    (index < tokens.len()).then_some(index)
}

/// The opening bracket around a token, as an index.
pub(crate) fn opener(tokens: &[Token], index: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in (0..index.min(tokens.len())).rev() {
        match tokens[at].kind {
            Kind::Close(_) => depth += 1,
            Kind::Open(_) if depth == 0 => return Some(at),
            Kind::Open(_) => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The token behind the value that begins at a token, as an index.
pub(crate) fn skip_value(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) if depth == 0 => return at,
            Kind::Close(_) => depth -= 1,
            Kind::Comma if depth == 0 => return at,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|token| &text[token.span]).collect()
    }

    #[test]
    fn comments_and_blanks_are_left_out() {
        assert_eq!(pieces("a /* ( /* */ */ : // )\n 'x'"), ["a", ":", "'x'"]);
    }

    #[test]
    fn ranges_are_three_tokens_and_fractions_one() {
        assert_eq!(pieces("0..=3, -4.5 1..2"), ["0", "..=", "3", ",", "-4.5", "1", "..", "2"]);
    }

    #[test]
    fn text_may_hold_brackets_quotes_and_hashes() {
        assert_eq!(pieces(r##"("a\"(", r#"b"("#)"##), ["(", r#""a\"(""#, ",", r##"r#"b"("#"##, ")"]);
    }

    proptest! {
        #[test]
        fn tokens_are_in_order_within_the_text(text in "[\\PC\n]{0,60}") {
            let mut end = 0;
            for token in tokens(&text) {
                prop_assert!(token.span.start >= end && token.span.start < token.span.end);
                prop_assert!(text.get(token.span.clone()).is_some());
                end = token.span.end;
            }
        }
    }
}
