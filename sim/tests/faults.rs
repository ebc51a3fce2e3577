//! Every kind of fault: what it does, when it ends, and that it is counted only where it did it.

mod support;

use millpond_sim::fault::What;
use millpond_sim::time::{Odds, Shift};
use support::*;

fn from_a_to_b() -> (Vec<String>, Vec<String>) {
    (names(&["a"]), names(&["b"]))
}

/// The ticks that b missed, and whether the fault bit, under a fault from a to b at 50 ms.
fn ticking(what: What) -> millpond_sim::Record<Said> {
    run(vec![ticker(B), listener()], &[at(50, what)])
}

/// What keeper `a` says under faults while `b` tells it 1, 2, 3... one number each 10 ms.
fn keeping(faults: &[millpond_sim::fault::Fault]) -> millpond_sim::Record<Said> {
    let teller = Script::default()
        .start(|c| {
            c.set_timer(ms(10), 1);
        })
        .timer(|c, n| {
            c.send(A, Msg("Keep", n));
            if n < 20 {
                c.set_timer(ms(10), n + 1);
            }
        })
        .message(|c, _, message| say(c, message.to_string()));
    run(vec![keeper(), teller], faults)
}

#[test]
fn a_crash_loses_what_comes_while_the_node_is_down_and_then_the_node_starts_again() {
    let record = ticking(crash("b", 20));
    assert_eq!(missed(&record, B), (49..=68).collect::<Vec<_>>(), "ticks that arrive at 50 to 69 ms");
    assert_eq!(when(&record, B, "up"), [0, 70]);
    assert!(bit(&record) && record.down.is_empty());
}

#[test]
fn a_crash_loop_crashes_as_often_as_it_says() {
    let nodes = names(&["b"]);
    let record = ticking(What::CrashLoop { nodes, times: 3, down: ms(5), up: ms(10) });
    assert_eq!(when(&record, B, "up"), [0, 55, 70, 85]);
    assert!(bit(&record));
}

#[test]
fn a_crash_loop_without_a_pause_between_crashes_is_still_as_long_as_it_says() {
    let nodes = names(&["b"]);
    let record = ticking(What::CrashLoop { nodes, times: 3, down: ms(0), up: ms(10) });
    assert_eq!(when(&record, B, "up"), [0, 50, 60, 70]);
}

#[test]
fn a_crash_loop_that_the_heal_cuts_short_leaves_its_node_up() {
    for start in 100..150 {
        let nodes = names(&["b"]);
        let what = What::CrashLoop { nodes, times: 9, down: ms(7), up: ms(5) };
        let record = run(vec![ticker(B), listener()], &[at(start, what)]);
        assert!(record.down.is_empty());
        assert!(when(&record, B, "up").iter().all(|time| *time <= 150));
        assert_eq!(ticks(&record, B).last(), Some(&200));
    }
}

#[test]
fn a_lost_disk_is_empty_after_the_restart() {
    let record =
        keeping(&[at(55, What::LoseDisk { nodes: names(&["a"]), down: ms(10) }), at(95, crash("a", 1))]);
    let kept: Vec<_> = said(&record, A).into_iter().filter(|text| text.starts_with("kept")).collect();
    assert_eq!(kept, ["kept []", "kept []", "kept [7 8 9]"]);
    assert_eq!(bites(&record), [true, true]);
}

#[test]
fn a_clean_stop_tells_the_actor_and_keeps_the_disk() {
    let stop = What::Stop { nodes: names(&["a"]), down: ms(10) };
    // The write of 5 at 51 ms is not yet synced.
    let fault = after(receives("a", "Keep", 5), stop);
    let record = keeping(&[fault]);
    assert_eq!(when(&record, A, "stops"), [51]);
    assert_eq!(when(&record, A, "kept [1 2 3 4 5]"), [61]);
    assert!(bit(&record));
}

#[test]
fn a_stop_that_cannot_sync_loses_what_was_not_synced() {
    let fail = at(45, What::FailSync { nodes: names(&["a"]), lasts: ms(8) });
    let stop = after(receives("a", "Keep", 5), What::Stop { nodes: names(&["a"]), down: ms(10) });
    let record = keeping(&[fail, stop, at(75, crash("a", 1))]);
    assert_eq!(when(&record, A, "kept [1 2 3 4 Rotten 6 7]"), [76], "found out at the crash");
    assert_eq!(bites(&record), [true, true, true]);
}

