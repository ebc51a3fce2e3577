//! A small laboratory: actors made of closures, on links that take exactly a millisecond, and words
//! to say what they have seen.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use std::fmt;
use std::rc::Rc;

use millpond_sim::disk::{SyncFailed, SyncId};
use millpond_sim::fault::{Event, Fault, Kind, Trigger, What, When};
use millpond_sim::network::Link;
use millpond_sim::time::{Instant, Span};
use millpond_sim::{Actor, Context, Message, NodeId, Note, Protocol, Record, Settings, World, digest};

/// A message: a kind, a number, and whether it is a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Msg(pub &'static str, pub u64);

impl fmt::Display for Msg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}

impl Message for Msg {
    fn kind(&self) -> &'static str {
        self.0
    }
    fn digest(&self) -> u64 {
        digest(&[text_digest(self.0), self.1])
    }
    fn is_reply(&self) -> bool {
        self.0 == "Reply"
    }
}

fn text_digest(text: &str) -> u64 {
    text.bytes().fold(0, |hash, byte| digest(&[hash, u64::from(byte)]))
}

/// What an actor says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said(pub String);

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Note for Said {
    fn digest(&self) -> u64 {
        text_digest(&self.0)
    }
}

#[derive(Debug)]
pub struct Lab;

impl Protocol for Lab {
    type Message = Msg;
    type Stored = u64;
    type Note = Said;
}

pub type Ctx<'a, 'b> = &'a mut Context<'b, Lab>;

