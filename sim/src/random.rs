//! Keyed randomness: every draw is a function of seed, purpose, entity and count within that entity.
//!
//! A [`Stream`] is ChaCha8 under the run's key, with purpose and entity as its stream number. Nothing
//! is drawn by position in the run, so leaving out one fault leaves the draws of everything that it
//! did not touch as they were. This is the only module that names `rand`; ranges are drawn from whole
//! `u64`s by code of our own, whose golden vectors are below, since a library may change its values.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::time::{Odds, Span};

/// What a stream of draws is for. The numbers are part of what a seed means: never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// How long each message of a link takes, and its tie.
    Latency = 1,
    /// Which messages of a link are lost.
    Loss = 2,
    /// Which messages of a link arrive twice, and when.
    Duplicate = 3,
    /// How far messages of a link overtake each other.
    Reorder = 4,
    /// Ties among the timers of a node.
    Timer = 5,
    /// How long each sync of a disk takes, and its tie.
    Sync = 6,
    /// What survives a crash of a disk.
    Survival = 7,
    /// Which entries of a disk rot.
    Rot = 8,
    /// An actor's own draws, a stream for each incarnation.
    Actor = 9,
    /// The faults of a plan, a stream for each kind.
    Faults = 10,
    /// The workload of a plan, a stream for each client.
    Workload = 11,
    /// Interleavings that an invariant tries.
    Interleaving = 12,
    /// What a search moves in the schedule of a plan.
    Schedule = 13,
    /// How a search changes a plan.
    Mutation = 14,
}

/// The key of a run, from which all its streams are made.
#[derive(Clone, Debug)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of a seed.
    pub fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(b"millpond");
        Self(key)
    }

    /// The key of a run that has gone as a seed has it until now, and goes on with other draws; `salt`
    /// says which, from 1.
    pub(crate) fn forked(&self, salt: u64) -> Self {
        let mut key = self.0;
        key[16..24].copy_from_slice(&salt.to_le_bytes());
        Self(key)
    }

    /// The stream of draws for one purpose and entity (at most 2^56 entities).
    pub fn stream(&self, purpose: Purpose, entity: u64) -> Stream {
        debug_assert!(entity < 1 << 56, "an entity takes 56 bits");
        let mut rng = ChaCha8Rng::from_seed(self.0);
        rng.set_stream((purpose as u64) << 56 | entity);
        Stream(rng)
    }
}

/// A sequence of draws for one purpose and entity.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, zero where `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        scale(self.bits(), bound)
    }

    /// A number from `low` to `high`, both included; `low` where the range is empty.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let bits = self.bits();
        match high.checked_sub(low) {
            None => low,
            Some(u64::MAX) => bits,
            Some(width) => low + scale(bits, width + 1),
        }
    }

    /// A span from `low` to `high`, both included.
    pub fn span(&mut self, low: Span, high: Span) -> Span {
        Span::from_nanos(self.between(low.as_nanos(), high.as_nanos()))
    }

    /// Whether a case with these odds is a hit. It draws once, whatever the odds.
    pub fn hit(&mut self, odds: Odds) -> bool {
        self.below(u64::from(odds.of())) < u64::from(odds.hits())
    }

    /// One of the items, none where there are none. It draws once.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let at = self.below(items.len() as u64);
        items.get(at as usize)
    }
}

/// Maps 64 bits onto `0..bound`, by the high half of the product (Lemire 2019, without rejection:
/// the bias is below `bound / 2^64`).
#[inline]
pub(crate) fn scale(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_vectors() {
        let mut stream = Key::new(7).stream(Purpose::Latency, 3);
        let bits: Vec<u64> = (0..3).map(|_| stream.bits()).collect();
        let ranges: Vec<u64> = (0..4).map(|_| stream.between(10, 20)).collect();
        assert_eq!(bits, GOLDEN_BITS);
        assert_eq!(ranges, GOLDEN_RANGES);
    }

    const GOLDEN_BITS: [u64; 3] = [17155194312715681464, 6527929368919303754, 11080446403009679364];
    const GOLDEN_RANGES: [u64; 4] = [14, 16, 20, 10];

    #[test]
    fn streams_do_not_depend_on_each_other() {
        let key = Key::new(1);
        let mut alone = key.stream(Purpose::Latency, 1);
        let mut other = key.stream(Purpose::Latency, 2);
        let mut beside = key.stream(Purpose::Latency, 1);
        for _ in 0..100 {
            other.bits();
            assert_eq!(alone.bits(), beside.bits());
        }
    }

    #[test]
    fn ranges_keep_their_ends() {
        let mut stream = Key::new(2).stream(Purpose::Actor, 0);
        let drawn: Vec<u64> = (0..1_000).map(|_| stream.between(3, 5)).collect();
        assert!([3, 4, 5].iter().all(|n| drawn.contains(n)));
        assert!(drawn.iter().all(|n| (3..=5).contains(n)));
        assert_eq!(stream.between(9, 2), 9);
        assert_eq!(stream.below(0), 0);
        assert!(!stream.hit(Odds::NEVER));
        assert!(stream.hit(Odds::ALWAYS));
    }
}
