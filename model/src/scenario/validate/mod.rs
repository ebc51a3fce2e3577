//! What a scenario must mean, beyond its form: all mistakes at once, each with its path.
//!
//! | file | rules |
//! |---|---|
//! | [`codes`] | the code of each mistake and what it means |
//! | `sizes` | numbers, times and totals within their limits |
//! | `names` | which names may be given, and that no two mean different things |
//! | `references` | every name that is used is defined |
//! | `pipelines` | what a processor, its input and its output must be to each other |
//! | `promises` | what is checked and expected can be checked |
//! | `faults` | listed faults and delays name nodes, and come in time |
//!
//! A scenario built in Rust has no text: its mistakes have paths only. [`read`](fn@super::read) adds
//! the places.

pub mod codes;
mod faults;
mod names;
mod pipelines;
mod promises;
mod references;
mod sizes;
#[cfg(test)]
mod tests;

use super::mistake::{Mistake, Part, Path, at};
use super::nearest::nearest;
use super::schema::{Processor, Producer, Scenario, Step, Version};

/// No more mistakes than this are reported at once.
pub const MOST: usize = 50;

/// Everything in a scenario that makes no sense, in the order of the rules; empty if it is sound.
///
/// Sizes come first: where a scenario is too large to be run, nothing else is looked at.
pub fn validate(scenario: &Scenario) -> Vec<Mistake> {
    let mut found = Found(Vec::new());
    if !sizes::check(scenario, &mut found) {
        return found.0;
    }
    names::check(scenario, &mut found);
    references::check(scenario, &mut found);
    pipelines::check(scenario, &mut found);
    promises::check(scenario, &mut found);
    faults::check(scenario, &mut found);
    found.0
}

/// The mistakes so far, at most [`MOST`].
struct Found(Vec<Mistake>);

impl Found {
    fn add(&mut self, mistake: Mistake) {
        if !self.is_full() {
            self.0.push(mistake);
        }
    }

    /// Whether more would be dropped: loops over long lists end then.
    fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }
}

/// The join of a processor: place among the steps, table, version.
fn join(processor: &Processor) -> Option<(usize, &str, Version)> {
    processor.steps.iter().enumerate().find_map(|(at, step)| match step {
        Step::Join { table, with } => Some((at, table.as_str(), *with)),
        _ => None,
    })
}

/// The places of `Count` and `Sum` among the steps of a processor.
fn aggregates(processor: &Processor) -> impl Iterator<Item = usize> {
    let steps = processor.steps.iter().enumerate();
    steps.filter(|(_, step)| matches!(step, Step::Count | Step::Sum)).map(|(at, _)| at)
}

/// A name that nothing has: "did you mean", and where that is defined.
///
/// `what` is the sort of thing, `role` what the name is used for ("read here"), and `known` the names
/// that it may be, each with the map that defines it.
fn unknown(what: &str, name: &str, path: Path, role: &str, known: &[(&str, &'static str)]) -> Mistake {
    let mistake = Mistake::new(format!("{what} `{name}` is defined nowhere"), path);
    match nearest(name, known.iter().map(|(name, _)| *name)) {
        Some(near) => {
            let map = known.iter().find(|(name, _)| *name == near).map_or("topics", |(_, map)| map);
            mistake.label(format!("{role}; did you mean `{near}`?")).related(
                at![map, near],
                Part::Name,
                format!("`{near}` is defined here"),
            )
        }
        None => mistake.label(role).help(list(what, known)),
    }
}

fn list(what: &str, known: &[(&str, &str)]) -> String {
    const SHOWN: usize = 10;
    let names: Vec<_> = known.iter().take(SHOWN).map(|(name, _)| format!("`{name}`")).collect();
    match known.len() {
        0 => format!("no {what} is defined"),
        1..=SHOWN => format!("there is {}", names.join(", ")),
        more => format!("there is {} and {} more", names.join(", "), more - SHOWN),
    }
}

fn known<'a, V>(
    map: &'a super::map::Map<V>,
    name: &'static str,
) -> impl Iterator<Item = (&'a str, &'static str)> {
    map.names().map(move |key| (key, name))
}

/// The nodes of a scenario by name.
struct Nodes<'a>(&'a Scenario);

impl<'a> Nodes<'a> {
    /// What has instances, each a node `name-N`: name, how many, and where it is defined.
    fn groups(&self) -> impl Iterator<Item = (&'a str, u32, Path)> {
        let broker = ("broker", self.0.brokers.count, at!["brokers"]);
        let producers = self.0.producers.iter();
        let producers =
            producers.map(|(name, it): (_, &Producer)| (name.as_str(), it.count, at!["producers", name]));
        let processors = self.0.processors.iter();
        let processors = processors
            .map(|(name, it): (_, &Processor)| (name.as_str(), it.instances, at!["processors", name]));
        std::iter::once(broker).chain(producers).chain(processors)
    }

    /// The group that a node belongs to, such as `shop` for `shop-0`, if it exists.
    fn group_of(&self, node: &str) -> Option<(&'a str, u32, Path)> {
        let (name, number) = node.rsplit_once('-')?;
        let index: u32 = number.parse().ok()?;
        // `shop-00` and `shop-+1` are no names.
        let plain = index.to_string() == number;
        self.groups().find(|(group, count, _)| *group == name && plain && index < *count)
    }

    fn contains(&self, node: &str) -> bool {
        self.0.sinks.get(node).is_some() || self.group_of(node).is_some()
    }

    /// The names of all nodes.
    fn names(&self) -> Vec<String> {
        let groups =
            self.groups().flat_map(|(name, count, _)| (0..count).map(move |i| format!("{name}-{i}")));
        groups.chain(self.0.sinks.names().map(str::to_owned)).collect()
    }

    /// A node that does not exist.
    fn unknown(&self, node: &str, path: Path) -> Mistake {
        let mistake = Mistake::new(format!("node `{node}` does not exist"), path).code("unknown-node");
        if let Some((name, count, place)) = self.groups().find(|(name, _, _)| *name == node) {
            let nodes = if count == 1 {
                format!("`{name}-0`")
            } else {
                format!("`{name}-0` to `{name}-{}`", count - 1)
            };
            return mistake.label(format!("the nodes of `{name}` are {nodes}")).related(
                place,
                Part::Name,
                "defined here",
            );
        }
        let wanted = node.rsplit_once('-').map_or(node, |(name, _)| name);
        if let Some((name, count, place)) = self.groups().find(|(name, _, _)| *name == wanted) {
            return mistake
                .label(format!("`{name}` has {count}, the last one is `{name}-{}`", count.saturating_sub(1)))
                .related(place, Part::Name, "defined here");
        }
        let names = self.names();
        match nearest(node, names.iter().map(String::as_str)) {
            Some(near) => mistake.label(format!("did you mean `{near}`?")),
            None => mistake
                .label("not a node")
                .help("nodes are `broker-0`, `<producer>-0`, `<processor>-0`, `<sink>`"),
        }
    }
}