type OnStart = Rc<dyn Fn(&mut Context<'_, Lab>)>;
type OnMessage = Rc<dyn Fn(&mut Context<'_, Lab>, NodeId, Msg)>;
type OnTimer = Rc<dyn Fn(&mut Context<'_, Lab>, u64)>;
type OnSynced = Rc<dyn Fn(&mut Context<'_, Lab>, SyncId, Result<(), SyncFailed>)>;

/// An actor made of closures; what is not given does nothing.
#[derive(Clone, Default)]
pub struct Script {
    start: Option<OnStart>,
    message: Option<OnMessage>,
    timer: Option<OnTimer>,
    synced: Option<OnSynced>,
    stop: Option<OnStart>,
}

impl Script {
    pub fn start(mut self, f: impl Fn(&mut Context<'_, Lab>) + 'static) -> Self {
        self.start = Some(Rc::new(f));
        self
    }
    pub fn message(mut self, f: impl Fn(&mut Context<'_, Lab>, NodeId, Msg) + 'static) -> Self {
        self.message = Some(Rc::new(f));
        self
    }
    pub fn timer(mut self, f: impl Fn(&mut Context<'_, Lab>, u64) + 'static) -> Self {
        self.timer = Some(Rc::new(f));
        self
    }
    pub fn synced(
        mut self,
        f: impl Fn(&mut Context<'_, Lab>, SyncId, Result<(), SyncFailed>) + 'static,
    ) -> Self {
        self.synced = Some(Rc::new(f));
        self
    }
    pub fn stop(mut self, f: impl Fn(&mut Context<'_, Lab>) + 'static) -> Self {
        self.stop = Some(Rc::new(f));
        self
    }
}

impl Actor<Lab> for Script {
    fn start(&mut self, context: &mut Context<'_, Lab>) {
        if let Some(f) = &self.start {
            f(context);
        }
    }
    fn message(&mut self, context: &mut Context<'_, Lab>, from: NodeId, message: Msg) {
        if let Some(f) = &self.message {
            f(context, from, message);
        }
    }
    fn timer(&mut self, context: &mut Context<'_, Lab>, token: u64) {
        if let Some(f) = &self.timer {
            f(context, token);
        }
    }
    fn synced(&mut self, context: &mut Context<'_, Lab>, sync: SyncId, result: Result<(), SyncFailed>) {
        if let Some(f) = &self.synced {
            f(context, sync, result);
        }
    }
    fn stop(&mut self, context: &mut Context<'_, Lab>) {
        if let Some(f) = &self.stop {
            f(context);
        }
    }
}

/// Says something.
pub fn say(context: &mut Context<'_, Lab>, text: impl Into<String>) {
    context.note(Said(text.into()));
}

/// The first node that was added.
pub const A: NodeId = NodeId::of_number(0);
/// The second.
pub const B: NodeId = NodeId::of_number(1);

/// Sends `Tick n` to `to` at each millisecond n from 1 on, up to 200, in whichever life; says `up`.
pub fn ticker(to: NodeId) -> Script {
    let next = |c: Ctx| c.set_timer(Span::from_millis(1), 0);
    Script::default()
        .start(move |c| {
            say(c, "up");
            next(c);
        })
        .timer(move |c, _| {
            let n = c.monotonic().as_nanos() / 1_000_000;
            c.send(to, Msg("Tick", n));
            if n < 200 {
                next(c);
            }
        })
}

/// Says every message that it gets, and `up` at each start.
pub fn listener() -> Script {
    Script::default().start(|c| say(c, "up")).message(|c, _, message| say(c, message.to_string()))
}

/// A server that writes each number that it is told, syncs, and replies when that has ended: a
/// durable set. At its start it says what it has recovered.
pub fn keeper() -> Script {
    Script::default()
        .start(|c| {
            let log = c.disk().log("kept");
            let kept: Vec<String> = c
                .disk()
                .entries(log)
                .map(|entry| entry.map_or_else(|damage| format!("{damage:?}"), ToString::to_string))
                .collect();
            say(c, format!("kept [{}]", kept.join(" ")));
        })
        .message(|c, from, message| {
            let log = c.disk().log("kept");
            match c.append(log, message.1) {
                Ok(_) => {
                    c.sync();
                    c.send(from, Msg("Reply", message.1));
                }
                Err(full) => say(c, full.to_string()),
            }
        })
        .synced(|c, _, result| {
            say(c, if result.is_ok() { "synced" } else { "sync failed" });
        })
        .stop(|c| say(c, "stops"))
}

/// A world whose links take a millisecond each way, and whose syncs take one, too.
pub fn settings(seed: u64) -> Settings {
    Settings {
        seed,
        link: Link { latency: ms(1), jitter: Span::ZERO, ..Link::default() },
        sync: (ms(1), ms(1)),
        trace: true,
        ..Settings::default()
    }
}

/// A world of scripts, named `a`, `b`, `c`.
pub fn world(settings: Settings, scripts: Vec<Script>) -> World<Lab> {
    let mut world = World::new(settings);
    for (script, name) in scripts.into_iter().zip(["a", "b", "c", "d"]) {
        world.add_node(name, move |_| Box::new(script.clone()));
    }
    world
}

/// Runs scripts under faults; all heals at 150 ms, and the run ends at 300 ms.
pub fn run(scripts: Vec<Script>, faults: &[Fault]) -> Record<Said> {
    world(settings(1), scripts).run(faults, at_ms(150), at_ms(300)).expect("the plan fits the world")
}

pub fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

pub fn at_ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

pub fn at(millis: u64, what: What) -> Fault {
    Fault { when: When::At(at_ms(millis)), what }
}

pub fn sends(node: &str, kind: &str, nth: u32) -> Trigger {
    Trigger { node: node.into(), event: Event::Sends(kind.into()), nth }
}

pub fn receives(node: &str, kind: &str, nth: u32) -> Trigger {
    Trigger { node: node.into(), event: Event::Receives(kind.into()), nth }
}

pub fn reaches(node: &str, point: &str, nth: u32) -> Trigger {
    Trigger { node: node.into(), event: Event::Reaches(point.into()), nth }
}

pub fn before(trigger: Trigger, what: What) -> Fault {
    Fault { when: When::Before(trigger), what }
}

pub fn after(trigger: Trigger, what: What) -> Fault {
    Fault { when: When::After(trigger), what }
}

pub fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

pub fn crash(node: &str, down: u64) -> What {
    What::Crash { nodes: names(&[node]), down: ms(down) }
}

pub fn pause(node: &str, lasts: u64) -> What {
    What::Pause { nodes: names(&[node]), lasts: ms(lasts) }
}

/// What a node said, in order.
pub fn said(record: &Record<Said>, node: NodeId) -> Vec<&str> {
    record.history.iter().filter(|noted| noted.node == node).map(|noted| &*noted.note.0).collect()
}

/// The times in milliseconds at which a node said this.
pub fn when(record: &Record<Said>, node: NodeId, text: &str) -> Vec<u64> {
    let noted = record.history.iter().filter(|noted| noted.node == node && noted.note.0 == text);
    noted.map(|noted| noted.time.as_nanos() / 1_000_000).collect()
}

/// The numbers of the ticks that a node said it got, in order.
pub fn ticks(record: &Record<Said>, node: NodeId) -> Vec<u64> {
    said(record, node).iter().filter_map(|text| text.strip_prefix("Tick ")?.parse().ok()).collect()
}

/// The ticks from 1 to 200 that a node did not get.
pub fn missed(record: &Record<Said>, node: NodeId) -> Vec<u64> {
    let got = ticks(record, node);
    (1..=200).filter(|n| !got.contains(n)).collect()
}

/// Whether the first fault of the plan took effect.
pub fn bit(record: &Record<Said>) -> bool {
    record.faults[0].1
}

/// Whether each fault of the plan took effect.
pub fn bites(record: &Record<Said>) -> Vec<bool> {
    record.faults.iter().map(|(_, bit): &(Kind, bool)| *bit).collect()
}
