//! The strategies by name, made ready for a scenario.

use clap::ValueEnum;
use millpond::model::scenario::schema::Faults;
use millpond::sim::search::exhaustive::Exhaustive;
use millpond::sim::search::guided::Guided;
use millpond::sim::search::priorities::Priorities;
use millpond::sim::search::strategy::{Mix, Strategy, Swarm};
use millpond::sim::search::systematic::{Depth, Systematic};

use crate::campaign::Focus;

/// How many base runs the systematic search begins with.
const BASES: u64 = 4;

/// How many records the exhaustive search has.
const RECORDS: usize = 3;

/// Of so many cases of the mix.
const SWARM_SHARE: u64 = 7;
const PRIORITIES_SHARE: u64 = 1;

/// How what is run is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Search {
    /// Mostly swarm, with some of priorities
    #[default]
    Mix,
    /// What each seed draws: kinds of faults on or off, then their number, time and place
    Swarm,
    /// The same, with links that are slower than others (PCT)
    Priorities,
    /// A fault at every effect boundary of base runs; with --depth 2 then pairs of them
    Systematic,
    /// Every set of at most --depth faults and delays on a run of three records
    Exhaustive,
    /// Changes to plans that reached something new
    Guided,
}

impl Search {
    /// Every strategy.
    pub(crate) const ALL: [Self; 6] =
        [Self::Mix, Self::Swarm, Self::Priorities, Self::Systematic, Self::Exhaustive, Self::Guided];

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mix => "mix",
            Self::Swarm => "swarm",
            Self::Priorities => "priorities",
            Self::Systematic => "systematic",
            Self::Exhaustive => "exhaustive",
            Self::Guided => "guided",
        }
    }

    /// The strategy for a scenario. Where its faults are given there is nothing to choose.
    pub(crate) fn strategy<'a>(
        self,
        focus: &'a Focus<'a>,
        start: u64,
        depth: Depth,
    ) -> Box<dyn Strategy<Focus<'a>> + 'a> {
        let drawn = matches!(focus.trial.scenario().faults, Faults::Draw(_));
        match self {
            _ if !drawn => Box::new(Swarm(focus)),
            Self::Swarm => Box::new(Swarm(focus)),
            Self::Priorities => Box::new(Priorities::new(focus, start)),
            Self::Mix => Box::new(Mix::new(vec![
                (SWARM_SHARE, Box::new(Swarm(focus))),
                (PRIORITIES_SHARE, Box::new(Priorities::new(focus, start))),
            ])),
            Self::Systematic => {
                let bases = start..start.saturating_add(BASES);
                Box::new(Systematic::new(focus, bases, depth))
            }
            Self::Exhaustive => {
                let most = match depth {
                    Depth::One => 1,
                    Depth::Two => 2,
                };
                Box::new(Exhaustive::new(focus, start, RECORDS, most))
            }
            Self::Guided => Box::new(Guided::new(focus)),
        }
    }
}
