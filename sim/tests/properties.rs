//! What holds for every plan: determinism, keyed draws, the end of all damage.

mod support;

use millpond_sim::fault::{Event, Fault, Trigger, What, When};
use millpond_sim::network::Link;
use millpond_sim::time::{Instant, Odds, Shift, Span};
use millpond_sim::trace::{Happening, Trace};
use millpond_sim::{Ending, NodeId, Record, Settings};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use self::support::*;

const NODES: [&str; 3] = ["a", "b", "c"];
const HEALS: u64 = 150;

fn some_nodes() -> impl Strategy<Value = Vec<String>> {
    subsequence(NODES.to_vec(), 1..=2).prop_map(|nodes| names(&nodes))
}

fn sides() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    select(vec![("a", "b"), ("b", "a"), ("b", "c"), ("c", "a")])
        .prop_map(|(one, two)| (names(&[one]), names(&[two])))
}

fn length() -> impl Strategy<Value = Span> {
    (0u64..60_000_000).prop_map(Span::from_nanos)
}

/// Faults of every kind.
fn what() -> impl Strategy<Value = What> {
    let odds = (1u32..=10).prop_map(|hits| Odds::new(hits, 10).expect("a share"));
    let shift = (-3_000i64..3_000).prop_map(Shift::from_millis);
    prop_oneof![
        (some_nodes(), length()).prop_map(|(nodes, down)| What::Crash { nodes, down }),
        (some_nodes(), 1u32..5, length(), length()).prop_map(|(nodes, times, down, up)| What::CrashLoop {
            nodes,
            times,
            down,
            up
        }),
        (some_nodes(), length()).prop_map(|(nodes, down)| What::LoseDisk { nodes, down }),
        (some_nodes(), length()).prop_map(|(nodes, down)| What::Stop { nodes, down }),
        (some_nodes(), length()).prop_map(|(nodes, lasts)| What::Pause { nodes, lasts }),
        (sides(), length()).prop_map(|((left, right), lasts)| What::Partition { left, right, lasts }),
        (some_nodes(), length()).prop_map(|(nodes, lasts)| What::Isolate { nodes, lasts }),
        (some_nodes(), length(), length()).prop_map(|(nodes, by, lasts)| What::SlowDisk { nodes, by, lasts }),
        (some_nodes(), length()).prop_map(|(nodes, lasts)| What::FullDisk { nodes, lasts }),
        (some_nodes(), length()).prop_map(|(nodes, lasts)| What::FailSync { nodes, lasts }),
        (some_nodes(), length()).prop_map(|(nodes, lasts)| What::TearTail { nodes, lasts }),
        (some_nodes(), length()).prop_map(|(nodes, lasts)| What::Scatter { nodes, lasts }),
        (some_nodes(), 1u32..4).prop_map(|(nodes, entries)| What::Rot { nodes, entries }),
        (some_nodes(), shift, length()).prop_map(|(nodes, by, lasts)| What::Offset { nodes, by, lasts }),
        (some_nodes(), -400_000i32..900_000, length()).prop_map(|(nodes, ppm, lasts)| What::Drift {
            nodes,
            ppm,
            lasts
        }),
        (some_nodes(), (-3_000i64..3_000).prop_map(Shift::from_millis), length(), length()).prop_map(
            |(nodes, by, every, lasts)| What::Jump { nodes, by, every: every + Span::from_millis(1), lasts }
        ),
        (sides(), length(), odds).prop_map(|((from, to), lasts, odds)| What::Lose { from, to, odds, lasts }),
        (sides(), length(), 1u32..4).prop_map(|((from, to), lasts, count)| What::LoseReplies {
            from,
            to,
            count,
            lasts
        }),
        link_fault(sides()),
    ]
}

/// Faults that delay, double or cut what passes over a link.
fn link_fault(sides: impl Strategy<Value = (Vec<String>, Vec<String>)>) -> impl Strategy<Value = What> {
    (sides, length(), length(), 0u8..5, 1u32..=10).prop_map(
        |((from, to), lasts, by, kind, hits)| match kind {
            0 => What::Cut { from, to, lasts },
            1 => What::Slow { from, to, by, lasts },
            2 => What::Duplicate { from, to, odds: Odds::new(hits, 10).expect("a share"), lasts },
            3 => What::Reorder { from, to, spread: by, lasts },
            _ => What::Hold { from, to, lasts },
        },
    )
}

fn when() -> impl Strategy<Value = When> {
    let event = select(vec![
        Event::Sends("Tick".into()),
        Event::Receives("Tick".into()),
        Event::Sends("Reply".into()),
        Event::Receives("Reply".into()),
    ]);
    let trigger = (select(NODES.to_vec()), event, 1u32..80).prop_map(|(node, event, nth)| Trigger {
        node: node.into(),
        event,
        nth,
    });
    prop_oneof![
        (1u64..HEALS * 1_000_000).prop_map(|time| When::At(Instant::from_nanos(time))),
        trigger.clone().prop_map(When::Before),
        trigger.prop_map(When::After),
    ]
}

