//! Ranks are integers, so CPU and GPU must agree exactly.

use super::{
    common::{Numbers, integers, values},
    gpu,
};
use bcl_kernels::{rank_weights, row_ranks};
use burn::tensor::{Bool, DType, Device, Tensor, TensorData};

/// Rows of scores, about half of them tied, on the CPU and on the GPU.
fn tied(numbers: &mut Numbers, rows: usize, columns: usize) -> [Tensor<2>; 2] {
    let steps = (columns as f64).max(4.0);
    let scores: Vec<f32> = (0..rows * columns)
        .map(|_| ((numbers.signed() * steps).round() / steps) as f32)
        .collect();
    [Device::flex(), gpu()].map(|device| Tensor::from_data(TensorData::new(scores.clone(), [rows, columns]), &device))
}

#[test]
fn two_thousand_rows_with_ties_rank_as_on_the_cpu() {
    let mut numbers = Numbers(1);
    for i in 0..100 {
        let columns = 1 + i * 4999 / 99;
        let [here, there] = tied(&mut numbers, 20, columns);
        let ranks = [&here, &there].map(|scores| integers(row_ranks(scores.clone(), None)));
        assert_eq!(ranks[1], ranks[0], "rows of {columns}");
        let table: Vec<f32> = (0..columns).map(|k| 1.0 / (k + 3) as f32).collect();
        let weights = [here, there].map(|scores| {
            let table = Tensor::<1>::from_data(TensorData::from(&*table), &scores.device());
            values(rank_weights(scores, table))
        });
        assert_eq!(weights[1], weights[0], "rows of {columns}");
    }
}

#[test]
fn long_rows_rank_as_on_the_cpu() {
    let mut numbers = Numbers(2);
    for columns in [4096, 4097, 8192, 20_000, 65_536] {
        let [here, there] = tied(&mut numbers, 3, columns).map(|scores| integers(row_ranks(scores, None)));
        assert_eq!(there, here, "rows of {columns}");
    }
}

#[test]
fn masked_rows_rank_as_on_the_cpu() {
    let mut numbers = Numbers(3);
    for columns in [5, 300, 5000] {
        let scores = tied(&mut numbers, 7, columns);
        let mask: Vec<bool> = (0..7 * columns).map(|_| numbers.below(3) > 0).collect();
        let [here, there] = scores.map(|scores| {
            let mask = Tensor::<2, Bool>::from_data(TensorData::new(mask.clone(), [7, columns]), &scores.device());
            integers(row_ranks(scores, Some(mask)))
        });
        assert_eq!(there, here, "rows of {columns}");
    }
}

#[test]
fn awkward_scores_rank_as_on_the_cpu() {
    let row = [
        0.5f32,
        -0.0,
        f32::NAN,
        0.0,
        f32::INFINITY,
        -f32::NAN,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        1.0,
        -1.0,
    ];
    let [here, there] = [Device::flex(), gpu()].map(|device| {
        let scores = Tensor::<2>::from_data(TensorData::new(row.to_vec(), [1, row.len()]), &device);
        integers(row_ranks(scores, None))
    });
    assert_eq!(there, here);
    assert_eq!(there[1], there[3], "zero has one rank");
    assert_eq!([there[2], there[4], there[5]], [12; 3], "NaN counts as infinity");
}

#[test]
fn no_rows_and_no_columns() {
    let device = gpu();
    assert_eq!(row_ranks(Tensor::<2>::zeros([3, 0], &device), None).dims(), [3, 0]);
    assert_eq!(row_ranks(Tensor::<2>::zeros([0, 3], &device), None).dims(), [0, 3]);
}

#[test]
fn f16_ranks_exactly_if_supported() {
    for dtype in [DType::F16, DType::BF16] {
        if !gpu().supports_dtype(dtype) {
            continue;
        }
        let [here, there] = tied(&mut Numbers(4), 2, 600);
        let here = here.cast(dtype).cast(DType::F32);
        assert_eq!(
            integers(row_ranks(there.cast(dtype), None)),
            integers(row_ranks(here, None)),
            "{dtype:?}"
        );
    }
}
