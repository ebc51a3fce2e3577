//! Records and what names them: keys, offsets, partitions, generations.

use std::fmt;

use millpond_sim::NodeId;

/// The key of a record: `k7`, or `k7/2` after a `Route` step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    base: u16,
    way: u8,
}

/// The most ways that a `Route` step can make from one key.
pub const MAX_WAYS: u8 = 16;

impl Key {
    /// The key of a number below 65536.
    pub const fn new(base: u16) -> Self {
        Self { base, way: 0 }
    }

    /// One of the keys that a `Route` step makes of this one; `way` counts from 1.
    pub const fn routed(self, way: u8) -> Self {
        Self { base: self.base, way }
    }

    /// The key before any `Route` step.
    pub const fn origin(self) -> Self {
        Self::new(self.base)
    }

    /// A small number of its own for each key, for tables.
    pub const fn index(self) -> usize {
        self.base as usize * (MAX_WAYS as usize + 1) + self.way as usize
    }

    /// The key with this index.
    pub const fn of_index(index: usize) -> Self {
        let ways = MAX_WAYS as usize + 1;
        Self { base: (index / ways) as u16, way: (index % ways) as u8 }
    }

    /// Which of `partitions` the key belongs to, as Kafka's default partitioner has it for the key's
    /// text: the 31 low bits of murmur2, modulo the number of partitions.
    pub fn partition(self, partitions: u32) -> u32 {
        // "k65535/16" is the longest key.
        let mut text = [0u8; 16];
        let mut len = 0;
        let mut digits = |prefix: u8, number: u32| {
            text[len] = prefix;
            len += 1;
            let width = number.checked_ilog10().unwrap_or(0);
            for place in (0..=width).rev() {
                text[len] = b'0' + (number / 10u32.pow(place) % 10) as u8;
                len += 1;
            }
        };
        digits(b'k', u32::from(self.base));
        if self.way > 0 {
            digits(b'/', u32::from(self.way));
        }
        (murmur2(&text[..len]) & 0x7fff_ffff) % partitions.max(1)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{}", self.base)?;
        if self.way > 0 {
            write!(f, "/{}", self.way)?;
        }
        Ok(())
    }
}

/// Murmur2 (Austin Appleby) with the seed that Kafka's `Utils.murmur2` uses.
fn murmur2(bytes: &[u8]) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let mut hash = 0x9747_b28c ^ bytes.len() as u32;
    let (words, rest) = bytes.as_chunks::<4>();
    for word in words {
        let mut mixed = u32::from_le_bytes(*word).wrapping_mul(M);
        mixed ^= mixed >> 24;
        hash = hash.wrapping_mul(M) ^ mixed.wrapping_mul(M);
    }
    if !rest.is_empty() {
        for (byte, shift) in rest.iter().zip([0, 8, 16]) {
            hash ^= u32::from(*byte) << shift;
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 15)
}

/// The place of a record in its partition, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(pub u64);

impl Offset {
    /// Past the end of any log.
    pub const MAX: Self = Self(u64::MAX);

    /// The offset of the next record.
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A partition of some topic; the catalog knows which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId(pub u16);

impl PartitionId {
    /// The number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place in a log: partition and offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The partition.
    pub partition: PartitionId,
    /// The offset in it.
    pub offset: Offset,
}

/// A consumer group; the catalog knows its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u16);

/// How often a group has been rebalanced; a member of an older generation is a zombie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u32);

/// The identity that a record keeps on all its way: its sender and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    /// The node that sent it first.
    pub sender: NodeId,
    /// In which life of the node.
    pub life: u16,
    /// Which of the records of that life, from 0.
    pub number: u32,
}

impl RecordId {
    /// The identity as one number.
    pub fn bits(self) -> u64 {
        u64::from(self.sender.number()) << 48 | u64::from(self.life) << 32 | u64::from(self.number)
    }
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Data.
    Data,
    /// A promise that no record with this event time or an earlier one follows in the partition.
    Watermark,
}

/// A record of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its identity.
    pub id: RecordId,
    /// Its key.
    pub key: Key,
    /// Its value.
    pub value: i64,
    /// Its event time, by its sender's wall clock, in nanoseconds.
    pub time: i64,
    /// Data or watermark.
    pub kind: Kind,
}

impl Record {
    /// A number that differs where the record differs.
    pub fn digest(&self) -> u64 {
        self.id.bits() ^ (self.key.index() as u64) << 40 ^ self.value.cast_unsigned().rotate_left(17)
    }
}

/// Records that were appended together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The offset of the first record.
    pub base: Offset,
    /// The records.
    pub records: std::rc::Rc<[Record]>,
}

impl Batch {
    /// The offset after the last record.
    pub fn end(&self) -> Offset {
        Offset(self.base.0 + self.records.len() as u64)
    }

    /// The records with their offsets.
    pub fn iter(&self) -> impl Iterator<Item = (Offset, &Record)> {
        (self.base.0..).map(Offset).zip(self.records.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn murmur2_is_kafkas() {
        // The vectors of Kafka's own UtilsTest, by value.
        for (text, hash) in [("21", -973_932_308), ("foobar", -790_332_482), ("abc", 479_470_107)] {
            assert_eq!(murmur2(text.as_bytes()).cast_signed(), hash, "{text}");
        }
        for (text, hash) in
            [("a-little-bit-long-string", -985_981_536), ("a-little-bit-longer-string", -1_486_304_829)]
        {
            assert_eq!(murmur2(text.as_bytes()).cast_signed(), hash, "{text}");
        }
    }

    #[test]
    fn a_key_is_partitioned_by_its_text() {
        for base in [0, 7, 10, 4_321, 65_535] {
            for key in [Key::new(base), Key::new(base).routed(3), Key::new(base).routed(16)] {
                let text = key.to_string();
                let expected = (murmur2(text.as_bytes()) & 0x7fff_ffff) % 12;
                assert_eq!(key.partition(12), expected, "{text}");
                assert_eq!(Key::of_index(key.index()), key);
            }
        }
    }
}
