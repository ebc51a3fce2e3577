//! The fingerprint of a run: 64 bits over everything that happened, in order.
//!
//! XXH3 (published and frozen) over fixed-width little-endian fields, in blocks that are chained
//! through the seed. It is always taken: two runs with the same fingerprint went the same way.

use xxhash_rust::xxh3::xxh3_64_with_seed;

const FIELDS: usize = 3;
const RECORDS: usize = 64;
const BLOCK: usize = RECORDS * FIELDS * 8;

/// A fingerprint in the making.
#[derive(Clone, Debug)]
pub(crate) struct Fingerprint {
    hash: u64,
    filled: usize,
    block: Box<[u8; BLOCK]>,
}

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self { hash: 0, filled: 0, block: Box::new([0; BLOCK]) }
    }

    /// Takes in one record of three fields.
    #[inline]
    pub(crate) fn absorb(&mut self, fields: [u64; FIELDS]) {
        let record = &mut self.block[self.filled..self.filled + FIELDS * 8];
        for (bytes, field) in record.chunks_exact_mut(8).zip(fields) {
            bytes.copy_from_slice(&field.to_le_bytes());
        }
        self.filled += FIELDS * 8;
        if self.filled == BLOCK {
            self.hash = xxh3_64_with_seed(&self.block[..], self.hash);
            self.filled = 0;
        }
    }

    /// The fingerprint of what was taken in so far.
    pub(crate) fn value(&self) -> u64 {
        xxh3_64_with_seed(&self.block[..self.filled], self.hash)
    }
}

/// A digest of a few numbers, for [`crate::Message::digest`] and the like: a fixed function of its
/// input on every platform.
#[inline]
pub fn digest(numbers: &[u64]) -> u64 {
    // The finaliser of SplitMix64 (Steele, Lea, Flood 2014), chained.
    numbers.iter().fold(0x9e37_79b9_7f4a_7c15, |hash, number| {
        let mut mixed = (hash ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values() {
        assert_eq!(Fingerprint::new().value(), 0x2d06_8005_38d3_94c2, "XXH3 of nothing");
        let mut fingerprint = Fingerprint::new();
        for n in 0..1_000 {
            fingerprint.absorb([n, n * n, 7]);
        }
        assert_eq!(fingerprint.value(), GOLDEN);
        assert_eq!(digest(&[1, 2, 3]), GOLDEN_DIGEST);
    }

    const GOLDEN: u64 = 1754435215935205788;
    const GOLDEN_DIGEST: u64 = 5246500226706903259;

    #[test]
    fn every_field_of_every_record_counts() {
        let of = |last: [u64; 3]| {
            let mut fingerprint = Fingerprint::new();
            (0..200).for_each(|n| fingerprint.absorb([n, 0, 0]));
            fingerprint.absorb(last);
            fingerprint.value()
        };
        let values = [of([0, 0, 0]), of([1, 0, 0]), of([0, 1, 0]), of([0, 0, 1])];
        for (at, value) in values.iter().enumerate() {
            assert!(!values[..at].contains(value));
        }
    }
}
