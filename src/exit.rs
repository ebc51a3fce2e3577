//! The exit codes: one table for the code, for `millpond explain exit-codes` and for the documentation.

use std::process::ExitCode;

/// How a command ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    /// Everything is as the scenarios expect.
    #[default]
    Good,
    /// A violation that was not expected, or an expected one that was not found.
    Violation,
    /// A bad command line.
    Usage,
    /// A file that cannot be read or makes no sense.
    BadFile,
    /// Nothing was proved.
    Empty,
    /// The same run was not the same twice.
    Unsteady,
    /// A fault in Millpond itself.
    Internal,
    /// Results could not be written.
    Output,
    /// Stopped by Ctrl-C.
    Interrupted,
    /// Stopped by SIGTERM.
    Terminated,
}

impl Exit {
    /// Every way to end, with its code and meaning.
    pub const TABLE: [(Self, u8, &'static str); 10] = [
        (Self::Good, 0, "everything is as the scenarios expect"),
        (
            Self::Violation,
            1,
            "a violation (or panic, livelock) that was not expected, or an expected one not found",
        ),
        (Self::Usage, 2, "a bad command line"),
        (Self::BadFile, 3, "a scenario or failure file cannot be read or makes no sense"),
        (
            Self::Empty,
            4,
            "nothing was proved: no scenario or seed was selected, the budget was over before the first seed, \
             a probe was never reached, a fault never took effect, or an invariant compared nothing",
        ),
        (
            Self::Unsteady,
            5,
            "not deterministic: the same run twice, or a replay by the same engine, gave another fingerprint",
        ),
        (Self::Internal, 70, "a fault in Millpond itself: please report it, as the message says"),
        (Self::Output, 74, "results could not be written"),
        (Self::Interrupted, 130, "stopped by Ctrl-C; what was done is written"),
        (Self::Terminated, 143, "stopped by SIGTERM; what was done is written"),
    ];

    /// Which one counts where there are several, the first one most.
    const RANK: [Self; 10] = [
        Self::Internal,
        Self::Output,
        Self::BadFile,
        Self::Usage,
        Self::Unsteady,
        Self::Violation,
        Self::Interrupted,
        Self::Terminated,
        Self::Empty,
        Self::Good,
    ];

    /// The code.
    pub fn code(self) -> u8 {
        Self::TABLE[self as usize].1
    }

    /// What the code means.
    pub fn meaning(self) -> &'static str {
        Self::TABLE[self as usize].2
    }

    /// The one of two that counts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::RANK.into_iter().find(|exit| *exit == self || *exit == other).unwrap_or_default()
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum_and_every_exit_has_a_rank() {
        for (at, (exit, ..)) in Exit::TABLE.iter().enumerate() {
            assert_eq!(*exit as usize, at);
            assert!(Exit::RANK.contains(exit));
        }
    }

    #[test]
    fn of_several_the_gravest_counts() {
        assert_eq!(Exit::Violation.and(Exit::Interrupted), Exit::Violation);
        assert_eq!(Exit::Empty.and(Exit::Violation), Exit::Violation);
        assert_eq!(Exit::Violation.and(Exit::Unsteady), Exit::Unsteady);
        assert_eq!(Exit::Unsteady.and(Exit::Output), Exit::Output);
        assert_eq!(Exit::Good.and(Exit::Empty), Exit::Empty);
    }
}
