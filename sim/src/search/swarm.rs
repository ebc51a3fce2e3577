//! Drawing the faults of a plan as a swarm does: each seed first switches whole kinds on or off, then
//! draws how many of each there are, when, where and how long.
//!
//! Leaving kinds out matters as much as putting them in: one kind can hide what another would show
//! (Groce et al., "Swarm Testing", ISSTA 2012). Each kind has draws of its own, so that a kind more or
//! less in the menu leaves the others as they were.
//!
//! Then a seed has a shape: few faults that last, or many short ones. In half of the seeds, half of the
//! faults begin at the instants that matter: between an effect, its acknowledgement and the position
//! that is recorded for it. Isolations may come as a swizzle: nodes are cut off one by one and released
//! in another order (as FoundationDB's simulation does).

use std::ops::Range;

use crate::fault::{Event, Fault, Kind, Trigger, What, When};
use crate::random::{Key, Purpose, Stream};
use crate::time::{Instant, Odds, Shift, Span};

/// What there is to draw from.
#[derive(Clone, Debug, Default)]
pub struct Menu {
    /// The kinds, with how many of each when the kind is on (the end is not included).
    pub counts: Vec<(Dish, Range<u32>)>,
    /// When faults may begin.
    pub window: Range<u64>,
    /// How long nodes stay down, shortest and longest.
    pub down: (Span, Span),
    /// How long other faults last, shortest and longest.
    pub lasts: (Span, Span),
    /// How far a wall clock is off at most, either way.
    pub skew: Span,
    /// The nodes that a fault may hit.
    pub targets: Vec<String>,
    /// All nodes, for partitions.
    pub nodes: Vec<String>,
    /// The nodes that a power cut hits together.
    pub powered_together: Vec<String>,
    /// By how much the times that messages take differ without any fault: what a search over schedules
    /// may move them by.
    pub jitter: Span,
    /// The instants that matter, by the node on which they come.
    pub moments: Vec<(String, Event)>,
}

/// One kind of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dish {
    /// Faults of a kind, each on one node or between two.
    Of(Kind),
    /// A crash of all nodes that have their power from one place.
    PowerCut,
}

impl Dish {
    fn entity(self) -> u64 {
        match self {
            Self::Of(kind) => kind as u64,
            Self::PowerCut => 200,
        }
    }
}

/// The draws of the style of a seed, beside those of the kinds.
const STYLE: u64 = 255;

/// The draws of when the faults of a kind begin: its own number above this.
const MOMENTS: u64 = 256;

/// The draws of a swizzle.
const SWIZZLE: u64 = 254;

/// A fault begins at the n-th coming of its instant, with n below two to the power of this at most.
const NTH_BITS: u64 = 6;

/// How many faults there are and how long they last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// As drawn.
    Usual,
    /// One of each kind, for as long as may be.
    FewAndLong,
    /// As many as may be, as short as may be.
    ManyAndShort,
}

/// How the faults of a seed are drawn.
struct Manner {
    style: Style,
    shape: Shape,
    /// Half of the faults begin at an instant that matters.
    anchored: bool,
    /// Isolations come as a swizzle.
    swizzled: bool,
}

/// Which kinds a seed may have.
enum Style {
    /// None: now and then the system alone is looked at.
    Calm,
    /// The n-th of the menu alone.
    Single(usize),
    /// Each, by its own draw.
    Swarm,
}

impl Menu {
    /// The faults of a seed, in the order of time.
    pub fn draw(&self, seed: u64) -> Vec<Fault> {
        let key = Key::new(seed);
        let offered: Vec<_> = self.counts.iter().filter(|(_, count)| count.end > 1).collect();
        let manner = manner(&mut key.stream(Purpose::Faults, STYLE), offered.len());
        let mut faults = Vec::new();
        for (nth, (dish, count)) in offered.into_iter().enumerate() {
            let mut draw = key.stream(Purpose::Faults, dish.entity());
            let on = draw.below(2) == 1;
            let (least, most) = (u64::from(count.start.max(1)), u64::from(count.end - 1));
            let drawn = draw.between(least, most);
            let number = match manner.shape {
                Shape::Usual => drawn,
                Shape::FewAndLong => least,
                Shape::ManyAndShort => most,
            };
            let served = match manner.style {
                Style::Calm => false,
                Style::Single(single) => single == nth,
                Style::Swarm => on,
            };
            if !served {
                continue;
            }
            if *dish == Dish::Of(Kind::Isolate) && manner.swizzled {
                faults.extend(self.swizzle(number, &mut key.stream(Purpose::Faults, SWIZZLE)));
                continue;
            }
            let mut moments = key.stream(Purpose::Faults, MOMENTS + dish.entity());
            for _ in 0..number {
                let fault = self.fault(*dish, manner.shape, &mut draw);
                let anchored = manner.anchored && moments.below(2) == 1;
                faults.extend(fault.map(|fault| match anchored {
                    true => self.anchored(fault, &mut moments),
                    false => fault,
                }));
            }
        }
        faults.sort_by_key(|fault| match fault.when {
            When::At(time) => time,
            When::Before(_) | When::After(_) => Instant::ZERO,
        });
        faults
    }

