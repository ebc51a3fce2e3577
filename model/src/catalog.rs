//! What every node knows of the cluster: who leads which partition, which group reads what.

use millpond_sim::NodeId;
use millpond_sim::time::Span;

use crate::bugs::Bugs;
use crate::record::{GroupId, Key, PartitionId};
use crate::scenario::schema::{Commit, Scenario, Step, Version};

/// A topic of the catalog.
#[derive(Clone, Debug)]
pub struct TopicInfo {
    /// Its name.
    pub name: String,
    /// Its partitions, in order.
    pub partitions: Vec<PartitionId>,
    /// Whether some join needs its watermarks.
    pub watermarked: bool,
}

/// A partition of the catalog.
#[derive(Clone, Copy, Debug)]
pub struct PartitionInfo {
    /// Its topic, as an index.
    pub topic: usize,
    /// Its number in the topic.
    pub number: u32,
    /// The broker that has it.
    pub leader: NodeId,
}

/// Where a group writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nowhere.
    None,
    /// A topic, as an index.
    Topic(usize),
    /// A sink, as an index.
    Sink(usize),
}

/// A processor as a consumer group.
#[derive(Clone, Debug)]
pub struct GroupInfo {
    /// The name of the processor.
    pub name: String,
    /// The broker that coordinates it.
    pub coordinator: NodeId,
    /// Its instances.
    pub members: Vec<NodeId>,
    /// How long a member may be silent.
    pub session: Span,
    /// Its input topics, as indexes.
    pub inputs: Vec<usize>,
    /// Which of the inputs is the table of a join.
    pub table: Option<usize>,
    /// Where it writes to.
    pub target: Target,
    /// Whether its input offsets are stored by the sink, with the output.
    pub positions_in_sink: bool,
}

/// A producer of the catalog.
#[derive(Clone, Debug)]
pub struct ProducerInfo {
    /// Its name.
    pub name: String,
    /// Its topic, as an index.
    pub topic: usize,
    /// Its instances.
    pub nodes: Vec<NodeId>,
}

/// A sink of the catalog.
#[derive(Clone, Debug)]
pub struct SinkInfo {
    /// Its name.
    pub name: String,
    /// Its node.
    pub node: NodeId,
}

/// The cluster as a scenario describes it. Nodes are numbered: brokers, producers, processors,
/// sinks, each in the order of their names, and the observer last.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// The brokers.
    pub brokers: Vec<NodeId>,
    /// The topics in the order of their names.
    pub topics: Vec<TopicInfo>,
    /// All partitions by number.
    pub partitions: Vec<PartitionInfo>,
    /// The producers in the order of their names.
    pub producers: Vec<ProducerInfo>,
    /// The processors in the order of their names.
    pub groups: Vec<GroupInfo>,
    /// The sinks in the order of their names.
    pub sinks: Vec<SinkInfo>,
    /// The client that looks at everything in the end.
    pub observer: NodeId,
    /// The names of all nodes by number.
    pub names: Vec<String>,
    /// The mistakes that are planted in all of them.
    pub bugs: Bugs,
}

impl Catalog {
    /// The catalog of a scenario that has been validated.
    pub fn new(scenario: &Scenario) -> Self {
        let mut names = Vec::new();
        let mut node = |name: String| {
            names.push(name);
            NodeId::of_number(names.len() as u16 - 1)
        };
        let brokers: Vec<NodeId> = (0..scenario.brokers.count).map(|n| node(format!("broker-{n}"))).collect();
        let mut partitions = Vec::new();
        let mut topics = Vec::new();
        for (index, (name, topic)) in scenario.topics.iter().enumerate() {
            let first = partitions.len();
            for number in 0..topic.partitions {
                // Neighbours live on different brokers, and topics begin on different ones.
                let leader = brokers[(index + number as usize) % brokers.len()];
                partitions.push(PartitionInfo { topic: index, number, leader });
            }
            topics.push(TopicInfo {
                name: name.clone(),
                partitions: (first..partitions.len()).map(|at| PartitionId(at as u16)).collect(),
                watermarked: false,
            });
        }
        let topic_at = |name: &str| scenario.topics.names().position(|topic| topic == name);
        let mut producers = Vec::new();
        for (name, producer) in &scenario.producers {
            producers.push(ProducerInfo {
                name: name.clone(),
                topic: topic_at(&producer.topic).unwrap_or(0),
                nodes: (0..producer.count).map(|n| node(format!("{name}-{n}"))).collect(),
            });
        }
        let mut groups = Vec::new();
        for (index, (name, processor)) in scenario.processors.iter().enumerate() {
            let join = processor.steps.iter().find_map(|step| match step {
                Step::Join { table, with } => Some((table, *with)),
                _ => None,
            });
            if let Some(table) =
                join.filter(|(_, with)| *with == Version::Versioned).and_then(|(table, _)| topic_at(table))
            {
                topics[table].watermarked = true;
            }
            let target = match &processor.to {
                None => Target::None,
                Some(to) => match scenario.sinks.names().position(|sink| sink == to) {
                    Some(sink) => Target::Sink(sink),
                    None => topic_at(to).map_or(Target::None, Target::Topic),
                },
            };
            groups.push(GroupInfo {
                name: name.clone(),
                coordinator: brokers[index % brokers.len()],
                members: (0..processor.instances).map(|n| node(format!("{name}-{n}"))).collect(),
                session: processor.session,
                inputs: processor.from.iter().filter_map(|topic| topic_at(topic)).collect(),
                table: join.and_then(|(table, _)| processor.from.iter().position(|topic| topic == table)),
                target,
                positions_in_sink: processor.commit == Commit::Together,
            });
        }
        let sinks = scenario.sinks.names();
        let sinks =
            sinks.map(|name| SinkInfo { name: name.to_owned(), node: node(name.to_owned()) }).collect();
        let observer = node("observer".to_owned());
        let bugs = Bugs::named(&scenario.bugs);
        Self { brokers, topics, partitions, producers, groups, sinks, observer, names, bugs }
    }

    /// A partition as people write it: `orders/3`.
    pub fn partition_name(&self, partition: PartitionId) -> String {
        let info = &self.partitions[partition.index()];
        format!("{}/{}", self.topics[info.topic].name, info.number)
    }

    /// The broker that has a partition.
    pub fn leader(&self, partition: PartitionId) -> NodeId {
        self.partitions[partition.index()].leader
    }

    /// The partition of a topic that a key belongs to.
    pub fn partition_for(&self, topic: usize, key: Key) -> PartitionId {
        let partitions = &self.topics[topic].partitions;
        partitions[key.partition(partitions.len() as u32) as usize]
    }

    /// A group.
    pub fn group(&self, group: GroupId) -> &GroupInfo {
        &self.groups[group.0 as usize]
    }

    /// The partitions with this number of all inputs of a group, in the order of the inputs.
    pub fn task_inputs(&self, group: GroupId, slot: u32) -> impl Iterator<Item = PartitionId> {
        self.group(group).inputs.iter().map(move |topic| self.topics[*topic].partitions[slot as usize])
    }

    /// How many partitions each input of a group has.
    pub fn slots(&self, group: GroupId) -> u32 {
        self.group(group).inputs.first().map_or(0, |topic| self.topics[*topic].partitions.len() as u32)
    }
}
