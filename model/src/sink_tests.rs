//! What a sink answers to batches that come late, twice, or from a writer that was replaced.

use std::cell::RefCell;
use std::rc::Rc;

use millpond_sim::time::{Instant, Span};
use millpond_sim::{Actor, Context, NodeId, Settings, World};

use crate::bugs::Bugs;
use crate::message::{Message, Refusal, Reply, Request, Streams};
use crate::record::{Generation, GroupId, Key, Offset, PartitionId, Position};
use crate::scenario::schema::Write;
use crate::sink::{Output, Sink, WriteBatch};

/// Sends batches one after the other, keeps the answers, and reads the row in the end.
struct Writer {
    sink: NodeId,
    batches: Vec<WriteBatch>,
    replies: Rc<RefCell<Vec<Reply>>>,
}

impl Actor<Streams> for Writer {
    fn start(&mut self, context: &mut Context<'_, Streams>) {
        context.set_timer(Span::from_millis(20), 0);
    }

    fn timer(&mut self, context: &mut Context<'_, Streams>, token: u64) {
        let request = match self.batches.get(token as usize) {
            Some(batch) => Request::Write(Rc::new(batch.clone())),
            None => Request::Read(Key::new(0), None),
        };
        context.send(self.sink, Message::Request(token, request));
        if (token as usize) < self.batches.len() {
            context.set_timer(Span::from_millis(50), token + 1);
        }
    }

    fn message(&mut self, _: &mut Context<'_, Streams>, _: NodeId, message: Message) {
        if let Message::Reply(_, reply) = message {
            self.replies.borrow_mut().push(reply);
        }
    }
}

fn batch(generation: u32, sequence: u32, value: i64) -> WriteBatch {
    let from = Position { partition: PartitionId(0), offset: Offset(value as u64) };
    let outputs = [Output { key: Key::new(0), value, from }].into();
    WriteBatch {
        group: GroupId(0),
        slot: 0,
        generation: Generation(generation),
        sequence,
        outputs,
        moves: None,
    }
}

/// The answers to the batches, and the value in the end.
fn answers(write: Write, fence: bool, batches: &[WriteBatch]) -> (Vec<&'static str>, i64) {
    let mut world: World<Streams> = World::new(Settings::default());
    let sink = world.add_node("sink", move |_| Box::new(Sink::new(write, fence, Bugs::default())));
    let replies = Rc::new(RefCell::new(Vec::new()));
    let (batches, kept) = (batches.to_vec(), replies.clone());
    world.add_node("writer", move |_| {
        Box::new(Writer { sink, batches: batches.clone(), replies: kept.clone() })
    });
    let end = Instant::ZERO + Span::from_secs(2);
    world.run(&[], end, end).expect("no fault names a node");
    let mut replies = replies.take();
    let Some(Reply::Row(Some((value, _)))) = replies.pop() else { panic!("the row was read last") };
    let word = |reply: &Reply| match reply {
        Reply::Written => "written",
        Reply::Refused(Refusal::Fenced) => "fenced",
        other => panic!("not an answer to a write: {other:?}"),
    };
    (replies.iter().map(word).collect(), value)
}

#[test]
fn a_batch_that_a_newer_one_has_overtaken_is_refused_by_a_fence() {
    let late = [batch(1, 2, 20), batch(1, 1, 10)];
    assert_eq!(answers(Write::Upsert, true, &late), (vec!["written", "fenced"], 20));
    assert_eq!(answers(Write::Upsert, false, &late), (vec!["written", "written"], 10));
}

#[test]
fn the_same_batch_again_is_no_late_one() {
    let again = [batch(1, 1, 10), batch(1, 1, 10)];
    assert_eq!(answers(Write::Upsert, true, &again), (vec!["written", "written"], 10));
    assert_eq!(answers(Write::Increment, true, &again), (vec!["written", "written"], 20));
    assert_eq!(answers(Write::Guarded, true, &again), (vec!["written", "written"], 10));
}

#[test]
fn a_newer_generation_begins_to_count_anew_and_makes_the_older_one_stale() {
    let takeover = [batch(1, 7, 10), batch(2, 1, 20), batch(1, 8, 30)];
    assert_eq!(answers(Write::Upsert, true, &takeover), (vec!["written", "written", "fenced"], 20));
    assert_eq!(answers(Write::Upsert, false, &takeover), (vec!["written"; 3], 30));
}
