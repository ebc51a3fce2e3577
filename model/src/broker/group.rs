//! A consumer group: who is a member, who has which partitions, and in which generation.
//!
//! The classic protocol of Kafka (eager rebalance), with the assignment made by the coordinator. When
//! a member joins, leaves or is not heard of, the group is rebalanced: all members join again, those
//! that do not in time are no longer members, and the next generation begins. Members of an older
//! generation are refused. Offsets and generation are durable; members are not, and join again after
//! the coordinator has restarted.

use std::rc::Rc;

use millpond_sim::NodeId;
use millpond_sim::time::{Instant, Span};

use crate::bugs::{Bug, Bugs};
use crate::message::Reply;
use crate::record::{Generation, GroupId, PartitionId, Position};

#[derive(Clone, Copy, Debug)]
struct Member {
    node: NodeId,
    /// The join that waits for the rebalance to end.
    joining: Option<u64>,
    last_heard: Instant,
    /// Whether it has not been told of a generation yet.
    newcomer: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing is going on.
    Stable,
    /// Members are asked to join again, until the deadline.
    Rebalancing(Instant),
    /// The new generation is being written to disk.
    Storing,
}

/// What a member is told when a rebalance has ended.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) member: NodeId,
    pub(crate) call: u64,
    pub(crate) generation: Generation,
    pub(crate) slots: Rc<[u32]>,
}

#[derive(Debug)]
pub(crate) struct Group {
    id: GroupId,
    slots: u32,
    session: Span,
    rebalance: Span,
    generation: Generation,
    phase: Phase,
    members: Vec<Member>,
    offsets: Vec<Position>,
    /// The last commit of each partition: by whom, and in which of its calls.
    commits: Vec<(PartitionId, NodeId, u64)>,
    bugs: Bugs,
}

impl Group {
    pub(crate) fn new(id: GroupId, slots: u32, session: Span, rebalance: Span, bugs: Bugs) -> Self {
        Self {
            id,
            slots,
            session,
            rebalance,
            generation: Generation(0),
            phase: Phase::Stable,
            members: Vec::new(),
            offsets: Vec::new(),
            commits: Vec::new(),
            bugs,
        }
    }

    pub(crate) fn id(&self) -> GroupId {
        self.id
    }

    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    /// The generation that was on disk.
    pub(crate) fn restore(&mut self, generation: Generation) {
        self.generation = generation;
    }

    /// Takes in offsets that are durable.
    pub(crate) fn committed(&mut self, positions: &[Position]) {
        for position in positions {
            match self.offsets.iter_mut().find(|known| known.partition == position.partition) {
                Some(known) => *known = *position,
                None => self.offsets.push(*position),
            }
        }
    }

    pub(crate) fn offsets(&self) -> Rc<[Position]> {
        self.offsets.clone().into()
    }

    /// Whether a newer commit of the same member has overtaken this one on the way: it would move the
    /// group's offsets back. Calls of one node are numbered upwards, over all its lives.
    pub(crate) fn is_overtaken(&mut self, (node, call): (NodeId, u64), positions: &[Position]) -> bool {
        positions.iter().any(|position| {
            match self.commits.iter_mut().find(|(partition, ..)| *partition == position.partition) {
                Some((_, by, last)) if *by == node && *last > call => true,
                Some(known) => {
                    *known = (position.partition, node, call);
                    false
                }
                None => {
                    self.commits.push((position.partition, node, call));
                    false
                }
            }
        })
    }

    /// Whether the node is a member of this generation.
    pub(crate) fn owns(&self, node: NodeId, generation: Generation) -> bool {
        generation == self.generation && self.members.iter().any(|member| member.node == node)
    }

