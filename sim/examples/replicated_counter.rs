//! A replicated counter: no brokers, no streams, just the kernel.
//!
//! Each replica counts the increments that it was asked for, writes its count to disk, and gossips what
//! it knows of all counts: a grow-only counter (Shapiro et al., "A comprehensive study of Convergent
//! and Commutative Replicated Data Types", 2011). The claim: no acknowledged increment is lost, and in
//! the end all replicas agree. It holds where a replica acknowledges after the sync, and a seed refutes
//! it where it acknowledges before.
//!
//!     cargo run -p millpond-sim --example replicated_counter

use std::fmt;

use millpond_sim::disk::{CellId, SyncFailed, SyncId};
use millpond_sim::fault::{Fault, What, When};
use millpond_sim::random::{Key, Purpose};
use millpond_sim::time::{Instant, Span};
use millpond_sim::{Actor, Context, Message, NodeId, Note, Protocol, Settings, World, digest};

const REPLICAS: usize = 3;
const GOSSIP: Span = Span::from_millis(20);

#[derive(Clone, Debug)]
enum Msg {
    Increment,
    Acknowledged,
    Counts([u64; REPLICAS]),
}

impl fmt::Display for Msg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Message for Msg {
    fn kind(&self) -> &'static str {
        match self {
            Self::Increment => "Increment",
            Self::Acknowledged => "Acknowledged",
            Self::Counts(_) => "Counts",
        }
    }

    fn digest(&self) -> u64 {
        match self {
            Self::Increment => 1,
            Self::Acknowledged => 2,
            Self::Counts(counts) => digest(counts),
        }
    }

    fn is_reply(&self) -> bool {
        matches!(self, Self::Acknowledged)
    }
}

/// What is seen from outside.
#[derive(Debug)]
enum Seen {
    Acknowledged,
    Total(u64),
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Note for Seen {
    fn digest(&self) -> u64 {
        match self {
            Self::Acknowledged => 1,
            Self::Total(total) => digest(&[2, *total]),
        }
    }
}

struct Counter;

impl Protocol for Counter {
    type Message = Msg;
    type Stored = u64;
    type Note = Seen;
}

/// When a replica acknowledges an increment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acknowledge {
    BeforeSync,
    AfterSync,
}

struct Replica {
    when: Acknowledge,
    counts: [u64; REPLICAS],
    cell: Option<CellId>,
    waiting: Vec<(SyncId, NodeId)>,
}

impl Actor<Counter> for Replica {
    fn start(&mut self, context: &mut Context<'_, Counter>) {
        let me = usize::from(context.node().number());
        let cell = context.disk().cell("count");
        self.counts[me] = context.disk().get(cell).and_then(Result::ok).copied().unwrap_or(0);
        self.cell = Some(cell);
        context.set_timer(GOSSIP, 0);
    }

    fn message(&mut self, context: &mut Context<'_, Counter>, from: NodeId, message: Msg) {
        match message {
            Msg::Increment => {
                let me = usize::from(context.node().number());
                let Some(cell) = self.cell else { return };
                self.counts[me] += 1;
                if context.set(cell, self.counts[me]).is_err() {
                    return;
                }
                let sync = context.sync();
                match self.when {
                    Acknowledge::BeforeSync => context.send(from, Msg::Acknowledged),
                    Acknowledge::AfterSync => self.waiting.push((sync, from)),
                }
            }
            Msg::Counts(counts) => {
                let me = usize::from(context.node().number());
                for (replica, told) in counts.into_iter().enumerate().filter(|(replica, _)| *replica != me) {
                    self.counts[replica] = told;
                }
                context.note(Seen::Total(self.counts.iter().sum()));
            }
            Msg::Acknowledged => {}
        }
    }

    fn synced(&mut self, context: &mut Context<'_, Counter>, sync: SyncId, result: Result<(), SyncFailed>) {
        if result.is_err() {
            return context.abort(Span::from_millis(50));
        }
        let done = |(waits_for, _): &mut (SyncId, NodeId)| *waits_for == sync;
        for (_, client) in self.waiting.extract_if(.., done) {
            context.send(client, Msg::Acknowledged);
        }
    }

    fn timer(&mut self, context: &mut Context<'_, Counter>, _: u64) {
        let me = context.node();
        for other in (0..REPLICAS as u16).map(NodeId::of_number).filter(|other| *other != me) {
            context.send(other, Msg::Counts(self.counts));
        }
        context.set_timer(GOSSIP, 0);
    }
}

/// Increments at one replica after the other, and never asks twice.
struct Client;

impl Actor<Counter> for Client {
    fn start(&mut self, context: &mut Context<'_, Counter>) {
        context.set_timer(Span::from_millis(5), 0);
    }

    fn timer(&mut self, context: &mut Context<'_, Counter>, sent: u64) {
        context.send(NodeId::of_number((sent % REPLICAS as u64) as u16), Msg::Increment);
        if sent < 100 {
            context.set_timer(Span::from_millis(5), sent + 1);
        }
    }

    fn message(&mut self, context: &mut Context<'_, Counter>, _: NodeId, message: Msg) {
        if let Msg::Acknowledged = message {
            context.note(Seen::Acknowledged);
        }
    }
}

/// Three crashes, drawn from the seed.
fn crashes(seed: u64) -> Vec<Fault> {
    let mut draw = Key::new(seed).stream(Purpose::Faults, 0);
    let crash = |_| Fault {
        when: When::At(Instant::from_nanos(draw.between(10_000_000, 500_000_000))),
        what: What::Crash {
            nodes: vec![format!("replica-{}", draw.below(REPLICAS as u64))],
            down: Span::from_millis(30),
        },
    };
    (0..3).map(crash).collect()
}

/// Runs a seed; what refutes the claim, if anything does.
fn refuted(when: Acknowledge, seed: u64) -> Option<String> {
    let mut world: World<Counter> = World::new(Settings { seed, ..Settings::default() });
    for replica in 0..REPLICAS {
        world.add_node(&format!("replica-{replica}"), move |_| {
            Box::new(Replica { when, counts: [0; REPLICAS], cell: None, waiting: Vec::new() })
        });
    }
    world.add_node("client", |_| Box::new(Client));
    let (heals, end) = (Instant::from_nanos(600_000_000), Instant::from_nanos(1_000_000_000));
    let record = world.run(&crashes(seed), heals, end).expect("the faults name nodes of this world");

    let mut acknowledged = 0;
    let mut totals = [0; REPLICAS];
    for noted in &record.history {
        match noted.note {
            Seen::Acknowledged => acknowledged += 1,
            Seen::Total(total) => totals[usize::from(noted.node.number())] = total,
        }
    }
    if totals.iter().any(|total| *total != totals[0]) {
        return Some(format!("the replicas disagree: {totals:?}"));
    }
    let left = totals[0];
    (left < acknowledged).then(|| format!("{acknowledged} increments were acknowledged, {left} are left"))
}

fn main() {
    let broken = (0..1_000).find_map(|seed| Some((seed, refuted(Acknowledge::BeforeSync, seed)?)));
    match &broken {
        Some((seed, why)) => println!("acknowledged before the sync: refuted by seed {seed}: {why}"),
        None => println!("acknowledged before the sync: not refuted"),
    }
    let sound = (0..1_000).find_map(|seed| refuted(Acknowledge::AfterSync, seed));
    println!("acknowledged after the sync: {}", sound.as_deref().unwrap_or("1000 seeds refute nothing"));
    assert!(broken.is_some() && sound.is_none(), "the example shows what it says");
}
