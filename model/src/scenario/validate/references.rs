//! Every name that is used is defined: topics, sinks, tables, nodes, probes, claims, bugs.

use std::collections::BTreeSet;

use super::{Found, Nodes, join, known, unknown};
use crate::scenario::mistake::{Mistake, Path, at};
use crate::scenario::nearest::nearest;
use crate::scenario::schema::{Faults, Scenario};
use crate::{bugs, probes};

pub(super) fn check(scenario: &Scenario, found: &mut Found) {
    topics_and_sinks(scenario, found);
    if let Faults::Draw(draw) = &scenario.faults {
        let mut names = vec![("broker", "brokers")];
        names.extend(known(&scenario.producers, "producers"));
        names.extend(known(&scenario.processors, "processors"));
        names.extend(known(&scenario.sinks, "sinks"));
        for (at, name) in draw.among.iter().enumerate() {
            if !names.iter().any(|(known, _)| known == name) {
                let path = at!["faults", "Draw", "among", at];
                let sort = "producer, processor or sink";
                found.add(unknown(sort, name, path, "named here", &names).code("unknown-name"));
            }
        }
    }
    workload(scenario, found);
    claims_and_probes(scenario, found);
    planted(scenario, found);
}

fn topics_and_sinks(scenario: &Scenario, found: &mut Found) {
    let topics: Vec<_> = known(&scenario.topics, "topics").collect();
    let sinks: Vec<_> = known(&scenario.sinks, "sinks").collect();
    let outputs: Vec<_> = topics.iter().chain(&sinks).copied().collect();
    let topic = |name: &str, path: Path, role: &str, found: &mut Found| {
        if scenario.topics.get(name).is_none() {
            let mut mistake = unknown("topic", name, path, role, &topics).code("unknown-topic");
            if scenario.sinks.get(name).is_some() {
                mistake = mistake
                    .help(format!("`{name}` is a sink: processors write to it, nothing reads from it"));
            }
            found.add(mistake);
        }
    };
    for (name, producer) in &scenario.producers {
        topic(&producer.topic, at!["producers", name, "topic"], "sent to here", found);
        if let Some(read_back) = &producer.read_back
            && scenario.sinks.get(&read_back.sink).is_none()
        {
            let path = at!["producers", name, "read_back", "sink"];
            found.add(unknown("sink", &read_back.sink, path, "read back here", &sinks).code("unknown-sink"));
        }
    }
    for (name, processor) in &scenario.processors {
        for (at, from) in processor.from.iter().enumerate() {
            topic(from, at!["processors", name, "from", at], "read here", found);
        }
        if let Some(to) = &processor.to
            && !outputs.iter().any(|(known, _)| known == to)
        {
            let path = at!["processors", name, "to"];
            found.add(unknown("topic or sink", to, path, "written here", &outputs).code("unknown-output"));
        }
        if let Some((at, table, _)) = join(processor)
            && !processor.from.iter().any(|from| from == table)
        {
            let path = at!["processors", name, "steps", at, "Join", "table"];
            let title = format!("`{name}` does not read the table `{table}`");
            let mistake = Mistake::new(title, path).code("unknown-table");
            found.add(match nearest(table, processor.from.iter().map(String::as_str)) {
                Some(near) => mistake.label(format!("did you mean `{near}`?")),
                None => mistake.label("not one of `from`").related(
                    at!["processors", name, "from"],
                    crate::scenario::mistake::Part::Value,
                    "the table must be one of these",
                ),
            });
        }
    }
}

fn workload(scenario: &Scenario, found: &mut Found) {
    let nodes = Nodes(scenario);
    let producing: BTreeSet<String> = scenario
        .producers
        .iter()
        .flat_map(|(name, producer)| (0..producer.count).map(move |index| format!("{name}-{index}")))
        .collect();
    for (at, item) in scenario.workload.iter().flatten().enumerate() {
        if found.is_full() {
            return;
        }
        let path = at!["workload", at, 0];
        if producing.contains(&item.0) {
        } else if nodes.contains(&item.0) {
            let title = format!("`{}` is no producer", item.0);
            found.add(Mistake::new(title, path).code("unknown-node").label("only producers send records"));
        } else {
            found.add(nodes.unknown(&item.0, path));
        }
    }
}

fn claims_and_probes(scenario: &Scenario, found: &mut Found) {
    for (at, claim) in scenario.claims.iter().enumerate() {
        let digits = claim.strip_prefix('C').unwrap_or_default();
        if digits.len() != 2 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            found.add(
                Mistake::new(format!("`{claim}` is not the name of a claim"), at!["claims", at])
                    .code("bad-claim")
                    .label("claims are named such as `C07`"),
            );
        }
    }
    for (at, probe) in scenario.reach.iter().enumerate() {
        if probes::ALL.iter().all(|known| known.name != probe) {
            let mistake = Mistake::new(format!("probe `{probe}` does not exist"), at!["reach", at])
                .code("unknown-probe");
            found.add(match nearest(probe, probes::ALL.iter().map(|known| known.name)) {
                Some(near) => mistake.label(format!("did you mean `{near}`?")),
                None => mistake.label("not a probe").help("`millpond list` shows all probes"),
            });
        }
    }
}

fn planted(scenario: &Scenario, found: &mut Found) {
    for (at, bug) in scenario.bugs.iter().enumerate() {
        if bugs::ALL.iter().all(|known| known.name != bug) {
            let mistake =
                Mistake::new(format!("bug `{bug}` does not exist"), at!["bugs", at]).code("unknown-bug");
            found.add(match nearest(bug, bugs::ALL.iter().map(|known| known.name)) {
                Some(near) => mistake.label(format!("did you mean `{near}`?")),
                None => mistake.label("not a bug").help("`millpond explain bugs` lists all"),
            });
        }
    }
}
