//! Kernels that propagate embeddings along a graph of users and items.

use super::{Implementations, KernelCase, Pass, below, normal};
use bcl_kernels::{SparseMatrix, portable, propagate, sparse_matmul};
use burn::tensor::{Device, Tensor};

/// Users, items and interactions of `MovieLens`-100K and of Gowalla.
const GRAPHS: [(&str, [usize; 2], usize); 2] = [("MovieLens", [943, 1682], 80_000), ("Gowalla", [29_858, 40_981], 810_128)];

/// Embedding size.
const DIM: usize = 64;

/// Number of `LightGCN` layers.
const LAYERS: usize = 3;

pub(super) fn cases() -> Vec<KernelCase> {
    GRAPHS
        .into_iter()
        .flat_map(|(name, shape, interactions)| {
            let case = |kernel, pass, prepare: fn(Pass, Graph) -> Implementations| {
                let size = format!("{name}, {DIM} dimensions");
                KernelCase::new(kernel, size, pass, interactions * DIM, move |pass, device| {
                    prepare(pass, Graph::new(shape, interactions, pass, device))
                })
            };
            [
                case("sparse_matmul", Pass::Forward, multiplied),
                case("sparse_matmul", Pass::Gradients, multiplied),
                case("propagate", Pass::Forward, propagated),
                case("propagate", Pass::Gradients, propagated),
            ]
        })
        .collect()
}

/// Users and items are both inputs, but only the items are multiplied.
fn multiplied(pass: Pass, graph: Graph) -> Implementations {
    let Graph { matrix, inputs, outer } = graph;
    let same = matrix.clone();
    Implementations::new(
        pass,
        inputs[1..].to_vec(),
        outer,
        move |items| sparse_matmul(&matrix, items[0].clone()),
        move |items| portable::sparse_matmul(&same, items[0].clone()),
    )
}

fn propagated(pass: Pass, graph: Graph) -> Implementations {
    let Graph { matrix, inputs, outer } = graph;
    let same = matrix.clone();
    Implementations::new(
        pass,
        inputs,
        outer,
        move |sides| propagate(&matrix, sides[0].clone(), sides[1].clone(), LAYERS).0,
        move |sides| portable::propagate(&same, sides[0].clone(), sides[1].clone(), LAYERS).0,
    )
}

/// A graph with user and item embeddings.
struct Graph {
    matrix: SparseMatrix,
    inputs: Vec<Tensor<2>>,
    outer: Tensor<2>,
}

impl Graph {
    /// Draws interactions uniformly, so that a few coincide.
    fn new(shape: [usize; 2], interactions: usize, pass: Pass, device: &Device) -> Self {
        let [num_users, num_items] = shape;
        let entries =
            below(num_users * num_items, interactions).map(|place| ((place / num_items) as u32, (place % num_items) as u32, 0.1));
        Self {
            matrix: SparseMatrix::from_triplets(num_users, num_items, entries),
            inputs: shape.map(|rows| pass.input(normal([rows, DIM], device))).to_vec(),
            outer: normal([num_users, DIM], device),
        }
    }
}
