//! How messages travel, and the faults that meet them here.
//!
//! Each direction of each link has its own latency draws, so that a fault on one link leaves all
//! other links as they were. A message takes a latency drawn for it; on a link in FIFO order it
//! never arrives before an earlier one. Rules, the faults at work, are asked in the order in which
//! they began; each may lose, delay, double or hold the message. A message is also lost if its link
//! is cut when it would arrive.

use crate::node::{NodeId, NodeSet};
use crate::random::{Key, Purpose, Stream, scale};
use crate::schedule::Moved;
use crate::time::{Instant, Odds, Span};

/// The order of messages on one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As sent, as a connection gives.
    #[default]
    Fifo,
    /// As the drawn latencies have it.
    Free,
}

/// How one direction of a link behaves where no fault says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The shortest time that a message takes.
    pub latency: Span,
    /// Up to this much is added, drawn evenly for each message.
    pub jitter: Span,
    /// The share of messages that is lost.
    pub loss: Odds,
    /// The share of messages that arrives twice.
    pub duplicates: Odds,
    /// The order of messages.
    pub order: Order,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            latency: Span::from_millis(1),
            jitter: Span::from_millis(4),
            loss: Odds::NEVER,
            duplicates: Odds::NEVER,
            order: Order::Fifo,
        }
    }
}

/// A fault at work on the messages from some nodes to some nodes.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) fault: u32,
    pub(crate) from: NodeSet,
    pub(crate) to: NodeSet,
    pub(crate) until: Instant,
    pub(crate) effect: Effect,
}

#[derive(Debug)]
pub(crate) enum Effect {
    Cut,
    Slow(Span),
    Lose(Odds),
    LoseReplies { left: u32 },
    Duplicate(Odds),
    Reorder(Span),
    Hold,
}

/// When a message arrives, with its tie; the second time where it arrives twice.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arrivals {
    pub(crate) first: (Instant, u32),
    pub(crate) second: Option<(Instant, u32)>,
}

struct Direction {
    latency: Stream,
    last: Instant,
    /// How many messages were sent.
    sent: u32,
    /// Streams for what happens to few messages, made when first needed.
    odd: Option<Box<OddStreams>>,
}

struct OddStreams {
    loss: Stream,
    duplicate: Stream,
    reorder: Stream,
}

const UNUSED: u32 = u32::MAX;

pub(crate) struct Network {
    key: Key,
    nodes: usize,
    default: Link,
    /// Links that differ from the default.
    special: Vec<(NodeId, NodeId, Link)>,
    /// Where the state of each direction is, by sender and receiver.
    index: Vec<u32>,
    directions: Vec<Direction>,
    pub(crate) rules: Vec<Rule>,
    /// Overrides of the schedule, and when they end.
    pub(crate) moved: Vec<Moved>,
    pub(crate) moved_until: Instant,
}

impl Network {
    pub(crate) fn new(key: Key, default: Link) -> Self {
        let (index, directions, rules, moved) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (special, moved_until) = (Vec::new(), Instant::MAX);
        Self { key, nodes: 0, default, special, index, directions, rules, moved, moved_until }
    }

    /// Draws from another key from now on.
    pub(crate) fn rekey(&mut self, key: Key) {
        self.key = key;
        for (at, index) in self.index.iter().enumerate().filter(|(_, index)| **index != UNUSED) {
            let (from, to) = (NodeId::new(at / self.nodes), NodeId::new(at % self.nodes));
            let direction = &mut self.directions[*index as usize];
            direction.latency = self.key.stream(Purpose::Latency, entity(from, to));
            direction.odd = None;
        }
    }

    /// Makes room for the links among this many nodes.
    pub(crate) fn set_nodes(&mut self, nodes: usize) {
        self.nodes = nodes;
        self.index = vec![UNUSED; nodes * nodes];
    }

    pub(crate) fn set_link(&mut self, from: NodeId, to: NodeId, link: Link) {
        self.special.retain(|(f, t, _)| (*f, *t) != (from, to));
        self.special.push((from, to, link));
    }

    /// The fault that cuts a link now.
    pub(crate) fn cut(&self, from: NodeId, to: NodeId) -> Option<u32> {
        let cuts = self.rules.iter().filter(|rule| matches!(rule.effect, Effect::Cut));
        cuts.filter(|rule| rule.covers(from, to)).map(|rule| rule.fault).next()
    }

