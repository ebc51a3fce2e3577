//! The one place that reads the machine's clock: elapsed times and budgets, never a run.

use std::time::Duration;

/// Time since it was started.
#[expect(clippy::disallowed_types, reason = "people wait in real time")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Starts.
    #[expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "people wait in real time")]
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// How long ago it was started.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
