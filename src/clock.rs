//! The one place that reads the machine's clock: elapsed times and budgets, never a run.

use std::time::Duration;

#[expect(clippy::disallowed_types, reason = "people wait in real time")]
type Real = std::time::Instant;

/// Time since it was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Real);

impl Stopwatch {
    /// Starts.
    #[expect(clippy::disallowed_methods, reason = "people wait in real time")]
    pub(crate) fn start() -> Self {
        Self(Real::now())
    }

    /// How long ago it was started.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