#[test]
fn a_pause_delays_everything_and_loses_nothing() {
    let record = ticking(pause("b", 20));
    assert_eq!(ticks(&record, B), (1..=200).collect::<Vec<_>>(), "in order, too");
    assert_eq!(when(&record, B, "Tick 49"), [70]);
    assert_eq!(when(&record, B, "Tick 69"), [70]);
    assert_eq!(when(&record, B, "Tick 70"), [71]);
    assert!(bit(&record));
}

#[test]
fn a_pause_in_which_nothing_happens_has_not_taken_effect() {
    assert!(!bit(&run(vec![listener()], &[at(50, pause("a", 20))])));
}

#[test]
fn a_partition_stops_both_directions() {
    let (left, right) = from_a_to_b();
    let what = What::Partition { left, right, lasts: ms(20) };
    let both = || ticker(B).message(|c, _, message| say(c, message.to_string()));
    let record = run(vec![both(), ticker(A).message(|c, _, m| say(c, m.to_string()))], &[at(50, what)]);
    // From what was on its way at 50 ms to what was sent before 70 ms.
    assert_eq!(missed(&record, A), (49..=69).collect::<Vec<_>>());
    assert_eq!(missed(&record, B), (49..=69).collect::<Vec<_>>());
    assert!(bit(&record));
}

#[test]
fn a_cut_stops_one_direction() {
    let (from, to) = from_a_to_b();
    let what = What::Cut { from, to, lasts: ms(20) };
    let both = |to| ticker(to).message(|c, _, m| say(c, m.to_string()));
    let record = run(vec![both(B), both(A)], &[at(50, what)]);
    assert!(missed(&record, A).is_empty());
    assert_eq!(missed(&record, B), (49..=69).collect::<Vec<_>>());
    assert!(bit(&record));
}

#[test]
fn isolated_nodes_can_talk_among_themselves_only() {
    let c = millpond_sim::NodeId::of_number(2);
    let record = run(
        vec![ticker(B), listener(), ticker(c), listener()],
        &[at(50, What::Isolate { nodes: names(&["b", "c"]), lasts: ms(20) })],
    );
    assert_eq!(missed(&record, B), (49..=69).collect::<Vec<_>>());
    let inside = run(
        vec![ticker(B), listener()],
        &[at(50, What::Isolate { nodes: names(&["a", "b"]), lasts: ms(20) })],
    );
    assert!(missed(&inside, B).is_empty());
    assert_eq!((bit(&record), bit(&inside)), (true, false));
}

#[test]
fn slow_messages_take_longer_and_then_no_longer() {
    let (from, to) = from_a_to_b();
    let record = ticking(What::Slow { from, to, by: ms(7), lasts: ms(20) });
    assert_eq!(when(&record, B, "Tick 49"), [50]);
    assert_eq!(when(&record, B, "Tick 50"), [58]);
    assert_eq!(when(&record, B, "Tick 69"), [77]);
    assert_eq!(when(&record, B, "Tick 90"), [91]);
    assert!(bit(&record));
}

#[test]
fn a_share_of_the_messages_is_lost() {
    let (from, to) = from_a_to_b();
    let record = ticking(What::Lose { from, to, odds: "1/2".parse().expect("odds"), lasts: ms(60) });
    let missed = missed(&record, B);
    assert!((15..45).contains(&missed.len()) && missed.iter().all(|n| (50..110).contains(n)), "{missed:?}");
    assert!(bit(&record));
    let (from, to) = from_a_to_b();
    assert!(!bit(&ticking(What::Lose { from, to, odds: Odds::NEVER, lasts: ms(60) })));
}

#[test]
fn lost_replies_leave_the_requests_applied() {
    let (from, to) = from_a_to_b();
    let what = |lasts| What::LoseReplies { from: from.clone(), to: to.clone(), count: 2, lasts: ms(lasts) };
    let record = keeping(&[at(45, what(100)), at(165, crash("a", 1))]);
    let replies: Vec<_> = said(&record, B);
    assert!(!replies.contains(&"Reply 5") && !replies.contains(&"Reply 6"));
    assert!(replies.contains(&"Reply 4") && replies.contains(&"Reply 7"));
    assert_eq!(when(&record, A, "synced").len(), 20);
    let short = keeping(&[at(45, what(10))]);
    assert!(said(&short, B).contains(&"Reply 6"), "it ends by time, too");
    assert!(bit(&record));
}

#[test]
fn a_share_of_the_messages_arrives_twice() {
    let (from, to) = from_a_to_b();
    let record = ticking(What::Duplicate { from, to, odds: Odds::ALWAYS, lasts: ms(20) });
    let got = ticks(&record, B);
    let twice: Vec<_> = (1..=200).filter(|n| got.iter().filter(|m| *m == n).count() == 2).collect();
    assert_eq!(twice, (50..=69).collect::<Vec<_>>());
    assert!(bit(&record));
}

