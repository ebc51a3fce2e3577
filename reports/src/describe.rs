//! Faults in words: one sentence for each kind, such as `crash broker-0 at 4.2s, down for 1.3s`.

use millpond_sim::fault::{Event, Fault, Trigger, What, When};
use millpond_sim::time::Shift;

/// A fault in one sentence.
pub fn fault(fault: &Fault) -> String {
    let when = when(&fault.when);
    match &fault.what {
        What::Crash { nodes, down } => format!("crash {} {when}, down for {down}", list(nodes)),
        What::CrashLoop { nodes, times, down, up } => {
            format!("crash {} {times} times {when}, each time down for {down}, then up for {up}", list(nodes))
        }
        What::LoseDisk { nodes, down } => {
            format!("crash {} and lose the disk {when}, down for {down}", list(nodes))
        }
        What::Stop { nodes, down } => format!("stop {} cleanly {when}, down for {down}", list(nodes)),
        What::Pause { nodes, lasts } => format!("pause {} {when}, for {lasts}", list(nodes)),
        What::Partition { left, right, lasts } => {
            format!("part {} from {} {when}, for {lasts}", list(left), list(right))
        }
        What::Cut { from, to, lasts } => {
            format!("cut the way from {} to {} {when}, for {lasts}", list(from), list(to))
        }
        What::Isolate { nodes, lasts } => {
            format!("isolate {} from all others {when}, for {lasts}", list(nodes))
        }
        What::Slow { from, to, by, lasts } => {
            format!("slow messages from {} to {} by {by} {when}, for {lasts}", list(from), list(to))
        }
        What::Lose { from, to, odds, lasts } => {
            format!("lose {odds} of the messages from {} to {} {when}, for {lasts}", list(from), list(to))
        }
        What::LoseReplies { from, to, count, lasts } => {
            let replies = if *count == 1 { "reply" } else { "replies" };
            format!("lose {count} {replies} from {} to {} {when}, within {lasts}", list(from), list(to))
        }
        What::Duplicate { from, to, odds, lasts } => {
            let (from, to) = (list(from), list(to));
            format!("deliver {odds} of the messages from {from} to {to} twice {when}, for {lasts}")
        }
        What::Reorder { from, to, spread, lasts } => {
            let (from, to) = (list(from), list(to));
            format!(
                "let messages from {from} to {to} overtake each other by up to {spread} {when}, for {lasts}"
            )
        }
        What::Hold { from, to, lasts } => {
            let (from, to) = (list(from), list(to));
            format!("hold messages from {from} to {to} back {when}, released together after {lasts}")
        }
        What::SlowDisk { nodes, by, lasts } => {
            format!("slow syncs of {} by {by} {when}, for {lasts}", list(nodes))
        }
        What::FullDisk { nodes, lasts } => format!("fill the disk of {} {when}, for {lasts}", list(nodes)),
        What::FailSync { nodes, lasts } => format!("fail syncs of {} {when}, for {lasts}", list(nodes)),
        What::TearTail { nodes, lasts } => {
            format!("tear the first lost entry if {} crashes, {when}, for {lasts}", list(nodes))
        }
        What::Scatter { nodes, lasts } => {
            format!("keep any of the unsynced writes if {} crashes, {when}, for {lasts}", list(nodes))
        }
        What::Rot { nodes, entries } => {
            let things = if *entries == 1 { "entry" } else { "entries" };
            format!("rot {entries} durable {things} of {} {when}", list(nodes))
        }
        What::Offset { nodes, by, lasts } => {
            format!("set the wall clock of {} {} {when}, for {lasts}", list(nodes), way(*by))
        }
        What::Drift { nodes, ppm, lasts } => {
            let how = if *ppm < 0 { "slow" } else { "fast" };
            let ppm = ppm.unsigned_abs();
            format!("let the clocks of {} run {ppm} ppm too {how} {when}, for {lasts}", list(nodes))
        }
        What::Jump { nodes, by, every, lasts } => {
            let (nodes, by) = (list(nodes), way(*by));
            format!("let the wall clock of {nodes} jump {by} and back every {every} {when}, for {lasts}")
        }
    }
}

/// When a fault begins: `at 4.2s`, `just before shop-0 sends its 3rd Append`.
fn when(when: &When) -> String {
    match when {
        When::At(time) => format!("at {time}"),
        When::Before(at) => format!("just before {}", trigger(at)),
        When::After(at) => format!("just after {}", trigger(at)),
    }
}

