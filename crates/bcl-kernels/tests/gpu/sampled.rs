//! Sampled products, and the gradients of repeated rows.

use super::{
    common::{Numbers, assert_close, values},
    gpu, home,
};
use bcl_kernels::{gather_rows, sampled_dot};
use burn::tensor::{DType, Device, Tensor};

/// Scores, rows read, and the gradients of anchors and table. The few rows are sampled many times.
fn measured(device: Device, [anchors, sampled, rows, dim]: [usize; 4]) -> [Tensor<2>; 4] {
    let tracking = device.clone().autodiff();
    let mut numbers = Numbers(rows as u64);
    let indices = numbers.indices([anchors, sampled], rows, &device);
    let to_read = numbers.indices([1, anchors], rows.div_ceil(2), &device).squeeze_dim::<1>(0);
    let table = numbers.matrix([rows, dim], DType::F32, &tracking).require_grad();
    let queries = numbers.matrix([anchors, dim], DType::F32, &tracking).require_grad();
    let weights = numbers.matrix([anchors, sampled], DType::F32, &tracking);
    let scores = sampled_dot(queries.clone(), table.clone(), indices);
    let read = gather_rows(table.clone(), to_read);
    let gradients = ((scores.clone() * weights).sum() + (read.clone() * queries.clone().detach()).sum()).backward();
    let of = |tensor: &Tensor<2>| tensor.grad(&gradients).expect("tracked");
    [scores.inner(), read.inner(), of(&queries), of(&table)].map(home)
}

/// The last one has more entries than a workgroup sorts at once.
const SIZES: [[usize; 4]; 4] = [[1, 1, 1, 1], [5, 7, 3, 4], [64, 33, 500, 64], [300, 40, 11, 17]];

#[test]
fn scores_and_gradients_are_those_of_the_cpu() {
    for sizes in SIZES {
        for (there, here) in measured(gpu(), sizes).into_iter().zip(measured(Device::flex(), sizes)) {
            assert_close(there, here);
        }
    }
}

#[test]
fn gradients_are_the_same_to_the_bit_each_time() {
    let first = measured(gpu(), SIZES[3]).map(values);
    for _ in 0..5 {
        assert_eq!(measured(gpu(), SIZES[3]).map(values), first);
    }
}
