//! Times random views of synthetic images: views per second with one thread and with two, best of several runs.
//!
//! `cargo run --release -p bcl-images --example view_timings`

use bcl_data::Seed;
use bcl_images::{BlurConfig, Collection, ColourSpace, Image, JitterConfig, SolariseConfig, ViewsConfig};
use rand::Rng;
use std::hint::black_box;
use std::time::Instant;

const BATCH_SIZE: usize = 256;
const REPEATS: usize = 20;

fn main() {
    println!(":views per second, side of the images -> side of the views:: best of {REPEATS} batches of {BATCH_SIZE} pairs");
    let all = ViewsConfig::default();
    time("all steps", 32, &all);
    time("every step, always", 32, &always());
    time("resize and normalise", 32, &ViewsConfig::plain(32));
    for colour in [ColourSpace::Lab, ColourSpace::YCbCr] {
        let converted = ViewsConfig {
            colour,
            ..ViewsConfig::plain(32)
        };
        time(&format!("resize to {}", colour.name()), 32, &converted);
    }
    time("all steps", 96, &all);
    time("all steps", 96, &ViewsConfig { side: 96, ..all });
}

/// All steps with probability 1: the most expensive views.
fn always() -> ViewsConfig {
    ViewsConfig {
        flip: 1.0,
        jitter: JitterConfig {
            probability: 1.0,
            ..JitterConfig::default()
        },
        grayscale: 1.0,
        blur: BlurConfig {
            probability: 1.0,
            ..BlurConfig::default()
        },
        solarise: SolariseConfig {
            probability: 1.0,
            ..SolariseConfig::default()
        },
        ..ViewsConfig::default()
    }
}

fn time(name: &str, image_side: usize, config: &ViewsConfig) {
    let images = made_up(image_side);
    let views = config.init();
    let indices: Vec<usize> = (0..BATCH_SIZE).collect();
    let per_second = |num_threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(num_threads)
            .build()
            .expect("a pool of threads");
        let mut batch = Vec::new();
        let mut best = f64::INFINITY;
        for epoch in 0..REPEATS {
            let start = Instant::now();
            pool.install(|| {
                views
                    .batch(&images, &indices, epoch as u64, Seed(0), &mut batch)
                    .expect("images in memory");
            });
            black_box(&batch);
            best = best.min(start.elapsed().as_secs_f64());
        }
        (2 * BATCH_SIZE) as f64 / best
    };
    let name = format!("{name}, {image_side} -> {}", config.side);
    println!(
        "{name:<32} 1 thread {:>9.0}   2 threads {:>9.0}",
        per_second(1),
        per_second(2)
    );
}

/// Noise on a gradient.
fn made_up(side: usize) -> Collection {
    let mut images = Collection::new(Vec::new());
    let mut pixels = vec![0; side * side * 3];
    for index in 0..BATCH_SIZE {
        Seed(1).index(index as u64).rng().fill_bytes(&mut pixels);
        for (place, level) in pixels.iter_mut().enumerate() {
            *level = *level / 4 + (place * 190 / (side * side * 3)) as u8;
        }
        let image = Image {
            width: side,
            height: side,
            pixels: &pixels,
        };
        images.push(image, None);
    }
    images
}
