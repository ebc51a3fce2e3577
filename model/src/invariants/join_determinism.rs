//! Join determinism: a join gives the same output for every legal interleaving of its inputs.
//!
//! The order inside a partition is given, the order between partitions of different topics is not:
//! the input logs of the finished run are held fixed, and the operator is run over them again in
//! other interleavings, among them each input first. All outputs must be the same multiset; where
//! two differ, they are shown as a diff.

use std::fmt::Write as _;

use millpond_sim::random::{Key as RunKey, Purpose, Stream};

use crate::catalog::GroupInfo;
use crate::evidence::{Evidence, Judge};
use crate::note::Note;
use crate::outcome::{Verdict, Violation};
use crate::processor::operator::{Draw, Operator, TaskState};
use crate::record::{GroupId, Offset, PartitionId, Position, Record};
use crate::scenario::schema::{Invariant, Processor};
use crate::sink::Output;

/// How many interleavings are drawn, beside each input first.
const DRAWN: u64 = 4;

pub(super) fn check(evidence: &Evidence<'_>, seed: u64) -> Verdict {
    let mut judge = Judge::new(Invariant::JoinDeterminism);
    let key = RunKey::new(seed);
    for ((id, group), (_, processor)) in evidence.groups().zip(&evidence.scenario.processors) {
        if group.table.is_some() {
            for slot in 0..evidence.catalog.slots(id) {
                check_slot(evidence, (id, group, processor), slot, &key, &mut judge);
            }
        }
    }
    judge.verdict()
}

fn check_slot(
    evidence: &Evidence<'_>,
    (id, group, processor): (GroupId, &GroupInfo, &Processor),
    slot: u32,
    key: &RunKey,
    judge: &mut Judge,
) {
    let partitions: Vec<PartitionId> = evidence.catalog.task_inputs(id, slot).collect();
    let logs: Option<Vec<&[Record]>> = partitions.iter().map(|partition| evidence.log(*partition)).collect();
    let Some(logs) = logs else { return };
    let operator = Operator::new(&processor.steps, group.table).with(evidence.catalog.bugs);
    let run = |order: Order<'_>| {
        let mut outputs = interleave(&operator, &partitions, &logs, order);
        outputs.sort_by_key(|output| (output.from, output.key, output.value));
        outputs
    };
    let first = run(Order::First(0));
    let entity = u64::from(id.0) << 32 | u64::from(slot) << 16;
    let others = (1..logs.len()).map(|input| run(Order::First(input)));
    let drawn = (0..DRAWN).map(|nth| run(Order::Drawn(&mut key.stream(Purpose::Interleaving, entity | nth))));
    for other in others.chain(drawn) {
        judge.compared(first.len().max(other.len()));
        if other != first {
            judge.violated(|| {
                let (one, two) = (text(evidence, &first), text(evidence, &other));
                let pair = first.iter().zip(&other).find(|(one, two)| one != two);
                let differs = pair.map_or_else(
                    || "one has more rows than the other".to_owned(),
                    |(one, two)| format!("{} or {}", line(evidence, one), line(evidence, two)),
                );
                let longer = if first.len() > other.len() { &first } else { &other };
                let from = pair.map(|(one, two)| one.from.min(two.from)).or(longer.last().map(|row| row.from));
                let about = from.map_or_else(Vec::new, |from| evidence.about(from));
                let read = evidence.witnesses(|note| match note {
                    Note::LogRead(partition, _) if partitions.contains(partition) => {
                        Some(format!("reads all of {}", evidence.catalog.partition_name(*partition)))
                    }
                    _ => None,
                });
                let sentence = format!(
                    "The join of {} over partition {slot} depends on the order in which its inputs are read: {differs}.",
                    group.name
                );
                Violation { diff: Some((one, two)), ..Violation::new(sentence, read).about(about) }
            });
            return;
        }
    }
}

enum Order<'a> {
    /// One input whole, then the others in turn.
    First(usize),
    /// The next record from any input that has one, by the number of records left.
    Drawn(&'a mut Stream),
}