    pub(crate) fn join(&mut self, node: NodeId, call: u64, now: Instant) {
        match self.members.iter_mut().find(|member| member.node == node) {
            // It waits already.
            Some(member) if member.joining == Some(call) && self.bugs.has(Bug::JoinLeftWaiting) => return,
            Some(member) => (member.joining, member.last_heard) = (Some(call), now),
            None => self.members.push(Member { node, joining: Some(call), last_heard: now, newcomer: true }),
        }
        if self.phase == Phase::Stable {
            self.phase = Phase::Rebalancing(now + self.rebalance);
        }
    }

    pub(crate) fn leave(&mut self, node: NodeId, now: Instant) {
        let before = self.members.len();
        self.members.retain(|member| member.node != node);
        if self.members.len() < before {
            self.rebalance_if_stable(now);
        }
    }

    pub(crate) fn heartbeat(&mut self, node: NodeId, generation: Generation, now: Instant) -> Reply {
        let current = generation == self.generation && self.phase == Phase::Stable;
        match self.members.iter_mut().find(|member| member.node == node) {
            Some(member) => {
                member.last_heard = now;
                if current { Reply::Alive } else { Reply::Rebalance }
            }
            None => Reply::Rebalance,
        }
    }

    /// Gives up members that were not heard of for a session; how many.
    pub(crate) fn expire(&mut self, now: Instant) -> usize {
        let before = self.members.len();
        let session = self.session;
        self.members.retain(|member| member.joining.is_some() || now - member.last_heard < session);
        let expired = before - self.members.len();
        if expired > 0 {
            self.rebalance_if_stable(now);
        }
        expired
    }

    /// Ends the rebalance if it can end: when every member has joined again, or at the deadline. A
    /// group of newcomers always waits for the deadline, lest it be rebalanced for each of them.
    pub(crate) fn complete(&mut self, now: Instant) -> Option<Vec<Joined>> {
        let Phase::Rebalancing(deadline) = self.phase else { return None };
        let all = self.members.iter().all(|member| member.joining.is_some());
        let newcomers = self.members.iter().all(|member| member.newcomer);
        if now < deadline && (newcomers || !all) {
            return None;
        }
        self.members.retain(|member| member.joining.is_some());
        if self.members.is_empty() {
            self.phase = Phase::Stable;
            return None;
        }
        self.members.sort_unstable_by_key(|member| member.node);
        self.generation.0 += 1;
        self.phase = Phase::Storing;
        let (generation, count) = (self.generation, self.members.len() as u32);
        let members = self.members.iter_mut().zip(0..);
        let joined = members.filter_map(|(member, nth)| {
            let slots = (0..self.slots).filter(|slot| slot % count == nth).collect();
            member.joining.take().map(|call| Joined { member: member.node, call, generation, slots })
        });
        Some(joined.collect())
    }

    /// The new generation could not be stored: the rebalance goes on for another while.
    pub(crate) fn postpone(&mut self, joined: Vec<Joined>, now: Instant) {
        self.generation.0 -= 1;
        self.phase = Phase::Rebalancing(now + self.rebalance);
        for Joined { member, call, .. } in joined {
            if let Some(member) = self.members.iter_mut().find(|known| known.node == member) {
                member.joining.get_or_insert(call);
                // Lest it be tried again at once.
                member.newcomer = true;
            }
        }
    }

    /// The new generation is durable and its members have been told.
    pub(crate) fn announced(&mut self, now: Instant) {
        self.phase = Phase::Stable;
        for member in &mut self.members {
            member.last_heard = now;
            member.newcomer = false;
        }
        let waiting = self.members.iter().any(|member| member.joining.is_some());
        if waiting && !self.bugs.has(Bug::JoinLeftWaiting) {
            self.rebalance_if_stable(now);
        }
    }

    /// How long until something must be done without being asked.
    pub(crate) fn next_deadline(&self, now: Instant) -> Option<Span> {
        match self.phase {
            Phase::Rebalancing(deadline) => Some(deadline - now),
            Phase::Storing => None,
            Phase::Stable => {
                let silent = self.members.iter().filter(|member| member.joining.is_none());
                let first = silent.map(|member| member.last_heard + self.session).min()?;
                Some(first - now)
            }
        }
    }

