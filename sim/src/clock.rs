//! A node's two clocks, and the faults that meet them here: offset, jump and drift.
//!
//! The monotonic clock starts at zero with the run and only its rate can be wrong; timers run on it.
//! The wall clock is the monotonic clock plus an offset. Nodes read these, never the true time.

use std::fmt;

use crate::time::{Instant, Shift, Span};

/// What a wall clock shows: nanoseconds since the true start of the run, negative where the clock is
/// behind by more than has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(i64);

impl WallTime {
    /// Later than any clock shows.
    pub const MAX: Self = Self(i64::MAX);

    /// A wall time from nanoseconds since the true start of the run.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the true start of the run.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shift::from_nanos(self.0).fmt(f)
    }
}

const MILLION: i64 = 1_000_000;

/// The clocks of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// Parts per million too fast.
    drift: i64,
    /// When the rate last changed, and what the monotonic clock then showed.
    since: Instant,
    shown: u64,
    /// Wall clock minus monotonic clock: wide enough that shifts add up exactly and can be undone.
    offset: i128,
    /// Faults at work on this clock, to be told when it is read.
    pub(crate) faults: Vec<u32>,
}

impl Clock {
    /// What the monotonic clock shows at a true time.
    #[inline]
    pub(crate) fn monotonic(&self, now: Instant) -> Instant {
        let passed = (now - self.since).as_nanos();
        if self.drift == 0 {
            return Instant::from_nanos(self.shown + passed);
        }
        let local = u128::from(passed) * self.rate() / MILLION as u128;
        Instant::from_nanos(self.shown + local as u64)
    }

    /// What the wall clock shows at a true time.
    pub(crate) fn wall(&self, now: Instant) -> WallTime {
        let shown = i128::from(self.monotonic(now).as_nanos()) + self.offset;
        WallTime(shown.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }

    /// The first true time at which the monotonic clock shows `local` or later.
    #[inline]
    pub(crate) fn true_time(&self, local: Instant) -> Instant {
        let ahead = local.as_nanos().saturating_sub(self.shown);
        if self.drift == 0 {
            return self.since + Span::from_nanos(ahead);
        }
        let passed = (u128::from(ahead) * MILLION as u128).div_ceil(self.rate());
        self.since + Span::from_nanos(u64::try_from(passed).unwrap_or(u64::MAX))
    }

    /// Changes the rate from now on.
    pub(crate) fn add_drift(&mut self, now: Instant, ppm: i64) {
        self.shown = self.monotonic(now).as_nanos();
        self.since = now;
        self.drift += ppm;
    }

    /// Local time that passes in a million of true time. Overlapping drifts add up, but a clock
    /// never stands still or runs backwards.
    fn rate(&self) -> u128 {
        (MILLION + self.drift).max(1) as u128
    }

    /// Moves the wall clock.
    pub(crate) fn shift(&mut self, by: i128) {
        self.offset += by;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_fast_clock_gains_and_keeps_what_it_gained() {
        let mut clock = Clock::default();
        clock.add_drift(Instant::from_nanos(SECOND), 100_000);
        assert_eq!(clock.monotonic(Instant::from_nanos(11 * SECOND)).as_nanos(), 12 * SECOND);
        clock.add_drift(Instant::from_nanos(11 * SECOND), -100_000);
        assert_eq!(clock.monotonic(Instant::from_nanos(12 * SECOND)).as_nanos(), 13 * SECOND);
    }

    #[test]
    fn a_shifted_wall_clock_leaves_the_monotonic_one_alone() {
        let mut clock = Clock::default();
        clock.shift(-2 * i128::from(SECOND));
        let now = Instant::from_nanos(SECOND);
        assert_eq!(clock.wall(now).as_nanos(), -(SECOND as i64));
        assert_eq!(clock.monotonic(now), now);
    }

    #[test]
    fn shifts_beyond_what_a_clock_can_show_are_undone_exactly() {
        let mut clock = Clock::default();
        let far = i128::from(i64::MAX);
        (0..3).for_each(|_| clock.shift(far));
        assert_eq!(clock.wall(Instant::ZERO), WallTime::MAX);
        (0..3).for_each(|_| clock.shift(-far));
        assert_eq!(clock.wall(Instant::ZERO), WallTime(0));
    }

    proptest! {
        #[test]
        fn a_timer_fires_when_the_clock_shows_its_time_and_not_before(
            ppm in -500_000i64..1_000_000, start in 0u64..1_000_000, delay in 0u64..1_000_000_000,
        ) {
            let mut clock = Clock::default();
            clock.add_drift(Instant::from_nanos(start), ppm);
            let local = Instant::from_nanos(start + delay);
            let fires = clock.true_time(local);
            prop_assert!(clock.monotonic(fires) >= local);
            if fires.as_nanos() > start {
                prop_assert!(clock.monotonic(Instant::from_nanos(fires.as_nanos() - 1)) < local);
            }
        }
    }
}
