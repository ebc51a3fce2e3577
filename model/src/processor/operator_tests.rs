//! The operator against the reference, and against itself in other orders.

use std::rc::Rc;

use millpond_sim::{Ending, NodeId};
use proptest::prelude::*;

use super::operator::{Draw, Operator, TaskState};
use crate::catalog::Catalog;
use crate::evidence::Evidence;
use crate::record::{Key, Kind, Offset, PartitionId, Position, Record, RecordId};
use crate::reference::{self, Expected};
use crate::scenario::schema::{RouteBy, Scenario, Step, Version};
use crate::sink::Output;

struct NoDraw;

impl Draw for NoDraw {
    fn below(&mut self, _bound: u64) -> u64 {
        0
    }
}

fn record(number: u32, key: u16, value: i64, time: i64) -> Record {
    let id = RecordId { sender: NodeId::of_number(1), life: 0, number };
    Record { id, key: Key::new(key), value, time, kind: Kind::Data }
}

/// Orders and rates, the rates in the order of their times and closed by a watermark.
fn logs() -> impl Strategy<Value = (Vec<Record>, Vec<Record>)> {
    let items = || prop::collection::vec((0u16..4, -20i64..20, 0i64..60), 0..40);
    (items(), items()).prop_map(|(orders, mut rates)| {
        rates.sort_by_key(|(.., time)| *time);
        let make = |items: Vec<(u16, i64, i64)>| -> Vec<Record> {
            items.into_iter().zip(0..).map(|((key, value, time), n)| record(n, key, value, time)).collect()
        };
        let mut rates = make(rates);
        rates.push(Record { kind: Kind::Watermark, ..record(99, 0, 0, i64::MAX) });
        (make(orders), rates)
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (-3i64..4, -5i64..6).prop_map(|(times, plus)| Step::Map { times, plus }),
        (-20i64..5, 0i64..20)
            .prop_map(|(low, high)| Step::Filter { at_least: Some(low), at_most: Some(high) }),
        Just(Step::Route { ways: 3, by: RouteBy::Record }),
        Just(Step::Count),
        Just(Step::Sum),
    ];
    // As in a scenario: at most one step that keeps totals.
    let totals =
        |steps: &Vec<Step>| steps.iter().filter(|step| matches!(step, Step::Count | Step::Sum)).count() < 2;
    prop::collection::vec(step, 0..4).prop_filter("one total at most", totals)
}

fn scenario(topics: &str, from: &str) -> Scenario {
    let text = format!(
        r#"Scenario(about: "t", topics: {{{topics}}}, processors: {{"p": (from: [{from}])}}, check: [PartitionOrder])"#
    );
    crate::scenario::read(&text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

/// What the reference makes of the logs; the topics are in the order of their names.
fn expected(logs: &[&[Record]], from: &str, table: Option<usize>, steps: &[Step]) -> Vec<Output> {
    let scenario = scenario(r#""a": (), "b": ()"#, from);
    let mut catalog = Catalog::new(&scenario);
    catalog.groups[0].table = table;
    let evidence = Evidence {
        scenario: &scenario,
        catalog: &catalog,
        history: &[],
        ending: &Ending::Finished,
        down: &[],
        logs: (0..2).map(|at| Some(logs.get(at).map_or(Rc::from([]), |log| Rc::from(*log)))).collect(),
        sinks: Vec::new(),
        settled: true,
    };
    let rows = reference::outputs(&evidence, &catalog.groups[0], steps).unwrap_or_default();
    rows.into_iter().map(|Expected { from, key, value }| Output { key, value, from }).collect()
}

/// What the operator makes of the logs, read in the order of `turns`, and then whatever is left.
fn computed(operator: &Operator, logs: &[&[Record]], turns: &[usize]) -> Vec<Output> {
    let mut state = TaskState::default();
    let mut read = vec![0usize; logs.len()];
    let mut outputs = Vec::new();
    let rest = (0..logs.len()).flat_map(|input| std::iter::repeat_n(input, logs[input].len()));
    for input in turns.iter().copied().chain(rest) {
        let Some(record) = logs[input].get(read[input]) else { continue };
        let at = Position { partition: PartitionId(input as u16), offset: Offset(read[input] as u64) };
        operator.apply(&mut state, input, at, record, &mut NoDraw, &mut outputs);
        read[input] += 1;
    }
    outputs
}

proptest! {
    #[test]
    fn steps_over_one_log_give_what_the_reference_gives((orders, _) in logs(), steps in steps()) {
        let operator = Operator::new(&steps, None);
        prop_assert_eq!(computed(&operator, &[&orders], &[]), expected(&[&orders], r#""a""#, None, &steps));
    }

    #[test]
    fn a_versioned_join_gives_what_the_reference_gives_in_any_order(
        (orders, rates) in logs(),
        turns in prop::collection::vec(0usize..2, 0..80),
    ) {
        let steps = [Step::Join { table: "b".to_owned(), with: Version::Versioned }];
        let operator = Operator::new(&steps, Some(1));
        let logs: [&[Record]; 2] = [&orders, &rates];
        prop_assert_eq!(
            computed(&operator, &logs, &turns),
            expected(&logs, r#""a", "b""#, Some(1), &steps)
        );
    }

    #[test]
    fn reading_on_from_a_copy_of_the_state_gives_the_same((orders, _) in logs(), steps in steps(), cut in 0usize..40) {
        let operator = Operator::new(&steps, None);
        let whole = computed(&operator, &[&orders], &[]);
        let cut = cut.min(orders.len());
        let mut state = TaskState::default();
        let mut outputs = Vec::new();
        let at = |offset: usize| Position { partition: PartitionId(0), offset: Offset(offset as u64) };
        for (offset, record) in orders[..cut].iter().enumerate() {
            operator.apply(&mut state, 0, at(offset), record, &mut NoDraw, &mut outputs);
        }
        let mut state = state.clone();
        for (offset, record) in orders.iter().enumerate().skip(cut) {
            operator.apply(&mut state, 0, at(offset), record, &mut NoDraw, &mut outputs);
        }
        prop_assert_eq!(outputs, whole);
    }
}
