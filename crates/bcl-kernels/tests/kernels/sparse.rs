//! The sparse product against the dense one.

use super::common::{Numbers, TYPES, assert_close, assert_gradient, values};
use bcl_kernels::{SparseMatrix, portable, propagate, sparse_matmul};
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
        // Widths that leave a remainder in every block of columns.
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

#[test]
fn propagation_averages_the_layers_of_the_whole_graph() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(30);
    let matrix = random(&mut numbers, [6, 4], 10);
    for num_layers in 0..5 {
        let users = numbers.matrix([6, 3], DType::F64, &device).require_grad();
        let items = numbers.matrix([4, 3], DType::F64, &device).require_grad();
        let weights = numbers.matrix([10, 3], DType::F64, &device);

        // The mean of the powers of the whole graph's dense adjacency matrix.
        let block = matrix.to_dense(&device).cast(DType::F64);
        let corner = |size| Tensor::<2>::zeros([size, size], (&device, DType::F64));
        let graph = Tensor::cat(
            vec![
                Tensor::cat(vec![corner(6), block.clone()], 1),
                Tensor::cat(vec![block.transpose(), corner(4)], 1),
            ],
            0,
        );
        let mut layer = Tensor::cat(vec![users.clone(), items.clone()], 0);
        let mut expected = layer.clone();
        for _ in 0..num_layers {
            layer = graph.clone().matmul(layer);
            expected = expected + layer.clone();
        }
        // Multiplied, not divided: the gradient of Burn's division by a number has single precision.
        let expected = expected * (1.0 / (num_layers + 1) as f64);
        let expected_gradients = (expected.clone() * weights.clone()).sum().backward();

        for run in [propagate, portable::propagate] {
            let (new_users, new_items) = run(&matrix, users.clone(), items.clone(), num_layers);
            let both = Tensor::cat(vec![new_users, new_items], 0);
            assert_close(both.clone(), expected.clone());
            let gradients = (both * weights.clone()).sum().backward();
            for input in [&users, &items] {
                let gradient = |gradients| input.grad(gradients).expect("tracked");
                assert_close(gradient(&gradients), gradient(&expected_gradients));
            }
        }
    }
}

#[test]
fn half_of_a_propagation_suffices_for_its_gradient() {
    let device = Device::flex().autodiff();
    let mut numbers = Numbers(31);
    let matrix = random(&mut numbers, [5, 7], 12);
    let items = numbers.matrix([7, 2], DType::F64, &device);
    let weights = numbers.matrix([5, 2], DType::F64, &device);
    let users = numbers.matrix([5, 2], DType::F64, &device);
    assert_gradient(
        |users| propagate(&matrix, users, items.clone(), 3).0,
        users.clone(),
        weights.clone(),
    );
    assert_gradient(|items| propagate(&matrix, users.clone(), items, 2).0, items, weights);
}

#[test]
#[should_panic(expected = "must have 2 and 3 rows of the same length")]
fn propagation_needs_a_row_for_every_node() {
    let device = Device::flex();
    let matrix = SparseMatrix::from_triplets(2, 3, []);
    propagate(&matrix, Tensor::zeros([2, 4], &device), Tensor::zeros([2, 4], &device), 1);
}
