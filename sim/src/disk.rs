//! A node's disk: named append-only logs and cells, and the faults that meet them here.
//!
//! A write is seen by the node at once and is volatile until a sync that began after it has
//! completed. At a crash the unsynced rest of each log survives or not, as drawn: a prefix; with
//! `TearTail` the first entry that was lost is there but unreadable; with `Scatter` an arbitrary
//! subset survives, and what was lost before a survivor is unreadable. A cell is replaced whole: it
//! keeps its old or its new value. Entries whose sync failed look fine until the next crash, as
//! pages do that a kernel has marked clean after a failed `fsync` (the PostgreSQL reports of 2018).
//!
//! Entries are values of the actor's own type, not bytes: a checksum that does not match is a
//! [`Damage`] instead of a value.

use smallvec::SmallVec;

use crate::random::Stream;

/// The name of a log on one disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogId(u16);

/// The name of a cell on one disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId(u16);

/// The name of one sync of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SyncId(pub(crate) u64);

/// A write that was refused because no space is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no space is left on the disk")]
pub struct DiskFull;

/// A sync that failed: nothing that it should have covered is sure to be durable, now or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the disk failed to sync")]
pub struct SyncFailed;

/// An entry that is there but cannot be read: its checksum does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Damage {
    /// It was being written when the node crashed.
    #[error("the entry is torn")]
    Torn,
    /// It was durable and has decayed, or was never really written.
    #[error("the entry is rotten")]
    Rotten,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    value: T,
    damage: Option<Damage>,
    /// Reported as synced, but never written.
    ghost: bool,
}

#[derive(Clone, Debug)]
struct Log<T> {
    name: String,
    entries: Vec<Entry<T>>,
    /// How many entries are durable, or believed to be.
    durable: usize,
}

#[derive(Clone, Debug)]
struct Cell<T> {
    name: String,
    current: Option<Entry<T>>,
    durable: Option<Entry<T>>,
    version: u64,
    durable_version: u64,
}

/// What a sync covers: the length of each log and the version of each cell when it began.
#[derive(Clone, Debug)]
struct Cover {
    id: SyncId,
    logs: SmallVec<[(LogId, usize); 4]>,
    cells: SmallVec<[(CellId, u64); 2]>,
}

/// How a crash treats what was not synced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CrashMode {
    pub(crate) tear: bool,
    pub(crate) scatter: bool,
}

/// What a crash did, for the faults that asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CrashReport {
    pub(crate) tore: bool,
    pub(crate) scattered: bool,
}

/// The disk of one node.
#[derive(Clone, Debug)]
pub struct Disk<T> {
    logs: Vec<Log<T>>,
    cells: Vec<Cell<T>>,
    covers: Vec<Cover>,
}

impl<T: Clone> Disk<T> {
    pub(crate) fn new() -> Self {
        Self { logs: Vec::new(), cells: Vec::new(), covers: Vec::new() }
    }

    /// The log of this name, made empty where there is none.
    pub fn log(&mut self, name: &str) -> LogId {
        let at = self.logs.iter().position(|log| log.name == name).unwrap_or_else(|| {
            self.logs.push(Log { name: name.to_owned(), entries: Vec::new(), durable: 0 });
            self.logs.len() - 1
        });
        LogId(u16::try_from(at).expect("a disk has fewer than 65536 logs"))
    }

    /// The cell of this name, made empty where there is none.
    pub fn cell(&mut self, name: &str) -> CellId {
        let at = self.cells.iter().position(|cell| cell.name == name).unwrap_or_else(|| {
            let (current, durable) = (None, None);
            self.cells.push(Cell { name: name.to_owned(), current, durable, version: 0, durable_version: 0 });
            self.cells.len() - 1
        });
        CellId(u16::try_from(at).expect("a disk has fewer than 65536 cells"))
    }

    /// How many entries the log has, damaged ones included.
    pub fn len(&self, log: LogId) -> usize {
        self.logs[log.0 as usize].entries.len()
    }

