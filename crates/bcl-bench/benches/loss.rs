//! Every loss on in-batch scores, forward pass alone and with gradients.

use crate::training_device;
use bcl_bench::loss::{InBatchLoss, LossVariant};
use criterion::{Criterion, Throughput};
use std::{cell::LazyCell, hint::black_box};

/// Samples per batch.
const BATCHES: [usize; 2] = [256, 1024];

/// Embedding size.
const DIM: usize = 128;

pub(crate) fn bench(criterion: &mut Criterion) {
    let device = training_device();
    for batch_size in BATCHES {
        let mut group = criterion.benchmark_group(format!("loss/{batch_size}"));
        let num_negatives = 2 * batch_size * (2 * batch_size - 2);
        group.throughput(Throughput::Elements(num_negatives as u64));
        for variant in LossVariant::all() {
            // Created on first run, so that a benchmark that the command line filters out costs nothing.
            let loss = LazyCell::new(|| InBatchLoss::new(&variant, batch_size, DIM, &device));
            group.bench_function(format!("{}/forward", variant.name()), |bencher| {
                let loss = LazyCell::force(&loss);
                bencher.iter(|| black_box(loss.forward()));
            });
            group.bench_function(format!("{}/gradients", variant.name()), |bencher| {
                let loss = LazyCell::force(&loss);
                bencher.iter(|| black_box(loss.gradients()));
            });
        }
    }
}