struct StreamDraw<'a>(&'a mut Stream);

impl Draw for StreamDraw<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }
}

fn interleave(
    operator: &Operator,
    partitions: &[PartitionId],
    logs: &[&[Record]],
    mut order: Order<'_>,
) -> Vec<Output> {
    let mut state = TaskState::default();
    let mut outputs = Vec::new();
    let mut read = vec![0usize; logs.len()];
    let mut left: usize = logs.iter().map(|log| log.len()).sum();
    // The operator's own draws are held fixed: they are another matter than the order.
    let mut own = RunKey::new(0).stream(Purpose::Actor, 0);
    while left > 0 {
        let input = match &mut order {
            Order::First(first) => {
                let unread = |input: &usize| read[*input] < logs[*input].len();
                Some(*first).filter(unread).or_else(|| (0..logs.len()).find(unread))
            }
            Order::Drawn(draw) => {
                let mut ticket = draw.below(left as u64) as usize;
                (0..logs.len()).find(|input| {
                    let remaining = logs[*input].len() - read[*input];
                    let found = ticket < remaining;
                    ticket = ticket.saturating_sub(remaining);
                    found
                })
            }
        };
        let Some(input) = input else { break };
        let at = Position { partition: partitions[input], offset: Offset(read[input] as u64) };
        let record = &logs[input][read[input]];
        operator.apply(&mut state, input, at, record, &mut StreamDraw(&mut own), &mut outputs);
        read[input] += 1;
        left -= 1;
    }
    outputs
}

fn line(evidence: &Evidence<'_>, output: &Output) -> String {
    format!("{} = {} from {}", output.key, output.value, evidence.place(output.from))
}

fn text(evidence: &Evidence<'_>, outputs: &[Output]) -> String {
    outputs.iter().fold(String::new(), |mut text, output| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", line(evidence, output));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Key, Kind, RecordId};
    use millpond_sim::NodeId;

    fn record(number: u32) -> Record {
        let id = RecordId { sender: NodeId::of_number(0), life: 0, number };
        Record { id, key: Key::new(0), value: i64::from(number), time: i64::from(number), kind: Kind::Data }
    }

    /// The inputs and offsets in the order in which they were read; nothing is joined, all passes.
    fn order(order: Order<'_>) -> Vec<(u16, u64)> {
        let (one, two): (Vec<_>, Vec<_>) = ((0..6).map(record).collect(), (0..9).map(record).collect());
        let partitions = [PartitionId(0), PartitionId(1)];
        let outputs = interleave(&Operator::new(&[], None), &partitions, &[&one, &two], order);
        outputs.iter().map(|output| (output.from.partition.0, output.from.offset.0)).collect()
    }

    fn all() -> Vec<(u16, u64)> {
        (0..6).map(|offset| (0, offset)).chain((0..9).map(|offset| (1, offset))).collect()
    }

    #[test]
    fn one_input_can_come_first() {
        assert_eq!(order(Order::First(0)), all());
        let second_first: Vec<_> = all()[6..].iter().chain(&all()[..6]).copied().collect();
        assert_eq!(order(Order::First(1)), second_first);
    }

    #[test]
    fn a_drawn_order_reads_all_once_and_each_input_in_its_own_order() {
        let (mut mixed, mut first_of_second) = (0, 0);
        for seed in 0..200 {
            let read = order(Order::Drawn(&mut RunKey::new(seed).stream(Purpose::Interleaving, 0)));
            let mut sorted = read.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, all());
            for input in [0, 1] {
                assert!(read.iter().filter(|(from, _)| *from == input).is_sorted());
            }
            mixed += u32::from(read != all());
            first_of_second += u32::from(read[0].0 == 1);
        }
        assert!(mixed > 190, "{mixed}");
        assert!(
            (90..150).contains(&first_of_second),
            "by the number of records left, 3 of 5: {first_of_second}"
        );
    }
}
