//! Benchmarks with statistics, for comparing one revision with another.
//!
//! ```text
//! cargo bench -p bcl-bench --profile dev                          all of them
//! cargo bench -p bcl-bench --profile dev -- loss/bayesian         those whose names match
//! cargo test -p bcl-bench --benches                               each once, to see that they run
//! ```
//!
//! Inputs have fixed seeds. Results are in the folder that `bcl-bench results` lists and compares. To compare a loss or kernel with its
//! alternatives, round by round in one run, use the verbs of the program.

mod kernels;
mod loss;
mod movielens;
mod ranking;
mod samplers;
mod streaming;
mod views;

use bcl_backend::{Backend, BackendChoice, prepare_process};
use bcl_bench::timing::ResultsFolder;
use burn::tensor::Device;
use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

criterion_main!(benches);
criterion_group!(
    name = benches;
    config = settings();
    targets = loss::bench, kernels::bench, samplers::bench, ranking::bench, views::bench, streaming::bench
);

/// There are about a hundred benchmarks that take from microseconds to a second, so this takes fewer samples and less time than
/// criterion's defaults of 100 samples in five seconds.
fn settings() -> Criterion {
    // As the programs do; this is the first thing that runs.
    prepare_process();
    Criterion::default()
        .output_directory(&ResultsFolder::new(None).criterion())
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

/// The CPU, with gradients.
fn training_device() -> Device {
    let backend = Backend::open(BackendChoice::Flex, None).expect("it is in every build");
    backend.training_device()
}
