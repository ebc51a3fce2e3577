//! The defaults of scenario fields.

use std::ops::Range;

use millpond_sim::time::{Odds, Span};

use super::{Brokers, Budget, Cleanup, DiskTiming, Draw, Flush, Keys, Network, Order, Phases, Spread, Topic};

pub(crate) fn seeds() -> u64 {
    1_000
}

pub(crate) fn one() -> u32 {
    1
}

pub(crate) fn values() -> Range<i64> {
    1..101
}

pub(crate) fn every() -> Spread {
    Spread::Uniform(Span::from_millis(20), Span::from_millis(120))
}

pub(crate) fn timeout() -> Span {
    Span::from_millis(500)
}

pub(crate) fn retries() -> u32 {
    1_000
}

pub(crate) fn batch() -> u32 {
    10
}

pub(crate) fn session() -> Span {
    Span::from_secs(2)
}

pub(crate) fn heartbeat() -> Span {
    Span::from_millis(250)
}

pub(crate) fn factor() -> i64 {
    1
}

pub(crate) fn yes() -> bool {
    true
}

pub(crate) fn within() -> Span {
    Span::from_secs(30)
}

impl Default for Brokers {
    fn default() -> Self {
        Self { count: 1, flush: Flush::BeforeAck, rebalance: Span::from_millis(300) }
    }
}

impl Default for Network {
    fn default() -> Self {
        Self {
            latency: Spread::Uniform(Span::from_millis(1), Span::from_millis(5)),
            loss: Odds::NEVER,
            duplicates: Odds::NEVER,
            order: Order::Fifo,
        }
    }
}

impl Default for DiskTiming {
    fn default() -> Self {
        Self { sync: Spread::Uniform(Span::from_micros(500), Span::from_millis(3)) }
    }
}

impl Default for Topic {
    fn default() -> Self {
        Self { partitions: 1, cleanup: Cleanup::Delete }
    }
}

impl Default for Keys {
    fn default() -> Self {
        Self::Uniform(10)
    }
}

impl Default for Phases {
    fn default() -> Self {
        Self { warm_up: Span::from_millis(500), faults: Span::from_secs(6) }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { events: 1_000_000, queued_bytes: 64_000_000 }
    }
}

impl Default for Draw {
    fn default() -> Self {
        Self {
            among: Vec::new(),
            down: Spread::Uniform(Span::from_millis(50), Span::from_secs(2)),
            lasts: Spread::Uniform(Span::from_millis(50), Span::from_secs(4)),
            crashes: 0..0,
            crash_loops: 0..0,
            power_cuts: 0..0,
            disk_losses: 0..0,
            stops: 0..0,
            pauses: 0..0,
            partitions: 0..0,
            cuts: 0..0,
            isolations: 0..0,
            slow_links: 0..0,
            losses: 0..0,
            lost_replies: 0..0,
            duplicates: 0..0,
            reorders: 0..0,
            holds: 0..0,
            slow_disks: 0..0,
            full_disks: 0..0,
            failed_syncs: 0..0,
            torn_tails: 0..0,
            scatters: 0..0,
            rots: 0..0,
            clock_offsets: 0..0,
            clock_drifts: 0..0,
            clock_jumps: 0..0,
            clock_skew: Span::from_secs(1),
        }
    }
}
