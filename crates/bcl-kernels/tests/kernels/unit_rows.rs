//! L2 normalisation against division by the norm.

use super::common::{Numbers, TYPES, assert_close, assert_gradient, matrix, values};
use bcl_kernels::{portable, unit_rows};
use burn::tensor::{DType, Device};

#[test]
fn rows_are_divided_by_their_length() {
    let device = Device::flex();
    let mut numbers = Numbers(18);
    for (num_rows, dim) in [(1, 1), (5, 7), (3000, 33)] {
        for dtype in TYPES {
            let rows = numbers.matrix([num_rows, dim], dtype, &device);
            let expected = rows.clone() / rows.clone().powi_scalar(2).sum_dim(1).sqrt();
            assert_close(unit_rows(rows.clone()), expected.clone());
            assert_close(portable::unit_rows(rows.clone()), expected.clone());
            assert_close(unit_rows(rows.transpose().transpose()), expected);
        }
    }
}

#[test]
fn the_gradient_equals_the_portable_one_and_finite_differences() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(19);
    for dtype in TYPES {
        let rows = numbers.matrix([4, 21], dtype, &device).require_grad();
        let weights = numbers.matrix([4, 21], dtype, &device);
        let got = (unit_rows(rows.clone()) * weights.clone()).sum().backward();
        let expected = (portable::unit_rows(rows.clone()) * weights.clone()).sum().backward();
        assert_close(rows.grad(&got).expect("tracked"), rows.grad(&expected).expect("tracked"));
        if dtype == DType::F64 {
            assert_gradient(unit_rows, rows.detach(), weights);
        }
    }
}

#[test]
fn a_row_of_zeros_stays_and_has_no_gradient() {
    let device = Device::flex().autodiff();
    let rows = matrix(vec![0.0, 0.0, 3.0, 4.0], [2, 2], DType::F32, &device).require_grad();
    let units = unit_rows(rows.clone());
    assert_eq!(values(units.clone())[..2], [0.0, 0.0]);
    let gradients = (units * matrix(vec![1.0, 2.0, 3.0, 4.0], [2, 2], DType::F32, &device))
        .sum()
        .backward();
    assert_eq!(values(rows.grad(&gradients).expect("tracked"))[..2], [0.0, 0.0]);
}
