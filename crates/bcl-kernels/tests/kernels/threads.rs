//! Results are bit for bit the same for any number of threads.

use super::common::{Numbers, values};
use bcl_kernels::{
    Contrast, Correction, Excluded, SparseMatrix, Weighing, batch_norm_relu, contrast, convolve, gather_rows, rank_weights,
    row_ranks, sampled_contrast, sampled_dot, sparse_matmul, unit_rows,
};
use burn::tensor::{DType, Device, Tensor};
use rayon::ThreadPoolBuilder;

fn on_threads<R: Send>(num_threads: usize, run: impl FnOnce() -> R + Send) -> R {
    ThreadPoolBuilder::new()
        .num_threads(num_threads)
        .build()
        .expect("threads")
        .install(run)
}

#[track_caller]
fn assert_same(run: impl Fn() -> Vec<f64> + Send + Sync) {
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    let one = bits(on_threads(1, &run));
    for num_threads in [2, 5] {
        assert_eq!(bits(on_threads(num_threads, &run)), one, "with {num_threads} threads");
    }
}

#[test]
fn ranks_do_not_depend_on_the_number_of_threads() {
    assert_same(|| {
        let device = Device::flex();
        let scores = Numbers(20).matrix([90, 400], DType::F32, &device);
        let table = Numbers(21).matrix([1, 400], DType::F32, &device).squeeze_dim(0);
        let mut all = values(rank_weights(scores.clone(), table));
        all.extend(values(row_ranks(scores.clone(), Some(scores.greater_elem(0.1))).float()));
        all
    });
}

#[test]
fn sampled_gradients_do_not_depend_on_the_number_of_threads() {
    // 120 x 90 samples of 300 rows hit each row about 36 times; in single precision the order of additions shows.
    assert_same(|| {
        let device = Device::flex().autodiff();
        let mut numbers = Numbers(22);
        let anchors = numbers.matrix([120, 40], DType::F32, &device).require_grad();
        let table = numbers.matrix([300, 40], DType::F32, &device).require_grad();
        let indices = numbers.indices([120, 90], 300, &device);
        let read = numbers.indices([1, 5000], 300, &device).squeeze_dim(0);
        let scores = sampled_dot(anchors.clone(), unit_rows(table.clone()), indices);
        let loss = scores.exp().sum() + gather_rows(table.clone(), read).exp().sum();
        let gradients = loss.backward();
        [anchors, table]
            .iter()
            .flat_map(|input| values(input.grad(&gradients).expect("tracked")))
            .collect()
    });
}

#[test]
fn sparse_products_do_not_depend_on_the_number_of_threads() {
    assert_same(|| {
        let device = Device::flex().autodiff();
        let mut numbers = Numbers(23);
        let entries: Vec<_> = (0..20_000)
            .map(|_| (numbers.below(500) as u32, numbers.below(300) as u32, numbers.signed() as f32))
            .collect();
        let matrix = SparseMatrix::from_triplets(500, 300, entries);
        let dense = numbers.matrix([300, 50], DType::F32, &device).require_grad();
        let product = sparse_matmul(&matrix, dense.clone());
        let gradients = product.clone().exp().sum().backward();
        let mut all = values(product);
        all.extend(values(dense.grad(&gradients).expect("tracked")));
        all
    });
}

#[test]
fn batch_normalisation_does_not_depend_on_the_number_of_threads() {
    assert_same(|| {
        let device = Device::flex().autodiff();
        let input = Numbers(24)
            .matrix([50, 16 * 300], DType::F32, &device)
            .reshape([50, 16, 20, 15])
            .require_grad();
        let [weight, bias] = [Tensor::ones([16], &device), Tensor::zeros([16], &device)].map(Tensor::require_grad);
        let normalised = batch_norm_relu(input.clone(), weight.clone(), bias.clone(), 1e-5);
        let gradients = normalised.output.clone().exp().mean().backward();
        let mut all = values(normalised.output);
        all.extend(values(normalised.variance));
        all.extend(values(input.grad(&gradients).expect("tracked")));
        all.extend(values(weight.grad(&gradients).expect("tracked")));
        all
    });
}

#[test]
fn convolutions_do_not_depend_on_the_number_of_threads() {
    // Batch, channels, side, channels out, stride: sums by shards, by panels of channels, by windows, by im2col, and by one matrix.
    for ([batch, channels, side], channels_out, stride) in [
        ([50, 16, 8], 20, 1),
        ([50, 80, 8], 70, 1),
        ([50, 16, 8], 20, 2),
        ([50, 6, 8], 20, 2),
        ([50, 80, 2], 70, 1),
    ] {
        assert_same(move || {
            let device = Device::flex().autodiff();
            let mut numbers = Numbers(25);
            let input = numbers
                .matrix([batch, channels * side * side], DType::F32, &device)
                .reshape([batch, channels, side, side])
                .require_grad();
            let weight = numbers
                .matrix([channels_out, channels * 9], DType::F32, &device)
                .reshape([channels_out, channels, 3, 3])
                .require_grad();
            let output = convolve(input.clone(), weight.clone(), stride, 1);
            let gradients = output.clone().sin().mean().backward();
            let mut all = values(output);
            all.extend(values(input.grad(&gradients).expect("tracked")));
            all.extend(values(weight.grad(&gradients).expect("tracked")));
            all
        });
    }
}

#[test]
fn losses_from_embeddings_do_not_depend_on_the_number_of_threads() {
    assert_same(|| {
        let device = Device::flex().autodiff();
        let rows = Numbers(26).matrix([600, 24], DType::F32, &device).require_grad();
        let views = [0, 300].map(|start| rows.clone().slice_dim(0, start..start + 300));
        let [first, second] = views;
        let loss = Contrast {
            temperature: 0.2,
            excluded: Excluded::BothViews { first: 0 },
            weighing: Weighing::ByHardness(0.5),
            correction: Correction::None,
        };
        let losses = contrast(rows.clone(), Tensor::cat(vec![second, first], 0), rows.clone(), &loss);
        let gradients = losses.clone().mean().backward();
        let mut all = values(losses);
        all.extend(values(rows.grad(&gradients).expect("tracked")));
        all
    });
}

#[test]
fn losses_against_sampled_rows_do_not_depend_on_the_number_of_threads() {
    // Rows with many terms, and rows with few.
    for num_rows in [60, 3000] {
        assert_same(|| {
            let device = Device::flex().autodiff();
            let mut numbers = Numbers(27);
            let anchors = numbers.matrix([150, 40], DType::F32, &device).require_grad();
            let table = numbers.matrix([num_rows, 40], DType::F32, &device).require_grad();
            let positives = numbers.indices([1, 150], num_rows, &device).squeeze_dim(0);
            let negatives = numbers.indices([150, 90], num_rows, &device);
            let loss = Contrast {
                temperature: 0.5,
                excluded: Excluded::None,
                weighing: Weighing::Equal,
                correction: Correction::None,
            };
            let losses = sampled_contrast(anchors.clone(), table.clone(), positives, negatives, &loss);
            let gradients = losses.clone().mean().backward();
            let mut all = values(losses);
            for input in [anchors, table] {
                all.extend(values(input.grad(&gradients).expect("tracked")));
            }
            all
        });
    }
}
