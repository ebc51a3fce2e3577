//! Drawing the plan of a seed: the records that producers send, and the faults.

use millpond_sim::fault::{Event, Kind};
use millpond_sim::random::{Key as RunKey, Purpose, Stream};
use millpond_sim::search::swarm::{Dish, Menu};
use millpond_sim::time::{Instant, Span};

use crate::catalog::Catalog;
use crate::points;
use crate::scenario::schema::{Draw, Item, Keys, Producer, Scenario, Spread};

/// When producers begin: late enough for groups to have formed in most runs.
const FIRST_RECORD: Span = Span::from_millis(100);

/// The records of a seed, producer by producer, each in the order of time.
pub(crate) fn workload(scenario: &Scenario, catalog: &Catalog, seed: u64) -> Vec<Item> {
    let key = RunKey::new(seed);
    let mut items = Vec::new();
    for (producer, info) in scenario.producers.iter().map(|(_, producer)| producer).zip(&catalog.producers) {
        let keys = KeyDraw::new(producer.keys);
        for node in &info.nodes {
            let mut draw = key.stream(Purpose::Workload, u64::from(node.number()));
            items.extend(records(producer, &keys, &catalog.names[usize::from(node.number())], &mut draw));
        }
    }
    items
}

fn records(producer: &Producer, keys: &KeyDraw, name: &str, draw: &mut Stream) -> Vec<Item> {
    let mut at = Instant::ZERO + FIRST_RECORD;
    let width = producer.values.end.saturating_sub(producer.values.start).max(1).cast_unsigned();
    let record = |_| {
        at += spread(&producer.every, draw);
        let key = keys.draw(draw);
        let value = producer.values.start + draw.below(width).cast_signed();
        // Times that people read: whole microseconds.
        Item(name.to_owned(), Instant::from_nanos(at.as_nanos() / 1_000 * 1_000), key, value)
    };
    (0..producer.records).map(record).collect()
}

/// A span as drawn.
pub(crate) fn spread(spread: &Spread, draw: &mut Stream) -> Span {
    let (low, high) = ends(spread);
    draw.span(low, high)
}

/// The shortest and the longest span of a spread.
pub(crate) fn ends(spread: &Spread) -> (Span, Span) {
    match spread {
        Spread::Fixed(span) => (*span, *span),
        Spread::Uniform(low, high) => (*low, *high),
    }
}

/// Keys by weight, in integers.
enum KeyDraw {
    Uniform(u64),
    /// The sums of the weights up to each key.
    Zipf(Vec<u64>),
}

impl KeyDraw {
    fn new(keys: Keys) -> Self {
        match keys {
            Keys::Uniform(count) => Self::Uniform(u64::from(count)),
            Keys::Zipf(count) => {
                let weights = (1..=u64::from(count)).map(|nth| (1 << 32) / nth);
                Self::Zipf(
                    weights
                        .scan(0, |sum, weight| {
                            *sum += weight;
                            Some(*sum)
                        })
                        .collect(),
                )
            }
        }
    }

    fn draw(&self, draw: &mut Stream) -> u32 {
        match self {
            Self::Uniform(count) => draw.below(*count) as u32,
            Self::Zipf(sums) => {
                let point = draw.below(sums.last().copied().unwrap_or(1));
                sums.partition_point(|sum| *sum <= point) as u32
            }
        }
    }
}

/// What the faults of a scenario are drawn from.
pub(crate) fn menu(scenario: &Scenario, catalog: &Catalog, draw: &Draw) -> Menu {
    let name = |node: &millpond_sim::NodeId| catalog.names[usize::from(node.number())].clone();
    let all: Vec<String> = catalog.names[..catalog.names.len() - 1].to_vec();
    let among = |group: &str| -> Vec<String> {
        let nodes = catalog.producers.iter().filter(|info| info.name == group).flat_map(|info| &info.nodes);
        let members = catalog.groups.iter().filter(|info| info.name == group).flat_map(|info| &info.members);
        let sinks = catalog.sinks.iter().filter(|info| info.name == group).map(|info| &info.node);
        let brokers = catalog.brokers.iter().filter(|_| group == "broker");
        nodes.chain(members).chain(sinks).chain(brokers).map(name).collect()
    };
    let targets = if draw.among.is_empty() {
        all.clone()
    } else {
        draw.among.iter().flat_map(|group| among(group)).collect()
    };
    let begin = scenario.phases.warm_up.as_nanos();
    Menu {
        counts: dishes(draw),
        window: begin..begin + scenario.phases.faults.as_nanos(),
        down: ends(&draw.down),
        lasts: ends(&draw.lasts),
        skew: draw.clock_skew,
        targets,
        nodes: all,
        powered_together: catalog.brokers.iter().map(name).collect(),
        jitter: {
            let (shortest, longest) = ends(&scenario.network.latency);
            longest.less(shortest)
        },
        moments: moments(catalog),
    }
}

