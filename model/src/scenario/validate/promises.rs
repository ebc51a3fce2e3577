//! What is checked can be checked, and what is expected is checked.

use super::{Found, aggregates, join};
use crate::scenario::mistake::{Mistake, Part, at};
use crate::scenario::schema::{
    Acks, Check, Cleanup, Expect, Invariant, Processor, RouteBy, Scenario, Step, Version, Write,
};

pub(super) fn check(scenario: &Scenario, found: &mut Found) {
    if scenario.check.is_empty() {
        found.add(
            Mistake::new("the scenario checks nothing", at!["check"])
                .code("nothing-to-check")
                .label("name at least one invariant")
                .help("`millpond explain check` lists them"),
        );
    }
    for (at, check) in scenario.check.iter().enumerate() {
        let name = invariant(*check);
        let first = scenario.check.iter().position(|other| invariant(*other) == name);
        if let Some(first) = first.filter(|first| *first < at) {
            found.add(
                Mistake::new(format!("{name:?} is listed twice"), at!["check", at])
                    .code("listed-twice")
                    .label("again here")
                    .related(at!["check", first], Part::Value, "first here"),
            );
        } else if let Some(why) = nothing_to_check(scenario, *check) {
            found.add(
                Mistake::new(format!("{name:?} has nothing to check"), at!["check", at])
                    .code("nothing-to-check")
                    .label(why),
            );
        } else if *check == Check::ExactlyOnceOutput {
            exactly_once(scenario, at, found);
        }
    }
    expect(scenario, found);
}

/// The name of what a check checks.
fn invariant(check: Check) -> Invariant {
    match check {
        Check::ExactlyOnceOutput => Invariant::ExactlyOnceOutput,
        Check::OffsetIdempotency => Invariant::OffsetIdempotency,
        Check::PartitionOrder => Invariant::PartitionOrder,
        Check::JoinDeterminism => Invariant::JoinDeterminism,
        Check::NoAcknowledgedLoss => Invariant::NoAcknowledgedLoss,
        Check::ReadYourWrites => Invariant::ReadYourWrites,
        Check::Liveness { .. } => Invariant::Liveness,
    }
}

fn nothing_to_check(scenario: &Scenario, check: Check) -> Option<&'static str> {
    let any = |test: &dyn Fn(&Processor) -> bool| scenario.processors.iter().any(|(_, it)| test(it));
    let writes_sink = |it: &Processor| it.to.as_ref().is_some_and(|to| scenario.sinks.get(to).is_some());
    let (holds, why) = match check {
        Check::ExactlyOnceOutput => (any(&|it| it.to.is_some()), "no processor has an output (`to`)"),
        Check::OffsetIdempotency => (any(&writes_sink), "no processor writes to a sink"),
        Check::JoinDeterminism => (any(&|it| join(it).is_some()), "no processor has a `Join`"),
        Check::NoAcknowledgedLoss => (
            scenario.producers.iter().any(|(_, it)| it.acks == Acks::Stored),
            "no producer waits for an acknowledgement (`acks: Stored`)",
        ),
        Check::ReadYourWrites => (
            scenario.producers.iter().any(|(_, it)| it.read_back.is_some()),
            "no producer reads its writes back (`read_back`)",
        ),
        Check::PartitionOrder | Check::Liveness { .. } => (true, ""),
    };
    (!holds).then_some(why)
}

/// Where the right output depends on the order in which inputs are mixed, there is none to compare with.
fn exactly_once(scenario: &Scenario, at: usize, found: &mut Found) {
    for (name, processor) in &scenario.processors {
        let Some(to) = processor.to.as_deref() else { continue };
        let steps = at!["processors", name, "steps"];
        let mistake = Mistake::new(format!("there is no single right output of `{name}`"), at!["check", at])
            .code("no-right-output");
        if let Some((step, _, Version::Latest)) = join(processor) {
            found.add(
                mistake
                    .label("nothing to compare with")
                    .related(steps.then(step), Part::Value, "this join depends on which record comes first")
                    .help("check JoinDeterminism instead, or join `with: Versioned`"),
            );
            continue;
        }
        let table = |topic: &str| {
            processor.steps.iter().any(|step| matches!(step, Step::Join { table, .. } if table == topic))
        };
        let streams = processor.from.iter().filter(|topic| !table(topic)).count();
        let every_row_counts = scenario.sinks.get(to).is_some_and(|sink| sink.write == Write::Append)
            || scenario.topics.get(to).is_some_and(|topic| topic.cleanup == Cleanup::Delete);
        let last_value_counts =
            !every_row_counts && scenario.sinks.get(to).is_none_or(|sink| sink.write == Write::Upsert);
        let drawn =
            processor.steps.iter().position(|step| matches!(step, Step::Route { by: RouteBy::Draw, .. }));
        if let Some(drawn) = drawn.filter(|_| last_value_counts || aggregates(processor).next().is_some()) {
            found.add(
                mistake
                    .label("nothing to compare with")
                    .related(steps.then(drawn), Part::Value, "the key is drawn, so no key has a value of its own")
                    .help("write to a sink that adds or appends, without `Count` or `Sum`; or route `by: Record`"),
            );
            continue;
        }
        if last_value_counts && streams >= 2 && aggregates(processor).next().is_none() {
            found.add(
                mistake
                    .label("nothing to compare with")
                    .related(
                        at!["processors", name, "from"],
                        Part::Value,
                        "which record is the last one depends on how these are mixed",
                    )
                    .related(
                        at!["processors", name, "to"],
                        Part::Value,
                        "and the last value is what counts here",
                    )
                    .help("read one topic, or write to a sink that adds or appends"),
            );
            continue;
        }
        if let (Some(step), true, true) = (aggregates(processor).next(), every_row_counts, streams >= 2) {
            found.add(
                mistake
                    .label("nothing to compare with")
                    .related(steps.then(step), Part::Value, "each result on the way depends on how the inputs are mixed")
                    .related(at!["processors", name, "to"], Part::Value, "and every one of them counts here")
                    .help("write to a sink that keeps the last value (`Upsert`), or a topic with `cleanup: Compact`"),
            );
        }
    }
}

fn expect(scenario: &Scenario, found: &mut Found) {
    let Expect::Violation(expected) = scenario.expect else { return };
    let always = matches!(expected, Invariant::NoPanic | Invariant::Bounds);
    if !always && !scenario.check.iter().any(|check| invariant(*check) == expected) {
        found.add(
            Mistake::new(format!("{expected:?} is expected but not checked"), at!["expect", "Violation"])
                .code("not-checked")
                .label("would never be found")
                .related(at!["check"], Part::Name, "not listed here"),
        );
    }
}
