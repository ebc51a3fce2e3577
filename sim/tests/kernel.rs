//! What a world promises to its actors: lives, disks, timers, triggers, bounds, and the record.

mod support;

use std::collections::BTreeSet;

use millpond_sim::fault::{PlanError, What};
use millpond_sim::time::{Instant, Odds};
use millpond_sim::trace::{EventId, Happening};
use millpond_sim::{Bounds, Ending, Limit, NodeId, Settings};
use support::*;

/// On `Go` does one thing after the other: `Tick 1`, point `between`, `Tick 2`, then says `done`.
fn worker() -> Script {
    Script::default().start(|c| say(c, "up")).message(|c, _, message| {
        if message.0 == "Go" {
            c.send(B, Msg("Tick", 1));
            c.point("between");
            c.send(B, Msg("Tick", 2));
            say(c, "done");
        }
    })
}

/// Says what it gets, and sends `Go` to `a` at 10, 20 and 30 ms.
fn starter() -> Script {
    listener()
        .start(|c| {
            for n in 1..=3 {
                c.set_timer(ms(10 * n), n);
            }
        })
        .timer(|c, n| c.send(A, Msg("Go", n)))
}

fn working(faults: &[millpond_sim::fault::Fault]) -> millpond_sim::Record<Said> {
    run(vec![worker(), starter()], faults)
}

#[test]
fn what_was_sent_before_a_crash_still_arrives() {
    let record = working(&[after(sends("a", "Tick", 2), crash("a", 5))]);
    assert_eq!(ticks(&record, B), [1, 2, 1, 2, 1, 2]);
    assert_eq!(when(&record, A, "done"), [21, 31], "but the callback goes no further");
}

#[test]
fn a_crash_before_a_send_keeps_the_message_from_being_sent() {
    let record = working(&[before(sends("a", "Tick", 2), crash("a", 5))]);
    assert_eq!(ticks(&record, B), [1, 1, 2, 1, 2]);
    assert!(bit(&record));
}

#[test]
fn the_nth_event_is_the_one_that_counts() {
    let record = working(&[before(sends("a", "Tick", 4), crash("a", 5))]);
    assert_eq!(ticks(&record, B), [1, 2, 1, 1, 2]);
    let record = working(&[before(sends("a", "Tick", 7), crash("a", 5))]);
    assert!(!bit(&record), "there are only six");
}

#[test]
fn a_crash_before_a_receipt_loses_the_message() {
    let record = working(&[before(receives("a", "Go", 2), crash("a", 5))]);
    assert_eq!(ticks(&record, B), [1, 2, 1, 2]);
    assert_eq!(when(&record, A, "up"), [0, 26]);
}

#[test]
fn a_crash_after_a_receipt_leaves_its_effects() {
    let record = working(&[after(receives("a", "Go", 2), crash("a", 5))]);
    assert_eq!(ticks(&record, B), [1, 2, 1, 2, 1, 2]);
    assert_eq!(when(&record, A, "up"), [0, 26]);
}

#[test]
fn a_crash_at_a_point_cuts_the_callback_in_two() {
    for fault in
        [before(reaches("a", "between", 2), crash("a", 5)), after(reaches("a", "between", 2), crash("a", 5))]
    {
        let record = working(&[fault]);
        assert_eq!(ticks(&record, B), [1, 2, 1, 1, 2]);
    }
}

#[test]
fn a_stop_at_a_point_lets_the_callback_end() {
    let stop = What::Stop { nodes: names(&["a"]), down: ms(5) };
    let record = working(&[before(reaches("a", "between", 2), stop)]);
    assert_eq!(ticks(&record, B), [1, 2, 1, 2, 1, 2]);
    assert_eq!(when(&record, A, "up"), [0, 26]);
    assert!(bit(&record));
}

#[test]
fn a_trigger_may_hit_another_node() {
    let record = working(&[before(sends("a", "Tick", 2), crash("b", 5))]);
    assert_eq!(when(&record, A, "done"), [11, 27, 37, 47], "b begins again at 16 ms");
    assert_eq!(ticks(&record, B), [1, 2, 1, 2, 1, 2], "those of 11 ms are lost with it");
}

#[test]
fn a_pause_makes_a_zombie_that_acts_late_and_in_order() {
    let record = working(&[before(reaches("a", "between", 1), pause("a", 50))]);
    assert_eq!(when(&record, B, "Tick 1"), [12, 62, 62]);
    assert_eq!(ticks(&record, B), [1, 2, 1, 2, 1, 2], "its own deeds come before its backlog");
    assert_eq!(when(&record, A, "done"), [61, 61, 61]);
    assert!(bit(&record));
}

