//! Every kernel: row ranks, sums of exponentials, propagation along the graphs of `MovieLens` and Gowalla, sampled products,
//! and the kernels of `ResNets`.

use crate::training_device;
use bcl_bench::kernels::{self, Pass};
use criterion::{Criterion, Throughput};
use std::cell::LazyCell;

/// Entries of the largest tensor in a benchmark. Larger cases take seconds; `bcl-bench kernels` measures them.
const LARGEST: usize = 60_000_000;

pub(crate) fn bench(criterion: &mut Criterion) {
    let device = training_device();
    for case in kernels::cases().into_iter().filter(|case| case.entries <= LARGEST) {
        let mut group = criterion.benchmark_group(case.kernel);
        group.throughput(Throughput::Elements(case.entries as u64));
        let pass = match case.pass {
            Pass::Forward => "forward",
            Pass::Gradients => "gradients",
        };
        let name = format!("{}/{pass}", case.size);
        let kernel = LazyCell::new(|| {
            device.seed(0);
            case.kernel(&device)
        });
        group.bench_function(name, |bencher| bencher.iter(LazyCell::force(&kernel)));
    }
}
