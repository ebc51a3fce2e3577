//! Made-up runs and campaigns.

use std::collections::BTreeMap;
use std::time::Duration;

use millpond_model::outcome::{Outcome, Plan, Verdict, Violation, Witness};
use millpond_model::scenario::read;
use millpond_model::scenario::schema::{Invariant, Item, Scenario};
use millpond_reports::event::Finished;
use millpond_reports::failure::{Cause, Failure, id};
use millpond_reports::judge::Judgement;
use millpond_sim::fault::{Fault, What, When};
use millpond_sim::search::campaign::Totals;
use millpond_sim::time::{Instant, Span};
use millpond_sim::trace::EventId;

pub(crate) fn scenario(more: &str) -> Scenario {
    let text = format!(
        "Scenario(about: \"Totals\", topics: {{\"orders\": (partitions: 4)}},
         producers: {{\"shop\": (topic: \"orders\", records: 10)}},
         processors: {{\"totals\": (from: [\"orders\"], to: \"ledger\")}},
         sinks: {{\"ledger\": (write: Increment)}},
         check: [OffsetIdempotency, PartitionOrder], {more})"
    );
    read(&text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

pub(crate) fn verdict(invariant: Invariant, sentences: &[&str]) -> Verdict {
    let witness = |node: &str, at, what: &str| Witness {
        time: Instant::from_nanos(at),
        node: node.to_owned(),
        event: EventId::GENESIS,
        what: what.to_owned(),
    };
    let violation = |sentence: &&str| Violation {
        sentence: (*sentence).to_owned(),
        witnesses: vec![
            witness("totals-0", 4_210_000_000, "sends Commit(orders/1 = 32)"),
            witness("sink", 16_260_499_999, "reads c7 = 310"),
        ],
        diff: None,
        about: Vec::new(),
    };
    let violations: Vec<_> = sentences.iter().map(violation).collect();
    Verdict { invariant, comparisons: 12, count: violations.len() as u64, violations }
}

pub(crate) fn outcome(verdicts: Vec<Verdict>) -> Outcome {
    Outcome {
        fingerprint: 0x5b0e_77c1_d2a9_4f08,
        events: 1_289,
        time: Instant::from_nanos(17_000_000_000),
        verdicts,
        probes: vec![("write repeated", 2)],
        faults: plan().faults.iter().map(|fault| fault.what.kind()).zip([true, false]).collect(),
        nodes: vec!["broker-0".into(), "totals-0".into()],
        trace: None,
        orders: Vec::new(),
    }
}

pub(crate) fn plan() -> Plan {
    let fault = |at, what| Fault { when: When::At(Instant::from_nanos(at)), what };
    Plan {
        schedule: Vec::new(),
        workload: vec![Item("shop-0".into(), Instant::from_nanos(1_000_000), 7, 30)],
        faults: vec![
            fault(
                4_200_000_000,
                What::Crash { nodes: vec!["broker-0".into()], down: Span::from_millis(1_300) },
            ),
            fault(5_000_000_000, What::Pause { nodes: vec!["totals-0".into()], lasts: Span::from_secs(12) }),
        ],
    }
}

pub(crate) fn failure(cause: Cause, outcome: Outcome) -> Failure {
    Failure {
        scenario: "totals".into(),
        seed: 417,
        schedule: 417,
        id: id("totals", &cause.name(), &plan()),
        plan: plan(),
        drawn: true,
        outcome,
        cause,
        explanation: None,
        expected: false,
        file: Some("failures/totals-9f3c2a71.ron".into()),
        replay: "millpond replay millpond.out/failures/totals-9f3c2a71.ron".into(),
        keep: Some("cp millpond.out/failures/totals-9f3c2a71.ron scenarios/known/".into()),
    }
}

pub(crate) fn finished(scenario: &str, judgement: Judgement, runs: u64) -> Finished {
    let failed = u64::from(matches!(judgement, Judgement::Found | Judgement::Known | Judgement::Fail));
    Finished {
        scenario: scenario.into(),
        digest: 7,
        judgement,
        missing: Vec::new(),
        start: 0,
        totals: Totals { runs, failed, events: runs * 4_500, sum: runs, ..Totals::default() },
        compared: BTreeMap::from([(Invariant::OffsetIdempotency, 40)]),
        reach: Vec::new(),
        expects: None,
        first: (failed > 0).then(|| (runs - 1, "OffsetIdempotency".to_owned())),
        stopped_by: None,
        searched: String::new(),
        elapsed: Duration::from_millis(2_140),
    }
}
