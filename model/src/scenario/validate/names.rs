//! Which names may be given: a name means one thing, and so does the name of a node.

use std::collections::BTreeMap;

use super::{Found, Nodes};
use crate::scenario::mistake::{Mistake, Part, Path, at};
use crate::scenario::schema::Scenario;

/// Names that Millpond uses itself.
const RESERVED: [(&str, &str); 2] = [
    ("broker", "the brokers are `broker-0`, `broker-1`, and so on"),
    ("observer", "it reads all at the end"),
];

pub(super) fn check(scenario: &Scenario, found: &mut Found) {
    let mut taken: BTreeMap<&str, Path> = BTreeMap::new();
    let actors = [
        ("producers", scenario.producers.names().collect::<Vec<_>>()),
        ("processors", scenario.processors.names().collect()),
        ("sinks", scenario.sinks.names().collect()),
    ];
    for name in scenario.topics.names().filter(|name| name.trim().is_empty()) {
        found.add(empty(at!["topics", name]));
    }
    for (map, names) in &actors {
        for name in names {
            let place = at![*map, *name];
            if name.trim().is_empty() {
                found.add(empty(place));
            } else if let Some((_, why)) = RESERVED.iter().find(|(reserved, _)| reserved == name) {
                found.add(
                    Mistake::new(format!("the name `{name}` is reserved"), place)
                        .code("reserved-name")
                        .in_name()
                        .label(*why),
                );
            } else if let Some(first) = taken.get(name) {
                found.add(twice(name, place, first.clone()));
            } else {
                taken.insert(name, place);
            }
        }
    }
    for sink in scenario.sinks.names() {
        let place = at!["sinks", sink];
        if scenario.topics.get(sink).is_some() {
            found.add(
                twice(sink, place.clone(), at!["topics", sink])
                    .help("`to` could mean either: give the topic and the sink two names"),
            );
        }
        if let Some((group, _, first)) = Nodes(scenario).group_of(sink) {
            found.add(
                Mistake::new(format!("two nodes would have the name `{sink}`"), place)
                    .code("name-taken")
                    .in_name()
                    .label("this sink")
                    .related(first, Part::Name, format!("and an instance of `{group}`")),
            );
        }
    }
}

fn empty(place: Path) -> Mistake {
    Mistake::new("a name is empty", place).code("empty-name").in_name()
}

fn twice(name: &str, place: Path, first: Path) -> Mistake {
    Mistake::new(format!("the name `{name}` is given twice"), place)
        .code("name-taken")
        .in_name()
        .label("given here")
        .related(first, Part::Name, "and here")
}