#[test]
fn a_zombie_whose_pause_grows_still_acts_before_its_backlog() {
    let record = working(&[before(reaches("a", "between", 1), pause("a", 20)), at(25, pause("a", 40))]);
    assert_eq!(ticks(&record, B), [1, 2, 1, 2, 1, 2]);
    assert_eq!(when(&record, A, "done"), [65, 65, 65]);
    assert_eq!(bites(&record), [true, true]);
}

#[test]
fn a_zombie_that_is_killed_never_acts() {
    let record = working(&[before(reaches("a", "between", 1), pause("a", 50)), at(25, crash("a", 1))]);
    // The Go of 20 ms died with it; the one of 30 ms waits for the end of the pause.
    assert_eq!(ticks(&record, B), [1, 1, 2]);
    assert_eq!(when(&record, A, "up"), [0, 61]);
}

#[test]
fn a_message_before_which_a_pause_strikes_is_handled_once_and_counted_once() {
    let go = |nth| receives("a", "Go", nth);
    let record = working(&[before(go(1), pause("a", 5)), before(go(2), crash("a", 1))]);
    assert_eq!(when(&record, A, "done"), [16, 31], "the crash hits the second Go, not the first again");
}

#[test]
fn a_send_before_which_a_pause_strikes_is_counted_once() {
    let tick = |nth| sends("a", "Tick", nth);
    let record = working(&[before(tick(1), pause("a", 5)), before(tick(2), crash("a", 1))]);
    assert_eq!(ticks(&record, B), [1, 1, 2, 1, 2]);
}

#[test]
fn what_a_zombie_writes_is_on_its_disk_only_if_it_lives() {
    let script = || {
        Script::default()
            .start(|c| {
                let log = c.disk().log("log");
                let n = c.disk().len(log);
                say(c, format!("has {n}"));
                if n == 0 && c.incarnation() == 0 {
                    c.set_timer(ms(10), 0);
                }
            })
            .timer(|c, _| {
                let log = c.disk().log("log");
                c.point("written by a zombie");
                c.append(log, 1).expect("space");
                c.sync();
            })
    };
    let zombie = before(reaches("a", "written by a zombie", 1), pause("a", 20));
    let lived = run(vec![script()], &[zombie.clone(), at(40, crash("a", 1))]);
    assert_eq!(when(&lived, A, "has 1"), [41]);
    let died = run(vec![script()], &[zombie, at(20, crash("a", 1))]);
    assert_eq!(said(&died, A), ["has 0", "has 0"]);
}

#[test]
fn what_a_crashed_callback_still_does_to_its_disk_is_not_done() {
    let script = Script::default()
        .start(|c| {
            let log = c.disk().log("log");
            let n = c.disk().len(log);
            say(c, format!("has {n}"));
            if n == 0 {
                c.append(log, 7).expect("space");
                c.sync();
                c.set_timer(ms(10), 0);
            }
        })
        .timer(|c, _| {
            let log = c.disk().log("log");
            c.point("dies");
            c.disk().truncate(log, 0);
            c.append(log, 8).expect("space");
            let other = c.disk().log("other");
            assert_eq!(c.disk().len(log) + c.disk().len(other), 1, "it sees its own writes");
            let timer = c.set_timer(ms(1), 0);
            c.cancel_timer(timer);
            c.sync();
            c.probe("after death");
            c.finish();
        });
    let record = run(vec![script.clone()], &[before(reaches("a", "dies", 1), crash("a", 1))]);
    assert_eq!(said(&record, A), ["has 0", "has 1"]);
    assert!(record.probes.is_empty());
    assert_eq!(record.ending, Ending::Idle);
    let lost = What::LoseDisk { nodes: names(&["a"]), down: ms(1) };
    let record = run(vec![script], &[before(reaches("a", "dies", 1), lost)]);
    assert_eq!(said(&record, A)[..2], ["has 0", "has 0"]);
}

#[test]
fn what_was_on_its_way_to_a_life_does_not_reach_the_next() {
    let (from, to) = (names(&["a"]), names(&["b"]));
    let slow = at(20, What::Slow { from, to, by: ms(30), lasts: ms(10) });
    let record = run(vec![ticker(B), listener()], &[slow, at(40, crash("b", 5))]);
    assert!((20..30).all(|n| missed(&record, B).contains(&n)), "they arrive at 51 to 60 ms");
    assert_eq!(when(&record, B, "up"), [0, 45]);
}

