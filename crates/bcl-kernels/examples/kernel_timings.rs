//! Times each kernel against its portable body.
//!
//! `cargo run --release -p bcl-kernels --example kernel_timings`

use std::time::Instant;

use bcl_kernels::{
    SparseMatrix, batch_norm_relu, convolve, gather_rows, portable, rank_weights, row_ranks, sampled_dot, sparse_matmul,
    unit_rows,
};
use burn::tensor::{Device, Distribution, Int, Tensor};

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    println!(
        "{} threads, milliseconds, the best of several runs",
        rayon::current_num_threads()
    );
    println!("{:<52} {:>9} {:>9} {:>6}", "", "kernel", "portable", "ratio");
    if "ranks".contains(&only) {
        ranks();
    }
    if "sampled".contains(&only) {
        for num_rows in [1682, 40_981] {
            sampled(1024, 128, num_rows, 64);
            gathered(1024, num_rows, 64);
            units(num_rows, 64);
        }
    }
    if "sparse".contains(&only) {
        sparse(943, 1682, 80_000, 64);
        sparse(29_858, 40_981, 810_128, 64);
    }
    if "images".contains(&only) {
        // The four stages of a ResNet-18 of width 16 on 32 x 32 pixels.
        for (channels, side) in [(16, 32), (32, 16), (64, 8), (128, 4)] {
            normalised([128, channels, side, side]);
            convolved([128, channels, side, side]);
        }
    }
}

fn ranks() {
    let device = Device::flex();
    for (rows, columns) in [(512, 510), (2048, 2046), (1024, 128)] {
        let scores = Tensor::<2>::random([rows, columns], Distribution::Normal(0.0, 0.1), &device);
        let table = Tensor::<1>::random([columns], Distribution::Default, &device);
        compare(
            &format!("rank_weights [{rows}, {columns}]"),
            || rank_weights(scores.clone(), table.clone()),
            || portable::rank_weights(scores.clone(), table.clone()),
        );
        compare(
            &format!("row_ranks [{rows}, {columns}]"),
            || row_ranks(scores.clone(), None),
            || portable::row_ranks(scores.clone(), None),
        );
    }
}

fn sampled(num_anchors: usize, num_sampled: usize, num_rows: usize, dim: usize) {
    let device = Device::flex().autodiff();
    let random = |shape: [usize; 2]| Tensor::<2>::random(shape, Distribution::Default, &device);
    let indices = Tensor::<2, Int>::random(
        [num_anchors, num_sampled],
        Distribution::Uniform(0.0, num_rows as f64),
        &device,
    );
    let weights = random([num_anchors, num_sampled]);
    let (anchors, table) = (random([num_anchors, dim]), random([num_rows, dim]));
    let name = format!("sampled_dot [{num_anchors}, {num_sampled}] of [{num_rows}, {dim}]");
    compare(
        &name,
        || sampled_dot(anchors.clone(), table.clone(), indices.clone()),
        || portable::sampled_dot(anchors.clone(), table.clone(), indices.clone()),
    );
    let (anchors, table) = (anchors.require_grad(), table.require_grad());
    compare(
        &format!("{name}, and gradients"),
        || {
            (sampled_dot(anchors.clone(), table.clone(), indices.clone()) * weights.clone())
                .sum()
                .backward()
        },
        || {
            (portable::sampled_dot(anchors.clone(), table.clone(), indices.clone()) * weights.clone())
                .sum()
                .backward()
        },
    );
}

fn gathered(num_read: usize, num_rows: usize, dim: usize) {
    let device = Device::flex().autodiff();
    let indices = Tensor::<1, Int>::random([num_read], Distribution::Uniform(0.0, num_rows as f64), &device);
    let table = Tensor::<2>::random([num_rows, dim], Distribution::Default, &device).require_grad();
    compare(
        &format!("gather_rows {num_read} of [{num_rows}, {dim}], and gradient"),
        || gather_rows(table.clone(), indices.clone()).sum().backward(),
        || portable::gather_rows(table.clone(), indices.clone()).sum().backward(),
    );
}

