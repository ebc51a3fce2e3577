//! The place of a path in the text: `processors.totals.from[1]` as a range of bytes.
//!
//! Needed only where there is a mistake to print, so it walks the tokens of the text from the start.
//! The text has been read before: its brackets match, and a field is there or has its default.

use std::ops::Range;

use super::mistake::{Mistake, Part, Path, Segment};
use super::tokens::{Kind, Token, skip_value, tokens};

/// Where a field stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bytes of its name, if it has one.
    pub name: Option<Range<usize>>,
    /// The bytes of its value.
    pub value: Range<usize>,
    /// Whether this is the field itself; otherwise the text leaves it out, and this is the nearest
    /// thing around it.
    pub exact: bool,
}

/// The place of a path in a text, or of the nearest thing around it that the text has; `None` in an
/// empty text.
pub fn locate(text: &str, path: &Path) -> Option<Place> {
    Walk { text, tokens: &tokens(text) }.locate(path)
}

/// Adds the places in the text to a mistake that has paths.
pub(crate) fn add_spans(text: &str, mistakes: &mut [Mistake]) {
    let tokens = tokens(text);
    let walk = Walk { text, tokens: &tokens };
    for mistake in mistakes {
        mistake.span = walk.span(&mistake.path, mistake.part);
        for related in &mut mistake.related {
            let place = walk.locate(&related.path).filter(|place| place.exact);
            related.span = place.and_then(|_| walk.span(&related.path, related.part));
        }
        // Two labels on one place say the same twice.
        mistake.related.retain(|related| related.span.is_some() && related.span != mistake.span);
    }
}

struct Walk<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

/// A child of a bracket: its name, and the index of the token at which its value begins.
struct Child {
    name: Option<usize>,
    value: usize,
}

