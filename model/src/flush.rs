//! Group commit: work that waits for a sync, one sync at a time, each for all that came before it.

use millpond_sim::Context;
use millpond_sim::disk::SyncId;

use crate::message::Streams;

/// Things to be done when what was written so far is durable.
#[derive(Debug)]
pub(crate) struct Flush<T> {
    waiting: Vec<T>,
    flying: Option<(SyncId, Vec<T>)>,
}

impl<T> Flush<T> {
    pub(crate) fn new() -> Self {
        Self { waiting: Vec::new(), flying: None }
    }

    /// Adds something to be done when all that was written until now is durable.
    pub(crate) fn after_sync(&mut self, context: &mut Context<'_, Streams>, then: T) {
        self.waiting.push(then);
        if self.flying.is_none() {
            self.begin(context);
        }
    }

    /// Takes what was waiting for this sync, and begins the next one if more is waiting.
    pub(crate) fn synced(&mut self, context: &mut Context<'_, Streams>, sync: SyncId) -> Vec<T> {
        match self.flying.take() {
            Some((flying, done)) if flying == sync => {
                if !self.waiting.is_empty() {
                    self.begin(context);
                }
                done
            }
            other => {
                self.flying = other;
                Vec::new()
            }
        }
    }

    fn begin(&mut self, context: &mut Context<'_, Streams>) {
        self.flying = Some((context.sync(), std::mem::take(&mut self.waiting)));
    }
}
