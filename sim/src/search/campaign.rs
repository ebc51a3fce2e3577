//! A campaign: an experiment over many seeds, on many threads, with one and the same result at any
//! number of them.
//!
//! Workers take seeds from a counter and run them; the caller's thread puts the outcomes back into
//! the order of the seeds and hands them on. So the caller always sees the smallest failing seed
//! first, and whatever a worker has run beyond the seed at which the caller stops is dropped.
//! Workers may run ahead by a bounded number of seeds only: memory does not grow with the campaign.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use super::{Experiment, Outcome, Tracing};
use crate::digest;
use crate::fault::Kind;

/// The name of the threads that run seeds: a panic hook can know them by it.
pub const WORKER: &str = "seed-worker";

/// How many seeds each worker may run ahead of the one that is handed on next.
const AHEAD: u64 = 16;

/// Which seeds to run, on how many threads, and until when.
pub struct Options<'a> {
    /// The first seed.
    pub start: u64,
    /// How many seeds.
    pub count: u64,
    /// How many threads.
    pub jobs: NonZeroUsize,
    /// Asked before each seed is begun: whether to begin no more. What has begun is finished.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// What a campaign adds up over its runs. It does not depend on the number of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many seeds were run.
    pub runs: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many events they had.
    pub events: u64,
    /// The wrapping sum of a mix of each seed and its fingerprint: the same for the same campaign,
    /// and the sums of two halves add up to that of the whole.
    pub sum: u64,
    /// How often each probe was reached.
    pub probes: BTreeMap<&'static str, u64>,
    /// What was armed and what took effect, for each kind of fault.
    pub faults: BTreeMap<Kind, Armed>,
}

/// How a kind of fault fared in a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Armed {
    /// How many plans had a fault of this kind.
    pub plans: u64,
    /// How many faults of this kind there were.
    pub armed: u64,
    /// How many of them took effect.
    pub bitten: u64,
}

/// A panic in the machinery around a run: a panic of an actor is a verdict, not a crash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}: {message}")]
pub struct Crash {
    /// The seed.
    pub seed: u64,
    /// What the panic said.
    pub message: String,
}

impl Totals {
    /// Takes in the totals of other runs.
    pub fn join(&mut self, other: &Self) {
        self.runs += other.runs;
        self.failed += other.failed;
        self.events += other.events;
        self.sum = self.sum.wrapping_add(other.sum);
        for (probe, count) in &other.probes {
            *self.probes.entry(probe).or_default() += count;
        }
        for (kind, more) in &other.faults {
            let armed = self.faults.entry(*kind).or_default();
            armed.plans += more.plans;
            armed.armed += more.armed;
            armed.bitten += more.bitten;
        }
    }

    /// Takes in one run.
    pub fn add(&mut self, seed: u64, outcome: &impl Outcome) {
        self.runs += 1;
        self.failed += u64::from(outcome.failed());
        self.events += outcome.events();
        self.sum = self.sum.wrapping_add(digest(&[seed, outcome.fingerprint()]));
        for (probe, count) in outcome.probes() {
            *self.probes.entry(probe).or_default() += count;
        }
        let mut in_plan = Vec::new();
        for (kind, bitten) in outcome.faults() {
            let armed = self.faults.entry(*kind).or_default();
            armed.armed += 1;
            armed.bitten += u64::from(*bitten);
            if !in_plan.contains(kind) {
                in_plan.push(*kind);
                armed.plans += 1;
            }
        }
    }
}

/// Runs the seeds and hands each outcome on, strictly in the order of the seeds, until `each` breaks
/// or `stop` says so.
///
/// # Errors
/// When the machinery around a run panics, for the smallest such seed that was reached.
pub fn run<E: Experiment>(
    experiment: &E,
    options: &Options<'_>,
    mut each: impl FnMut(u64, E::Outcome) -> ControlFlow<()>,
) -> Result<Totals, Crash> {
    let jobs = options.jobs.get() as u64;
    let line = Line::new(options, jobs.saturating_mul(AHEAD));
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for worker_number in 0..jobs.min(options.count) {
            let (line, sender) = (&line, sender.clone());
            let worker = thread::Builder::new().name(WORKER.to_owned());
            let spawned = worker.spawn_scoped(scope, move || work(experiment, line, options.stop, &sender));
            if let Err(error) = spawned {
                // Where the machine has no more threads to give, those that there are do the work.
                assert!(worker_number > 0, "no thread can be started: {error}");
                break;
            }
        }
        drop(sender);
        let totals = hand_on(options, &line, &receiver, &mut each);
        line.end();
        totals
    })
}

