//! Sparse products, whose terms are added in the order of the entries on CPU and GPU.

use super::{
    common::{Numbers, assert_close, values},
    gpu, home,
};
use bcl_kernels::{SparseMatrix, propagate, sparse_matmul, sparse_matmul_add};
use burn::tensor::{DType, Device, Tensor};

fn graph(numbers: &mut Numbers, shape: [usize; 2], entries: usize) -> SparseMatrix {
    let mut entry = || {
        (
            numbers.below(shape[0]) as u32,
            numbers.below(shape[1]) as u32,
            numbers.signed() as f32,
        )
    };
    SparseMatrix::from_triplets(shape[0], shape[1], (0..entries).map(|_| entry()).collect::<Vec<_>>())
}

#[test]
fn products_and_gradients_are_those_of_the_cpu() {
    for (shape, entries, columns) in [([7, 5], 12, 3), ([300, 200], 4000, 64), ([40, 30], 0, 8), ([1, 1], 1, 1)] {
        let matrix = graph(&mut Numbers(1), shape, entries);
        let [there, here] = [gpu(), Device::flex()].map(|device| {
            let device = device.autodiff();
            let mut numbers = Numbers(2);
            let dense = numbers.matrix([shape[1], columns], DType::F32, &device).require_grad();
            let weights = numbers.matrix([shape[0], columns], DType::F32, &device);
            let product = sparse_matmul(&matrix, dense.clone());
            let gradients = (product.clone() * weights).sum().backward();
            [product.inner(), dense.grad(&gradients).expect("tracked")].map(home)
        });
        for (there, here) in there.into_iter().zip(here) {
            assert_close(there, here);
        }
    }
}

#[test]
fn sums_over_neighbours_and_their_gradients_are_those_of_the_cpu() {
    // A cycle with a node apart, whose matrix is its own transpose.
    let size = 50;
    let mut neighbours = Vec::new();
    for node in 0..size {
        let mut pair = [(node + 1) % size, (node + size - 1) % size];
        pair.sort_unstable();
        neighbours.extend(pair);
    }
    let offsets = (0..=size as usize).map(|node| 2 * node).chain([2 * size as usize]).collect();
    let matrix = SparseMatrix::symmetric_ones(offsets, neighbours);
    let [there, here] = [gpu(), Device::flex()].map(|device| {
        let device = device.autodiff();
        let mut numbers = Numbers(7);
        let [nodes, weights] = [0, 1].map(|_| numbers.matrix([51, 16], DType::F32, &device));
        let nodes = nodes.require_grad();
        let sums = sparse_matmul_add(&matrix, nodes.clone(), nodes.clone());
        let gradients = (sums.clone() * weights).sum().backward();
        [sums.inner(), nodes.grad(&gradients).expect("tracked")].map(home)
    });
    for (there, here) in there.into_iter().zip(here) {
        assert_close(there, here);
    }
}

#[test]
fn propagation_and_its_gradients_are_those_of_the_cpu() {
    let matrix = graph(&mut Numbers(3), [60, 40], 500);
    for layers in 1..4 {
        let [there, here] = [gpu(), Device::flex()].map(|device| {
            let device = device.autodiff();
            let mut numbers = Numbers(4);
            let [users, items] = [60, 40].map(|rows| numbers.matrix([rows, 16], DType::F32, &device).require_grad());
            let weights = numbers.matrix([60, 16], DType::F32, &device);
            let (of_users, of_items) = propagate(&matrix, users.clone(), items.clone(), layers);
            let gradients = ((of_users.clone() * weights).sum() + of_items.clone().sum()).backward();
            let of = |tensor: &Tensor<2>| tensor.grad(&gradients).expect("tracked");
            [of_users.inner(), of_items.inner(), of(&users), of(&items)].map(home)
        });
        for (there, here) in there.into_iter().zip(here) {
            assert_close(there, here);
        }
    }
}

#[test]
fn products_are_the_same_to_the_bit_each_time() {
    let matrix = graph(&mut Numbers(5), [500, 400], 20_000);
    let dense = Numbers(6).matrix([400, 64], DType::F32, &gpu());
    let first = values(sparse_matmul(&matrix, dense.clone()));
    for _ in 0..5 {
        assert_eq!(values(sparse_matmul(&matrix, dense.clone())), first);
    }
}