    /// Whether the log has no entry.
    pub fn is_empty(&self, log: LogId) -> bool {
        self.len(log) == 0
    }

    /// Entry `index` of the log, none past its end.
    ///
    /// # Errors
    /// The damage that its checksum shows.
    pub fn read(&self, log: LogId, index: usize) -> Option<Result<&T, Damage>> {
        self.logs[log.0 as usize].entries.get(index).map(Entry::read)
    }

    /// The entries of the log in order.
    pub fn entries(&self, log: LogId) -> impl Iterator<Item = Result<&T, Damage>> {
        self.logs[log.0 as usize].entries.iter().map(Entry::read)
    }

    /// The value of the cell, none where it was never written.
    ///
    /// # Errors
    /// The damage that its checksum shows.
    pub fn get(&self, cell: CellId) -> Option<Result<&T, Damage>> {
        self.cells[cell.0 as usize].current.as_ref().map(Entry::read)
    }

    /// Cuts the log to its first `len` entries, at once and for good: for recovery after a restart.
    pub fn truncate(&mut self, id: LogId, len: usize) {
        let log = &mut self.logs[id.0 as usize];
        log.entries.truncate(len);
        log.durable = log.durable.min(len);
        // A sync under way covers what was cut off, not what is written in its place.
        for covered in self.covers.iter_mut().flat_map(|cover| &mut cover.logs) {
            if covered.0 == id {
                covered.1 = covered.1.min(len);
            }
        }
    }

    pub(crate) fn append(&mut self, log: LogId, value: T) -> usize {
        let log = &mut self.logs[log.0 as usize];
        log.entries.push(Entry { value, damage: None, ghost: false });
        log.entries.len() - 1
    }

    pub(crate) fn set(&mut self, cell: CellId, value: T) {
        let cell = &mut self.cells[cell.0 as usize];
        cell.current = Some(Entry { value, damage: None, ghost: false });
        cell.version += 1;
    }

    pub(crate) fn begin_sync(&mut self, id: SyncId) {
        let logs = self.logs.iter().zip(0..).filter(|(log, _)| log.entries.len() > log.durable);
        let cells = self.cells.iter().zip(0..).filter(|(cell, _)| cell.version > cell.durable_version);
        self.covers.push(Cover {
            id,
            logs: logs.map(|(log, at)| (LogId(at), log.entries.len())).collect(),
            cells: cells.map(|(cell, at)| (CellId(at), cell.version)).collect(),
        });
    }

    /// Ends a sync: what it covers is durable, or with `failed` never will be.
    pub(crate) fn end_sync(&mut self, id: SyncId, failed: bool) {
        let Some(at) = self.covers.iter().position(|cover| cover.id == id) else { return };
        let cover = self.covers.remove(at);
        for (log, len) in cover.logs {
            let log = &mut self.logs[log.0 as usize];
            let len = len.min(log.entries.len());
            if len > log.durable {
                log.entries[log.durable..len].iter_mut().for_each(|entry| entry.ghost |= failed);
                log.durable = len;
            }
        }
        for (cell, version) in cover.cells {
            let cell = &mut self.cells[cell.0 as usize];
            if !failed && version > cell.durable_version {
                // A later write may have come; what was current then is gone, and the newer value is
                // as good an outcome of writing the cell's page.
                cell.durable.clone_from(&cell.current);
            }
            cell.durable_version = cell.durable_version.max(version);
        }
    }

    /// The last sync of a clean stop: everything is durable, or with `failed` never will be.
    pub(crate) fn sync_all(&mut self, failed: bool) {
        self.begin_sync(SyncId(u64::MAX));
        self.end_sync(SyncId(u64::MAX), failed);
        self.covers.clear();
    }

    /// Whether nothing was ever written.
    pub(crate) fn is_blank(&self) -> bool {
        self.logs.iter().all(|log| log.entries.is_empty()) && self.cells.iter().all(|cell| cell.version == 0)
    }

