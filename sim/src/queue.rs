//! The queue of events: a 4-ary heap of 16-byte keys (time, tie, slot) beside a slab of events.
//!
//! Keeping the events out of the heap is the largest single gain in the cost of an event. An entry
//! can be taken out or put at another time while its key waits in the heap: a key that no longer
//! matches its slot is stale and is passed over.

use crate::time::Instant;

/// Time in the high 64 bits, then 32 bits of tie, then 32 bits of slot.
type Key = u128;

const ARITY: usize = 4;

/// The name of an entry: its slot, and its id to tell it from a later one in the same slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    slot: u32,
    id: u64,
}

impl Handle {
    pub(crate) fn id(self) -> u64 {
        self.id
    }
}

/// An event that waits.
#[derive(Debug)]
pub(crate) struct Entry<E> {
    /// The number of the event in the run.
    pub(crate) id: u64,
    /// The number of the event that caused it.
    pub(crate) cause: u64,
    /// The event.
    pub(crate) event: E,
}

struct Slot<E> {
    key: Key,
    entry: Option<Entry<E>>,
}

/// Events in the order of (time, tie).
pub(crate) struct Queue<E> {
    heap: Vec<Key>,
    slots: Vec<Slot<E>>,
    free: Vec<u32>,
}

impl<E> Queue<E> {
    pub(crate) fn new() -> Self {
        Self { heap: Vec::new(), slots: Vec::new(), free: Vec::new() }
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn push(&mut self, time: Instant, tie: u32, entry: Entry<E>) -> Handle {
        let id = entry.id;
        let slot = match self.free.pop() {
            Some(slot) => {
                let key = key(time, tie, slot);
                let place = &mut self.slots[slot as usize];
                place.key = key;
                place.entry = Some(entry);
                slot
            }
            None => {
                let slot = self.slots.len() as u32;
                self.slots.push(Slot { key: key(time, tie, slot), entry: Some(entry) });
                slot
            }
        };
        self.sift_in(self.slots[slot as usize].key);
        Handle { slot, id }
    }

    /// The time of the first event. A stale key may make it too early, never too late.
    #[inline]
    pub(crate) fn next_time(&self) -> Option<Instant> {
        self.heap.first().map(|key| time_of(*key))
    }

    /// Takes the first event; none where its key was stale.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Entry<E>> {
        let key = self.sift_out()?;
        let slot = key as u32;
        let place = &mut self.slots[slot as usize];
        if place.key != key {
            return None;
        }
        // No key is all ones: a second key of this slot will not match.
        place.key = Key::MAX;
        self.free.push(slot);
        place.entry.take()
    }

    /// Takes an event out before its time.
    pub(crate) fn cancel(&mut self, handle: Handle) -> Option<Entry<E>> {
        let place = self.slots.get_mut(handle.slot as usize)?;
        if place.entry.as_ref()?.id != handle.id {
            return None;
        }
        place.entry.take()
    }

    /// Puts every event at a new time for which `retime` gives one; whether any has moved.
    pub(crate) fn retime(&mut self, mut retime: impl FnMut(&mut Entry<E>) -> Option<Instant>) -> bool {
        let mut any = false;
        for slot in 0..self.slots.len() {
            let place = &mut self.slots[slot];
            let Some(time) = place.entry.as_mut().and_then(&mut retime) else { continue };
            let tie = (place.key >> 32) as u32;
            let moved = key(time, tie, slot as u32);
            if moved != place.key {
                place.key = moved;
                self.sift_in(moved);
                any = true;
            }
        }
        any
    }

    #[inline]
    fn sift_in(&mut self, key: Key) {
        let mut at = self.heap.len();
        self.heap.push(key);
        while at > 0 {
            let parent = (at - 1) / ARITY;
            let above = self.heap[parent];
            if above <= key {
                break;
            }
            self.heap[at] = above;
            at = parent;
        }
        self.heap[at] = key;
    }

    fn sift_out(&mut self) -> Option<Key> {
        let last = self.heap.pop()?;
        let Some(first) = self.heap.first().copied() else { return Some(last) };
        let heap = &mut self.heap[..];
        let mut at = 0;
        let mut child = 1;
        while let Some(children) = heap.get(child..child + ARITY) {
            let (low, high) =
                (usize::from(children[1] < children[0]), 2 + usize::from(children[3] < children[2]));
            let least = if children[high] < children[low] { high } else { low };
            if children[least] >= last {
                heap[at] = last;
                return Some(first);
            }
            heap[at] = children[least];
            at = child + least;
            child = at * ARITY + 1;
        }
        let rest = (child..heap.len()).min_by_key(|at| heap[*at]);
        if let Some(least) = rest.filter(|least| heap[*least] < last) {
            heap[at] = heap[least];
            at = least;
        }
        heap[at] = last;
        Some(first)
    }
}

#[inline]
fn key(time: Instant, tie: u32, slot: u32) -> Key {
    u128::from(time.as_nanos()) << 64 | u128::from(tie) << 32 | u128::from(slot)
}

#[inline]
fn time_of(key: Key) -> Instant {
    Instant::from_nanos((key >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(id: u64) -> Entry<u64> {
        Entry { id, cause: 0, event: id }
    }

    fn drain(queue: &mut Queue<u64>) -> Vec<(Instant, u64)> {
        let mut out = Vec::new();
        while let Some(time) = queue.next_time() {
            out.extend(queue.pop().map(|entry| (time, entry.event)));
        }
        out
    }

    proptest! {
        #[test]
        fn events_leave_in_the_order_of_time_and_tie(
            keys in prop::collection::vec((0u64..50, any::<u32>()), 0..200),
        ) {
            let mut queue = Queue::new();
            for (id, (time, tie)) in keys.iter().enumerate() {
                queue.push(Instant::from_nanos(*time), *tie, entry(id as u64));
            }
            let mut expected: Vec<_> = keys.iter().enumerate().map(|(id, key)| (*key, id as u64)).collect();
            expected.sort_unstable();
            let left: Vec<u64> = drain(&mut queue).into_iter().map(|(_, id)| id).collect();
            prop_assert_eq!(left, expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
        }

        #[test]
        fn what_is_cancelled_or_moved_leaves_once_and_at_its_new_time(
            steps in prop::collection::vec((0u64..50, 0u8..4), 1..200),
        ) {
            let mut queue = Queue::new();
            let mut alive = std::collections::BTreeMap::new();
            let mut handles = Vec::new();
            for (id, (time, what)) in steps.iter().enumerate() {
                let id = id as u64;
                handles.push(queue.push(Instant::from_nanos(*time), 0, entry(id)));
                alive.insert(id, *time);
                let target = handles[handles.len() / 2];
                match what {
                    0 => {
                        let gone = queue.cancel(target).map(|entry| entry.id);
                        prop_assert_eq!(gone.is_some(), alive.remove(&target.id).is_some());
                    }
                    1 => {
                        queue.retime(|entry| (entry.event == target.id).then(|| Instant::from_nanos(time + 7)));
                        alive.entry(target.id).and_modify(|at| *at = time + 7);
                    }
                    _ => {}
                }
            }
            let mut left = drain(&mut queue);
            left.sort_unstable_by_key(|(time, id)| (*id, *time));
            let expected: Vec<_> = alive.into_iter().map(|(id, time)| (Instant::from_nanos(time), id)).collect();
            prop_assert_eq!(left, expected);
        }
    }
}
