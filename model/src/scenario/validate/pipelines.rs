//! What a processor, its input and its output must be to each other.

use std::collections::BTreeMap;

use super::{Found, aggregates, join};
use crate::scenario::mistake::{Mistake, Part, Path, at};
use crate::scenario::schema::{Acks, Commit, Processor, ReadWhen, Scenario, Step, Version, Write};

pub(super) fn check(scenario: &Scenario, found: &mut Found) {
    for (name, processor) in &scenario.processors {
        input(scenario, name, processor, found);
        output(scenario, name, processor, found);
        steps(scenario, name, processor, found);
    }
    writers(scenario, found);
    read_back(scenario, found);
}

fn input(scenario: &Scenario, name: &str, processor: &Processor, found: &mut Found) {
    let from = at!["processors", name, "from"];
    let Some(first) = processor.from.first() else {
        found.add(
            Mistake::new(format!("`{name}` reads nothing"), from).code("no-input").label("name a topic"),
        );
        return;
    };
    let partitions = |topic: &str| scenario.topics.get(topic).map(|topic| topic.partitions);
    for (at, topic) in processor.from.iter().enumerate().skip(1) {
        if processor.from[..at].contains(topic) {
            let title = format!("`{name}` reads `{topic}` twice");
            let first = processor.from.iter().position(|other| other == topic).unwrap_or(0);
            found.add(Mistake::new(title, from.then(at)).code("read-twice").label("again here").related(
                from.then(first),
                Part::Value,
                "first here",
            ));
        } else if let (Some(wanted), Some(has)) = (partitions(first), partitions(topic))
            && wanted != has
        {
            found.add(
                Mistake::new(
                    format!("`{name}` reads topics with unlike numbers of partitions"),
                    from.then(at),
                )
                .code("unlike-partitions")
                .label(format!("`{topic}` has {has}"))
                .related(from.then(0), Part::Value, format!("`{first}` has {wanted}"))
                .help("an instance owns the same partitions of every topic that it reads"),
            );
        }
    }
}

fn output(scenario: &Scenario, name: &str, processor: &Processor, found: &mut Found) {
    let to = at!["processors", name, "to"];
    let is_sink = processor.to.as_ref().is_some_and(|to| scenario.sinks.get(to).is_some());
    if let Some(at) = processor.from.iter().position(|from| processor.to.as_ref() == Some(from)) {
        found.add(
            Mistake::new(format!("`{name}` reads what it writes"), to)
                .code("loop")
                .label("written here")
                .related(at!["processors", name, "from", at], Part::Value, "read here"),
        );
    } else if processor.commit == Commit::Together && !is_sink {
        let mistake = Mistake::new(
            format!("`{name}` cannot commit together with its output"),
            at!["processors", name, "commit"],
        )
        .code("together-needs-sink")
        .label("only a sink can write output and offset in one step");
        found.add(match &processor.to {
            Some(topic) => mistake.related(to, Part::Value, format!("`{topic}` is not a sink")),
            None => mistake.help("`to` is left out: it writes nothing"),
        });
    }
}

