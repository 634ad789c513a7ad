//! Two random views per image of a batch.

use bcl_bench::views::ViewsBench;
use criterion::{Criterion, Throughput};
use std::cell::LazyCell;

/// Images per batch, and height and width of each image.
const BATCHES: [[usize; 2]; 2] = [[256, 32], [64, 96]];

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("views");
    for [batch_size, side] in BATCHES {
        let views = LazyCell::new(|| ViewsBench::new(side, batch_size));
        group.throughput(Throughput::Elements(batch_size as u64));
        group.bench_function(format!("{side}x{side}"), |bencher| {
            let views = LazyCell::force(&views);
            let (mut pixels, mut epoch) = (Vec::new(), 0);
            bencher.iter(|| {
                views.make(epoch, &mut pixels);
                epoch += 1;
            });
        });
    }
}
