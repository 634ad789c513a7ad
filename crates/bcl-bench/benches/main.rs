//! Benchmarks with statistics, for comparing one revision with another.
//!
//! ```text
//! cargo bench -p bcl-bench --profile dev                          all of them
//! cargo bench -p bcl-bench --profile dev -- loss/bayesian         those whose names match
//! cargo test -p bcl-bench --benches                               each once, to see that they run
//! ```
//!
//! Inputs have fixed seeds. What losses and kernels are beside their rivals, round by round in one run, is for the verbs of the program.

mod kernels;
mod loss;
mod movielens;
mod ranking;
mod samplers;
mod views;

use bcl_train::{backend::Backend, cli::BackendChoice};
use burn::tensor::Device;
use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

criterion_main!(benches);
criterion_group!(
    name = benches;
    config = settings();
    targets = loss::bench, kernels::bench, samplers::bench, ranking::bench, views::bench
);

/// There are about a hundred benchmarks, of microseconds to a second: fewer samples than criterion's 100, in less than its five seconds.
fn settings() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

/// The processor, tracking gradients.
fn training_device() -> Device {
    let backend = Backend::open(BackendChoice::Flex, None).expect("it is in every build");
    backend.training_device()
}
