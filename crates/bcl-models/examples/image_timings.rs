//! Times one training step (forward and backward) of image encoders on 32x32 images, and prints the peak memory of the process.
//!
//! `cargo run -p bcl-models --example image_timings [DEPTH WIDTH BATCH]`. A batch has two views per image.

use std::{env, fs, time::Instant};

use bcl_models::vision::{ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, Stem};
use burn::tensor::{Device, Distribution, Tensor};

fn main() {
    let arguments: Vec<usize> = env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    if let [depth, width, batch] = arguments[..] {
        return time(depth, width, batch);
    }
    time(18, 16, 128);
    time(18, 64, 32);
}

fn time(depth: usize, width: usize, batch: usize) {
    let device = Device::flex().autodiff();
    let config = ImageEncoderConfig {
        trunk: ResNetConfig {
            depth: (depth as u64).try_into().expect("18, 34 or 50"),
            stem: Stem::Cifar,
            width,
        },
        head: ProjectionHeadConfig::default(),
        split_channels: None,
    };
    let encoder = config.init(0, &device);
    let images = Tensor::<4>::random([2 * batch, 3, 32, 32], Distribution::Default, &device);
    let repeats = if depth == 50 { 2 } else { 4 };
    let (mut forwards, mut backwards) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let start = Instant::now();
        let projections = encoder.projections(images.clone(), Mode::Train);
        let [first, second] = [0, batch].map(|start| projections.clone().narrow(0, start, batch));
        let scores = first.matmul(second.transpose()) / 0.5;
        let loss = scores.clone().exp().sum_dim(1).log().sum() - scores.sum() / batch as f64;
        let forward = start.elapsed().as_secs_f64();
        let gradients = loss.backward();
        backwards.push(start.elapsed().as_secs_f64() - forward);
        forwards.push(forward);
        drop(gradients);
    }
    let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "ResNet-{depth}, width {width}, batch {batch}: forward {:.2} s, backward {:.2} s, peak {:.1} GiB",
        best(&forwards),
        best(&backwards),
        peak()
    );
}

/// High-water mark of the resident set, in GiB.
fn peak() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let kib = line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / f64::from(1 << 20))
}