    /// Loses everything.
    pub(crate) fn wipe(&mut self) {
        *self = Self::new();
    }

    /// Loses what a crash loses.
    pub(crate) fn crash(&mut self, mode: CrashMode, draw: &mut Stream) -> CrashReport {
        self.covers.clear();
        let mut report = CrashReport::default();
        for log in &mut self.logs {
            log.crash(mode, draw, &mut report);
        }
        for cell in &mut self.cells {
            let settled = cell.version == cell.durable_version;
            let survives = draw.below(2) == 1;
            if settled || !survives {
                cell.current.clone_from(&cell.durable);
            } else {
                cell.durable.clone_from(&cell.current);
            }
            cell.durable_version = cell.version;
        }
        report
    }

    /// Makes up to `count` durable entries unreadable; how many it found to rot.
    pub(crate) fn rot(&mut self, count: u32, draw: &mut Stream) -> u32 {
        let mut sound: Vec<&mut Entry<T>> = Vec::new();
        for log in &mut self.logs {
            sound.extend(log.entries[..log.durable].iter_mut().filter(|entry| entry.damage.is_none()));
        }
        let mut rotten = 0;
        while rotten < count && !sound.is_empty() {
            let at = draw.below(sound.len() as u64) as usize;
            sound.swap_remove(at).damage = Some(Damage::Rotten);
            rotten += 1;
        }
        rotten
    }
}

impl<T> Entry<T> {
    fn read(&self) -> Result<&T, Damage> {
        match self.damage {
            None => Ok(&self.value),
            Some(damage) => Err(damage),
        }
    }
}

impl<T> Log<T> {
    fn crash(&mut self, mode: CrashMode, draw: &mut Stream, report: &mut CrashReport) {
        let unsynced = self.entries.len() - self.durable;
        let kept = draw.below(unsynced as u64 + 1) as usize;
        if mode.scatter {
            let mut last_survivor = None;
            for at in self.durable..self.entries.len() {
                if draw.below(2) == 1 {
                    last_survivor = Some(at);
                } else {
                    self.entries[at].damage = Some(Damage::Rotten);
                }
            }
            let len = last_survivor.map_or(self.durable, |at| at + 1);
            self.entries.truncate(len);
            report.scattered |= self.entries[self.durable..].iter().any(|entry| entry.damage.is_some());
        } else if mode.tear && kept < unsynced {
            self.entries.truncate(self.durable + kept + 1);
            self.entries[self.durable + kept].damage = Some(Damage::Torn);
            report.tore = true;
        } else {
            self.entries.truncate(self.durable + kept);
        }
        // What a failed sync left behind shows itself now: a hole, or nothing at the end of the log.
        while self.entries.last().is_some_and(|entry| entry.ghost) {
            self.entries.pop();
        }
        for entry in self.entries.iter_mut().filter(|entry| entry.ghost) {
            (entry.ghost, entry.damage) = (false, Some(Damage::Rotten));
        }
        self.durable = self.entries.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Key, Purpose};

    fn draw(seed: u64) -> Stream {
        Key::new(seed).stream(Purpose::Survival, 0)
    }

    /// A disk with entries 0..durable synced and durable..total not.
    fn disk(durable: u32, total: u32) -> (Disk<u32>, LogId) {
        let mut disk = Disk::new();
        let log = disk.log("log");
        (0..durable).for_each(|n| _ = disk.append(log, n));
        disk.begin_sync(SyncId(1));
        (durable..total).for_each(|n| _ = disk.append(log, n));
        disk.end_sync(SyncId(1), false);
        (disk, log)
    }

    fn read(disk: &Disk<u32>, log: LogId) -> Vec<Result<u32, Damage>> {
        disk.entries(log).map(Result::<&u32, Damage>::copied).collect()
    }