fn steps(scenario: &Scenario, name: &str, processor: &Processor, found: &mut Found) {
    let steps = at!["processors", name, "steps"];
    let joins = processor.steps.iter().enumerate().filter(|(_, step)| matches!(step, Step::Join { .. }));
    let joins: Vec<_> = joins.map(|(at, _)| at).collect();
    let sums: Vec<_> = aggregates(processor).collect();
    for (places, what, code) in [(joins, "join", "two-joins"), (sums, "`Count` or `Sum`", "two-aggregates")] {
        for at in places.iter().skip(1) {
            found.add(
                Mistake::new(format!("`{name}` has more than one {what}"), steps.then(*at))
                    .code(code)
                    .label("one too many")
                    .related(steps.then(places[0]), Part::Value, "the first")
                    .help("a second processor can do the rest, with a topic between them"),
            );
        }
    }
    let Some((at, table, version)) = join(processor) else { return };
    let place = steps.then(at).then("Join").then("table");
    if processor.from.len() == 1 && processor.from[0] == table {
        found.add(
            Mistake::new(format!("`{name}` joins `{table}` with nothing"), place.clone())
                .code("join-alone")
                .label("this is the only topic that it reads"),
        );
    }
    if version == Version::Versioned && scenario.topics.get(table).is_some() {
        let feeds: Vec<_> = scenario.producers.iter().filter(|(_, it)| it.topic == table).collect();
        let instances: u64 = feeds.iter().map(|(_, it)| u64::from(it.count)).sum();
        let processed = scenario.processors.iter().any(|(_, it)| it.to.as_deref() == Some(table));
        if instances != 1 || processed {
            let mistake = Mistake::new(format!("the table `{table}` has no single source"), place)
                .code("table-source")
                .label("a versioned table is fed by one producer with `count: 1`")
                .help("its event times must rise for a watermark to mean anything");
            found.add(feeds.iter().fold(mistake, |mistake, (feed, _)| {
                mistake.related(at!["producers", *feed], Part::Name, "fed by this")
            }));
        }
    }
}

fn writers(scenario: &Scenario, found: &mut Found) {
    let mut written: BTreeMap<&str, Path> = BTreeMap::new();
    for (name, processor) in &scenario.processors {
        let Some(to) = processor.to.as_deref() else { continue };
        let place = at!["processors", name, "to"];
        match written.get(to) {
            Some(first) => found.add(
                Mistake::new(format!("two processors write to `{to}`"), place)
                    .code("two-writers")
                    .label("written here")
                    .related(first.clone(), Part::Value, "and here"),
            ),
            None => drop(written.insert(to, place)),
        }
    }
    for (name, producer) in &scenario.producers {
        if let Some(first) = written.get(producer.topic.as_str()) {
            let title = format!("`{}` is written by a producer and a processor", producer.topic);
            found.add(
                Mistake::new(title, at!["producers", name, "topic"])
                    .code("two-writers")
                    .label("the producer")
                    .related(first.clone(), Part::Value, "the processor")
                    .help("the output could not be compared with a reference"),
            );
        }
    }
}

fn read_back(scenario: &Scenario, found: &mut Found) {
    for (name, producer) in &scenario.producers {
        let Some(read_back) = &producer.read_back else { continue };
        let Some(sink) = scenario.sinks.get(&read_back.sink) else { continue };
        let place = at!["producers", name, "read_back"];
        if read_back.when == ReadWhen::Processed && sink.write != Write::Guarded {
            found.add(
                Mistake::new(
                    format!("`{}` does not tell how far it has come", read_back.sink),
                    place.then("when"),
                )
                .code("no-progress")
                .label("`Processed` needs the offset that a `Guarded` sink keeps")
                .related(
                    at!["sinks", &read_back.sink, "write"],
                    Part::Value,
                    "not `Guarded`",
                ),
            );
        }
        let feeds = |processor: &Processor| {
            processor.from.contains(&producer.topic) && processor.to.as_ref() == Some(&read_back.sink)
        };
        if !scenario.processors.iter().any(|(_, processor)| feeds(processor)) {
            let title = format!("nothing leads from `{}` to `{}`", producer.topic, read_back.sink);
            found.add(
                Mistake::new(title, place.then("sink"))
                    .code("no-way")
                    .label("no processor reads the topic and writes to this sink")
                    .related(at!["producers", name, "topic"], Part::Value, "the topic"),
            );
        }
        if producer.acks == Acks::None {
            found.add(
                Mistake::new(format!("`{name}` reads back what is never acknowledged"), place)
                    .in_name()
                    .code("never-acknowledged")
                    .label("it looks for records that were acknowledged")
                    .related(at!["producers", name, "acks"], Part::Value, "and waits for nothing"),
            );
        }
    }
}