/// The instants that matter: between an effect, its acknowledgement, and the position recorded for it.
fn moments(catalog: &Catalog) -> Vec<(String, Event)> {
    let brokers = catalog.brokers.iter().map(|node| (node, BROKER_MOMENTS));
    let members = catalog.groups.iter().flat_map(|group| &group.members);
    let members = members.map(|node| (node, PROCESSOR_MOMENTS));
    let sinks = catalog.sinks.iter().map(|sink| (&sink.node, SINK_MOMENTS));
    let producers = catalog.producers.iter().flat_map(|producer| &producer.nodes);
    let producers = producers.map(|node| (node, PRODUCER_MOMENTS));
    let all = brokers.chain(members).chain(sinks).chain(producers);
    all.flat_map(|(node, moments)| {
        let name = &catalog.names[usize::from(node.number())];
        moments.iter().map(|moment| {
            let event = match moment {
                Moment::Point(point) => Event::Reaches((*point).to_owned()),
                Moment::Sends(kind) => Event::Sends((*kind).to_owned()),
                Moment::Receives(kind) => Event::Receives((*kind).to_owned()),
            };
            (name.clone(), event)
        })
    })
    .collect()
}

enum Moment {
    Point(&'static str),
    Sends(&'static str),
    Receives(&'static str),
}

const BROKER_MOMENTS: &[Moment] = &[
    Moment::Point(points::AFTER_APPEND),
    Moment::Sends("Produced"),
    Moment::Receives("Commit"),
    Moment::Sends("CommitDone"),
    Moment::Sends("Joined"),
    Moment::Sends("Fetched"),
];
const PROCESSOR_MOMENTS: &[Moment] = &[
    Moment::Point(points::AFTER_PROCESS),
    Moment::Point(points::BEFORE_WRITE),
    Moment::Point(points::AFTER_WRITE),
    Moment::Point(points::BEFORE_COMMIT),
    Moment::Point(points::AFTER_COMMIT),
    Moment::Receives("Fetched"),
    Moment::Receives("Joined"),
];
const SINK_MOMENTS: &[Moment] = &[
    Moment::Point(points::BEFORE_SINK_WRITE),
    Moment::Point(points::AFTER_SINK_WRITE),
    Moment::Sends("Written"),
];
const PRODUCER_MOMENTS: &[Moment] = &[Moment::Sends("Produce"), Moment::Receives("Produced")];

/// The counts of a scenario's menu, by kind of fault.
fn dishes(draw: &Draw) -> Vec<(Dish, std::ops::Range<u32>)> {
    let of = |kind, count: &std::ops::Range<u32>| (Dish::Of(kind), count.clone());
    vec![
        of(Kind::Crash, &draw.crashes),
        of(Kind::CrashLoop, &draw.crash_loops),
        (Dish::PowerCut, draw.power_cuts.clone()),
        of(Kind::LoseDisk, &draw.disk_losses),
        of(Kind::Stop, &draw.stops),
        of(Kind::Pause, &draw.pauses),
        of(Kind::Partition, &draw.partitions),
        of(Kind::Cut, &draw.cuts),
        of(Kind::Isolate, &draw.isolations),
        of(Kind::Slow, &draw.slow_links),
        of(Kind::Lose, &draw.losses),
        of(Kind::LoseReplies, &draw.lost_replies),
        of(Kind::Duplicate, &draw.duplicates),
        of(Kind::Reorder, &draw.reorders),
        of(Kind::Hold, &draw.holds),
        of(Kind::SlowDisk, &draw.slow_disks),
        of(Kind::FullDisk, &draw.full_disks),
        of(Kind::FailSync, &draw.failed_syncs),
        of(Kind::TearTail, &draw.torn_tails),
        of(Kind::Scatter, &draw.scatters),
        of(Kind::Rot, &draw.rots),
        of(Kind::Offset, &draw.clock_offsets),
        of(Kind::Drift, &draw.clock_drifts),
        of(Kind::Jump, &draw.clock_jumps),
    ]
}
