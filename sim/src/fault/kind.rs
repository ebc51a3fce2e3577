//! The kinds of faults: one table of names and sentences for menus, counters and reports.

use std::fmt;

use super::What;

/// The kind of a fault: what is counted as armed and as having taken effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// See [`What::Crash`].
    Crash,
    /// See [`What::CrashLoop`].
    CrashLoop,
    /// See [`What::LoseDisk`].
    LoseDisk,
    /// See [`What::Stop`].
    Stop,
    /// See [`What::Pause`].
    Pause,
    /// See [`What::Partition`].
    Partition,
    /// See [`What::Cut`].
    Cut,
    /// See [`What::Isolate`].
    Isolate,
    /// See [`What::Slow`].
    Slow,
    /// See [`What::Lose`].
    Lose,
    /// See [`What::LoseReplies`].
    LoseReplies,
    /// See [`What::Duplicate`].
    Duplicate,
    /// See [`What::Reorder`].
    Reorder,
    /// See [`What::Hold`].
    Hold,
    /// See [`What::SlowDisk`].
    SlowDisk,
    /// See [`What::FullDisk`].
    FullDisk,
    /// See [`What::FailSync`].
    FailSync,
    /// See [`What::TearTail`].
    TearTail,
    /// See [`What::Scatter`].
    Scatter,
    /// See [`What::Rot`].
    Rot,
    /// See [`What::Offset`].
    Offset,
    /// See [`What::Drift`].
    Drift,
    /// See [`What::Jump`].
    Jump,
}

impl Kind {
    /// Every kind, with its name in a plan and what it is in a few words.
    pub const TABLE: [(Self, &'static str, &'static str); 23] = [
        (Self::Crash, "Crash", "processes die at once and restart from their disks"),
        (Self::CrashLoop, "CrashLoop", "a process dies again and again"),
        (Self::LoseDisk, "LoseDisk", "a crash after which the disk is empty"),
        (Self::Stop, "Stop", "a clean stop, then a start"),
        (Self::Pause, "Pause", "a process stands still, then goes on"),
        (Self::Partition, "Partition", "two sides cannot reach each other"),
        (Self::Cut, "Cut", "one side cannot reach the other"),
        (Self::Isolate, "Isolate", "nodes are cut off from all others"),
        (Self::Slow, "Slow", "messages take longer"),
        (Self::Lose, "Lose", "a share of the messages is lost"),
        (Self::LoseReplies, "LoseReplies", "requests are applied, their replies are lost"),
        (Self::Duplicate, "Duplicate", "a share of the messages arrives twice"),
        (Self::Reorder, "Reorder", "messages overtake each other"),
        (Self::Hold, "Hold", "messages are held, then released at once"),
        (Self::SlowDisk, "SlowDisk", "syncs take longer"),
        (Self::FullDisk, "FullDisk", "writes are refused"),
        (Self::FailSync, "FailSync", "syncs fail, and what they covered is gone"),
        (Self::TearTail, "TearTail", "a crash leaves a torn entry"),
        (Self::Scatter, "Scatter", "a crash keeps an arbitrary subset of unsynced writes"),
        (Self::Rot, "Rot", "durable entries become unreadable"),
        (Self::Offset, "Offset", "a wall clock is off"),
        (Self::Drift, "Drift", "clocks run too fast or too slow"),
        (Self::Jump, "Jump", "a wall clock jumps back and forth"),
    ];

    /// How many kinds there are.
    pub const COUNT: usize = Self::TABLE.len();

    /// The name of the kind in a plan.
    pub fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// Whether a fault of this kind has two sides: senders and receivers, or the sides of a cut.
    pub fn is_between_nodes(self) -> bool {
        matches!(
            self,
            Self::Partition
                | Self::Cut
                | Self::Slow
                | Self::Lose
                | Self::LoseReplies
                | Self::Duplicate
                | Self::Reorder
                | Self::Hold
        )
    }

    /// What the kind is, in a few words.
    pub fn about(self) -> &'static str {
        Self::TABLE[self as usize].2
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl What {
    /// The kind of this fault.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Crash { .. } => Kind::Crash,
            Self::CrashLoop { .. } => Kind::CrashLoop,
            Self::LoseDisk { .. } => Kind::LoseDisk,
            Self::Stop { .. } => Kind::Stop,
            Self::Pause { .. } => Kind::Pause,
            Self::Partition { .. } => Kind::Partition,
            Self::Cut { .. } => Kind::Cut,
            Self::Isolate { .. } => Kind::Isolate,
            Self::Slow { .. } => Kind::Slow,
            Self::Lose { .. } => Kind::Lose,
            Self::LoseReplies { .. } => Kind::LoseReplies,
            Self::Duplicate { .. } => Kind::Duplicate,
            Self::Reorder { .. } => Kind::Reorder,
            Self::Hold { .. } => Kind::Hold,
            Self::SlowDisk { .. } => Kind::SlowDisk,
            Self::FullDisk { .. } => Kind::FullDisk,
            Self::FailSync { .. } => Kind::FailSync,
            Self::TearTail { .. } => Kind::TearTail,
            Self::Scatter { .. } => Kind::Scatter,
            Self::Rot { .. } => Kind::Rot,
            Self::Offset { .. } => Kind::Offset,
            Self::Drift { .. } => Kind::Drift,
            Self::Jump { .. } => Kind::Jump,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (at, (kind, _, _)) in Kind::TABLE.iter().enumerate() {
            assert_eq!(*kind as usize, at);
        }
    }
}
