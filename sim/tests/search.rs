//! Shrinking, certificates and strategies, on an experiment whose answer is known: no world is built.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use millpond_sim::digest;
use millpond_sim::fault::{Fault, Kind, What, When};
use millpond_sim::schedule::{Delay, Which};
use millpond_sim::search::certificate::{Share, certify};
use millpond_sim::search::determinism::Repeat;
use millpond_sim::search::guided::Guided;
use millpond_sim::search::shrink::{Budget, Diagnose, Lists, Shrunk, shrink};
use millpond_sim::search::strategy::{Mix, Strategy, Swarm, drive};
use millpond_sim::search::{Experiment, Outcome, Tracing, campaign};
use millpond_sim::time::{Instant, Span};
use millpond_sim::trace::Trace;

/// An item: who does it and its number.
type Item = (String, u64);

#[derive(Clone, Debug, PartialEq)]
struct Plan {
    items: Vec<Item>,
    faults: Vec<Fault>,
    delays: Vec<Delay>,
}

impl Lists for Plan {
    type Item = Item;

    fn items(&self) -> &[Item] {
        &self.items
    }

    fn faults(&self) -> &[Fault] {
        &self.faults
    }

    fn delays(&self) -> &[Delay] {
        &self.delays
    }

    fn of(items: Vec<Item>, faults: Vec<Fault>, delays: Vec<Delay>) -> Self {
        Self { items, faults, delays }
    }

    fn client(item: &Item) -> &str {
        &item.0
    }

    fn about(item: &Item) -> u64 {
        item.1 % 5
    }

    fn due(item: &Item) -> Instant {
        Instant::ZERO + Span::from_millis(item.1)
    }

    fn simpler(_: &Item) -> Vec<Item> {
        Vec::new()
    }
}

/// What breaks: the whole, or something else that shows where only a part is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symptom {
    Whole,
    Other,
}