/// What the workers share: the next seed to take, and how far they may go.
struct Line {
    place: Mutex<Place>,
    moved: Condvar,
    ended: AtomicBool,
    start: u64,
    count: u64,
    ahead: u64,
}

/// What a worker is to do next.
enum Taken {
    Number(u64),
    DeliverFirst,
    Nothing,
}

/// Numbers of seeds, counted from the first.
struct Place {
    next: u64,
    handed_on: u64,
}

impl Line {
    fn new(options: &Options<'_>, ahead: u64) -> Self {
        let place = Mutex::new(Place { next: 0, handed_on: 0 });
        let (start, count) = (options.start, options.count);
        Self { place, moved: Condvar::new(), ended: AtomicBool::new(false), start, count, ahead }
    }

    /// The number of the next seed, once it is not too far ahead. Whoever is given one runs it, so
    /// that the seeds that were run have no gaps. Only who holds back no outcome may wait: others wait
    /// for it.
    fn take(&self, stop: &(dyn Fn() -> bool + Sync), holds_back: bool) -> Taken {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.ended() && place.next < self.count && place.next >= place.handed_on + self.ahead {
            if holds_back {
                return Taken::DeliverFirst;
            }
            place = self.moved.wait(place).unwrap_or_else(PoisonError::into_inner);
        }
        if self.ended() || place.next >= self.count || stop() {
            return Taken::Nothing;
        }
        place.next += 1;
        Taken::Number(place.next - 1)
    }

    fn handed_on(&self, count: u64) {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).handed_on = count;
        self.moved.notify_all();
    }

    fn end(&self) {
        // Under the lock, so that no worker falls asleep between its look and the call.
        let _place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        self.ended.store(true, Ordering::Relaxed);
        self.moved.notify_all();
    }

    fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

/// Outcomes by the numbers of their seeds, several at a time: each delivery wakes the caller's thread.
type Parcel<O> = Vec<(u64, Result<O, String>)>;

/// How many outcomes a parcel holds, once a worker has run so many seeds: those who wait for the first
/// failure wait for none of this.
const PARCEL: usize = 8;
const UNTIL_PARCELS: u64 = 64;

fn work<E: Experiment>(
    experiment: &E,
    line: &Line,
    stop: &(dyn Fn() -> bool + Sync),
    sender: &Sender<Parcel<E::Outcome>>,
) {
    let (mut parcel, mut runs) = (Vec::new(), 0);
    loop {
        let number = match line.take(stop, !parcel.is_empty()) {
            Taken::Number(number) => number,
            Taken::DeliverFirst if sender.send(std::mem::take(&mut parcel)).is_err() => return,
            Taken::DeliverFirst => continue,
            Taken::Nothing => break,
        };
        let seed = line.start.wrapping_add(number);
        let run = || experiment.run(seed, &experiment.draw(seed), Tracing::Off);
        let outcome = catch_unwind(AssertUnwindSafe(run)).map_err(|panic| message(&*panic));
        parcel.push((number, outcome));
        runs += 1;
        let enough = if runs > UNTIL_PARCELS { PARCEL } else { 1 };
        if parcel.len() >= enough && sender.send(std::mem::take(&mut parcel)).is_err() {
            return;
        }
    }
    // Where the caller has gone, no one wants the rest.
    let _ = sender.send(parcel);
}

