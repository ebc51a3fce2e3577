//! The price of a seed of the guarded-increment scenario, whole: drawing its plan, running it,
//! checking its history. `whole` is in events per second; `check` against `run` says what share
//! the checking has (it should not take longer than the run).

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use millpond_model::outcome::Plan;
use millpond_model::scenario::read;
use millpond_model::trial::Trial;
use millpond_sim::search::{Experiment, Tracing};

const SCENARIO: &str = include_str!("../scenarios/delivery/increment_guarded.ron");
const SEEDS: u64 = 50;

fn pipeline(criterion: &mut Criterion) {
    let scenario = read(SCENARIO).expect("a scenario of this repository can be read");
    let trial = Trial::new("increment_guarded", scenario);
    let plans: Vec<Plan> = (0..SEEDS).map(|seed| trial.draw(seed)).collect();
    let records: Vec<_> =
        plans.iter().zip(0..).map(|(plan, seed)| trial.simulate(seed, plan, Tracing::Off)).collect();

    let mut group = criterion.benchmark_group("increment_guarded");
    group.sample_size(20);
    group.throughput(Throughput::Elements(records.iter().map(|record| record.events).sum()));
    group.bench_function("whole", |bencher| {
        bencher.iter(|| {
            for seed in 0..SEEDS {
                let plan = trial.draw(seed);
                black_box(trial.run(seed, &plan, Tracing::Off));
            }
        });
    });
    group.bench_function("run", |bencher| {
        bencher.iter(|| {
            for (plan, seed) in plans.iter().zip(0..) {
                black_box(trial.simulate(seed, plan, Tracing::Off));
            }
        });
    });
    group.bench_function("check", |bencher| {
        bencher.iter(|| {
            for (record, seed) in records.iter().zip(0..) {
                black_box(trial.judge(seed, record));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
