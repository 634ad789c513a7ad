//! Row masses against sums of tensor operations.

use super::common::{Numbers, TYPES, assert_close, matrix, values};
use bcl_kernels::{mass, portable, ranked_mass};
use burn::tensor::{DType, Device, Tensor, TensorData};

const TEMPERATURE: f64 = 0.3;

struct Case {
    scores: Tensor<2>,
    offsets: Tensor<2>,
    table: Tensor<1>,
    weights: Tensor<2>,
}

/// Rows with ties. Scores and offsets require gradients.
fn case(rows: usize, columns: usize, dtype: DType, seed: u64) -> Case {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(seed);
    let mut draw = |n: usize| (0..n).map(|_| (numbers.signed() * 20.0).round() / 20.0).collect::<Vec<f64>>();
    let scores = matrix(draw(rows * columns), [rows, columns], dtype, &device).require_grad();
    let offsets = matrix(draw(rows), [rows, 1], dtype, &device).require_grad();
    let weights = matrix(draw(rows), [rows, 1], dtype, &device);
    let table: Vec<f64> = (0..columns).map(|k| 1.0 / (k + 1) as f64).collect();
    Case {
        scores,
        offsets,
        table: Tensor::from_data(TensorData::from(&*table), (&device, dtype)),
        weights,
    }
}

/// The masses, and the gradients of a weighted sum of them.
fn measured(case: &Case, mass: impl FnOnce(&Case) -> Tensor<2>) -> [Tensor<2>; 3] {
    let mass = mass(case);
    let gradients = (mass.clone() * case.weights.clone()).sum().backward();
    let of = |tensor: &Tensor<2>| tensor.grad(&gradients).expect("tracked");
    [mass.inner(), of(&case.scores), of(&case.offsets)]
}

#[test]
fn masses_and_gradients_are_those_of_tensor_operations() {
    for (seed, &(rows, columns)) in [(1, 1), (3, 7), (5, 16), (4, 33), (2, 700)].iter().enumerate() {
        for dtype in TYPES {
            let case = case(rows, columns, dtype, seed as u64);
            let terms = |case: &Case| ((case.scores.clone() - case.offsets.clone()) * TEMPERATURE.recip()).exp();
            let plain = measured(&case, |case| mass(case.scores.clone(), case.offsets.clone(), TEMPERATURE));
            let expected = measured(&case, |case| terms(case).sum_dim(1));
            let ranked = measured(&case, |case| {
                ranked_mass(case.scores.clone(), case.offsets.clone(), case.table.clone(), TEMPERATURE)
            });
            let weighted = measured(&case, |case| {
                let weights = portable::rank_weights(case.scores.clone(), case.table.clone());
                (weights * terms(case)).sum_dim(1)
            });
            for (ours, expected) in plain.into_iter().zip(expected).chain(ranked.into_iter().zip(weighted)) {
                assert_close(ours, expected);
            }
        }
    }
}

#[test]
fn empty_rows_weigh_nothing() {
    let device = Device::flex();
    let none = Tensor::<2>::zeros([3, 0], &device);
    let offsets = Tensor::zeros([3, 1], &device);
    assert_eq!(values(mass(none.clone(), offsets.clone(), 1.0)), [0.0; 3]);
    assert_eq!(values(ranked_mass(none, offsets, Tensor::zeros([0], &device), 1.0)), [0.0; 3]);
}

#[test]
#[should_panic(expected = "so the offsets must have shape [2, 1], but have [3, 1]")]
fn there_is_one_offset_a_row() {
    let device = Device::flex();
    mass(Tensor::zeros([2, 4], &device), Tensor::zeros([3, 1], &device), 1.0);
}
