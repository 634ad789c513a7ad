//! Matrices of ones from compressed rows, and the product that adds.

use super::common::{Numbers, TYPES, assert_close, assert_gradient, matrix, values};
use bcl_kernels::{SparseMatrix, sparse_matmul, sparse_matmul_add};
use burn::tensor::{DType, Device, Tensor};
use std::collections::BTreeSet;

/// The rows of a symmetric matrix with about `pairs` entries above the diagonal, and some rows without entries.
fn symmetric(numbers: &mut Numbers, size: usize, pairs: usize) -> (Vec<usize>, Vec<u32>) {
    let mut entries = BTreeSet::new();
    for _ in 0..pairs {
        let pair = [0, 1].map(|_| numbers.below(size) as u32);
        entries.extend([pair, [pair[1], pair[0]]]);
    }
    let before = |row: usize| entries.range(..[row as u32, 0]).count();
    let indptr = (0..=size).map(before).collect();
    (indptr, entries.into_iter().map(|[_, column]| column).collect())
}

fn triplets(matrix: &SparseMatrix) -> Vec<(u32, u32, f32)> {
    matrix.triplets().collect()
}

#[test]
fn rows_of_ones_are_the_matrix_of_their_entries() {
    let (num_rows, num_columns) = (4, 5);
    let ones = SparseMatrix::ones(num_rows, num_columns, vec![0, 2, 2, 5, 6], vec![1, 4, 0, 1, 2, 4]);
    let entries = [(0, 1), (0, 4), (2, 0), (2, 1), (2, 2), (3, 4)].map(|(row, column)| (row, column, 1.0));
    let expected = SparseMatrix::from_triplets(num_rows, num_columns, entries);
    assert_eq!((ones.shape(), ones.indptr()), (expected.shape(), expected.indptr()));
    assert_eq!(triplets(&ones), triplets(&expected));
    assert_eq!(triplets(&ones.transpose()), triplets(&expected.transpose()));
    assert_eq!(SparseMatrix::ones(0, 0, vec![0], vec![]).nnz(), 0);
}

#[test]
fn a_symmetric_matrix_is_its_own_transpose_without_a_copy() {
    let mut numbers = Numbers(40);
    for (size, pairs) in [(1, 0), (2, 1), (30, 100), (300, 900)] {
        let (indptr, indices) = symmetric(&mut numbers, size, pairs);
        let symmetric = SparseMatrix::symmetric_ones(indptr.clone(), indices.clone());
        let general = SparseMatrix::ones(size, size, indptr, indices);
        assert_eq!(triplets(&symmetric), triplets(&general.transpose()));
        let transpose = symmetric.transpose();
        assert_eq!(triplets(&transpose), triplets(&symmetric));
        assert!(std::ptr::eq(transpose.indices(), symmetric.indices()));
        assert!(std::ptr::eq(
            symmetric.clone().with_transpose().transpose().indices(),
            symmetric.indices()
        ));
    }
}

#[test]
fn a_transpose_that_is_built_in_advance_is_the_same() {
    let ones = || SparseMatrix::ones(2, 3, vec![0, 2, 3], vec![0, 2, 1]);
    let built = ones().with_transpose();
    assert_eq!(triplets(&built), triplets(&ones()));
    assert_eq!(triplets(&built.transpose()), triplets(&ones().transpose()));
    // The transpose of a transpose is the matrix itself.
    assert_eq!(triplets(&ones().transpose().with_transpose()), triplets(&ones().transpose()));
}

#[test]
fn products_with_ones_and_their_gradients_equal_the_dense_ones() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(41);
    let (indptr, indices) = symmetric(&mut numbers, 60, 150);
    let readout: Vec<usize> = vec![0, 20, 20, 45, 60];
    for matrix in [
        SparseMatrix::symmetric_ones(indptr, indices),
        SparseMatrix::ones(4, 60, readout, (0..60).collect()).with_transpose(),
    ] {
        for dtype in TYPES {
            let dense = numbers.matrix([60, 9], dtype, &device).require_grad();
            let weights = numbers.matrix([matrix.shape()[0], 9], dtype, &device);
            let product = sparse_matmul(&matrix, dense.clone());
            let table = matrix.to_dense(&device).cast(dtype);
            assert_close(product.clone(), table.clone().matmul(dense.clone()));
            let gradients = (product * weights.clone()).sum().backward();
            let gradient = dense.grad(&gradients).expect("tracked");
            assert_close(gradient, table.transpose().matmul(weights).inner());
        }
    }
}

