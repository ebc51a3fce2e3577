//! A mistake in a scenario, as plain data: what is wrong, where, and how to put it right.
//!
//! Reading and validation make them; `millpond-reports` prints them in rustc's look. The place is a
//! [`Path`] first, since a scenario built in Rust has no text; where there is text, reading adds the
//! byte ranges.

use std::fmt;
use std::ops::Range;

use super::validate::codes;

/// Something wrong in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// A short name such as `unknown-topic`, if the mistake is one of meaning and not of form.
    pub code: Option<&'static str>,
    /// What is wrong, in one line.
    pub title: String,
    /// Where, as a path of fields.
    pub path: Path,
    /// Whether the name at the end of the path is wrong, or its value.
    pub part: Part,
    /// Where, as bytes of the text; `None` without a text.
    pub span: Option<Range<usize>>,
    /// What to write under the place; may be empty.
    pub label: String,
    /// Other places that matter.
    pub related: Vec<Related>,
    /// Lines of advice.
    pub help: Vec<String>,
    /// A change that would put it right.
    pub patch: Option<Patch>,
}

/// Which part of a field is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its name.
    Name,
    /// Its value.
    Value,
}

/// Another place that a mistake has to do with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The place as a path.
    pub path: Path,
    /// Which part of the field.
    pub part: Part,
    /// The place as bytes of the text; `None` without a text.
    pub span: Option<Range<usize>>,
    /// What to write under it.
    pub label: String,
}

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The bytes to replace; empty to insert.
    pub span: Range<usize>,
    /// What to put there.
    pub replacement: String,
    /// What the change does, such as "did you mean `orders`?".
    pub message: String,
}

/// The way from the scenario to a value: `processors.totals.from[1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<Segment>);

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// A field of a struct, a name of a map, or a variant of an enum.
    Name(String),
    /// A place in a list, from 0.
    Index(usize),
}

impl Mistake {
    /// A mistake in the value at a path.
    pub fn new(title: impl Into<String>, path: Path) -> Self {
        Self {
            code: None,
            title: title.into(),
            path,
            part: Part::Value,
            span: None,
            label: String::new(),
            related: Vec::new(),
            help: Vec::new(),
            patch: None,
        }
    }

    pub(crate) fn code(mut self, code: &'static str) -> Self {
        debug_assert!(codes::find(code).is_some(), "`{code}` is missing from the table of codes");
        self.code = Some(code);
        self
    }

    pub(crate) fn in_name(mut self) -> Self {
        self.part = Part::Name;
        self
    }

    pub(crate) fn span(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub(crate) fn help(mut self, line: impl Into<String>) -> Self {
        self.help.push(line.into());
        self
    }

    pub(crate) fn related(mut self, path: Path, part: Part, label: impl Into<String>) -> Self {
        self.related.push(Related { path, part, span: None, label: label.into() });
        self
    }

    pub(crate) fn related_span(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        let path = Path::default();
        self.related.push(Related { path, part: Part::Value, span: Some(span), label: label.into() });
        self
    }

    pub(crate) fn patch(
        mut self,
        span: Range<usize>,
        replacement: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        self.patch = Some(Patch { span, replacement: replacement.into(), message: message.into() });
        self
    }

    /// Cuts texts that quote a name of the size of a book.
    pub(crate) fn shortened(mut self) -> Self {
        const LONGEST: usize = 400;
        let texts = [&mut self.title, &mut self.label].into_iter().chain(&mut self.help);
        for text in texts.chain(self.related.iter_mut().map(|related| &mut related.label)) {
            if let Some((end, _)) = text.char_indices().nth(LONGEST) {
                text.truncate(end);
                text.push_str("..");
            }
        }
        self.patch = self.patch.filter(|patch| patch.replacement.len() <= LONGEST);
        self
    }

    /// Moves every byte range by `bytes`.
    pub(crate) fn moved(mut self, bytes: usize) -> Self {
        let spans = self.span.iter_mut().chain(self.related.iter_mut().filter_map(|r| r.span.as_mut()));
        for span in spans.chain(self.patch.iter_mut().map(|patch| &mut patch.span)) {
            *span = span.start + bytes..span.end + bytes;
        }
        self
    }
}

impl fmt::Display for Mistake {
    /// One line: the title, the place where the title does not name it, and what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)?;
        let place = self.path.to_string();
        if !self.title.contains(&place) {
            write!(f, " (at {place})")?;
        }
        if !self.label.is_empty() {
            write!(f, ": {}", self.label)?;
        }
        self.help.iter().try_for_each(|line| write!(f, "; {line}"))
    }
}

impl Path {
    /// The path one step longer.
    pub fn then(&self, segment: impl Into<Segment>) -> Self {
        let mut longer = self.clone();
        longer.0.push(segment.into());
        longer
    }

    /// The path one step shorter.
    pub fn parent(&self) -> Self {
        let mut shorter = self.clone();
        shorter.0.pop();
        shorter
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the scenario");
        }
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Name(name) if at == 0 => f.write_str(name)?,
                Segment::Name(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl From<&str> for Segment {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<&String> for Segment {
    fn from(name: &String) -> Self {
        Self::Name(name.clone())
    }
}

impl From<usize> for Segment {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A [`Path`] from its segments: `at!["processors", name, "from", 1]`.
macro_rules! at {
    ($($segment:expr),* $(,)?) => {
        $crate::scenario::mistake::Path(vec![$($crate::scenario::mistake::Segment::from($segment)),*])
    };
}
pub(crate) use at;
