//! Waiting for the n-th event that a fault names.

use super::{Event, Trigger};

/// Before or after the effect of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Before,
    After,
}

/// What happens on a node, as triggers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Sends(&'static str),
    Receives(&'static str),
    Reaches(&'static str),
}

/// A fault that waits for an event on a node.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) fault: u32,
    moment: Moment,
    event: Event,
    left: u32,
}

impl Watch {
    pub(crate) fn new(fault: u32, moment: Moment, trigger: &Trigger) -> Self {
        Self { fault, moment, event: trigger.event.clone(), left: trigger.nth.max(1) }
    }

    /// Whether this event is the one that the fault waits for. It is at most once.
    pub(crate) fn sees(&mut self, moment: Moment, seen: Seen) -> bool {
        let matches = moment == self.moment
            && match (&self.event, seen) {
                (Event::Sends(kind), Seen::Sends(seen)) => kind == seen,
                (Event::Receives(kind), Seen::Receives(seen)) => kind == seen,
                (Event::Reaches(point), Seen::Reaches(seen)) => point == seen,
                (Event::Sends(_) | Event::Receives(_) | Event::Reaches(_), _) => false,
            };
        if !matches || self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.left == 0
    }
}
