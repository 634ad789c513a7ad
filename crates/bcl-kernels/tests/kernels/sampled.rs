//! Sampled products against the full product, and gradients of repeated rows.

use super::common::{Numbers, TYPES, assert_close, assert_gradient, values};
use bcl_kernels::{gather_rows, portable, sampled_dot};
use burn::tensor::{DType, Device, Int, Tensor};

/// Few and many samples per row, tables of one band and of several, widths with and without a remainder.
const CASES: [(usize, usize, usize, usize); 5] = [
    (3, 4, 5, 7),
    (1, 1, 1, 1),
    (60, 33, 700, 64),
    (130, 64, 40, 20),
    (9, 500, 5000, 35),
];

#[test]
fn the_scores_equal_the_full_product_at_the_indices() {
    let device = Device::flex();
    let mut numbers = Numbers(8);
    for (num_anchors, num_sampled, num_rows, dim) in CASES {
        let indices = numbers.indices([num_anchors, num_sampled], num_rows, &device);
        for dtype in TYPES {
            let anchors = numbers.matrix([num_anchors, dim], dtype, &device);
            let table = numbers.matrix([num_rows, dim], dtype, &device);
            let expected = anchors.clone().matmul(table.clone().transpose()).gather(1, indices.clone());
            assert_close(sampled_dot(anchors.clone(), table.clone(), indices.clone()), expected.clone());
            assert_close(portable::sampled_dot(anchors, table, indices.clone()), expected);
        }
    }
}

#[test]
fn the_gradients_equal_those_of_the_portable_body() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(9);
    for (num_anchors, num_sampled, num_rows, dim) in CASES {
        let indices = numbers.indices([num_anchors, num_sampled], num_rows, &device);
        for dtype in TYPES {
            let anchors = numbers.matrix([num_anchors, dim], dtype, &device).require_grad();
            let table = numbers.matrix([num_rows, dim], dtype, &device).require_grad();
            let weights = numbers.matrix([num_anchors, num_sampled], dtype, &device);
            let scores = sampled_dot(anchors.clone(), table.clone(), indices.clone());
            let got = (scores * weights.clone()).sum().backward();
            let scores = portable::sampled_dot(anchors.clone(), table.clone(), indices.clone());
            let expected = (scores * weights).sum().backward();
            for input in [anchors, table] {
                assert_close(input.grad(&got).expect("tracked"), input.grad(&expected).expect("tracked"));
            }
        }
    }
}

#[test]
fn the_gradients_equal_finite_differences() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(10);
    let indices = Tensor::<2, Int>::from_data([[0, 2, 2], [3, 0, 2]], &device);
    let anchors = numbers.matrix([2, 5], DType::F64, &device);
    let table = numbers.matrix([4, 5], DType::F64, &device);
    let weights = numbers.matrix([2, 3], DType::F64, &device);
    assert_gradient(
        |anchors| sampled_dot(anchors, table.clone(), indices.clone()),
        anchors.clone(),
        weights.clone(),
    );
    assert_gradient(
        |table| sampled_dot(anchors.clone(), table, indices.clone()),
        table.clone(),
        weights,
    );
    let rows = Tensor::<1, Int>::from_data([1, 1, 3], &device);
    let weights = numbers.matrix([3, 5], DType::F64, &device);
    assert_gradient(|table| gather_rows(table, rows.clone()), table.clone(), weights);
}

#[test]
fn anchors_and_table_may_be_parts_of_one_tensor() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(11);
    let both = numbers.matrix([12, 6], DType::F64, &device);
    let indices = numbers.indices([5, 9], 7, &device);
    let weights = numbers.matrix([5, 9], DType::F64, &device);
    let scores = |both: Tensor<2>| sampled_dot(both.clone().slice([0..5, 0..6]), both.slice([5..12, 0..6]), indices.clone());
    assert_gradient(scores, both, weights);
}

#[test]
fn only_tracked_inputs_get_a_gradient() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(12);
    let indices = numbers.indices([4, 3], 6, &device);
    let anchors = numbers.matrix([4, 8], DType::F32, &device).require_grad();
    let table = numbers.matrix([6, 8], DType::F32, &device);
    let gradients = sampled_dot(anchors.clone(), table.clone(), indices).sum().backward();
    assert!(anchors.grad(&gradients).is_some());
    assert!(table.grad(&gradients).is_none());
}

