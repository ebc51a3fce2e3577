//! Scenarios of every shape, sound or not, and pieces of text.

use millpond_sim::fault::{Event, Fault, Trigger, What, When};
use millpond_sim::schedule::{Delay, Which};
use millpond_sim::time::{Instant, Odds, Shift, Span};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::scenario::map::Map;
use crate::scenario::schema::*;

/// A token, or something like one.
pub(super) fn piece() -> impl Strategy<Value = String> {
    let words = vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "=",
        "..",
        "..=",
        "\"",
        "'",
        "#",
        "//",
        "/*",
        "*/",
        "\n",
        " ",
        "\\",
        "\"a\"",
        "\"1s\"",
        "3",
        "-4",
        "4.5",
        "1e3",
        "0..3",
        "about",
        "topics",
        "check",
        "faults",
        "producers",
        "Plan",
        "Draw",
        "Crash",
        "Liveness",
        "None",
        "Some",
        "true",
        "r#\"",
        "\"#",
        "é",
        "\u{feff}",
        "\t",
        "'x'",
        "0x1F",
        "b\"x\"",
        "#![enable(implicit_some)]",
        "\"\\u{d800}\"",
        "count: 3",
        "topics: {\"a\": ()}",
    ];
    prop_oneof![4 => select(words).prop_map(str::to_owned), 1 => "\\PC{0,3}"]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(vec!["orders", "totals", "shop", "ledger", "a-0", "broker"]).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ]
}

fn names() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(name(), 0..3)
}

fn span() -> impl Strategy<Value = Span> {
    let round = prop_oneof![Just(1), Just(1_000_000), Just(1_000_000_000)];
    prop_oneof![
        (0..5_000_u64, round).prop_map(|(count, unit)| Span::from_nanos(count * unit)),
        (0..=Span::MAX.as_nanos()).prop_map(Span::from_nanos),
    ]
}

fn instant() -> impl Strategy<Value = Instant> {
    span().prop_map(|span| Instant::ZERO + span)
}

fn odds() -> impl Strategy<Value = Odds> {
    (0..5_u32, 5..1000_u32).prop_map(|(hits, of)| Odds::new(hits, of).unwrap_or(Odds::NEVER))
}

fn spread() -> impl Strategy<Value = Spread> {
    prop_oneof![span().prop_map(Spread::Fixed), (span(), span()).prop_map(|(a, b)| Spread::Uniform(a, b))]
}

fn range() -> impl Strategy<Value = std::ops::Range<u32>> {
    prop_oneof![3 => Just(0..0), 1 => (0..10_u32, 0..200_u32).prop_map(|(start, end)| start..end)]
}

fn map<V: std::fmt::Debug>(value: impl Strategy<Value = V>) -> impl Strategy<Value = Map<V>> {
    prop::collection::vec((name(), value), 0..3).prop_map(|items| items.into_iter().collect())
}

fn topic() -> impl Strategy<Value = Topic> {
    let cleanup = select(vec![Cleanup::Delete, Cleanup::Compact]);
    (1..70_u32, cleanup).prop_map(|(partitions, cleanup)| Topic { partitions, cleanup })
}

