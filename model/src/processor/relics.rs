//! What an instance still has of the tasks of an earlier assignment. It should have nothing: all of it
//! is read anew from the group's offsets and the log. Only planted bugs look here.

use std::collections::VecDeque;
use std::rc::Rc;

use super::operator::TaskState;
use super::task::Task;
use crate::bugs::{Bug, Bugs};
use crate::record::{Batch, Position};

/// The last task of each number, where a bug asks for it.
#[derive(Debug, Default)]
pub(super) struct Relics(Vec<Task>);

impl Relics {
    /// Keeps tasks that have ended, if a bug will ask for them.
    pub(super) fn keep(&mut self, bugs: Bugs, ended: impl Iterator<Item = Task>) {
        let asked = [Bug::BufferKept, Bug::PositionKept, Bug::StateKept].into_iter().any(|bug| bugs.has(bug));
        for task in ended.filter(|_| asked) {
            self.0.retain(|old| old.slot != task.slot);
            self.0.push(task);
        }
    }

    fn of(&self, slot: u32) -> Option<&Task> {
        self.0.iter().find(|task| task.slot == slot)
    }

    /// Where the task was, for a bug that goes on there.
    pub(super) fn positions(&self, bugs: Bugs, slot: u32) -> Option<Rc<[Position]>> {
        self.of(slot).filter(|_| bugs.has(Bug::PositionKept)).map(Task::positions)
    }

    /// What the task had read ahead, for a bug that processes it now.
    pub(super) fn ready(&mut self, bugs: Bugs, slot: u32) -> VecDeque<(usize, Position, Rc<[Batch]>)> {
        let task = self.0.iter_mut().find(|task| task.slot == slot);
        task.filter(|_| bugs.has(Bug::BufferKept))
            .map(|task| std::mem::take(&mut task.ready))
            .unwrap_or_default()
    }

    /// The state that the task had, for a bug that reads the log into it.
    pub(super) fn state(&self, bugs: Bugs, slot: u32) -> Option<TaskState> {
        self.of(slot).filter(|_| bugs.has(Bug::StateKept)).map(|task| task.state.clone())
    }
}