    /// The fault, beginning at an instant that matters on one of its nodes, if there is any.
    fn anchored(&self, fault: Fault, draw: &mut Stream) -> Fault {
        let (first, second) = fault.what.nodes();
        let on = |(node, _): &&(String, Event)| first.contains(node) || second.contains(node);
        let moments: Vec<_> = self.moments.iter().filter(on).collect();
        let (before, bits) = (draw.below(2) == 1, draw.below(NTH_BITS + 1));
        let nth = draw.below(1 << bits) as u32 + 1;
        let Some((node, event)) = draw.pick(&moments) else { return fault };
        let trigger = Trigger { node: node.clone(), event: event.clone(), nth };
        let when = if before { When::Before(trigger) } else { When::After(trigger) };
        Fault { when, ..fault }
    }

    /// Nodes are cut off one by one and come back in another order.
    fn swizzle(&self, number: u64, draw: &mut Stream) -> Vec<Fault> {
        let mut nodes = self.targets.clone();
        let count = (number as usize + 1).min(nodes.len());
        let step = Span::from_nanos((self.window.end - self.window.start) / (2 * count as u64 + 2));
        let begin = Instant::from_nanos(self.window.start) + step;
        let mut ends: Vec<u64> = (0..count as u64).collect();
        let mut faults = Vec::new();
        for nth in 0..count as u64 {
            let node = nodes.swap_remove(draw.below(nodes.len() as u64) as usize);
            let end = ends.swap_remove(draw.below(ends.len() as u64) as usize);
            let from = begin + step.times(nth);
            let to = begin + step.times(count as u64 + end);
            let what = What::Isolate { nodes: vec![node], lasts: round(to.since(from)) };
            let at = from.as_nanos() / 100_000 * 100_000;
            faults.push(Fault { when: When::At(Instant::from_nanos(at)), what });
        }
        faults
    }

    fn fault(&self, dish: Dish, shape: Shape, draw: &mut Stream) -> Option<Fault> {
        let time = draw.between(self.window.start, self.window.end.saturating_sub(1));
        // Times that people read: whole tenths of a millisecond.
        let at = Instant::from_nanos(time / 100_000 * 100_000);
        let when = When::At(at);
        // All damage ends with the window: say so, rather than have it cut short.
        let left = Instant::from_nanos(self.window.end).since(at);
        let what = match dish {
            Dish::PowerCut if self.powered_together.is_empty() => return None,
            Dish::PowerCut => {
                What::Crash { nodes: self.powered_together.clone(), down: self.down(shape, draw).min(left) }
            }
            Dish::Of(kind) => self.what(kind, shape, left, draw)?,
        };
        Some(Fault { when, what })
    }

