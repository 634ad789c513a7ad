//! Two random views per image of a batch of planted images, with one thread and with all.

use bcl_data::Seed;
use bcl_images::{PlantedImagesConfig, ViewsConfig};
use criterion::{Criterion, Throughput};
use rayon::ThreadPoolBuilder;
use std::{cell::LazyCell, collections::BTreeSet, hint::black_box};

/// Images per batch, and height and width of each image.
const BATCHES: [[usize; 2]; 2] = [[256, 32], [64, 96]];

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("views");
    for [batch_size, side] in BATCHES {
        let images = LazyCell::new(|| {
            let planted = PlantedImagesConfig {
                train: batch_size,
                test: 10,
                side,
                ..PlantedImagesConfig::default()
            };
            planted.generate().train
        });
        let config = ViewsConfig {
            side,
            ..ViewsConfig::default()
        };
        let (views, batch) = (config.init(), (0..batch_size).collect::<Vec<_>>());
        group.throughput(Throughput::Elements(batch_size as u64));
        for threads in BTreeSet::from([1, rayon::current_num_threads()]) {
            let pool = LazyCell::new(move || ThreadPoolBuilder::new().num_threads(threads).build().expect("threads"));
            group.bench_function(format!("{side}x{side}/{threads} threads"), |bencher| {
                let (images, pool) = (LazyCell::force(&images), LazyCell::force(&pool));
                let (mut pixels, mut epoch) = (Vec::new(), 0);
                bencher.iter(|| {
                    pool.install(|| {
                        views
                            .batch(images, &batch, epoch, Seed(0), &mut pixels)
                            .expect("images in memory");
                    });
                    epoch += 1;
                    black_box(&mut pixels);
                });
            });
        }
    }
}
