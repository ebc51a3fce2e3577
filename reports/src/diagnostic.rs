//! Mistakes in a scenario file in the look of rustc and cargo.
//!
//! The one file that knows `annotate-snippets`. A mistake with a place shows the line, with labels
//! under it, advice, and a change that would put it right; one without shows its path.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet};
use millpond_model::scenario::mistake::Mistake;

/// All mistakes of a file as text for people, with a line at the end that counts them.
///
/// `file` is the name to print and `source` the text that was read.
pub fn render(file: &str, source: &str, mistakes: &[Mistake], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for mistake in mistakes {
        let mistake = on_text(source, mistake);
        text.push_str(&renderer.render(&groups(file, body(source), &mistake)));
        text.push_str("\n\n");
    }
    let count = match mistakes.len() {
        1 => "1 error".to_owned(),
        more => format!("{more} errors"),
    };
    text.push_str(&format!("{count} in {file}; nothing was run\n"));
    text
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The text as an editor shows it, so that columns agree.
fn body(source: &str) -> &str {
    source.strip_prefix(BYTE_ORDER_MARK).unwrap_or(source)
}

/// The mistake with its places in [`body`], cut to the text.
fn on_text(source: &str, mistake: &Mistake) -> Mistake {
    let body = body(source);
    let skipped = source.len() - body.len();
    let place = |span: &mut std::ops::Range<usize>| {
        let inside = |byte: usize| {
            let byte = byte.saturating_sub(skipped).min(body.len());
            (0..=byte).rev().find(|byte| body.is_char_boundary(*byte)).unwrap_or(0)
        };
        *span = inside(span.start)..inside(span.end).max(inside(span.start));
    };
    let mut moved = mistake.clone();
    moved.span.iter_mut().for_each(place);
    moved.related.iter_mut().filter_map(|related| related.span.as_mut()).for_each(place);
    moved.patch.iter_mut().map(|patch| &mut patch.span).for_each(place);
    moved
}

fn groups<'a>(file: &'a str, source: &'a str, mistake: &'a Mistake) -> Vec<Group<'a>> {
    let title = Level::ERROR.primary_title(&mistake.title);
    let title = match mistake.code {
        Some(code) => title.id(code),
        None => title,
    };
    let mut group = match &mistake.span {
        Some(span) => {
            let label = (!mistake.label.is_empty()).then_some(mistake.label.as_str());
            let primary = AnnotationKind::Primary.span(span.clone()).label(label);
            let related = mistake.related.iter().filter_map(|related| {
                let span = related.span.clone()?;
                Some(AnnotationKind::Context.span(span).label(related.label.as_str()))
            });
            title.element(Snippet::source(source).path(file).annotation(primary).annotations(related))
        }
        None => {
            let group = title.element(Origin::path(file));
            if mistake.label.is_empty() {
                group
            } else {
                group.element(Level::NOTE.message(format!("{}: {}", mistake.path, mistake.label)))
            }
        }
    };
    let unplaced = mistake.related.iter().filter(|related| related.span.is_none());
    for related in unplaced {
        group = group.element(Level::NOTE.message(format!("{}: {}", related.path, related.label)));
    }
    for line in &mistake.help {
        group = group.element(Level::HELP.message(line));
    }
    let mut groups = vec![group];
    if let Some(patch) = &mistake.patch {
        let change = Patch::new(patch.span.clone(), &patch.replacement);
        let title = Level::HELP.secondary_title(&patch.message);
        groups.push(title.element(Snippet::source(source).path(file).patch(change)));
    }
    groups
}