#[derive(Clone)]
struct Known {
    symptoms: Vec<Symptom>,
    probe: [(&'static str, u64); 1],
    fingerprint: u64,
}

impl Outcome for Known {
    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn failed(&self) -> bool {
        !self.symptoms.is_empty()
    }

    fn events(&self) -> u64 {
        1
    }

    fn probes(&self) -> &[(&'static str, u64)] {
        &self.probe
    }

    fn faults(&self) -> &[(Kind, bool)] {
        &[]
    }

    fn trace(&self) -> Option<&Trace> {
        None
    }
}

/// It fails where the items 17 and 42 meet a crash of `b` of at least 100 ms and a pause of `a`; with
/// `picky`, only in schedules with an even digest once there are few items.
#[derive(Default)]
struct Exam {
    picky: bool,
}

impl Experiment for Exam {
    type Plan = Plan;
    type Outcome = Known;

    fn draw(&self, seed: u64) -> Plan {
        let items = (0..60).map(|number| (format!("client-{}", number % 3), number)).collect();
        let kinds = ["a", "b", "c"].map(str::to_owned);
        let fault = |at: u64, what| Fault { when: When::At(Instant::from_nanos(at)), what };
        let lasts = Span::from_millis(937);
        let mut faults = Vec::new();
        for (nth, node) in (0..).zip(&kinds) {
            let nodes = vec![node.clone()];
            faults.push(fault(10 + nth, What::Crash { nodes: nodes.clone(), down: lasts }));
            faults.push(fault(20 + nth, What::Pause { nodes: nodes.clone(), lasts }));
            faults.push(fault(30 + seed, What::Isolate { nodes, lasts }));
        }
        let delay = Delay { from: "a".into(), to: "b".into(), which: Which::From(1), by: lasts };
        Plan { items, faults, delays: vec![delay] }
    }

    fn run(&self, seed: u64, plan: &Plan, _: Tracing) -> Known {
        let item = |number| plan.items.iter().any(|item| item.1 == number);
        let crash = plan.faults.iter().any(|fault| match &fault.what {
            What::Crash { nodes, down } => nodes == &["b"] && *down >= Span::from_millis(100),
            _ => false,
        });
        let pause =
            plan.faults.iter().any(|fault| fault.what.kind() == Kind::Pause && fault.what.nodes().0 == ["a"]);
        let willing = !self.picky || plan.items.len() > 10 || digest(&[seed]).is_multiple_of(2);
        let mut symptoms = Vec::new();
        if item(17) && item(42) && crash && pause && willing {
            symptoms.push(Symptom::Whole);
        }
        if !item(17) {
            symptoms.push(Symptom::Other);
        }
        let numbers: Vec<u64> =
            plan.items.iter().map(|item| item.1).chain([plan.faults.len() as u64]).collect();
        Known { symptoms, probe: [("seen", 1)], fingerprint: digest(&numbers) }
    }
}

impl Diagnose for Exam {
    type Symptom = Symptom;

    fn symptoms(&self, outcome: &Known) -> Vec<Symptom> {
        outcome.symptoms.clone()
    }
}

fn smallest(exam: &Exam, seed: u64, runs: u64) -> Option<Shrunk<Plan, Symptom>> {
    let budget = Budget { runs, stop: &|| false };
    shrink(exam, seed, &exam.draw(seed), &Symptom::Whole, budget)
}

fn numbers(plan: &Plan) -> Vec<u64> {
    plan.items.iter().map(|item| item.1).collect()
}

#[test]
fn what_is_not_needed_goes_and_numbers_get_small_and_round() {
    let shrunk = smallest(&Exam::default(), 1, 10_000).expect("it fails");
    assert!(shrunk.minimal);
    assert_eq!(numbers(&shrunk.plan), [17, 42]);
    assert_eq!(shrunk.plan.delays, []);
    let whats: Vec<_> = shrunk.plan.faults.iter().map(|fault| fault.what.clone()).collect();
    let (a, b) = (vec!["a".to_owned()], vec!["b".to_owned()]);
    let pause = What::Pause { nodes: a, lasts: Span::from_millis(1) };
    assert_eq!(whats.len(), 2);
    assert!(whats.contains(&pause), "{whats:?}");
    assert!(whats.contains(&What::Crash { nodes: b, down: Span::from_millis(100) }), "{whats:?}");
}

#[test]
fn another_symptom_on_the_way_is_kept_and_not_followed() {
    let shrunk = smallest(&Exam::default(), 1, 10_000).expect("it fails");
    let [(symptom, plan)] = shrunk.slipped.as_slice() else { panic!("one finding") };
    assert_eq!(*symptom, Symptom::Other);
    assert!(!numbers(plan).contains(&17));
}

#[test]
fn the_end_of_the_budget_leaves_a_plan_that_fails() {
    let exam = Exam::default();
    for runs in [1, 5, 20, 60] {
        let shrunk = smallest(&exam, 1, runs).expect("it fails");
        assert!(!shrunk.minimal && shrunk.runs <= runs);
        assert!(exam.run(shrunk.seed, &shrunk.plan, Tracing::Off).symptoms.contains(&Symptom::Whole));
    }
}

#[test]
fn what_does_not_fail_is_not_shrunk() {
    let exam = Exam::default();
    let plan = Plan { items: Vec::new(), ..exam.draw(1) };
    let budget = Budget { runs: 100, stop: &|| false };
    assert!(shrink(&exam, 1, &plan, &Symptom::Whole, budget).is_none());
}

#[test]
fn where_the_schedule_at_hand_has_no_smaller_plan_another_one_may() {
    let exam = Exam { picky: true };
    let unwilling = (0..).find(|seed| !digest(&[*seed]).is_multiple_of(2)).expect("an odd one");
    let shrunk = smallest(&exam, unwilling, 10_000).expect("it fails");
    assert_ne!(shrunk.seed, unwilling);
    assert_eq!(numbers(&shrunk.plan), [17, 42]);
    assert!(exam.run(shrunk.seed, &shrunk.plan, Tracing::Off).symptoms.contains(&Symptom::Whole));
}

#[test]
fn shrinking_again_changes_nothing() {
    let exam = Exam::default();
    let first = smallest(&exam, 1, 10_000).expect("it fails");
    let budget = Budget { runs: 10_000, stop: &|| false };
    let again = shrink(&exam, first.seed, &first.plan, &Symptom::Whole, budget).expect("it fails");
    assert_eq!(again.plan, first.plan);
}

#[test]
fn a_certificate_counts_with_and_without_each_entry_and_for_each_set() {
    let exam = Exam::default();
    let shrunk = smallest(&exam, 1, 10_000).expect("it fails");
    let budget = Budget { runs: 10_000, stop: &|| false };
    let certificate = certify(&exam, shrunk.seed, &shrunk.plan, &Symptom::Whole, 20, budget);
    let (all, none) = (Share { failing: 20, of: 20 }, Share { failing: 0, of: 20 });
    assert_eq!(certificate.whole, all);
    assert_eq!(certificate.without_fault, [none, none]);
    assert_eq!(certificate.without_item, [none, none]);
    assert_eq!(certificate.lattice, [(0b00, none), (0b01, none), (0b10, none), (0b11, all)]);
}

#[test]
fn a_mix_gives_each_strategy_its_share() {
    struct Marked;
    impl Strategy<Exam> for Marked {
        fn case(&self, number: u64) -> millpond_sim::search::strategy::Case<Plan> {
            let plan = Plan { items: Vec::new(), faults: Vec::new(), delays: Vec::new() };
            millpond_sim::search::strategy::Case { seed: number, plan }
        }
    }
    let exam = Exam::default();
    let mix = Mix::new(vec![(3, Box::new(Swarm(&exam))), (1, Box::new(Marked))]);
    let marked: Vec<u64> = (0..12).filter(|number| mix.case(*number).plan.items.is_empty()).collect();
    assert_eq!(marked, [3, 7, 11]);
}

#[test]
fn a_guided_search_is_the_same_at_any_number_of_threads() {
    let exam = Exam::default();
    let sums: BTreeSet<u64> = [1, 2, 5]
        .into_iter()
        .map(|jobs| {
            let mut guided = Guided::new(&exam);
            let jobs = NonZeroUsize::new(jobs).expect("not none");
            let options = campaign::Options { start: 0, count: 500, jobs, stop: &|| false };
            let totals =
                drive(&exam, &mut guided, &options, Repeat::Sample, |_, _| ControlFlow::Continue(()));
            totals.expect("nothing panics").sum
        })
        .collect();
    assert_eq!(sums.len(), 1);
}
