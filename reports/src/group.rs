//! Failures that look alike: the same invariant, and smallest plans of the same shape.

use std::collections::BTreeMap;

use millpond_model::outcome::Plan;

use crate::failure::{Failure, Size};

/// How many seeds of a group are named.
const NAMED: usize = 8;

/// Failures of one scenario that look alike.
#[derive(Clone, Debug)]
pub struct Group {
    /// The member with the smallest plan; of equals the one that was found first.
    pub smallest: Failure,
    /// The seeds of all members, in the order in which they were found.
    pub seeds: Vec<u64>,
}

/// The groups of a scenario, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub struct Groups(Vec<(String, Group)>);

impl Groups {
    /// Adds a failure to those that look like it.
    pub fn add(&mut self, failure: &Failure) {
        let key = format!("{}: {}", failure.cause.name(), shape(&failure.plan));
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => {
                group.seeds.push(failure.seed);
                if weight(failure) < weight(&group.smallest) {
                    group.smallest = failure.clone();
                }
            }
            None => self.0.push((key, Group { smallest: failure.clone(), seeds: vec![failure.seed] })),
        }
    }

    /// Takes all groups out.
    pub fn take(&mut self) -> Vec<Group> {
        std::mem::take(&mut self.0).into_iter().map(|(_, group)| group).collect()
    }
}

impl Group {
    /// What a reader is told of the other members; nothing where there are none.
    pub fn others(&self) -> Option<String> {
        let all = self.seeds.len();
        let named: Vec<_> = self.seeds.iter().take(NAMED).map(u64::to_string).collect();
        let more = if all > NAMED { ", ..." } else { "" };
        let shape = shape(&self.smallest.plan);
        (all > 1)
            .then(|| format!("{all} failures look like this one ({shape}): seeds {}{more}", named.join(", ")))
    }
}

fn weight(failure: &Failure) -> (usize, u64) {
    let Size { faults, records, delays } = Size::of(&failure.plan);
    (faults + records + delays, failure.outcome.events)
}

/// The shape of a plan: which kinds of faults hit which roles, and whether messages were moved. A role
/// is a node without its number.
pub fn shape(plan: &Plan) -> String {
    let role = |node: &String| match node.rsplit_once('-') {
        Some((role, number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => role.to_owned(),
        _ => node.clone(),
    };
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    for fault in &plan.faults {
        let (first, second) = fault.what.nodes();
        let mut roles: Vec<_> = first.iter().chain(second).map(role).collect();
        roles.sort();
        roles.dedup();
        *count.entry(format!("{} {}", fault.what.kind(), roles.join("/"))).or_default() += 1;
    }
    if !plan.schedule.is_empty() {
        count.insert("moved messages".to_owned(), 1);
    }
    let kinds: Vec<_> = count
        .into_iter()
        .map(|(kind, times)| if times > 1 { format!("{times}x {kind}") } else { kind })
        .collect();
    if kinds.is_empty() { "no fault".to_owned() } else { kinds.join(" + ") }
}