fn trigger(trigger: &Trigger) -> String {
    let (node, nth) = (&trigger.node, ordinal(trigger.nth));
    match &trigger.event {
        Event::Sends(kind) => format!("{node} sends its {nth} {kind}"),
        Event::Receives(kind) => format!("{node} receives its {nth} {kind}"),
        Event::Reaches(point) => format!("{node} reaches `{point}` for the {nth} time"),
    }
}

fn way(by: Shift) -> String {
    match by.to_string().strip_prefix('-') {
        Some(back) => format!("back by {back}"),
        None => format!("forward by {by}"),
    }
}

pub(crate) fn ordinal(n: u32) -> String {
    let ending = match (n % 10, n % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.as_ref().to_owned(),
        [most @ .., last] => {
            let most: Vec<_> = most.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", most.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use millpond_sim::fault::Kind;
    use millpond_sim::time::{Instant, Odds, Span};

    use super::*;

    fn every_kind() -> Vec<What> {
        let (one, two) = (vec!["broker-0".to_owned()], vec!["shop-0".to_owned(), "shop-1".to_owned()]);
        let (lasts, odds) = (Span::from_millis(1_300), Odds::new(1, 10).unwrap());
        let (nodes, from, to) = (one.clone(), one.clone(), two.clone());
        macro_rules! whats {
            ($($kind:ident { $($field:ident $(: $value:expr)?),* }),* $(,)?) => {
                vec![$(What::$kind { $($field: whats!(@ $field $(, $value)?)),* }),*]
            };
            (@ $field:ident) => { $field.clone() };
            (@ $field:ident, $value:expr) => { $value };
        }
        whats! {
            Crash { nodes, down: lasts }, CrashLoop { nodes, times: 3, down: lasts, up: lasts },
            LoseDisk { nodes, down: lasts }, Stop { nodes: two.clone(), down: lasts }, Pause { nodes, lasts: lasts },
            Partition { left: one.clone(), right: two.clone(), lasts: lasts }, Cut { from, to, lasts: lasts },
            Isolate { nodes, lasts: lasts }, Slow { from, to, by: lasts, lasts: lasts },
            Lose { from, to, odds: odds, lasts: lasts }, LoseReplies { from, to, count: 2, lasts: lasts },
            Duplicate { from, to, odds: odds, lasts: lasts }, Reorder { from, to, spread: lasts, lasts: lasts },
            Hold { from, to, lasts: lasts }, SlowDisk { nodes, by: lasts, lasts: lasts },
            FullDisk { nodes, lasts: lasts }, FailSync { nodes, lasts: lasts }, TearTail { nodes, lasts: lasts },
            Scatter { nodes, lasts: lasts }, Rot { nodes, entries: 1 },
            Offset { nodes, by: Shift::from_millis(-2_000), lasts: lasts },
            Drift { nodes, ppm: -200, lasts: lasts },
            Jump { nodes, by: Shift::from_millis(500), every: lasts, lasts: lasts },
        }
    }

    #[test]
    fn every_kind_has_a_sentence() {
        let whats = every_kind();
        assert!(whats.iter().map(What::kind).eq(Kind::TABLE.iter().map(|(kind, ..)| *kind)));
        let when = When::At(Instant::from_nanos(4_200_000_000));
        let lines: Vec<_> =
            whats.into_iter().map(|what| fault(&Fault { when: when.clone(), what })).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn triggers_say_which_event() {
        let trigger = |event, nth| Trigger { node: "totals-0".into(), event, nth };
        let said =
            |when| fault(&Fault { when, what: What::Rot { nodes: vec!["broker-0".into()], entries: 2 } });
        let sends = said(When::Before(trigger(Event::Sends("Commit".into()), 3)));
        assert_eq!(sends, "rot 2 durable entries of broker-0 just before totals-0 sends its 3rd Commit");
        let receives = said(When::After(trigger(Event::Receives("Fetched".into()), 1)));
        assert!(receives.ends_with("just after totals-0 receives its 1st Fetched"));
        let reaches = said(When::After(trigger(Event::Reaches("after sink write".into()), 12)));
        assert!(reaches.ends_with("just after totals-0 reaches `after sink write` for the 12th time"));
    }
}