#[test]
fn a_message_to_a_node_that_is_down_arrives_if_the_node_is_up_by_then() {
    let (from, to) = (names(&["a"]), names(&["b"]));
    let slow = at(20, What::Slow { from, to, by: ms(30), lasts: ms(10) });
    let record = run(vec![ticker(B), listener()], &[at(19, crash("b", 20)), slow]);
    assert!((20..30).all(|n| !missed(&record, B).contains(&n)));
}

#[test]
fn timers_die_with_their_life() {
    let script = Script::default()
        .start(|c| {
            let life = u64::from(c.incarnation());
            c.set_timer(ms(20), life);
        })
        .timer(|c, life| say(c, format!("life {life}")));
    let record = run(vec![script], &[at(10, crash("a", 5))]);
    assert_eq!(said(&record, A), ["life 1"]);
    assert_eq!(when(&record, A, "life 1"), [35]);
}

#[test]
fn a_cancelled_timer_does_not_fire_even_from_a_backlog() {
    let timer = std::rc::Rc::new(std::cell::Cell::new(None));
    let set = timer.clone();
    let script = Script::default()
        .start(move |c| {
            c.set_timer(ms(15), 1);
            set.set(Some(c.set_timer(ms(20), 2)));
            c.set_timer(ms(25), 3);
        })
        .timer(move |c, n| {
            say(c, format!("timer {n}"));
            timer.take().into_iter().for_each(|timer| c.cancel_timer(timer));
        });
    for faults in [vec![], vec![at(10, pause("a", 50))]] {
        assert_eq!(said(&run(vec![script.clone()], &faults), A), ["timer 1", "timer 3"]);
    }
}

#[test]
fn an_abort_and_a_crash_that_overlap_restart_the_node_once() {
    let script = Script::default().start(|c| say(c, "up")).message(|c, _, _| c.abort(ms(20)));
    let once = Script::default().start(|c| c.send(A, Msg("Go", 1)));
    for (crash_at, down, up_at) in [(10, 5, 21), (10, 50, 60), (1, 5, 6)] {
        let record = run(vec![script.clone(), once.clone()], &[at(crash_at, crash("a", down))]);
        assert_eq!(when(&record, A, "up"), [0, up_at]);
    }
}

#[test]
fn an_abort_in_a_pause_comes_when_the_node_goes_on() {
    let script = Script::default().start(|c| say(c, "up")).message(|c, _, _| {
        c.point("sick");
        c.send(B, Msg("Tick", 1));
        c.abort(ms(20));
        c.send(B, Msg("Tick", 2));
    });
    let faults = [before(reaches("a", "sick", 1), pause("a", 10))];
    let record = run(vec![script, listener().start(|c| c.send(A, Msg("Go", 1)))], &faults);
    assert_eq!(when(&record, A, "up"), [0, 31]);
    assert_eq!(ticks(&record, B), [1]);
}

#[test]
fn overlapping_crashes_keep_a_node_down_until_the_last_has_ended() {
    let record =
        run(vec![listener()], &[at(10, crash("a", 30)), at(20, crash("a", 5)), at(39, crash("a", 11))]);
    assert_eq!(when(&record, A, "up"), [0, 50]);
    assert_eq!(bites(&record), [true, false, false]);
}

#[test]
fn the_heal_ends_everything_and_nothing_strikes_after_it() {
    let (a, b) = (names(&["a"]), names(&["b"]));
    let faults = [
        at(140, What::Cut { from: a.clone(), to: b.clone(), lasts: ms(900) }),
        at(149, crash("b", 900)),
        at(148, pause("b", 900)),
        at(150, crash("a", 10)),
        at(170, pause("a", 10)),
        before(sends("a", "Tick", 160), crash("a", 10)),
    ];
    let record = run(vec![ticker(B), listener()], &faults);
    assert!(record.down.is_empty());
    assert_eq!(when(&record, B, "up"), [0, 150]);
    assert_eq!(when(&record, A, "up"), [0]);
    assert_eq!(missed(&record, B), (139..=149).collect::<Vec<_>>());
    assert_eq!(bites(&record)[3..], [false, false, false]);
}

