//! The places of a run at which a fault can make a difference: before and after each effect of a node.
//!
//! What happens between two effects of a node is seen by no one else, so a crash anywhere between them
//! is the same crash. A base run without faults gives the boundaries; at each of them there are a few
//! faults to try, of the kinds that the menu offers on the nodes that it names.

use super::swarm::{Dish, Menu};
use crate::fault::{Event, Fault, Kind, Trigger, What, When};
use crate::schedule::{Delay, Which};
use crate::time::{Instant, Odds, Span};
use crate::trace::{Count, Happening, Trace};

/// An effect of a node in a base run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// The node.
    pub node: String,
    /// The effect, as a trigger names it.
    pub event: Event,
    /// The how manieth of its kind on the node.
    pub nth: u32,
    /// Whom the message goes to, where it is one, and the how manieth it is on that link.
    pub to: Option<(String, u32)>,
}

/// The effects of all nodes in a run, up to a time, in order. Messages that say no more than that all
/// is well are left out.
pub fn boundaries(trace: &Trace, names: &[String], until: Instant) -> Vec<Boundary> {
    let mut found: Vec<Boundary> = Vec::new();
    let (mut events, mut links) = (Count::new(), Count::new());
    for line in trace.lines.iter().take_while(|line| line.time < until) {
        let Some(node) = line.node.map(|node| usize::from(node.number())) else { continue };
        let to = match line.happening {
            Happening::Send { to, .. } => Some(usize::from(to.number())),
            _ => None,
        };
        let on_link = to.map(|to| links.nth((node, to)));
        // What a node receives is another's effect.
        let received = matches!(line.happening, Happening::Deliver { .. });
        let Some(event) = line.event().filter(|_| !received) else { continue };
        let nth = events.nth((node, event.clone()));
        let routine = line.told.routine && line.happening != Happening::Point;
        if let Some(name) = names.get(node).filter(|_| !routine) {
            let to = to.zip(on_link).and_then(|(to, nth)| Some((names.get(to)?.clone(), nth)));
            found.push(Boundary { node: name.clone(), event, nth, to });
        }
    }
    found
}

/// The faults to try at a boundary.
pub fn faults_at(boundary: &Boundary, menu: &Menu) -> Vec<Fault> {
    let offers = |kind: Kind| {
        menu.counts.iter().any(|(dish, count)| *dish == Dish::Of(kind) && count.end > 1)
            && menu.targets.contains(&boundary.node)
    };
    let Boundary { node, event, nth, to, .. } = boundary;
    let trigger = || Trigger { node: node.clone(), event: event.clone(), nth: *nth };
    let (before, after) = (|| When::Before(trigger()), || When::After(trigger()));
    let (down, lasts) = (middle(menu.down), menu.lasts.1);
    let nodes = || vec![node.clone()];
    let mut faults = Vec::new();
    let mut add = |offered: bool, when: When, what: What| {
        if offered {
            faults.push(Fault { when, what });
        }
    };
    add(offers(Kind::Crash), before(), What::Crash { nodes: nodes(), down });
    add(offers(Kind::Crash), after(), What::Crash { nodes: nodes(), down });
    add(offers(Kind::Pause), after(), What::Pause { nodes: nodes(), lasts });
    add(offers(Kind::Stop), before(), What::Stop { nodes: nodes(), down });
    if let Some((to, _)) = to {
        let to = || vec![to.clone()];
        let cut = offers(Kind::Cut) || offers(Kind::Partition) || offers(Kind::Isolate);
        add(cut, before(), What::Cut { from: nodes(), to: to(), lasts });
        let lose = What::LoseReplies { from: to(), to: nodes(), count: 1, lasts };
        add(offers(Kind::LoseReplies), before(), lose);
        let always = Odds::new(1, 1).unwrap_or(Odds::NEVER);
        let twice = What::Duplicate { from: nodes(), to: to(), odds: always, lasts: Span::from_millis(1) };
        add(offers(Kind::Duplicate), before(), twice);
        add(offers(Kind::Hold), before(), What::Hold { from: nodes(), to: to(), lasts });
    }
    if menu.counts.iter().any(|(dish, count)| *dish == Dish::PowerCut && count.end > 1)
        && menu.powered_together.contains(node)
    {
        let cut = What::Crash { nodes: menu.powered_together.clone(), down };
        faults.push(Fault { when: after(), what: cut });
    }
    faults
}

/// The delay of the message of a boundary, where it is one.
pub fn delay_at(boundary: &Boundary, by: Span) -> Option<Delay> {
    let (to, nth) = boundary.to.clone()?;
    Some(Delay { from: boundary.node.clone(), to, which: Which::Nth(nth), by })
}

fn middle((shortest, longest): (Span, Span)) -> Span {
    Span::from_nanos((shortest.as_nanos() + longest.as_nanos()) / 2 / 100_000 * 100_000)
}