impl Walk<'_> {
    fn span(&self, path: &Path, part: Part) -> Option<Range<usize>> {
        let place = self.locate(path)?;
        Some(match (part, place.name) {
            // Of a thing that is left out, its owner's name is enough to look at.
            (Part::Name, Some(name)) => name,
            (Part::Value, Some(name)) if !place.exact => name,
            (_, _) if !place.exact => {
                place.value.start..place.value.start + self.first_len(place.value.start)
            }
            _ => place.value,
        })
    }

    fn first_len(&self, byte: usize) -> usize {
        self.tokens.iter().find(|token| token.span.start == byte).map_or(0, |token| token.span.len())
    }

    fn locate(&self, path: &Path) -> Option<Place> {
        let mut at = self.skip_attributes();
        let mut name = None;
        for segment in &path.0 {
            match self.step(at, segment) {
                Some(child) => {
                    name = child.name.map(|index| self.tokens[index].span.clone()).or(name);
                    at = child.value;
                }
                None => return Some(Place { name, value: self.value(at)?, exact: false }),
            }
        }
        Some(Place { name, value: self.value(at)?, exact: true })
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.span.clone()])
    }

    fn skip_attributes(&self) -> usize {
        let mut at = 0;
        while self.kind(at) == Some(Kind::Other('#')) {
            let Some(open) = (at..self.tokens.len()).find(|i| self.kind(*i) == Some(Kind::Open('['))) else {
                break;
            };
            at = skip_value(self.tokens, open + 1) + 1;
        }
        at
    }

    /// The bytes of the value that begins at a token.
    fn value(&self, at: usize) -> Option<Range<usize>> {
        // A variant's only content stands for itself: in `Zipf(3)` the path `Zipf` means the 3.
        let start = self.tokens.get(at)?.span.start;
        let last = skip_value(self.tokens, at).checked_sub(1)?;
        Some(start..self.tokens.get(last.max(at))?.span.end)
    }

    fn step(&self, at: usize, segment: &Segment) -> Option<Child> {
        // `Some(..)` is written or not.
        let at = if self.word(at) == "Some" { at + 2 } else { at };
        if let (Some(Kind::Word), Segment::Name(name)) = (self.kind(at), segment)
            && self.word(at) == name
        {
            return Some(self.content(at));
        }
        let open = if self.kind(at) == Some(Kind::Word) { at + 1 } else { at };
        let Some(Kind::Open(bracket)) = self.kind(open) else { return None };
        let children = self.children(open);
        let found = match segment {
            Segment::Name(name) => children
                .iter()
                .position(|child| child.name.is_some_and(|index| self.key(index).as_deref() == Some(name))),
            Segment::Index(index) => {
                let only_a_list = bracket == '('
                    && children.len() == 1
                    && matches!(self.kind(children[0].value), Some(Kind::Open('[' | '(')));
                (!only_a_list && *index < children.len()).then_some(*index)
            }
        };
        match found {
            Some(index) => children.into_iter().nth(index),
            // A newtype: `Plan([..])`, `Draw((..))`.
            None if bracket == '(' && children.len() == 1 && children[0].name.is_none() => {
                self.step(children[0].value, segment)
            }
            None => None,
        }
    }

    /// The content of a variant: its only value, or itself.
    fn content(&self, at: usize) -> Child {
        let itself = Child { name: None, value: at };
        if self.kind(at + 1) != Some(Kind::Open('(')) {
            return itself;
        }
        match self.children(at + 1).as_slice() {
            [Child { name: None, value }] => Child { name: None, value: *value },
            _ => Child { name: None, value: at + 1 },
        }
    }

    fn children(&self, open: usize) -> Vec<Child> {
        let mut found = Vec::new();
        let mut at = open + 1;
        while at < self.tokens.len() && !matches!(self.kind(at), Some(Kind::Close(_))) {
            let named = self.kind(at + 1) == Some(Kind::Colon);
            let child =
                if named { Child { name: Some(at), value: at + 2 } } else { Child { name: None, value: at } };
            at = skip_value(self.tokens, child.value);
            found.push(child);
            at += usize::from(self.kind(at) == Some(Kind::Comma));
        }
        found
    }

    fn key(&self, index: usize) -> Option<String> {
        let token = self.tokens.get(index)?;
        let text = &self.text[token.span.clone()];
        match token.kind {
            Kind::Text => ron::from_str(text).ok(),
            _ => Some(text.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::mistake::at;

    const TEXT: &str = r#"// A comment with a bracket (
Scenario(
    topics: { "orders": (partitions: 4), "a.b": () },
    producers: { "shop": (keys: Zipf(3), every: Uniform("1ms", "2ms"), read_back: Some((sink: "l"))) },
    faults: Plan([
        (when: Before((node: "broker-0", event: Sends("Commit"))), what: Crash(nodes: ["x", "y"], down: "1s")),
    ]),
    workload: [("shop-0", "1s", 3, 4)],
    check: [PartitionOrder, Liveness(within: "3s")],
)"#;

    fn at(path: Path) -> (Option<&'static str>, &'static str, bool) {
        let place = locate(TEXT, &path).unwrap();
        (place.name.map(|span| &TEXT[span]), &TEXT[place.value], place.exact)
    }

    #[test]
    fn fields_maps_lists_and_variants_are_found() {
        assert_eq!(at(at!["topics", "orders", "partitions"]), (Some("partitions"), "4", true));
        assert_eq!(at(at!["topics", "a.b"]), (Some("\"a.b\""), "()", true));
        assert_eq!(at(at!["producers", "shop", "keys", "Zipf"]).1, "3");
        assert_eq!(at(at!["producers", "shop", "every", "Uniform", 1]).1, "\"2ms\"");
        assert_eq!(at(at!["producers", "shop", "read_back", "sink"]).1, "\"l\"");
        assert_eq!(at(at!["workload", 0, 0]).1, "\"shop-0\"");
        assert_eq!(at(at!["check", 1, "Liveness", "within"]).1, "\"3s\"");
    }

    #[test]
    fn faults_are_found_through_newtypes() {
        assert_eq!(at(at!["faults", "Plan", 0, "what", "Crash", "nodes", 1]).1, "\"y\"");
        assert_eq!(at(at!["faults", "Plan", 0, "when", "Before", "node"]).1, "\"broker-0\"");
        assert_eq!(at(at!["faults", "Plan", 0, "when", "Before", "event", "Sends"]).1, "\"Commit\"");
    }

    #[test]
    fn what_the_text_leaves_out_is_found_by_what_is_around_it() {
        assert_eq!(at(at!["topics", "orders", "cleanup"]), (Some("\"orders\""), "(partitions: 4)", false));
        assert!(!at(at!["phases", "faults"]).2);
    }

    #[test]
    fn an_empty_text_has_no_place() {
        assert_eq!(locate(" // nothing", &at!["topics"]), None);
    }
}
