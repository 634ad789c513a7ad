//! Kernels that read rows of an embedding table: a batch of 1,024 users with 128 sampled items each.

use super::{Implementations, KernelCase, Pass, indices, normal};
use bcl_kernels::{gather_rows, portable, sampled_dot};

/// Number of items in `MovieLens`-100K and in Gowalla.
const NUM_ROWS: [usize; 2] = [1682, 40_981];

const DIM: usize = 64;
const NUM_ANCHORS: usize = 1024;
const NUM_SAMPLED: usize = 128;

pub(super) fn cases() -> Vec<KernelCase> {
    NUM_ROWS
        .into_iter()
        .flat_map(|num_rows| {
            [
                sampled(num_rows, Pass::Forward),
                sampled(num_rows, Pass::Gradients),
                gathered(num_rows),
            ]
        })
        .collect()
}

fn sampled(num_rows: usize, pass: Pass) -> KernelCase {
    let size = format!("[{NUM_ANCHORS}, {NUM_SAMPLED}] of [{num_rows}, {DIM}]");
    let entries = NUM_ANCHORS * NUM_SAMPLED * DIM;
    KernelCase::new("sampled_dot", size, pass, entries, move |pass, device| {
        let inputs = [NUM_ANCHORS, num_rows].map(|rows| pass.input(normal([rows, DIM], device)));
        let sampled = indices([NUM_ANCHORS, NUM_SAMPLED], num_rows, device);
        let same = sampled.clone();
        Implementations::new(
            pass,
            inputs.to_vec(),
            normal([NUM_ANCHORS, NUM_SAMPLED], device),
            move |inputs| sampled_dot(inputs[0].clone(), inputs[1].clone(), sampled.clone()),
            move |inputs| portable::sampled_dot(inputs[0].clone(), inputs[1].clone(), same.clone()),
        )
    })
}

fn gathered(num_rows: usize) -> KernelCase {
    let size = format!("{NUM_ANCHORS} of [{num_rows}, {DIM}]");
    KernelCase::new("gather_rows", size, Pass::Gradients, num_rows * DIM, move |pass, device| {
        let read = indices([NUM_ANCHORS], num_rows, device);
        let same = read.clone();
        Implementations::new(
            pass,
            vec![pass.input(normal([num_rows, DIM], device))],
            normal([NUM_ANCHORS, DIM], device),
            move |table| gather_rows(table[0].clone(), read.clone()),
            move |table| portable::gather_rows(table[0].clone(), same.clone()),
        )
    })
}
