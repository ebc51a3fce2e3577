//! A scenario as an experiment: draws its plans, builds its worlds, judges its runs.
//!
//! A run reads top to bottom: resolve the plan, build the nodes, run until the faults have healed and
//! the observer has read everything, judge.

use std::sync::Arc;

use millpond_sim::network::{Link, Order as LinkOrder};
use millpond_sim::search::shrink::Diagnose;
use millpond_sim::search::swarm::Menu;
use millpond_sim::search::{Experiment, Faulty, Forkable, Tracing};
use millpond_sim::time::{Instant, Span};
use millpond_sim::world::Bounds;
use millpond_sim::{Actor, Fork, NodeId, Record, Settings, World};

use crate::broker::Broker;
use crate::catalog::{Catalog, GroupInfo};
use crate::draw;
use crate::evidence::Evidence;
use crate::invariants;
use crate::message::Streams;
use crate::note::Note;
use crate::observer::Observer;
use crate::outcome::{Outcome, Plan, Verdict};
use crate::processor::operator::Operator;
use crate::processor::{Processor, Setup as ProcessorSetup};
use crate::producer::{Due, Producer, Setup as ProducerSetup};
use crate::record::{GroupId, Key};
use crate::scenario::schema::{self, Check, Faults, Invariant, Order, Scenario};
use crate::sink::Sink;
use crate::words::Voice;

/// How long the final reads may take.
const FINAL_READS: Span = Span::from_secs(5);

/// How long a run may be quiet where `Liveness` is not asked for.
const QUIET: Span = Span::from_secs(30);

/// A scenario, ready to be run.
#[derive(Clone, Debug)]
pub struct Trial {
    name: String,
    scenario: Scenario,
    catalog: Arc<Catalog>,
}

impl Trial {
    /// A trial of a scenario that has been validated (see [`crate::scenario`]).
    pub fn new(name: &str, scenario: Scenario) -> Self {
        let catalog = Arc::new(Catalog::new(&scenario));
        Self { name: name.to_owned(), scenario, catalog }
    }

    /// The name of the scenario: that of its file, without the ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Who is who in the scenario.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// When all damage ends.
    pub fn heals_at(&self) -> Instant {
        Instant::ZERO + self.scenario.phases.warm_up + self.scenario.phases.faults
    }

    /// When waiting for the pipeline to catch up ends.
    fn waits_until(&self) -> Instant {
        let within = self.scenario.check.iter().find_map(|check| match check {
            Check::Liveness { within } => Some(*within),
            _ => None,
        });
        self.heals_at() + within.unwrap_or(QUIET)
    }

    fn world(&self, seed: u64, plan: &Plan, trace: Tracing, fork: Option<Fork>) -> World<Streams> {
        let scenario = &self.scenario;
        let (latency, longest) = draw::ends(&scenario.network.latency);
        let link = Link {
            latency,
            jitter: longest.less(latency),
            loss: scenario.network.loss,
            duplicates: scenario.network.duplicates,
            order: match scenario.network.order {
                Order::Fifo => LinkOrder::Fifo,
                Order::Free => LinkOrder::Free,
            },
        };
        let bounds = Bounds { events: scenario.budget.events, queued_bytes: scenario.budget.queued_bytes };
        let sync = draw::ends(&scenario.disk.sync);
        let mut world = {
            let (traced, orders) = (trace == Tracing::On, trace == Tracing::Orders);
            World::new(Settings { seed, link, sync, bounds, trace: traced, orders, fork })
        };
        world.set_teller(Voice(self.catalog.clone()));
        self.add_brokers(&mut world);
        self.add_producers(&mut world, plan);
        self.add_processors(&mut world);
        self.add_sinks(&mut world);
        let (catalog, heals_at, until) = (self.catalog.clone(), self.heals_at(), self.waits_until());
        let observer =
            world.add_node("observer", move |_| boxed(Observer::new(catalog.clone(), heals_at, until)));
        debug_assert_eq!(observer, self.catalog.observer, "the catalog numbers nodes as they are added");
        world
    }

    fn name_of(&self, node: NodeId) -> &str {
        &self.catalog.names[usize::from(node.number())]
    }

    fn add_brokers(&self, world: &mut World<Streams>) {
        for node in &self.catalog.brokers {
            let (catalog, options) = (self.catalog.clone(), self.scenario.brokers.clone());
            world
                .add_node(self.name_of(*node), move |_| boxed(Broker::new(catalog.clone(), options.clone())));
        }
    }