    fn what(&self, kind: Kind, shape: Shape, left: Span, draw: &mut Stream) -> Option<What> {
        let node = draw.pick(&self.targets)?.clone();
        let others: Vec<String> = self.nodes.iter().filter(|other| **other != node).cloned().collect();
        let other = draw.pick(&others).cloned();
        // Which way a link is hit.
        let flip = draw.below(2) == 1;
        let pair = move || {
            let (one, two) = (vec![node.clone()], vec![other.clone()?]);
            Some(if flip { (two, one) } else { (one, two) })
        };
        let lasts = within(shape, self.lasts, draw).min(left);
        let down = self.down(shape, draw).min(left);
        let nodes = vec![draw.pick(&self.targets)?.clone()];
        let some = |draw: &mut Stream| odds(draw.between(1, 9) as u32, 10);
        Some(match kind {
            Kind::Crash => What::Crash { nodes, down },
            Kind::CrashLoop => {
                let (times, up) = (draw.between(2, 5) as u32, round(draw.span(self.down.0, self.down.1)));
                What::CrashLoop { nodes, times, down, up }
            }
            Kind::LoseDisk => What::LoseDisk { nodes, down },
            Kind::Stop => What::Stop { nodes, down },
            Kind::Pause => What::Pause { nodes, lasts },
            Kind::Partition => {
                let (left, right): (Vec<_>, Vec<_>) =
                    self.nodes.iter().cloned().partition(|_| draw.below(2) == 1);
                if left.is_empty() || right.is_empty() {
                    return None;
                }
                What::Partition { left, right, lasts }
            }
            Kind::Isolate => What::Isolate { nodes, lasts },
            Kind::Cut => {
                let (from, to) = pair()?;
                What::Cut { from, to, lasts }
            }
            Kind::Slow => {
                let (from, to) = pair()?;
                What::Slow {
                    from,
                    to,
                    by: round(draw.span(Span::from_millis(10), Span::from_secs(1))),
                    lasts,
                }
            }
            Kind::Lose => {
                let (from, to) = pair()?;
                What::Lose { from, to, odds: some(draw), lasts }
            }
            Kind::LoseReplies => {
                let (from, to) = pair()?;
                What::LoseReplies { from, to, count: draw.between(1, 3) as u32, lasts }
            }
            Kind::Duplicate => {
                let (from, to) = pair()?;
                What::Duplicate { from, to, odds: some(draw), lasts }
            }
            Kind::Reorder => {
                let (from, to) = pair()?;
                What::Reorder {
                    from,
                    to,
                    spread: round(draw.span(Span::from_millis(5), Span::from_millis(500))),
                    lasts,
                }
            }
            Kind::Hold => {
                let (from, to) = pair()?;
                What::Hold { from, to, lasts }
            }
            Kind::SlowDisk => What::SlowDisk {
                nodes,
                by: round(draw.span(Span::from_millis(5), Span::from_secs(1))),
                lasts,
            },
            Kind::FullDisk => What::FullDisk { nodes, lasts },
            Kind::FailSync => What::FailSync { nodes, lasts },
            // How a disk crashes is no event of its own: it holds from here on.
            Kind::TearTail => What::TearTail { nodes, lasts: left },
            Kind::Scatter => What::Scatter { nodes, lasts: left },
            Kind::Rot => What::Rot { nodes, entries: draw.between(1, 3) as u32 },
            Kind::Offset => What::Offset { nodes, by: self.shift(draw), lasts },
            Kind::Drift => {
                let ppm = draw.between(0, 400_000) as i32 - 200_000;
                What::Drift { nodes, ppm, lasts }
            }
            Kind::Jump => {
                let (by, every) =
                    (self.shift(draw), round(draw.span(Span::from_millis(50), Span::from_secs(1))));
                What::Jump { nodes, by, every, lasts }
            }
        })
    }

    fn down(&self, shape: Shape, draw: &mut Stream) -> Span {
        within(shape, self.down, draw)
    }

    fn shift(&self, draw: &mut Stream) -> Shift {
        let reach = self.skew.as_nanos() / 100_000;
        let ticks = draw.between(0, 2 * reach) as i64 - reach as i64;
        Shift::from_nanos(ticks * 100_000)
    }
}

fn manner(draw: &mut Stream, offered: usize) -> Manner {
    let dice = draw.below(16);
    let single = draw.below(offered as u64) as usize;
    let style = match dice {
        0 => Style::Calm,
        1..=3 => Style::Single(single),
        _ => Style::Swarm,
    };
    let shape = match draw.below(8) {
        0 => Shape::FewAndLong,
        1 => Shape::ManyAndShort,
        _ => Shape::Usual,
    };
    Manner { style, shape, anchored: draw.below(2) == 1, swizzled: draw.below(4) == 0 }
}

/// A time between two: near the longer or the shorter one where the shape says so.
fn within(shape: Shape, (shortest, longest): (Span, Span), draw: &mut Stream) -> Span {
    let drawn = draw.span(shortest, longest);
    let quarter = Span::from_nanos(longest.less(shortest).as_nanos() / 4);
    round(match shape {
        Shape::Usual => drawn,
        Shape::FewAndLong => drawn.max(longest.less(quarter)),
        Shape::ManyAndShort => drawn.min(shortest + quarter),
    })
}