    fn rebalance_if_stable(&mut self, now: Instant) {
        if self.phase == Phase::Stable {
            self.phase = Phase::Rebalancing(now + self.rebalance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Offset;
    use proptest::prelude::*;

    const SESSION: Span = Span::from_millis(100);
    const REBALANCE: Span = Span::from_millis(30);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn group() -> Group {
        Group::new(GroupId(0), 4, SESSION, REBALANCE, Bugs::default())
    }

    fn node(number: u16) -> NodeId {
        NodeId::of_number(number)
    }

    #[test]
    fn newcomers_wait_for_each_other() {
        let mut group = group();
        group.join(node(1), 11, at(0));
        assert!(group.complete(at(10)).is_none());
        group.join(node(2), 12, at(10));
        let joined = group.complete(at(30)).expect("the deadline has come");
        let slots: Vec<_> = joined.iter().map(|joined| (joined.member, joined.slots.to_vec())).collect();
        assert_eq!(slots, [(node(1), vec![0, 2]), (node(2), vec![1, 3])]);
    }

    #[test]
    fn a_silent_member_is_given_up_and_its_generation_is_refused() {
        let mut group = group();
        group.join(node(1), 1, at(0));
        group.join(node(2), 2, at(0));
        group.complete(at(30));
        group.announced(at(30));
        assert!(group.owns(node(2), Generation(1)));
        assert!(matches!(group.heartbeat(node(1), Generation(1), at(120)), Reply::Alive));
        assert_eq!(group.expire(at(140)), 1);
        group.join(node(1), 3, at(150));
        assert!(group.complete(at(150)).is_some(), "all that are left have joined");
        assert!(!group.owns(node(2), Generation(1)) && !group.owns(node(1), Generation(1)));
        assert!(group.owns(node(1), Generation(2)));
    }

    #[test]
    fn a_commit_that_a_newer_one_has_overtaken_does_not_move_the_group_back() {
        let mut group = group();
        let at = |offset| [Position { partition: PartitionId(0), offset: Offset(offset) }];
        assert!(!group.is_overtaken((node(1), 7), &at(1)));
        assert!(!group.is_overtaken((node(1), 7), &at(1)), "the same call again is no older one");
        assert!(!group.is_overtaken((node(1), 9), &at(4)));
        assert!(group.is_overtaken((node(1), 7), &at(1)));
        assert!(!group.is_overtaken((node(2), 3), &at(4)), "another member numbers its own calls");
    }

    #[test]
    fn a_join_while_the_generation_is_stored_begins_another_rebalance() {
        let mut group = group();
        group.join(node(1), 1, at(0));
        group.complete(at(30));
        group.join(node(2), 2, at(31));
        group.announced(at(32));
        assert!(matches!(group.heartbeat(node(1), Generation(1), at(33)), Reply::Rebalance));
    }

    proptest! {
        #[test]
        fn every_partition_has_one_owner_and_generations_only_grow(
            steps in prop::collection::vec((0u8..5, 0u16..4, 1u64..60), 1..120),
        ) {
            let mut group = group();
            let (mut now, mut last) = (0, Generation(0));
            for (what, who, wait) in steps {
                now += wait;
                match what {
                    0 | 1 => group.join(node(who), now, at(now)),
                    2 => group.leave(node(who), at(now)),
                    3 => drop(group.heartbeat(node(who), group.generation(), at(now))),
                    _ => {
                        group.expire(at(now));
                    }
                }
                if let Some(joined) = group.complete(at(now)) {
                    prop_assert!(group.generation() > last);
                    last = group.generation();
                    let mut slots: Vec<u32> = joined.iter().flat_map(|joined| joined.slots.iter().copied()).collect();
                    slots.sort_unstable();
                    prop_assert_eq!(slots, [0, 1, 2, 3]);
                    group.announced(at(now));
                }
            }
        }
    }
}