#[test]
fn reordered_messages_overtake_each_other_and_then_no_longer() {
    let (from, to) = from_a_to_b();
    let record = ticking(What::Reorder { from, to, spread: ms(10), lasts: ms(50) });
    let got = ticks(&record, B);
    assert!(!got.is_sorted() && got.len() == 200);
    assert!(got[115..].is_sorted());
    assert!(bit(&record));
}

#[test]
fn held_messages_arrive_at_once_and_in_order_when_it_ends() {
    let (from, to) = from_a_to_b();
    let record = ticking(What::Hold { from, to, lasts: ms(20) });
    assert_eq!(ticks(&record, B), (1..=200).collect::<Vec<_>>());
    assert_eq!(when(&record, B, "Tick 50"), [70]);
    assert_eq!(when(&record, B, "Tick 68"), [70]);
    assert_eq!(when(&record, B, "Tick 90"), [91]);
    assert!(bit(&record));
}

#[test]
fn a_slow_disk_delays_syncs() {
    let nodes = names(&["a"]);
    let record = keeping(&[at(45, What::SlowDisk { nodes, by: ms(3), lasts: ms(20) })]);
    assert_eq!(when(&record, A, "synced")[3..7], [42, 55, 65, 72]);
    assert!(bit(&record));
}

#[test]
fn a_full_disk_refuses_writes() {
    let record =
        keeping(&[at(45, What::FullDisk { nodes: names(&["a"]), lasts: ms(20) }), at(85, crash("a", 1))]);
    assert_eq!(when(&record, A, "no space is left on the disk"), [51, 61]);
    assert_eq!(when(&record, A, "kept [1 2 3 4 7 8]"), [86]);
    assert!(bit(&record));
}

#[test]
fn a_failed_sync_is_reported_and_what_it_covered_is_gone() {
    let nodes = names(&["a"]);
    let record = keeping(&[at(45, What::FailSync { nodes, lasts: ms(10) }), at(75, crash("a", 1))]);
    assert_eq!(when(&record, A, "sync failed"), [52]);
    assert_eq!(when(&record, A, "kept [1 2 3 4 Rotten 6 7]"), [76]);
    assert!(bit(&record));
}

/// Runs a keeper that crashes with up to 8 unsynced writes, over many seeds, and the recovered log
/// of each run with whether the first fault bit.
fn crashing_with_unsynced_writes(what: Option<What>) -> Vec<(String, bool)> {
    let teller = Script::default().start(|c| (1..=8).for_each(|n| c.send(A, Msg("Keep", n))));
    let mut faults = vec![after(receives("a", "Keep", 8), crash("a", 5))];
    faults.splice(0..0, what.map(|what| at(0, what)));
    let of = |seed| {
        let world = world(settings(seed), vec![keeper(), teller.clone()]);
        let record = world.run(&faults, at_ms(150), at_ms(300)).expect("the plan fits the world");
        let recovered = said(&record, A).last().map_or(String::new(), ToString::to_string);
        (recovered, bit(&record))
    };
    (0..60).map(of).collect()
}

#[test]
fn a_plain_crash_keeps_a_prefix() {
    let all = "kept [1 2 3 4 5 6 7 8";
    let recovered = crashing_with_unsynced_writes(None);
    assert!(recovered.iter().all(|(kept, _)| all.starts_with(kept.trim_end_matches(']'))));
    assert!(recovered.iter().any(|(kept, _)| kept == "kept []"));
}

#[test]
fn a_torn_tail_is_one_unreadable_entry_after_a_prefix() {
    let nodes = names(&["a"]);
    for (kept, bit) in crashing_with_unsynced_writes(Some(What::TearTail { nodes, lasts: ms(20) })) {
        assert_eq!(kept.ends_with("Torn]"), bit, "{kept}");
        assert!(kept.matches("Torn").count() <= 1);
    }
    let nodes = names(&["a"]);
    let over = crashing_with_unsynced_writes(Some(What::TearTail { nodes, lasts: ms(0) }));
    assert!(over.iter().all(|(kept, bit)| !kept.contains("Torn") && !bit), "it has ended");
}

#[test]
fn scattered_writes_survive_with_holes() {
    let nodes = names(&["a"]);
    let recovered = crashing_with_unsynced_writes(Some(What::Scatter { nodes, lasts: ms(20) }));
    assert!(recovered.iter().filter(|(kept, _)| kept.contains("Rotten")).count() > 30);
    assert!(recovered.iter().all(|(kept, bit)| kept.contains("Rotten") == *bit));
    let nodes = names(&["a"]);
    let over = crashing_with_unsynced_writes(Some(What::Scatter { nodes, lasts: ms(0) }));
    assert!(over.iter().all(|(kept, bit)| !kept.contains("Rotten") && !bit), "it has ended");
}

