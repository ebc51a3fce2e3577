//! Drawing the faults of a plan as a swarm does: each seed first switches whole kinds on or off, then
//! draws how many of each there are, when, where and how long.
//!
//! Leaving kinds out matters as much as putting them in: one kind can hide what another would show
//! (Groce et al., "Swarm Testing", ISSTA 2012). Each kind has draws of its own, so that a kind more or
//! less in the menu leaves the others as they were.

use std::ops::Range;

use crate::fault::{Fault, Kind, What, When};
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

/// The draw of the style of a seed, beside those of the kinds.
const STYLE: u64 = 255;

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
        let style = style(&mut key.stream(Purpose::Faults, STYLE), offered.len());
        let mut faults = Vec::new();
        for (nth, (dish, count)) in offered.into_iter().enumerate() {
            let mut draw = key.stream(Purpose::Faults, dish.entity());
            let on = draw.below(2) == 1;
            let number = draw.between(u64::from(count.start.max(1)), u64::from(count.end - 1));
            let served = match style {
                Style::Calm => false,
                Style::Single(single) => single == nth,
                Style::Swarm => on,
            };
            if served {
                faults.extend((0..number).filter_map(|_| self.fault(*dish, &mut draw)));
            }
        }
        faults.sort_by_key(|fault| match fault.when {
            When::At(time) => time,
            When::Before(_) | When::After(_) => Instant::ZERO,
        });
        faults
    }

    fn fault(&self, dish: Dish, draw: &mut Stream) -> Option<Fault> {
        let time = draw.between(self.window.start, self.window.end.saturating_sub(1));
        // Times that people read: whole tenths of a millisecond.
        let at = Instant::from_nanos(time / 100_000 * 100_000);
        let when = When::At(at);
        // All damage ends with the window: say so, rather than have it cut short.
        let left = Instant::from_nanos(self.window.end).since(at);
        let what = match dish {
            Dish::PowerCut if self.powered_together.is_empty() => return None,
            Dish::PowerCut => {
                What::Crash { nodes: self.powered_together.clone(), down: self.down(draw).min(left) }
            }
            Dish::Of(kind) => self.what(kind, left, draw)?,
        };
        Some(Fault { when, what })
    }

    fn what(&self, kind: Kind, left: Span, draw: &mut Stream) -> Option<What> {
        let node = draw.pick(&self.targets)?.clone();
        let others: Vec<String> = self.nodes.iter().filter(|other| **other != node).cloned().collect();
        let other = draw.pick(&others).cloned();
        // Which way a link is hit.
        let flip = draw.below(2) == 1;
        let pair = move || {
            let (one, two) = (vec![node.clone()], vec![other.clone()?]);
            Some(if flip { (two, one) } else { (one, two) })
        };
        let lasts = round(draw.span(self.lasts.0, self.lasts.1)).min(left);
        let down = self.down(draw).min(left);
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
            Kind::TearTail => What::TearTail { nodes, lasts },
            Kind::Scatter => What::Scatter { nodes, lasts },
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

    fn down(&self, draw: &mut Stream) -> Span {
        round(draw.span(self.down.0, self.down.1))
    }

    fn shift(&self, draw: &mut Stream) -> Shift {
        let reach = self.skew.as_nanos() / 100_000;
        let ticks = draw.between(0, 2 * reach) as i64 - reach as i64;
        Shift::from_nanos(ticks * 100_000)
    }
}

fn style(draw: &mut Stream, offered: usize) -> Style {
    let dice = draw.below(16);
    let single = draw.below(offered as u64) as usize;
    match dice {
        0 => Style::Calm,
        1..=3 => Style::Single(single),
        _ => Style::Swarm,
    }
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
    fn faults_begin_in_the_window_and_hit_the_targets() {
        for fault in (0..300).flat_map(|seed| menu().draw(seed)) {
            assert!(matches!(fault.when, When::At(at) if at.as_nanos() < 1_000_000_000));
            let (first, second) = fault.what.nodes();
            assert!(!first.is_empty());
            if !fault.what.has_sides() {
                assert!(first.iter().all(|node| node != "c") && second.is_empty());
            }
        }
    }
}