fn producer() -> impl Strategy<Value = Producer> {
    let when = select(vec![ReadWhen::Acknowledged, ReadWhen::Processed]);
    let read_back = option::of((name(), when).prop_map(|(sink, when)| ReadBack { sink, when }));
    let keys =
        (1..99_u32, any::<bool>()).prop_map(|(n, zipf)| if zipf { Keys::Zipf(n) } else { Keys::Uniform(n) });
    let numbers = (1..20_u32, any::<u32>(), 0..2_000_u32, 1..20_u32);
    let values = (any::<i64>(), any::<i64>()).prop_map(|(start, end)| start..end);
    let acks = select(vec![Acks::None, Acks::Stored]);
    (numbers, name(), acks, keys, values, spread(), span(), read_back).prop_map(
        |((count, records, retries, in_flight), topic, acks, keys, values, every, timeout, read_back)| {
            Producer {
                count,
                topic,
                acks,
                records,
                keys,
                values,
                every,
                timeout,
                retries,
                in_flight,
                read_back,
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (any::<i64>(), -1..2_i64).prop_map(|(times, plus)| Step::Map { times, plus }),
        Just(Step::Map { times: 1, plus: 0 }),
        (option::of(any::<i64>()), option::of(any::<i64>()))
            .prop_map(|(at_least, at_most)| Step::Filter { at_least, at_most }),
        (any::<u32>(), select(vec![RouteBy::Record, RouteBy::Draw]))
            .prop_map(|(ways, by)| Step::Route { ways, by }),
        Just(Step::Count),
        Just(Step::Sum),
        (name(), select(vec![Version::Latest, Version::Versioned]))
            .prop_map(|(table, with)| Step::Join { table, with }),
    ]
}

fn processor() -> impl Strategy<Value = Processor> {
    let commit = select(vec![Commit::Before, Commit::After, Commit::Together]);
    let state = prop_oneof![
        Just(State::Rebuild),
        Just(State::Memory),
        (any::<u32>(), any::<bool>()).prop_map(|(every, with_offset)| State::Snapshot { every, with_offset }),
    ];
    let reset = select(vec![Reset::Earliest, Reset::Latest]);
    let steps = prop::collection::vec(step(), 0..4);
    let times = (span(), span(), span());
    (1..20_u32, names(), option::of(name()), steps, commit, state, reset, 1..20_u32, times).prop_map(
        |(instances, from, to, steps, commit, state, reset, batch, (session, heartbeat, timeout))| {
            Processor { instances, from, to, steps, commit, state, reset, batch, session, heartbeat, timeout }
        },
    )
}

fn sink() -> impl Strategy<Value = Sink> {
    let write = select(vec![Write::Append, Write::Upsert, Write::Increment, Write::Guarded]);
    (write, any::<bool>()).prop_map(|(write, fence)| Sink { write, fence })
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        (names(), span()).prop_map(|(nodes, down)| What::Crash { nodes, down }),
        (names(), any::<u32>(), span(), span()).prop_map(|(nodes, times, down, up)| What::CrashLoop {
            nodes,
            times,
            down,
            up
        }),
        (names(), names(), span()).prop_map(|(left, right, lasts)| What::Partition { left, right, lasts }),
        (names(), names(), odds(), span()).prop_map(|(from, to, odds, lasts)| What::Lose {
            from,
            to,
            odds,
            lasts
        }),
        (names(), names(), any::<u32>(), span()).prop_map(|(from, to, count, lasts)| What::LoseReplies {
            from,
            to,
            count,
            lasts
        }),
        (names(), any::<u32>()).prop_map(|(nodes, entries)| What::Rot { nodes, entries }),
        (names(), any::<i32>(), span()).prop_map(|(nodes, ppm, lasts)| What::Drift { nodes, ppm, lasts }),
        (names(), -9_999_999_i64..9_999_999, span(), span()).prop_map(|(nodes, by, every, lasts)| {
            What::Jump { nodes, by: Shift::from_nanos(by), every, lasts }
        }),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let event = prop_oneof![
        name().prop_map(Event::Sends),
        name().prop_map(Event::Receives),
        name().prop_map(Event::Reaches),
    ];
    let trigger = (name(), event, 0..4_u32).prop_map(|(node, event, nth)| Trigger { node, event, nth });
    let when = prop_oneof![
        instant().prop_map(When::At),
        (trigger, any::<bool>()).prop_map(|(it, before)| if before {
            When::Before(it)
        } else {
            When::After(it)
        }),
    ];
    (when, what()).prop_map(|(when, what)| Fault { when, what })
}

fn faults() -> impl Strategy<Value = Faults> {
    let draw = (names(), spread(), [range(), range(), range()], span()).prop_map(
        |(among, down, [crashes, rots, clock_jumps], clock_skew)| Draw {
            among,
            down,
            crashes,
            rots,
            clock_jumps,
            clock_skew,
            ..Draw::default()
        },
    );
    prop_oneof![
        Just(Faults::None),
        draw.prop_map(|draw| Faults::Draw(Box::new(draw))),
        prop::collection::vec(fault(), 0..4).prop_map(Faults::Plan),
    ]
}

fn checks() -> impl Strategy<Value = Vec<Check>> {
    let check = prop_oneof![
        select(vec![
            Check::ExactlyOnceOutput,
            Check::OffsetIdempotency,
            Check::PartitionOrder,
            Check::ReadYourWrites
        ]),
        span().prop_map(|within| Check::Liveness { within }),
    ];
    prop::collection::vec(check, 0..4)
}

fn world() -> impl Strategy<Value = (Brokers, Network, DiskTiming, Phases, Budget)> {
    let flush = select(vec![Flush::BeforeAck, Flush::AfterAck]);
    let brokers =
        (1..5_u32, flush, span()).prop_map(|(count, flush, rebalance)| Brokers { count, flush, rebalance });
    let order = select(vec![Order::Fifo, Order::Free]);
    let network = (spread(), odds(), odds(), order).prop_map(|(latency, loss, duplicates, order)| Network {
        latency,
        loss,
        duplicates,
        order,
    });
    let disk = spread().prop_map(|sync| DiskTiming { sync });
    let phases = (span(), span()).prop_map(|(warm_up, faults)| Phases { warm_up, faults });
    let budget =
        (any::<u64>(), any::<u64>()).prop_map(|(events, queued_bytes)| Budget { events, queued_bytes });
    (brokers, network, disk, phases, budget)
}

/// Any scenario that the types allow.
pub(super) fn scenario() -> impl Strategy<Value = Scenario> {
    let item = (name(), instant(), any::<u32>(), any::<i64>()).prop_map(|(a, b, c, d)| Item(a, b, c, d));
    let workload = option::of(prop::collection::vec(item, 0..4));
    let expect = prop_oneof![Just(Expect::Pass), Just(Expect::Violation(Invariant::Liveness))];
    let found =
        option::of((any::<u32>(), any::<u64>(), "[0-9a-f]{16}").prop_map(|(engine, seed, fingerprint)| {
            Found { engine, seed, fingerprint, broke: Invariant::PartitionOrder }
        }));
    let actors = (map(topic()), map(producer()), map(processor()), map(sink()));
    let texts = ("[\\PC\n\t\"\\\\]{0,20}", names(), names(), names(), any::<u64>());
    let which = prop_oneof![(1..9u32).prop_map(Which::Nth), (1..9u32).prop_map(Which::From)];
    let delay = ("[a-z]{1,3}", "[a-z]{1,3}", which, span());
    let schedule =
        prop::collection::vec(delay.prop_map(|(from, to, which, by)| Delay { from, to, which, by }), 0..3);
    let plan = (faults(), workload, schedule);
    (texts, world(), actors, plan, checks(), expect, found).prop_map(
        |(texts, world, actors, (faults, workload, schedule), check, expect, found)| {
            let (about, claims, reach, bugs, seeds) = texts;
            let (brokers, network, disk, phases, budget) = world;
            let (topics, producers, processors, sinks) = actors;
            Scenario {
                about,
                claims,
                seeds,
                brokers,
                network,
                disk,
                topics,
                producers,
                processors,
                sinks,
                bugs,
                phases,
                faults,
                workload,
                schedule,
                check,
                reach,
                expect,
                budget,
                found,
            }
        },
    )
}
