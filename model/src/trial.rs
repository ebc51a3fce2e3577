//! A scenario as an experiment: draws its plans, builds its worlds, checks its runs.

use millpond_sim::search::{Experiment, Tracing};

use crate::outcome::{Outcome, Plan};
use crate::scenario::schema::Scenario;

/// A scenario, ready to be run.
#[derive(Clone, Debug)]
pub struct Trial {
    name: String,
    scenario: Scenario,
}

impl Trial {
    /// A trial of a scenario that has been validated (see [`crate::scenario`]).
    pub fn new(name: &str, scenario: Scenario) -> Self {
        Self { name: name.to_owned(), scenario }
    }

    /// The name of the scenario: that of its file, without the ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}

impl Experiment for Trial {
    type Plan = Plan;
    type Outcome = Outcome;

    fn draw(&self, _seed: u64) -> Plan {
        Plan { workload: Vec::new(), faults: Vec::new() }
    }

    fn run(&self, _seed: u64, _plan: &Plan, _trace: Tracing) -> Outcome {
        Outcome {
            fingerprint: 0,
            events: 0,
            time: millpond_sim::time::Instant::ZERO,
            verdicts: Vec::new(),
            probes: Vec::new(),
            faults: Vec::new(),
            nodes: Vec::new(),
            trace: None,
        }
    }
}