    fn add_producers(&self, world: &mut World<Streams>, plan: &Plan) {
        for (info, (_, options)) in self.catalog.producers.iter().zip(&self.scenario.producers) {
            let options = Arc::new(options.clone());
            let read_back = options.read_back.as_ref().and_then(|read_back| {
                let sink = self.catalog.sinks.iter().find(|sink| sink.name == read_back.sink)?;
                Some((sink.node, read_back.when))
            });
            for node in &info.nodes {
                let name = self.name_of(*node);
                let mut work: Vec<Due> = plan
                    .workload
                    .iter()
                    .filter(|schema::Item(node, ..)| node == name)
                    .map(|schema::Item(_, at, key, value)| Due {
                        at: *at,
                        key: Key::new(*key as u16),
                        value: *value,
                    })
                    .collect();
                work.sort_by_key(|due| due.at);
                let (catalog, options, work) = (self.catalog.clone(), options.clone(), work.into());
                let setup = ProducerSetup { catalog, topic: info.topic, options, read_back, work };
                world.add_node(name, move |boot| boxed(Producer::new(setup.clone(), boot.incarnation)));
            }
        }
    }

    fn add_processors(&self, world: &mut World<Streams>) {
        let groups: Vec<&GroupInfo> = self.catalog.groups.iter().collect();
        for ((info, (_, options)), number) in groups.into_iter().zip(&self.scenario.processors).zip(0..) {
            let operator = Operator::new(&options.steps, info.table).with(self.catalog.bugs);
            let options = Arc::new(options.clone());
            for node in &info.members {
                let (catalog, options) = (self.catalog.clone(), options.clone());
                let setup =
                    ProcessorSetup { catalog, group: GroupId(number), options, operator: operator.clone() };
                world.add_node(self.name_of(*node), move |boot| {
                    boxed(Processor::new(setup.clone(), boot.incarnation))
                });
            }
        }
    }

    fn add_sinks(&self, world: &mut World<Streams>) {
        for (info, (_, sink)) in self.catalog.sinks.iter().zip(&self.scenario.sinks) {
            let (write, fence, bugs) = (sink.write, sink.fence, self.catalog.bugs);
            world.add_node(&info.name, move |_| boxed(Sink::new(write, fence, bugs)));
        }
    }

    /// Runs a plan, and judges nothing yet.
    ///
    /// # Panics
    /// If the plan names nodes that the scenario does not have: plans are validated before.
    pub fn simulate(&self, seed: u64, plan: &Plan, trace: Tracing) -> Record<Note> {
        self.simulate_from(seed, plan, trace, None)
    }

    fn simulate_from(&self, seed: u64, plan: &Plan, trace: Tracing, fork: Option<Fork>) -> Record<Note> {
        let mut world = self.world(seed, plan, trace, fork);
        world.set_schedule(&plan.schedule);
        let until = self.waits_until() + FINAL_READS;
        let record = world.run(&plan.faults, self.heals_at(), until);
        record.expect("a validated plan names nodes of the scenario")
    }

    fn outcome(&self, seed: u64, record: Record<Note>) -> Outcome {
        Outcome {
            verdicts: self.judge(seed, &record),
            fingerprint: record.fingerprint,
            events: record.events,
            time: record.time,
            probes: record.probes,
            faults: record.faults,
            nodes: self.catalog.names.clone(),
            trace: record.trace,
            orders: record.orders,
        }
    }

    /// The verdicts on a run.
    pub fn judge(&self, seed: u64, record: &Record<Note>) -> Vec<Verdict> {
        invariants::judge(&Evidence::new(&self.scenario, &self.catalog, record), seed)
    }
}

fn boxed(actor: impl Actor<Streams> + 'static) -> Box<dyn Actor<Streams>> {
    Box::new(actor)
}

impl Experiment for Trial {
    type Plan = Plan;
    type Outcome = Outcome;

    fn draw(&self, seed: u64) -> Plan {
        let workload = match &self.scenario.workload {
            Some(items) => items.clone(),
            None => draw::workload(&self.scenario, &self.catalog, seed),
        };
        let faults = match &self.scenario.faults {
            Faults::None => Vec::new(),
            Faults::Plan(faults) => faults.clone(),
            Faults::Draw(draw) => draw::menu(&self.scenario, &self.catalog, draw).draw(seed),
        };
        Plan { workload, faults, schedule: self.scenario.schedule.clone() }
    }

    fn run(&self, seed: u64, plan: &Plan, trace: Tracing) -> Outcome {
        self.outcome(seed, self.simulate(seed, plan, trace))
    }
}

impl Forkable for Trial {
    fn fork(&self, seed: u64, plan: &Plan, fork: Fork) -> Outcome {
        self.outcome(seed, self.simulate_from(seed, plan, Tracing::Off, Some(fork)))
    }
}

impl Faulty for Trial {
    fn menu(&self) -> Option<Menu> {
        match &self.scenario.faults {
            Faults::None | Faults::Plan(_) => None,
            Faults::Draw(draw) => Some(draw::menu(&self.scenario, &self.catalog, draw)),
        }
    }
}

impl Diagnose for Trial {
    type Symptom = Invariant;

    fn symptoms(&self, outcome: &Outcome) -> Vec<Invariant> {
        outcome.broken().map(|verdict| verdict.invariant).collect()
    }
}