    #[test]
    fn a_crash_keeps_what_was_synced_and_a_prefix_of_the_rest() {
        let mut lengths = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let (mut disk, log) = disk(3, 6);
            disk.crash(CrashMode::default(), &mut draw(seed));
            let entries = read(&disk, log);
            assert!(entries.iter().zip(0..).all(|(entry, n)| *entry == Ok(n)));
            lengths.insert(entries.len());
        }
        assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6]);
    }

    #[test]
    fn a_torn_tail_is_there_but_unreadable() {
        let torn = (0..200).filter(|seed| {
            let (mut disk, log) = disk(3, 6);
            let report = disk.crash(CrashMode { tear: true, scatter: false }, &mut draw(*seed));
            let entries = read(&disk, log);
            assert!(entries.len() >= 3 && entries[..3].iter().all(Result::is_ok));
            assert_eq!(report.tore, entries.last() == Some(&Err(Damage::Torn)));
            report.tore
        });
        assert!((100..200).contains(&torn.count()));
    }

    #[test]
    fn scattered_writes_leave_holes() {
        let holes = (0..200).filter(|seed| {
            let (mut disk, log) = disk(1, 6);
            let report = disk.crash(CrashMode { tear: false, scatter: true }, &mut draw(*seed));
            let entries = read(&disk, log);
            assert!(entries.last().is_some_and(Result::is_ok), "what is lost at the end is not there");
            report.scattered
        });
        assert!(holes.count() > 50);
    }

    #[test]
    fn a_failed_sync_is_found_out_at_the_next_crash() {
        let mut disk = Disk::new();
        let log = disk.log("log");
        disk.append(log, 1);
        disk.begin_sync(SyncId(1));
        disk.end_sync(SyncId(1), true);
        disk.append(log, 2);
        disk.begin_sync(SyncId(2));
        disk.end_sync(SyncId(2), false);
        assert_eq!(read(&disk, log), [Ok(1), Ok(2)], "until then all looks well");
        disk.crash(CrashMode::default(), &mut draw(1));
        assert_eq!(read(&disk, log), [Err(Damage::Rotten), Ok(2)]);
    }

    #[test]
    fn a_cell_keeps_its_old_or_its_new_value() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let mut disk = Disk::new();
            let cell = disk.cell("cell");
            disk.set(cell, 1);
            disk.sync_all(false);
            disk.set(cell, 2);
            disk.crash(CrashMode::default(), &mut draw(seed));
            seen.insert(disk.get(cell).map(Result::<&u32, Damage>::copied));
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [Some(Ok(1)), Some(Ok(2))]);
    }

    #[test]
    fn rot_hits_durable_entries_only() {
        let (mut disk, log) = disk(3, 6);
        assert_eq!(disk.rot(2, &mut draw(1)), 2);
        let entries = read(&disk, log);
        assert_eq!(entries[..3].iter().filter(|entry| **entry == Err(Damage::Rotten)).count(), 2);
        assert!(entries[3..].iter().all(Result::is_ok));
    }

    #[test]
    fn a_sync_does_not_cover_what_replaced_entries_that_were_cut_off() {
        let mut disk = Disk::new();
        let log = disk.log("log");
        (0..4).for_each(|n| _ = disk.append(log, n));
        disk.begin_sync(SyncId(1));
        disk.truncate(log, 1);
        (10..13).for_each(|n| _ = disk.append(log, n));
        disk.end_sync(SyncId(1), false);
        let lost = (0..50).any(|seed| {
            let mut disk = disk.clone();
            disk.crash(CrashMode::default(), &mut draw(seed));
            assert_eq!(read(&disk, log)[0], Ok(0));
            disk.len(log) == 1
        });
        assert!(lost, "10, 11 and 12 were written after the sync had begun");
    }

    #[test]
    fn a_wiped_disk_is_empty() {
        let (mut disk, _) = disk(3, 6);
        disk.wipe();
        let log = disk.log("log");
        assert!(disk.is_empty(log));
    }
}