fn units(num_rows: usize, dim: usize) {
    let device = Device::flex().autodiff();
    let rows = Tensor::<2>::random([num_rows, dim], Distribution::Default, &device).require_grad();
    let weights = Tensor::<2>::random([num_rows, dim], Distribution::Default, &device);
    compare(
        &format!("unit_rows [{num_rows}, {dim}], and gradient"),
        || (unit_rows(rows.clone()) * weights.clone()).sum().backward(),
        || (portable::unit_rows(rows.clone()) * weights.clone()).sum().backward(),
    );
}

fn normalised(shape: [usize; 4]) {
    let device = Device::flex().autodiff();
    let input = Tensor::<4>::random(shape, Distribution::Default, &device).require_grad();
    let outer = Tensor::<4>::random(shape, Distribution::Default, &device);
    let [weight, bias] = [0, 1].map(|_| Tensor::<1>::ones([shape[1]], &device).require_grad());
    let kernel = || batch_norm_relu(input.clone(), weight.clone(), bias.clone(), 1e-5).output;
    let burns = || portable::batch_norm_relu(input.clone(), weight.clone(), bias.clone(), 1e-5).output;
    compare(&format!("batch_norm_relu {shape:?}"), kernel, burns);
    compare(
        &format!("batch_norm_relu {shape:?}, and gradients"),
        || (kernel() * outer.clone()).sum().backward(),
        || (burns() * outer.clone()).sum().backward(),
    );
}

fn convolved(shape: [usize; 4]) {
    let device = Device::flex().autodiff();
    let input = Tensor::<4>::random(shape, Distribution::Default, &device).require_grad();
    let outer = Tensor::<4>::random(shape, Distribution::Default, &device);
    let weight = Tensor::<4>::random([shape[1], shape[1], 3, 3], Distribution::Default, &device).require_grad();
    let kernel = || convolve(input.clone(), weight.clone(), 1, 1);
    let burns = || portable::convolve(input.clone(), weight.clone(), 1, 1);
    compare(&format!("convolve 3x3 {shape:?}"), kernel, burns);
    compare(
        &format!("convolve 3x3 {shape:?}, and gradients"),
        || (kernel() * outer.clone()).sum().backward(),
        || (burns() * outer.clone()).sum().backward(),
    );
}

fn sparse(num_rows: usize, num_columns: usize, nnz: usize, dim: usize) {
    let device = Device::flex();
    let mut state = 0u64;
    let mut next = |bound: usize| {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as u32
    };
    let entries: Vec<_> = (0..nnz).map(|_| (next(num_rows), next(num_columns), 0.5)).collect();
    let matrix = SparseMatrix::from_triplets(num_rows, num_columns, entries);
    for (name, matrix) in [("A", matrix.clone()), ("Aᵀ", matrix.transpose())] {
        let [num_rows, num_columns] = matrix.shape();
        let dense = Tensor::<2>::random([num_columns, dim], Distribution::Default, &device);
        compare(
            &format!("sparse_matmul {name} [{num_rows}, {num_columns}] nnz {nnz} x {dim}"),
            || sparse_matmul(&matrix, dense.clone()),
            || portable::sparse_matmul(&matrix, dense.clone()),
        );
    }
}

fn compare<A, B>(name: &str, kernel: impl Fn() -> A, portable: impl Fn() -> B) {
    let kernel = milliseconds(kernel);
    let portable = milliseconds(portable);
    println!("{name:<52} {kernel:>9.3} {portable:>9.3} {:>6.1}", portable / kernel);
}

/// The best of several runs, in milliseconds.
fn milliseconds<A>(run: impl Fn() -> A) -> f64 {
    run();
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    let mut runs = 0;
    while runs < 5 || (begin.elapsed().as_secs_f64() < 0.5 && runs < 50) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    best * 1e3
}
