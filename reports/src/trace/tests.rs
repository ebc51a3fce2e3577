//! Every format, on a small trace with a crash, a pause, a lost message and a fault.

use millpond_sim::time::Instant;
use millpond_sim::trace::{EventId, Told};
use serde_json::Value;

use super::*;

fn line(at: u64, id: u64, node: Option<u16>, happening: Happening, words: &str) -> Line {
    let kind = match happening {
        Happening::Send { .. } | Happening::Deliver { .. } | Happening::Lost { .. } => "Write",
        _ => "",
    };
    Line {
        id: EventId::event(id),
        cause: EventId::event(id.saturating_sub(1)),
        time: Instant::from_nanos(at),
        node: node.map(NodeId::of_number),
        happening,
        told: Told { kind, ..Told::words(words) },
        faults: if happening == Happening::Fault { vec![0] } else { Vec::new() },
    }
}

fn small() -> (Vec<String>, Trace) {
    let (a, b) = (NodeId::of_number(0), NodeId::of_number(1));
    let send = |to, arrives: Option<u64>| Happening::Send { to, arrives: arrives.map(EventId::event) };
    let mut heartbeat = line(1_000, 1, Some(0), Happening::Timer, "timer");
    heartbeat.told.routine = true;
    let lines = vec![
        heartbeat,
        line(1_500, 2, Some(0), send(b, Some(3)), "sends Write(k0 = 1; \"quoted\" <x>)"),
        line(2_000_500, 3, Some(1), Happening::Deliver { from: a }, "receives Write(k0 = 1)"),
        line(2_000_500, 3, Some(1), Happening::Note, "was told #1"),
        line(3_000_000, 4, None, Happening::Fault, "Partition begins"),
        line(3_100_000, 5, Some(1), Happening::Pause, "stands still"),
        line(3_200_000, 6, Some(0), send(b, None), "sends Write(k1 = 2)"),
        line(3_300_000, 7, Some(1), Happening::Pause, "goes on"),
        line(3_400_000, 8, Some(0), Happening::Down, "crashes"),
        line(3_500_000, 9, Some(1), send(a, Some(10)), "sends Write(k2 = 3)"),
        line(3_900_000, 10, Some(0), Happening::Lost { from: b }, "Write(k2 = 3) is lost"),
        line(4_000_000, 11, Some(0), Happening::Start, "starts again"),
        line(4_100_000, 4, None, Happening::Fault, "Partition ends"),
    ];
    (vec!["shop-0".to_owned(), "ledger".to_owned()], Trace { lines, omitted: 0 })
}

fn written(format: Format) -> String {
    let (nodes, trace) = small();
    let recording = Recording { scenario: "small", seed: 7, engine: 1, nodes: &nodes, trace: &trace };
    let window = Window { routine: !format.is_picture(), ..Window::default() };
    write(format, &recording, &window.lines(&trace))
}

#[test]
fn json_lines() {
    insta::assert_snapshot!(written(Format::Lines));
}

#[test]
fn chrome_traces_are_json_with_whole_nanoseconds() {
    let text = written(Format::Chrome);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let events = value["traceEvents"].as_array().expect("events");
    let phases = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    assert_eq!((phases("M"), phases("s"), phases("f")), (4, 2, 1));
    let slices: Vec<_> =
        events.iter().filter(|event| event["tid"] == 1).map(|event| &event["name"]).collect();
    assert_eq!(slices, ["paused", "down"]);
    assert!(text.contains("\"ts\":2000.500"), "{text}");
}

#[test]
fn shiviz_clocks_count_by_one_and_take_in_what_is_received() {
    let text = written(Format::Shiviz);
    insta::assert_snapshot!(text);
    let mut counts = std::collections::BTreeMap::new();
    for pair in text.lines().skip(2).collect::<Vec<_>>().chunks(2) {
        let (host, clock) = pair[1].split_once(' ').expect("a host and a clock");
        let clock: Value = serde_json::from_str(clock).expect("JSON");
        let count = counts.entry(host.to_owned()).or_insert(0);
        *count += 1;
        assert_eq!(clock[host], *count);
    }
}

#[test]
fn mermaid_escapes_what_is_its_own() {
    insta::assert_snapshot!(written(Format::Mermaid));
}

#[test]
fn a_diagram_shows_what_has_become_of_nodes_and_messages() {
    let text = written(Format::Diagram);
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    assert_eq!(text.matches("marker-end").count(), 2, "two arrive at a row");
    assert_eq!(text.matches("url(#paused)").count(), 1);
    assert_eq!(text.matches("stroke-dasharray=\"2 5\"").count(), 1, "one is down");
    assert!(text.contains("fault 1") && !text.contains(">timer<"));
    assert!(text.contains("&lt;x&gt;") && !text.contains("<x>"));
    for tag in ["text", "line", "rect", "path", "circle", "svg", "marker", "pattern"] {
        let (opened, closed) = (
            text.matches(&format!("<{tag} ")).count() + text.matches(&format!("<{tag}>")).count(),
            text.matches(&format!("</{tag}>")).count(),
        );
        assert_eq!(opened, closed, "{tag}");
    }
}

#[test]
fn a_diagram_that_is_cut_says_so() {
    let (nodes, trace) = small();
    let many: Vec<Line> = trace.lines.iter().cycle().take(1_500).cloned().collect();
    let lines: Vec<&Line> = many.iter().collect();
    let recording = Recording { scenario: "many", seed: 7, engine: 1, nodes: &nodes, trace: &trace };
    assert!(write(Format::Diagram, &recording, &lines).contains("Cut here: 500 more events are not drawn."));
    assert!(write(Format::Mermaid, &recording, &lines).contains("more messages are not shown"));
}

#[test]
fn a_window_narrows_by_time_node_and_kind() {
    let (_, trace) = small();
    let count = |window: Window| window.lines(&trace).len();
    assert_eq!(count(Window::default()), 12);
    assert_eq!(count(Window { routine: true, ..Window::default() }), 13);
    assert_eq!(count(Window { from: Some(Instant::from_nanos(3_900_000)), ..Window::default() }), 3);
    assert_eq!(count(Window { to: Some(Instant::from_nanos(2_000_500)), ..Window::default() }), 3);
    let ledger = Window { nodes: vec![NodeId::of_number(1)], ..Window::default() };
    assert_eq!(count(ledger), 10);
    assert_eq!(count(Window { kinds: vec!["Read".to_owned()], ..Window::default() }), 6);
}

#[test]
fn an_unknown_ending_is_answered_with_what_there_is() {
    let error = Format::of(Path::new("run.svgz")).expect_err("no such format");
    assert!(
        error.contains(".jsonl, .json, .shiviz, .mmd, .svg") && error.contains("did you mean .svg?"),
        "{error}"
    );
}