#[test]
fn rot_makes_durable_entries_unreadable_for_good() {
    let record = keeping(&[at(55, What::Rot { nodes: names(&["a"]), entries: 2 }), at(75, crash("a", 1))]);
    let kept = said(&record, A).into_iter().rfind(|text| text.starts_with("kept")).expect("it restarts");
    assert_eq!(kept.matches("Rotten").count(), 2, "{kept}");
    assert!(kept.ends_with("6 7]") && bit(&record));
    let early = keeping(&[at(5, What::Rot { nodes: names(&["a"]), entries: 2 })]);
    assert!(!bit(&early), "nothing was there to rot");
}

/// Says its wall clock and monotonic clock each 10 ms, by timers.
fn clock_reader() -> Script {
    Script::default()
        .start(|c| {
            c.set_timer(ms(10), 1);
        })
        .timer(|c, n| {
            let (wall, monotonic) = (c.wall().as_nanos() / 1_000_000, c.monotonic().as_nanos() / 1_000_000);
            say(c, format!("{wall} {monotonic}"));
            if n < 20 {
                c.set_timer(ms(10), n + 1);
            }
        })
}

#[test]
fn an_offset_clock_is_off_and_then_right() {
    let nodes = names(&["a"]);
    let what = What::Offset { nodes, by: Shift::from_millis(-1000), lasts: ms(20) };
    let record = run(vec![clock_reader()], &[at(25, what)]);
    assert_eq!(said(&record, A)[1..5], ["20 20", "-970 30", "-960 40", "50 50"]);
    assert!(bit(&record));
}

#[test]
fn a_drifting_clock_gains_and_its_timers_come_early() {
    let nodes = names(&["a"]);
    let record = run(vec![clock_reader()], &[at(25, What::Drift { nodes, ppm: 1_000_000, lasts: ms(20) })]);
    let times: Vec<u64> = record.history.iter().map(|noted| noted.time.as_nanos() / 100_000).collect();
    // A timer that was set before and one that goes on after the drift are both moved.
    assert_eq!(times[..7], [100, 200, 275, 325, 375, 425, 500]);
    assert_eq!(said(&record, A)[2], "30 30", "the node itself sees nothing of it");
    assert!(bit(&record));
}

#[test]
fn a_timer_that_a_drift_moves_counts_as_its_effect() {
    let sleeper = Script::default().start(|c| {
        c.set_timer(ms(100), 0);
    });
    let nodes = || names(&["a"]);
    let moved = run(vec![sleeper], &[at(25, What::Drift { nodes: nodes(), ppm: 1000, lasts: ms(20) })]);
    let idle = run(vec![listener()], &[at(25, What::Drift { nodes: nodes(), ppm: 1000, lasts: ms(20) })]);
    assert_eq!((bit(&moved), bit(&idle)), (true, false));
}

#[test]
fn a_jumping_clock_goes_back_and_forth_and_ends_up_right() {
    let nodes = names(&["a"]);
    let what = What::Jump { nodes, by: Shift::from_millis(500), every: ms(10), lasts: ms(35) };
    let record = run(vec![clock_reader()], &[at(25, what)]);
    assert_eq!(said(&record, A)[1..8], ["20 20", "530 30", "40 40", "550 50", "60 60", "70 70", "80 80"]);
    assert!(bit(&record));
}

#[test]
fn a_jump_that_the_heal_cuts_short_leaves_the_clock_right_and_unread_jumps_uncounted() {
    for start in 120..150 {
        let what =
            What::Jump { nodes: names(&["a"]), by: Shift::from_millis(500), every: ms(3), lasts: ms(90) };
        let late = Script::default()
            .start(|c| {
                c.set_timer(ms(160), 0);
            })
            .timer(|c, _| {
                let wall = c.wall();
                say(c, wall.to_string());
            });
        let record = run(vec![late], &[at(start, what)]);
        assert_eq!(said(&record, A), ["160ms"]);
        assert!(!bit(&record));
    }
}

#[test]
fn a_jump_without_a_period_still_ends() {
    let what = What::Jump { nodes: names(&["a"]), by: Shift::from_millis(1), every: ms(0), lasts: ms(1) };
    assert!(run(vec![clock_reader()], &[at(5, what)]).events < 2_000);
}