#[test]
fn a_livelock_runs_out_of_events() {
    let echo =
        || Script::default().start(|c| c.send(B, Msg("Tick", 0))).message(|c, from, m| c.send(from, m));
    let bounds = Bounds { events: 1_000, ..Bounds::default() };
    let world = world(Settings { bounds, ..settings(1) }, vec![echo(), echo()]);
    let record = world.run(&[], Instant::ZERO, Instant::MAX).expect("no fault is planned");
    assert_eq!(record.ending, Ending::Exceeded(Limit::Events));
}

#[test]
fn a_crash_loop_without_an_end_runs_out_of_events() {
    let nodes = names(&["a"]);
    let what = What::CrashLoop { nodes, times: u32::MAX, down: ms(0), up: ms(0) };
    let bounds = Bounds { events: 1_000, ..Bounds::default() };
    let world = world(Settings { bounds, ..settings(1) }, vec![listener()]);
    let record = world.run(&[at(1, what)], at_ms(1_000_000), Instant::MAX).expect("the plan fits");
    assert_eq!(record.ending, Ending::Exceeded(Limit::Events));
}

#[test]
fn a_queue_that_grows_without_end_runs_out_of_bytes() {
    let bounds = Bounds { queued_bytes: 64 * 9, ..Bounds::default() };
    let run = |burst| {
        let flood = Script::default().start(move |c| (0..burst).for_each(|n| c.send(B, Msg("Tick", n))));
        let world = world(Settings { bounds, ..settings(1) }, vec![flood, listener()]);
        world.run(&[], Instant::ZERO, Instant::MAX).expect("no fault is planned").ending
    };
    assert_eq!(run(9), Ending::Idle);
    assert_eq!(run(10), Ending::Exceeded(Limit::QueuedBytes));
}

#[test]
fn bytes_that_died_with_a_paused_node_are_no_longer_queued() {
    let bounds = Bounds { queued_bytes: 64 * 12, ..Bounds::default() };
    let mut faults: Vec<_> = (1..14).map(|n| at(n * 10, pause("b", 9))).collect();
    faults.extend((1..14).map(|n| at(n * 10 + 8, crash("b", 1))));
    let world = world(Settings { bounds, ..settings(1) }, vec![ticker(B), listener()]);
    let record = world.run(&faults, at_ms(150), at_ms(300)).expect("the plan fits");
    assert_eq!(record.ending, Ending::Idle);
}

#[test]
fn a_panic_is_an_ending_with_node_event_and_message() {
    let script = Script::default().message(|_, _, message| panic!("cannot digest {message}"));
    let record = run(vec![script, starter()], &[]);
    let Ending::Panicked { node, event, message } = &record.ending else { panic!("{:?}", record.ending) };
    assert_eq!((*node, &**message), (A, "cannot digest Go 1"));
    let trace = record.trace.expect("it was asked for");
    let line = trace.lines.iter().find(|line| line.id == *event).expect("the event has a line");
    assert_eq!(line.told.words, "receives Go 1");
}

#[test]
fn a_factory_that_panics_ends_the_run_like_an_actor_that_does() {
    let mut world: millpond_sim::World<Lab> = millpond_sim::World::new(settings(1));
    world.add_node("a", |_| panic!("no actor today"));
    let record = world.run(&[], Instant::ZERO, at_ms(1)).expect("no fault is planned");
    assert!(matches!(record.ending, Ending::Panicked { node: A, .. }));
}

#[test]
fn probes_are_counted_by_name() {
    let script = Script::default().start(|c| {
        c.probe("zebra");
        c.probe("ant");
        c.probe("zebra");
    });
    assert_eq!(run(vec![script], &[]).probes, [("ant", 1), ("zebra", 2)]);
}