/// Spans that people read: whole tenths of a millisecond, and not none.
fn round(span: Span) -> Span {
    Span::from_nanos((span.as_nanos() / 100_000).max(1) * 100_000)
}

fn odds(hits: u32, of: u32) -> Odds {
    Odds::new(hits, of).unwrap_or(Odds::NEVER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu() -> Menu {
        let nodes: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        Menu {
            counts: Kind::TABLE.iter().map(|(kind, ..)| (Dish::Of(*kind), 0..3)).collect(),
            window: 1_000_000..1_000_000_000,
            down: (Span::from_millis(10), Span::from_millis(20)),
            lasts: (Span::from_millis(10), Span::from_millis(20)),
            skew: Span::from_secs(1),
            targets: nodes[..2].to_vec(),
            nodes: nodes.clone(),
            powered_together: nodes,
            jitter: Span::from_millis(4),
            moments: vec![("a".to_owned(), Event::Sends("Go".to_owned()))],
        }
    }

    #[test]
    fn some_seeds_are_calm_some_have_one_kind_and_all_kinds_come_up() {
        let (mut calm, mut single) = (0, 0);
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..500 {
            let kinds: std::collections::BTreeSet<Kind> =
                menu().draw(seed).iter().map(|fault| fault.what.kind()).collect();
            calm += u32::from(kinds.is_empty());
            single += u32::from(kinds.len() == 1);
            seen.extend(kinds);
        }
        assert!((10..80).contains(&calm), "{calm}");
        assert!((40..160).contains(&single), "{single}");
        assert_eq!(seen.len(), Kind::COUNT);
    }

    #[test]
    fn a_kind_less_leaves_the_draws_of_the_others() {
        let (whole, mut less) = (menu(), menu());
        less.counts.retain(|(dish, _)| *dish != Dish::Of(Kind::Pause));
        let is_swarm = |seed: &u64| {
            let dice = Key::new(*seed).stream(Purpose::Faults, STYLE).below(16);
            dice > 3
        };
        for seed in (0..200).filter(is_swarm) {
            let without = |faults: Vec<Fault>| -> Vec<Fault> {
                faults.into_iter().filter(|fault| fault.what.kind() != Kind::Pause).collect()
            };
            assert_eq!(without(whole.draw(seed)), without(less.draw(seed)));
        }
    }

    #[test]
    fn a_swizzle_cuts_nodes_off_one_by_one_and_releases_them_in_another_order() {
        let swizzled = (0..500).map(|seed| menu().draw(seed)).find_map(|faults| {
            let isolated = faults.iter().filter_map(|fault| match (&fault.when, &fault.what) {
                (When::At(at), What::Isolate { nodes, lasts }) => Some((*at, *at + *lasts, nodes.clone())),
                _ => None,
            });
            let isolated: Vec<_> = isolated.collect();
            let [(one, one_ends, first), (two, two_ends, second), ..] = isolated.as_slice() else {
                return None;
            };
            (one < two && two < two_ends && two_ends < one_ends && first != second).then_some(())
        });
        assert!(swizzled.is_some());
    }

    #[test]
    fn faults_begin_at_instants_that_matter_in_about_a_quarter_of_the_cases() {
        let faults: Vec<Fault> = (0..400).flat_map(|seed| menu().draw(seed)).collect();
        let on_a = |fault: &&Fault| fault.what.nodes().0.iter().any(|node| node == "a");
        let (of_a, anchored) = faults.iter().filter(on_a).fold((0, 0), |(all, anchored), fault| {
            (all + 1, anchored + usize::from(!matches!(fault.when, When::At(_))))
        });
        assert!((of_a / 6..of_a / 3).contains(&anchored), "{anchored} of {of_a}");
    }

    #[test]
    fn faults_begin_in_the_window_and_hit_the_targets() {
        for fault in (0..300).flat_map(|seed| menu().draw(seed)) {
            assert!(match &fault.when {
                When::At(at) => at.as_nanos() < 1_000_000_000,
                When::Before(trigger) | When::After(trigger) => trigger.node == "a" && trigger.nth <= 64,
            });
            let (first, second) = fault.what.nodes();
            assert!(!first.is_empty());
            if !fault.what.has_sides() {
                assert!(first.iter().all(|node| node != "c") && second.is_empty());
            }
        }
    }
}
