//! Measures how many random views of images are made per second, with how many threads.
//!
//! Planted images of the size of the views are cropped, changed in colour and blurred as in training, with the default settings
//! of recipes. The numbers of threads alternate in several rounds per size, so that other work on the machine affects all of
//! them alike. A speed-up is the median of the ratios within each round.

mod benchmark;

pub use benchmark::{ViewsBenchmark, ViewsMeasurement};

use crate::environment::Environment;
use bcl_data::Seed;
use bcl_images::{Collection, PlantedImagesConfig, Views, ViewsConfig};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{hint::black_box, time::Instant};

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewsPlan {
    /// Heights and widths of images and views in pixels, each in [16, 256].
    pub sides: Vec<usize>,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// Images per batch.
    pub batch_size: usize,
    /// Number of rounds; every number of threads runs in each.
    pub rounds: usize,
    /// Seconds per size and number of threads, over all rounds.
    pub seconds: f64,
}

/// Measures every size with every number of threads. `progress` receives the next step.
///
/// # Panics
/// Panics if a number is 0 or a side is out of range.
pub fn run(plan: &ViewsPlan, mut progress: impl FnMut(&str)) -> ViewsBenchmark {
    assert!(plan.batch_size > 0 && plan.rounds > 0, "nothing to measure: {plan:?}");
    let pools: Vec<ThreadPool> = plan.threads.iter().map(|&threads| pool(threads)).collect();
    let mut benchmark = ViewsBenchmark::new(plan, Environment::read(plan.threads.iter().copied().max().unwrap_or(1)));
    for &side in &plan.sides {
        let bench = ViewsBench::new(side, plan.batch_size);
        // Warm-up: the first batch allocates the buffers.
        for pool in &pools {
            pool.install(|| bench.rate(0, 0.0));
        }
        let mut rates = vec![Vec::new(); pools.len()];
        for round in 1..=plan.rounds {
            progress(&format!("{side} pixels: round {round} of {}", plan.rounds));
            for (pool, rates) in pools.iter().zip(&mut rates) {
                let seconds = plan.seconds / plan.rounds as f64;
                rates.push(pool.install(|| bench.rate(round as u64, seconds)));
            }
        }
        benchmark.add(side, &plan.threads, &rates);
    }
    benchmark
}

fn pool(threads: usize) -> ThreadPool {
    assert!(threads > 0, "views need at least 1 thread");
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool of threads")
}

/// A batch of planted images, and the views to make of them.
pub struct ViewsBench {
    images: Collection,
    batch: Vec<usize>,
    views: Views,
}

impl ViewsBench {
    /// Creates images and views of `side` x `side` pixels.
    ///
    /// # Panics
    /// Panics if the side is not in [16, 256].
    pub fn new(side: usize, batch_size: usize) -> Self {
        let planted = PlantedImagesConfig {
            train: batch_size.max(10),
            test: 10,
            side,
            ..PlantedImagesConfig::default()
        };
        let config = ViewsConfig {
            side,
            ..ViewsConfig::default()
        };
        Self {
            images: planted.generate().train,
            batch: (0..batch_size).collect(),
            views: config.init(),
        }
    }

    /// Makes two views of each image, as in one epoch.
    pub fn make(&self, epoch: u64, pixels: &mut Vec<f32>) {
        self.views.batch(&self.images, &self.batch, epoch, Seed(0), pixels);
        black_box(pixels);
    }

    /// Views per second, over as many batches as fill `seconds`, but at least one.
    fn rate(&self, round: u64, seconds: f64) -> f64 {
        let mut pixels = Vec::new();
        let start = Instant::now();
        for epoch in 0.. {
            self.make((round << 32) + epoch, &mut pixels);
            let elapsed = start.elapsed().as_secs_f64();
            if elapsed >= seconds {
                return (2 * self.batch.len()) as f64 * (epoch + 1) as f64 / elapsed;
            }
        }
        unreachable!("the loop has no end but the one inside")
    }
}