fn hand_on<O: Outcome>(
    options: &Options<'_>,
    line: &Line,
    receiver: &Receiver<Parcel<O>>,
    each: &mut impl FnMut(u64, O) -> ControlFlow<()>,
) -> Result<Totals, Crash> {
    let mut totals = Totals::default();
    let mut waiting = BTreeMap::new();
    for parcel in receiver {
        waiting.extend(parcel);
        while let Some(outcome) = waiting.remove(&totals.runs) {
            let seed = options.start.wrapping_add(totals.runs);
            let outcome = outcome.map_err(|message| Crash { seed, message })?;
            totals.add(seed, &outcome);
            line.handed_on(totals.runs);
            if each(seed, outcome).is_break() {
                return Ok(totals);
            }
        }
    }
    Ok(totals)
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::super::toy::Toy;
    use super::*;

    fn options(jobs: usize, stop: &(dyn Fn() -> bool + Sync)) -> Options<'_> {
        Options { start: 10, count: 500, jobs: NonZeroUsize::new(jobs).unwrap(), stop }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_in_the_order_of_the_seeds() {
        let toy = Toy::failing_every(97);
        let all = |jobs| {
            let mut seeds = Vec::new();
            let totals = run(&toy, &options(jobs, &|| false), |seed, outcome| {
                seeds.push((seed, outcome.failed()));
                ControlFlow::Continue(())
            });
            (totals.unwrap(), seeds)
        };
        let one = all(1);
        assert_eq!(one.0.runs, 500);
        assert_eq!(one.0.failed, 5);
        assert!(one.1.iter().map(|(seed, _)| *seed).eq(10..510));
        for jobs in [2, 3, 8, 600] {
            assert_eq!(all(jobs), one, "{jobs} jobs");
        }
    }

    #[test]
    fn the_smallest_failing_seed_comes_first_and_the_rest_does_not_count() {
        let toy = Toy::failing_every(97);
        for jobs in [1, 2, 7] {
            let mut first = None;
            let totals = run(&toy, &options(jobs, &|| false), |seed, outcome| {
                if !outcome.failed() {
                    return ControlFlow::Continue(());
                }
                first = Some(seed);
                ControlFlow::Break(())
            });
            assert_eq!(first, Some(97));
            assert_eq!(totals.unwrap().runs, 97 - 10 + 1);
        }
    }

    #[test]
    fn a_stop_leaves_no_gaps() {
        let toy = Toy::failing_every(97);
        let asked = AtomicU64::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 100;
        let mut seeds = Vec::new();
        let totals = run(&toy, &options(4, &stop), |seed, _| {
            seeds.push(seed);
            ControlFlow::Continue(())
        });
        assert_eq!(totals.unwrap().runs, 100);
        assert!(seeds.into_iter().eq(10..110));
    }

    #[test]
    fn no_worker_runs_far_ahead_of_a_slow_seed() {
        let toy = Toy::failing_every(97);
        run(&toy, &options(2, &|| false), |seed, _| {
            let ahead = toy.runs().saturating_sub(seed - 10);
            assert!(ahead <= 2 * AHEAD + 2, "{ahead} seeds ahead");
            ControlFlow::Continue(())
        })
        .unwrap();
    }

    #[test]
    fn sums_of_two_halves_add_up() {
        let toy = Toy::failing_every(97);
        let sum = |start, count| {
            let jobs = NonZeroUsize::new(2).unwrap();
            let options = Options { start, count, jobs, stop: &|| false };
            run(&toy, &options, |_, _| ControlFlow::Continue(())).unwrap().sum
        };
        assert_eq!(sum(0, 60).wrapping_add(sum(60, 40)), sum(0, 100));
        assert_ne!(sum(0, 60), sum(1, 60));
    }

    #[test]
    fn a_panic_around_a_run_names_its_seed() {
        let toy = Toy::panicking_at(42);
        let crash = run(&toy, &options(2, &|| false), |_, _| ControlFlow::Continue(())).unwrap_err();
        assert_eq!(crash, Crash { seed: 42, message: "the toy broke".to_owned() });
    }

    #[test]
    fn kinds_are_counted_by_plan_and_by_fault() {
        let toy = Toy::failing_every(2);
        let totals = run(&toy, &options(2, &|| false), |_, _| ControlFlow::Continue(())).unwrap();
        assert_eq!(totals.faults[&Kind::Pause], Armed { plans: 500, armed: 1_000, bitten: 500 });
        assert_eq!(totals.probes["seen"], 1_500);
    }
}
