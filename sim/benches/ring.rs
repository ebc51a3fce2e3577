//! The price of an event: a ring of 5 nodes that pass tokens, each hop taking 1 to 10 ms.
//!
//! `bare` is the least that a simulator can do: one binary heap of (time, receiver, token) and one
//! generator for the latencies. `kernel` does the same through the kernel, with its fingerprint,
//! fault hooks, latency keyed by link, drawn ties and caught panics, and the trace off. Compare the
//! two within one run; the aim is a ratio of at most 1.8.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use millpond_sim::network::{Link, Order};
use millpond_sim::time::{Instant, Span};
use millpond_sim::{Actor, Context, Message, NodeId, Note, Protocol, Settings, World, digest};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const NODES: u64 = 5;
const LEAST: u64 = 1_000_000;
const MOST: u64 = 10_000_000;
const EVENTS: u64 = 100_000;

fn bare(seed: u64, tokens: u64) -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut latency = move || LEAST + rng.next_u64() % (MOST - LEAST + 1);
    let mut heap = BinaryHeap::new();
    for token in 0..tokens {
        heap.push(Reverse((latency(), token % NODES, token)));
    }
    let mut sum = 0u64;
    for _ in 0..EVENTS {
        let Some(Reverse((time, node, token))) = heap.pop() else { break };
        sum = sum.wrapping_add(time ^ token);
        heap.push(Reverse((time + latency(), (node + 1) % NODES, token)));
    }
    sum
}

#[derive(Clone)]
struct Token(u64);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({})", self.0)
    }
}

impl Message for Token {
    fn kind(&self) -> &'static str {
        "Token"
    }
    fn digest(&self) -> u64 {
        digest(&[self.0])
    }
}

struct Nothing;

impl fmt::Display for Nothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing")
    }
}

impl Note for Nothing {
    fn digest(&self) -> u64 {
        0
    }
}

struct Ring;

impl Protocol for Ring {
    type Message = Token;
    type Stored = ();
    type Note = Nothing;
}

struct Passer {
    next: NodeId,
    tokens: std::ops::Range<u64>,
    left: std::rc::Rc<std::cell::Cell<u64>>,
}

impl Actor<Ring> for Passer {
    fn start(&mut self, context: &mut Context<'_, Ring>) {
        for token in self.tokens.clone() {
            context.send(self.next, Token(token));
        }
    }

    fn message(&mut self, context: &mut Context<'_, Ring>, _from: NodeId, token: Token) {
        context.send(self.next, token);
        self.left.set(self.left.get() - 1);
        if self.left.get() == 0 {
            context.finish();
        }
    }
}

fn kernel(seed: u64, tokens: u64) -> u64 {
    let link = Link {
        latency: Span::from_nanos(LEAST),
        jitter: Span::from_nanos(MOST - LEAST),
        order: Order::Free,
        ..Link::default()
    };
    let mut world: World<Ring> = World::new(Settings { seed, link, ..Settings::default() });
    let left = std::rc::Rc::new(std::cell::Cell::new(EVENTS));
    let nodes: Vec<NodeId> = (0..NODES).map(|n| NodeId::of_number(n as u16)).collect();
    for n in 0..NODES {
        let next = nodes[((n + 1) % NODES) as usize];
        let tokens = tokens * n / NODES..tokens * (n + 1) / NODES;
        let left = left.clone();
        world.add_node(&format!("node-{n}"), move |_| {
            Box::new(Passer { next, tokens: tokens.clone(), left: left.clone() })
        });
    }
    world.run(&[], Instant::ZERO, Instant::MAX).expect("no fault is planned").fingerprint
}

fn ring(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ring");
    group.throughput(Throughput::Elements(EVENTS));
    for tokens in [10, 1_000] {
        group.bench_with_input(BenchmarkId::new("bare", tokens), &tokens, |bencher, tokens| {
            bencher.iter(|| bare(black_box(7), *tokens));
        });
        group.bench_with_input(BenchmarkId::new("kernel", tokens), &tokens, |bencher, tokens| {
            bencher.iter(|| kernel(black_box(7), *tokens));
        });
    }
    group.finish();
}

criterion_group!(benches, ring);
criterion_main!(benches);
