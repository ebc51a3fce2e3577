//! What a campaign comes to.

use std::collections::BTreeMap;

use millpond_model::scenario::schema::{Invariant, Scenario};
use millpond_reports::failure::Cause;
use millpond_reports::judge::{Judgement, Tally, expected, is_expected, judge, judge_recorded};
use millpond_sim::fault::Kind;
use millpond_sim::search::campaign::Armed;

use crate::made::{outcome, scenario, verdict};

const OFFSETS: Invariant = Invariant::OffsetIdempotency;
const ORDER: Invariant = Invariant::PartitionOrder;

fn expects_offsets() -> Scenario {
    scenario("reach: [\"write repeated\"], expect: Violation(OffsetIdempotency)")
}

/// A campaign that has seen everything and found nothing.
fn full(runs: u64) -> Tally {
    let mut tally = Tally { compared: BTreeMap::from([(OFFSETS, 9), (ORDER, 9)]), ..Tally::default() };
    tally.totals.runs = runs;
    tally.totals.probes.insert("write repeated", 3);
    tally
}

#[test]
fn a_campaign_that_saw_everything_and_found_nothing_passes() {
    assert_eq!(judge(&scenario("reach: [\"write repeated\"]"), None, &full(1_000)).0, Judgement::Pass);
}

#[test]
fn a_probe_that_was_not_reached_makes_a_pass_empty_where_seeds_were_enough() {
    let scenario = scenario("reach: [\"write repeated\", \"zombie fenced\"]");
    let (judgement, missing) = judge(&scenario, None, &full(100));
    assert_eq!(judgement, Judgement::Empty);
    assert_eq!(missing, ["the probe \"zombie fenced\" was never reached"]);
    assert_eq!(judge(&scenario, None, &full(99)).0, Judgement::Pass);
}

#[test]
fn a_kind_of_fault_that_never_takes_effect_makes_a_pass_empty() {
    let judged = |plans, bitten| {
        let mut tally = full(1_000);
        tally.totals.faults.insert(Kind::Scatter, Armed { plans, armed: 2 * plans, bitten });
        judge(&scenario(""), None, &tally)
    };
    assert_eq!(
        judged(21, 0),
        (Judgement::Empty, vec!["42 Scatter faults in 21 plans never took effect".into()])
    );
    assert_eq!(judged(20, 0).0, Judgement::Pass);
    assert_eq!(judged(900, 1).0, Judgement::Pass);
}

#[test]
fn an_invariant_that_compared_nothing_makes_a_pass_empty() {
    let mut tally = full(3);
    tally.compared.insert(ORDER, 0);
    let (judgement, missing) = judge(&scenario(""), None, &tally);
    assert_eq!((judgement, missing), (Judgement::Empty, vec!["PartitionOrder compared nothing".to_owned()]));
    assert_eq!(judge(&scenario(""), Some(OFFSETS), &tally).0, Judgement::Pass);
}

#[test]
fn what_is_expected_is_found_alone() {
    let expected = expected(&expects_offsets(), None);
    let offsets = verdict(OFFSETS, &["Twice."]);
    let order = verdict(ORDER, &["Out of order."]);
    let alone = outcome(vec![offsets.clone(), verdict(ORDER, &[])]);
    let both = outcome(vec![offsets, order.clone()]);
    assert!(is_expected(&alone, expected, false));
    assert!(!is_expected(&both, expected, false));
    assert!(is_expected(&both, expected, true), "a recorded run may have broken more");
    assert!(!is_expected(&outcome(vec![order]), expected, true));
    assert!(!is_expected(&outcome(Vec::new()), None, false));
    assert_eq!(Cause::of(&both, None, expected), Some(Cause::Broke(ORDER)));
    assert_eq!(Cause::of(&alone, None, expected), Some(Cause::Broke(OFFSETS)));
    assert_eq!(Cause::of(&outcome(Vec::new()), None, expected), None);
}

#[test]
fn a_found_violation_asks_for_nothing_else_and_a_missed_one_says_what_was_missing() {
    let found = Tally { expected: 1, ..Tally::default() };
    assert_eq!(judge(&expects_offsets(), None, &found), (Judgement::Found, Vec::new()));
    let mut missed = full(1_000);
    missed.totals.probes.clear();
    let (judgement, missing) = judge(&expects_offsets(), None, &missed);
    assert_eq!(judgement, Judgement::Missed);
    assert_eq!(missing.len(), 2, "{missing:?}");
}

#[test]
fn what_was_stopped_while_looking_has_not_missed_anything() {
    let stopped = Tally { cut_short: true, ..full(300) };
    let (judgement, missing) = judge(&expects_offsets(), None, &stopped);
    assert_eq!(judgement, Judgement::Empty);
    assert_eq!(missing, ["OffsetIdempotency is expected; it was stopped after 300 seeds without it"]);
    let late = Tally { cut_short: true, ..full(1_000) };
    assert_eq!(judge(&expects_offsets(), None, &late).0, Judgement::Missed);
    assert_eq!(judge(&scenario(""), None, &stopped).0, Judgement::Pass);
}

#[test]
fn what_is_worse_counts() {
    let all = Tally { expected: 5, unexpected: 1, unsteady: 1, ..full(1_000) };
    assert_eq!(judge(&expects_offsets(), None, &all).0, Judgement::Unsteady);
    assert_eq!(judge(&expects_offsets(), None, &Tally { unsteady: 0, ..all }).0, Judgement::Fail);
    assert_eq!(judge(&scenario(""), None, &Tally::default()).0, Judgement::Empty);
}

#[test]
fn a_recorded_failure_is_known_fixed_or_back() {
    let known = Tally { expected: 1, ..Tally::default() };
    assert_eq!(judge_recorded(&expects_offsets(), None, &known), Judgement::Known);
    assert_eq!(judge_recorded(&expects_offsets(), None, &Tally::default()), Judgement::Fixed);
    assert_eq!(judge_recorded(&scenario(""), None, &Tally::default()), Judgement::Pass);
    let back = Tally { unexpected: 1, ..Tally::default() };
    assert_eq!(judge_recorded(&scenario(""), None, &back), Judgement::Fail);
}