fn plan() -> impl Strategy<Value = Vec<Fault>> {
    vec((when(), what()).prop_map(|(when, what)| Fault { when, what }), 0..6)
}

/// A busy world: `a` ticks `b`, which keeps what it is told on disk and replies; `c` ticks `a`.
fn busy(seed: u64, trace: bool, faults: &[Fault]) -> Record<Said> {
    let link = Link { latency: ms(1), jitter: ms(4), ..Link::default() };
    let settings = Settings { link, sync: (ms(1), ms(3)), trace, ..settings(seed) };
    let world = world(settings, vec![ticker(B), keeper(), ticker(A)]);
    world.run(faults, at_ms(HEALS), at_ms(400)).expect("the plan fits the world")
}

fn trace(record: &Record<Said>) -> &Trace {
    record.trace.as_ref().expect("it was asked for")
}

/// When the messages of one direction of a link arrive.
fn arrivals(record: &Record<Said>, sender: NodeId, receiver: NodeId) -> Vec<(Instant, String)> {
    let lines = trace(record).lines.iter();
    lines
        .filter(|line| line.happening == (Happening::Deliver { from: sender }) && line.node == Some(receiver))
        .map(|line| (line.time, line.told.words.clone()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_same_seed_and_plan_give_the_same_run_traced_or_not(seed: u64, plan in plan()) {
        let (one, two, bare) = (busy(seed, true, &plan), busy(seed, true, &plan), busy(seed, false, &plan));
        prop_assert_eq!(one.fingerprint, two.fingerprint);
        prop_assert_eq!(trace(&one).first_difference(trace(&two)), None);
        prop_assert_eq!(one.fingerprint, bare.fingerprint);
    }

    #[test]
    fn one_more_fault_near_the_end_leaves_everything_before_it(seed: u64, plan in plan(), what in what(), at in 60u64..HEALS) {
        let late = Fault { when: When::At(at_ms(at)), what };
        let more: Vec<Fault> = plan.iter().cloned().chain([late]).collect();
        let (one, two) = (busy(seed, true, &plan), busy(seed, true, &more));
        let before = |record: &Record<Said>| -> Vec<_> {
            trace(record).lines.iter().filter(|line| line.time < at_ms(at)).cloned().collect()
        };
        prop_assert_eq!(before(&one), before(&two));
    }

    #[test]
    fn a_fault_on_one_link_leaves_all_other_links_as_they_were(
        seed: u64,
        time in 1u64..HEALS,
        what in link_fault(Just((names(&["a"]), names(&["b"])))),
    ) {
        // Timers drive it all: what is sent does not depend on what has arrived.
        let run = |faults: &[Fault]| {
            let link = Link { latency: ms(1), jitter: ms(4), ..Link::default() };
            let world = world(Settings { link, ..settings(seed) }, vec![ticker(B), ticker(A), ticker(A)]);
            world.run(faults, at_ms(HEALS), at_ms(400)).expect("the plan fits the world")
        };
        let (calm, hit) = (run(&[]), run(&[at(time, what)]));
        let c = NodeId::of_number(2);
        prop_assert_eq!(arrivals(&calm, B, A), arrivals(&hit, B, A));
        prop_assert_eq!(arrivals(&calm, c, A), arrivals(&hit, c, A));
    }

    #[test]
    fn all_damage_ends_and_no_plan_breaks_the_kernel(seed: u64, plan in plan()) {
        let record = busy(seed, true, &plan);
        prop_assert!(!matches!(record.ending, Ending::Panicked { .. } | Ending::Exceeded(_)), "{:?}", record.ending);
        prop_assert_eq!(record.down, Vec::new());
        prop_assert_eq!(record.faults.len(), plan.len());
    }

    #[test]
    fn a_link_in_fifo_order_never_reorders_without_the_fault_for_it(seed: u64, plan in plan()) {
        let plan: Vec<Fault> = plan.into_iter().filter(|fault| !matches!(fault.what, What::Reorder { .. })).collect();
        let record = busy(seed, true, &plan);
        let sent: Vec<_> = trace(&record)
            .lines
            .iter()
            .filter_map(|line| match line.happening {
                Happening::Send { to, arrives: Some(id) } if line.node == Some(A) && to == B => Some(id),
                _ => None,
            })
            .collect();
        let place = |id| sent.iter().position(|known| *known == id);
        let order: Vec<_> = trace(&record)
            .lines
            .iter()
            .filter(|line| line.happening == (Happening::Deliver { from: A }) && line.node == Some(B))
            .filter_map(|line| place(line.id))
            .collect();
        prop_assert!(order.is_sorted(), "{order:?}");
    }

    #[test]
    fn a_plan_reads_back_as_it_was_written(plan in plan()) {
        let text = ron::to_string(&plan).expect("it can be written");
        let read: Vec<Fault> = ron::from_str(&text).expect("it can be read");
        prop_assert_eq!(read, plan);
    }
}
