//! The sparse product against the dense one.

use super::common::{Numbers, TYPES, assert_close, assert_gradient, values};
use bcl_kernels::{SparseMatrix, portable, sparse_matmul};
use burn::tensor::{DType, Device, Tensor};

fn random(numbers: &mut Numbers, shape: [usize; 2], nnz: usize) -> SparseMatrix {
    let entry = |numbers: &mut Numbers| {
        // Squaring crowds the entries into the first rows, as in real graphs.
        let row = (numbers.signed().powi(2) * shape[0] as f64) as u32;
        (row, numbers.below(shape[1]) as u32, numbers.signed() as f32)
    };
    SparseMatrix::from_triplets(shape[0], shape[1], (0..nnz).map(|_| entry(numbers)).collect::<Vec<_>>())
}

#[test]
fn the_product_equals_the_dense_one() {
    let device = Device::flex();
    let mut numbers = Numbers(4);
    for (shape, nnz) in [([7, 5], 12), ([300, 200], 4000), ([1, 1], 1), ([50, 40], 0)] {
        let matrix = random(&mut numbers, shape, nnz);
        // Widths that leave a rest in every block of columns.
        for columns in [1, 7, 64, 107] {
            for dtype in TYPES {
                let dense = numbers.matrix([shape[1], columns], dtype, &device);
                let expected = matrix.to_dense(&device).cast(dtype).matmul(dense.clone());
                assert_close(sparse_matmul(&matrix, dense.clone()), expected.clone());
                assert_close(portable::sparse_matmul(&matrix, dense), expected);
            }
        }
    }
}

#[test]
fn the_transpose_of_the_transpose_is_the_matrix() {
    let device = Device::flex();
    let matrix = random(&mut Numbers(5), [30, 20], 100);
    let transpose = matrix.transpose();
    assert_eq!(
        values(transpose.to_dense(&device)),
        values(matrix.to_dense(&device).transpose())
    );
    assert_eq!(transpose.nnz(), matrix.nnz());
    assert!(
        transpose
            .indptr()
            .windows(2)
            .all(|range| transpose.indices()[range[0]..range[1]].is_sorted())
    );
    assert_eq!(
        values(transpose.transpose().to_dense(&device)),
        values(matrix.to_dense(&device))
    );
}

#[test]
fn the_gradient_is_the_product_with_the_transpose() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(6);
    let matrix = random(&mut numbers, [6, 4], 10);
    for dtype in TYPES {
        let dense = numbers.matrix([4, 9], dtype, &device).require_grad();
        let weights = numbers.matrix([6, 9], dtype, &device);
        let gradients = (sparse_matmul(&matrix, dense.clone()) * weights.clone()).sum().backward();
        let expected = matrix.to_dense(&device).cast(dtype).transpose().matmul(weights.clone());
        assert_close(dense.grad(&gradients).expect("tracked"), expected.inner());
        if dtype == DType::F64 {
            assert_gradient(|dense| sparse_matmul(&matrix, dense), dense.detach(), weights);
        }
    }
}

#[test]
fn views_need_not_be_contiguous() {
    let device = Device::flex();
    let mut numbers = Numbers(7);
    let matrix = random(&mut numbers, [9, 6], 20);
    let wide = numbers.matrix([8, 10], DType::F32, &device);
    let expected = |dense: Tensor<2>| matrix.to_dense(&device).matmul(dense);
    for view in [
        wide.clone().slice([1..7, 2..9]),
        wide.clone().transpose().slice([4..10, 0..8]),
        wide.slice([2..8, 0..10]),
    ] {
        assert_close(sparse_matmul(&matrix, view.clone()), expected(view));
    }
}

#[test]
fn entries_at_one_place_add_up() {
    let matrix = SparseMatrix::from_triplets(2, 2, [(1, 0, 0.5), (0, 1, 2.0), (1, 0, 0.25)]);
    assert_eq!(values(matrix.to_dense(&Device::flex())), [0.0, 2.0, 0.75, 0.0]);
    assert_eq!(matrix.nnz(), 2);
}

#[test]
#[should_panic(expected = "the entry 1 at (2, 0) lies outside the shape [2, 3]")]
fn an_entry_outside_the_shape_is_refused() {
    SparseMatrix::from_triplets(2, 3, [(2, 0, 1.0)]);
}

#[test]
#[should_panic(expected = "so the dense one must have 3 rows, but has shape [2, 4]")]
fn inner_dimensions_must_agree() {
    let matrix = SparseMatrix::from_triplets(2, 3, []);
    sparse_matmul(&matrix, Tensor::zeros([2, 4], &Device::flex()));
}