#[test]
fn the_product_that_adds_equals_product_and_sum() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(42);
    let matrix = SparseMatrix::ones(3, 5, vec![0, 2, 2, 5], vec![0, 4, 1, 2, 3]);
    for dtype in TYPES {
        let dense = numbers.matrix([5, 35], dtype, &device).require_grad();
        let addend = numbers.matrix([3, 35], dtype, &device).require_grad();
        let weights = numbers.matrix([3, 35], dtype, &device);
        let run = |output: Tensor<2>| {
            let gradients = (output.clone() * weights.clone()).sum().backward();
            let of = |tensor: &Tensor<2>| tensor.grad(&gradients).expect("tracked");
            [output.inner(), of(&dense), of(&addend)]
        };
        let got = run(sparse_matmul_add(&matrix, dense.clone(), addend.clone()));
        let expected = run(sparse_matmul(&matrix, dense.clone()) + addend.clone());
        for (got, expected) in got.into_iter().zip(expected) {
            assert_close(got, expected);
        }
    }
}

#[test]
fn the_gradient_of_a_sum_over_a_node_and_its_neighbours_has_both_parts() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(43);
    let (indptr, indices) = symmetric(&mut numbers, 7, 9);
    let matrix = SparseMatrix::symmetric_ones(indptr, indices);
    let nodes = numbers.matrix([7, 3], DType::F64, &device);
    let weights = numbers.matrix([7, 3], DType::F64, &device);
    // Both arguments are one tensor, the same node of the graph of operations, and two of them.
    assert_gradient(
        |nodes| sparse_matmul_add(&matrix, nodes.clone(), nodes),
        nodes.clone(),
        weights.clone(),
    );
    assert_gradient(
        |nodes| sparse_matmul_add(&matrix, nodes.clone(), nodes * 1.5),
        nodes.clone(),
        weights.clone(),
    );
    let constant = nodes.clone();
    assert_gradient(
        |nodes| sparse_matmul_add(&matrix, constant.clone(), nodes),
        nodes.clone(),
        weights.clone(),
    );
    assert_gradient(
        |nodes| sparse_matmul_add(&matrix, nodes, constant.clone()),
        nodes.clone(),
        weights,
    );
}

#[test]
fn an_asymmetric_matrix_is_refused_by_the_entry_that_is_alone() {
    for (indptr, indices, entry) in [
        (vec![0, 0, 1], vec![0], "at (1, 0), but none at (0, 1)"),
        (vec![0, 2, 4, 5], vec![1, 2, 0, 2, 1], "at (0, 2), but none at (2, 0)"),
        (vec![0, 1, 2, 3], vec![1, 0, 1], "at (2, 1), but none at (1, 2)"),
        // Found at (1, 2), whose mirror image is not the next entry of row 2.
        (vec![0, 0, 1, 3], vec![2, 0, 1], "at (2, 0), but none at (0, 2)"),
    ] {
        let outcome = std::panic::catch_unwind(|| SparseMatrix::symmetric_ones(indptr, indices));
        let message = outcome.expect_err("asymmetric").downcast::<String>().expect("a text");
        assert!(message.contains(entry), "{message}");
    }
}

#[test]
fn broken_rows_are_refused() {
    for (indptr, indices, problem) in [
        (vec![0, 1], vec![0], "2 rows need 3 starts, but there are 2"),
        (vec![1, 1, 1], vec![0], "must start at 0"),
        (vec![0, 2, 1], vec![0, 1], "row 1 goes from 2 to 1"),
        (vec![0, 9, 1], vec![0], "row 0 goes from 0 to 9"),
        (vec![0, 1, 1], vec![0, 1], "the rows end at 1, but there are 2 indices"),
        (
            vec![0, 2, 2],
            vec![1, 1],
            "the columns of row 0 must increase, but are [1, 1]",
        ),
        (
            vec![0, 0, 1],
            vec![3],
            "row 1 has an entry in column 3, but there are 3 columns",
        ),
    ] {
        let outcome = std::panic::catch_unwind(|| SparseMatrix::ones(2, 3, indptr, indices));
        let message = outcome.expect_err("broken").downcast::<String>().expect("a text");
        assert!(message.contains(problem), "{message}");
    }
}

#[test]
#[should_panic(expected = "the product has shape [2, 4], but the addend [3, 4]")]
fn the_addend_must_have_the_shape_of_the_product() {
    let device = Device::flex();
    let ones = SparseMatrix::ones(2, 3, vec![0, 1, 1], vec![2]);
    sparse_matmul_add(&ones, Tensor::zeros([3, 4], &device), Tensor::zeros([3, 4], &device));
}

#[test]
fn nodes_without_neighbours_keep_their_value() {
    let device = Device::flex();
    let ones = SparseMatrix::symmetric_ones(vec![0, 0, 1, 2, 2], vec![2, 1]);
    let nodes = matrix(vec![1.0, 2.0, 3.0, 4.0], [4, 1], DType::F32, &device);
    assert_eq!(values(sparse_matmul_add(&ones, nodes.clone(), nodes)), [1.0, 5.0, 5.0, 4.0]);
}