#[test]
fn rows_are_gathered_and_their_gradients_added_up() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(13);
    for (num_read, num_rows, dim) in [(3, 5, 7), (4000, 10, 33), (50, 9000, 16)] {
        let indices = numbers.indices([1, num_read], num_rows, &device).squeeze_dim::<1>(0);
        for dtype in TYPES {
            let table = numbers.matrix([num_rows, dim], dtype, &device).require_grad();
            let weights = numbers.matrix([num_read, dim], dtype, &device);
            let rows = gather_rows(table.clone(), indices.clone());
            assert_eq!(
                values(rows.clone()),
                values(portable::gather_rows(table.clone(), indices.clone()))
            );
            let got = (rows * weights.clone()).sum().backward();
            let rows = portable::gather_rows(table.clone(), indices.clone());
            let expected = (rows * weights).sum().backward();
            assert_close(table.grad(&got).expect("tracked"), table.grad(&expected).expect("tracked"));
        }
    }
}

#[test]
fn views_need_not_be_contiguous() {
    let device = Device::flex();
    let mut numbers = Numbers(14);
    let anchors = numbers.matrix([9, 4], DType::F32, &device).transpose();
    let table = numbers.matrix([20, 14], DType::F32, &device).slice([5..15, 3..12]);
    let indices = numbers.indices([6, 8], 10, &device).transpose().slice([2..6, 1..4]);
    let expected = anchors.clone().matmul(table.clone().transpose()).gather(1, indices.clone());
    assert_close(sampled_dot(anchors, table.clone(), indices.clone()), expected);
    let first = indices.slice([0..4, 1..2]).squeeze_dim::<1>(1);
    assert_eq!(
        values(gather_rows(table.clone(), first.clone())),
        values(table.select(0, first))
    );
}

#[test]
fn indices_may_be_of_any_integer_type() {
    let device = Device::flex();
    let mut numbers = Numbers(15);
    let table = numbers.matrix([6, 3], DType::F32, &device);
    let narrow = Tensor::<1, Int>::from_data([5, 0, 5], (&device, DType::I32));
    for dtype in [DType::I64, DType::U8, DType::U32] {
        let indices = narrow.clone().cast(dtype);
        assert_eq!(
            values(gather_rows(table.clone(), indices)),
            values(gather_rows(table.clone(), narrow.clone()))
        );
    }
}

#[test]
fn empty_samples_give_an_empty_result() {
    let device = Device::flex().autodiff();
    let anchors = Numbers(16).matrix([4, 3], DType::F32, &device).require_grad();
    let table = Numbers(17).matrix([5, 3], DType::F32, &device).require_grad();
    let scores = sampled_dot(anchors.clone(), table.clone(), Tensor::empty([4, 0], &device));
    assert_eq!(scores.dims(), [4, 0]);
    let gradients = (scores.sum() + anchors.clone().sum() + table.clone().sum()).backward();
    assert!(
        values(anchors.grad(&gradients).expect("tracked"))
            .iter()
            .all(|&gradient| gradient == 1.0)
    );
}

#[test]
#[should_panic(expected = "the index 5 lies outside the 5 rows of the table")]
fn an_index_past_the_table_is_refused() {
    let device = Device::flex();
    let indices = Tensor::<2, Int>::from_data([[0, 5]], &device);
    sampled_dot(Tensor::zeros([1, 3], &device), Tensor::zeros([5, 3], &device), indices);
}

#[test]
#[should_panic(expected = "the index -1 lies outside the 5 rows of the table")]
fn a_negative_index_is_refused() {
    let device = Device::flex();
    gather_rows(Tensor::zeros([5, 3], &device), Tensor::from_data([-1], &device));
}

#[test]
#[should_panic(expected = "their second dimensions must be equal")]
fn anchors_and_table_must_be_of_one_width() {
    let device = Device::flex();
    sampled_dot(
        Tensor::zeros([1, 3], &device),
        Tensor::zeros([5, 4], &device),
        Tensor::zeros([1, 2], &device),
    );
}