    /// When a message that is sent now arrives, none where it is lost. `bite` is told of each fault
    /// that had an effect on it.
    #[inline]
    pub(crate) fn route(
        &mut self,
        now: Instant,
        from: NodeId,
        to: NodeId,
        is_reply: impl FnOnce() -> bool,
        bite: impl FnMut(u32),
    ) -> Option<Arrivals> {
        let at = from.index() * self.nodes + to.index();
        if self.index[at] == UNUSED {
            self.open(at, from, to);
        }
        let link = self.link(from, to);
        let direction = &mut self.directions[self.index[at] as usize];
        let bits = direction.latency.bits();
        // One draw serves both: its high bits choose the latency, its low bits the tie.
        let mut latency = link.latency + Span::from_nanos(scale(bits, link.jitter.as_nanos() + 1));
        let tie = bits as u32;
        direction.sent = direction.sent.wrapping_add(1);
        if !self.moved.is_empty() && now < self.moved_until {
            let added = self.moved.iter().map(|moved| moved.adds(from, to, direction.sent));
            latency = added.fold(latency, |latency, added| latency + added);
        }
        if self.rules.is_empty() && link.loss.is_never() && link.duplicates.is_never() {
            let arrival = direction.in_order(now + latency, link.order);
            return Some(Arrivals { first: (arrival, tie), second: None });
        }
        self.route_oddly(now, (from, to), link, (latency, tie), is_reply, bite)
    }

    fn route_oddly(
        &mut self,
        now: Instant,
        (from, to): (NodeId, NodeId),
        link: Link,
        (mut latency, tie): (Span, u32),
        is_reply: impl FnOnce() -> bool,
        mut bite: impl FnMut(u32),
    ) -> Option<Arrivals> {
        let direction = &mut self.directions[self.index[from.index() * self.nodes + to.index()] as usize];
        let odd = direction.odd.get_or_insert_with(|| {
            let entity = entity(from, to);
            Box::new(OddStreams {
                loss: self.key.stream(Purpose::Loss, entity),
                duplicate: self.key.stream(Purpose::Duplicate, entity),
                reorder: self.key.stream(Purpose::Reorder, entity),
            })
        });
        let is_reply = is_reply();
        let mut order = link.order;
        let mut released = Instant::ZERO;
        let mut twice = !link.duplicates.is_never() && odd.duplicate.hit(link.duplicates);
        if !link.loss.is_never() && odd.loss.hit(link.loss) {
            return None;
        }
        for rule in self.rules.iter_mut().filter(|rule| rule.covers(from, to)) {
            let bites = match &mut rule.effect {
                Effect::Cut => {
                    bite(rule.fault);
                    return None;
                }
                Effect::Slow(by) => {
                    latency = latency + *by;
                    true
                }
                Effect::Lose(odds) => {
                    if odd.loss.hit(*odds) {
                        bite(rule.fault);
                        return None;
                    }
                    false
                }
                Effect::LoseReplies { left } => {
                    if is_reply && *left > 0 {
                        *left -= 1;
                        bite(rule.fault);
                        return None;
                    }
                    false
                }
                Effect::Duplicate(odds) => {
                    let hit = odd.duplicate.hit(*odds);
                    twice |= hit;
                    hit
                }
                Effect::Reorder(spread) => {
                    latency = latency + odd.reorder.span(Span::ZERO, *spread);
                    order = Order::Free;
                    true
                }
                Effect::Hold => {
                    released = released.max(rule.until);
                    true
                }
            };
            if bites {
                bite(rule.fault);
            }
        }
        let arrival = direction.in_order((now + latency).max(released), order);
        let second = twice.then(|| {
            let bits = odd_duplicate(direction);
            let gap = link.latency + Span::from_nanos(scale(bits, link.jitter.as_nanos() + 1));
            (direction.in_order(arrival + gap, order), bits as u32)
        });
        Some(Arrivals { first: (arrival, tie), second })
    }

    fn open(&mut self, at: usize, from: NodeId, to: NodeId) {
        self.index[at] = self.directions.len() as u32;
        let latency = self.key.stream(Purpose::Latency, entity(from, to));
        self.directions.push(Direction { latency, last: Instant::ZERO, sent: 0, odd: None });
    }

    #[inline]
    fn link(&self, from: NodeId, to: NodeId) -> Link {
        let special = self.special.iter().find(|(f, t, _)| (*f, *t) == (from, to));
        special.map_or(self.default, |(_, _, link)| *link)
    }
}

fn odd_duplicate(direction: &mut Direction) -> u64 {
    direction.odd.as_mut().map_or(0, |odd| odd.duplicate.bits())
}

fn entity(from: NodeId, to: NodeId) -> u64 {
    u64::from(from.number()) << 16 | u64::from(to.number())
}

impl Direction {
    #[inline]
    fn in_order(&mut self, arrival: Instant, order: Order) -> Instant {
        match order {
            Order::Fifo => {
                let arrival = arrival.max(self.last + Span::NANO);
                self.last = arrival;
                arrival
            }
            Order::Free => arrival,
        }
    }
}

impl Rule {
    fn covers(&self, from: NodeId, to: NodeId) -> bool {
        self.from.contains(from) && self.to.contains(to)
    }
}