#[test]
fn the_history_says_who_noted_what_when_and_in_which_life() {
    let record = run(vec![listener(), listener()], &[at(10, crash("b", 5))]);
    let last = record.history.last().expect("a restart is noted");
    assert_eq!((last.node, last.incarnation, last.time, &*last.note.0), (B, 1, at_ms(15), "up"));
    assert!(last.event.as_event().is_some());
    assert_eq!(record.nodes.iter().map(|name| &**name).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_run_ends_when_an_actor_says_so_when_nothing_is_left_or_when_its_time_is_up() {
    let finisher = Script::default().start(|c| {
        c.set_timer(ms(10), 0);
    });
    assert_eq!(run(vec![finisher.clone().timer(|c, _| c.finish())], &[]).ending, Ending::Finished);
    assert_eq!(run(vec![finisher], &[]).ending, Ending::Idle);
    let forever =
        Script::default().start(|c| _ = c.set_timer(ms(1), 0)).timer(|c, _| _ = c.set_timer(ms(1), 0));
    let record = run(vec![forever], &[]);
    assert_eq!((record.ending, record.time), (Ending::TimeUp, at_ms(300)));
}

#[test]
fn a_plan_that_does_not_fit_the_world_is_refused() {
    let refuse =
        |what| world(settings(1), vec![listener()]).run(&[at(1, what)], at_ms(9), at_ms(9)).map(drop);
    let node = "nobody".to_owned();
    assert_eq!(refuse(crash("nobody", 1)), Err(PlanError::UnknownNode { item: "fault", number: 1, node }));
    assert_eq!(refuse(What::Rot { nodes: vec![], entries: 1 }), Err(PlanError::NoNode { fault: 1 }));
    let (from, to) = (names(&["a"]), vec![]);
    assert_eq!(refuse(What::Hold { from, to, lasts: ms(1) }), Err(PlanError::NoNode { fault: 1 }));
}

fn busy_faults() -> Vec<millpond_sim::fault::Fault> {
    let (from, to) = (names(&["a"]), names(&["b"]));
    vec![
        at(20, pause("b", 10)),
        before(sends("a", "Tick", 40), pause("a", 7)),
        after(receives("b", "Tick", 60), crash("b", 9)),
        at(90, What::Stop { nodes: names(&["a"]), down: ms(5) }),
        at(110, What::Lose { from, to, odds: Odds::ALWAYS, lasts: ms(5) }),
    ]
}

#[test]
fn causes_form_a_tree_from_the_start_of_the_world_and_its_faults() {
    let record = run(vec![ticker(B).stop(|c| c.send(B, Msg("Bye", 0))), listener()], &busy_faults());
    let trace = record.trace.expect("it was asked for");
    let mut known = BTreeSet::from([EventId::GENESIS]);
    for line in &trace.lines {
        assert!(known.contains(&line.cause) || line.cause == line.id, "{line:?} has an unknown cause");
        known.insert(line.id);
    }
    let bye = trace.lines.iter().find(|line| line.told.words == "receives Bye 0").expect("it arrives");
    assert_eq!(bye.cause.as_fault(), Some(3), "what a stop made the node do has the stop as its cause");
    let triggered = trace.lines.iter().find(|line| line.told.words == "Crash begins").expect("it begins");
    let cause = trace.lines.iter().find(|line| line.id == triggered.cause).expect("what it waited for");
    assert!(matches!(cause.happening, Happening::Deliver { from: A }));
    let ends = trace.lines.iter().filter(|line| line.told.words.ends_with(" ends") && line.node.is_none());
    assert_eq!(ends.count(), 5);
}

#[test]
fn the_trace_changes_nothing() {
    let of = |trace| {
        let world = world(Settings { trace, ..settings(1) }, vec![ticker(B), listener()]);
        world.run(&busy_faults(), at_ms(150), at_ms(300)).expect("the plan fits the world")
    };
    let (on, off) = (of(true), of(false));
    assert_eq!((on.fingerprint, on.events), (off.fingerprint, off.events));
    assert!(on.trace.is_some() && off.trace.is_none());
}

#[test]
fn another_seed_gives_another_run() {
    let of = |seed| {
        let world =
            world(Settings { link: Default::default(), ..settings(seed) }, vec![ticker(B), listener()]);
        world.run(&[], Instant::ZERO, at_ms(300)).expect("no fault is planned").fingerprint
    };
    assert_eq!((0..50).map(of).collect::<BTreeSet<_>>().len(), 50);
}

#[test]
fn a_node_knows_itself_and_its_life() {
    let script = Script::default().start(|c| {
        let (node, life) = (c.node().number(), c.incarnation());
        let drawn = c.random();
        assert!(c.random_below(3) < 3 && c.random_hit(Odds::ALWAYS));
        say(c, format!("{node} {life} {drawn}"));
    });
    let record = run(vec![listener(), script], &[at(10, crash("b", 1))]);
    let [first, second] = said(&record, NodeId::of_number(1))[..] else { panic!("two lives") };
    assert!(first.starts_with("1 0 ") && second.starts_with("1 1 "));
    assert_ne!(first[4..], second[4..], "each life draws anew");
}
