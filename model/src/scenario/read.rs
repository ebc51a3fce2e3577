//! Reading a scenario from RON text.
//!
//! `ron` reads; where it fails, `repair` turns its error into what a person did wrong.
//! Where it succeeds, [`validate`](mod@super::validate) reports everything that makes no sense, and
//! [`locate`](mod@super::locate) finds the places in the text. No text makes it panic.

use ron::Options;
use ron::error::SpannedError;
use ron::extensions::Extensions;

use super::mistake::{Mistake, Path};
use super::repair::repair;
use super::schema::Scenario;
use super::syntax::Source;
use super::tokens::Kind;
use super::validate::validate;
use super::{locate, mistake};

/// The longest text that is read, in bytes.
pub const MAX_BYTES: usize = 8 << 20;
/// How deep brackets may be nested; a scenario needs 10.
pub const MAX_DEPTH: usize = 32;

/// Some editors begin a file with this; it means nothing.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The scenario that a text describes, or what is wrong with it: the first mistake of form, or all
/// mistakes of meaning.
pub fn read(text: &str) -> Result<Scenario, Vec<Mistake>> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let skipped = text.len() - body.len();
    let found = read_body(body);
    found.map_err(|mistakes| mistakes.into_iter().map(|mistake| mistake.shortened().moved(skipped)).collect())
}

/// RON as scenarios use it: `read_back: (..)` without `Some`, `Draw(..)` without inner brackets.
pub(crate) fn options() -> Options {
    Options::default().with_default_extension(
        Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES | Extensions::UNWRAP_VARIANT_NEWTYPES,
    )
}

fn read_body(text: &str) -> Result<Scenario, Vec<Mistake>> {
    if text.len() > MAX_BYTES {
        let title = format!("the file has {} bytes; at most {MAX_BYTES} are read", text.len());
        return Err(vec![Mistake::new(title, Path::default())]);
    }
    let source = Source::new(text);
    too_deep(&source)?;
    let scenario = parse(&source)?;
    let mut mistakes = validate(&scenario);
    if mistakes.is_empty() {
        return Ok(scenario);
    }
    locate::add_spans(text, &mut mistakes);
    Err(mistakes)
}

fn too_deep(source: &Source<'_>) -> Result<(), Vec<Mistake>> {
    let mut depth = 0_usize;
    for token in &source.tokens {
        match token.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            let title = format!("brackets are nested more than {MAX_DEPTH} deep");
            return Err(vec![
                Mistake::new(title, Path::default())
                    .span(token.span.clone())
                    .label("one too many is opened here"),
            ]);
        }
    }
    Ok(())
}

fn parse(source: &Source<'_>) -> Result<Scenario, Vec<Mistake>> {
    let options = options();
    let told = |error: &SpannedError, path, whole| vec![repair(source, error, path, whole)];
    let mut deserializer = ron::Deserializer::from_str_with_options(source.text, &options)
        .map_err(|error| told(&error, Path::default(), false))?;
    let scenario = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let (path, whole) = own_path(error.path());
        told(&deserializer.span_error(error.into_inner()), path, whole)
    })?;
    deserializer.end().map_err(|error| told(&deserializer.span_error(error), Path::default(), true))?;
    Ok(scenario)
}

/// The path up to its first unknown step, and whether it has none.
fn own_path(path: &serde_path_to_error::Path) -> (Path, bool) {
    use serde_path_to_error::Segment;
    let mut own = Path::default();
    for segment in path {
        own.0.push(match segment {
            Segment::Seq { index } => mistake::Segment::Index(*index),
            Segment::Map { key } => mistake::Segment::Name(key.clone()),
            Segment::Enum { variant } => mistake::Segment::Name(variant.clone()),
            Segment::Unknown => return (own, false),
        });
    }
    (own, true)
}
