//! Moving averages on GPUs, with one launch.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata};
use burn::tensor::DType;
use cubecl::prelude::*;

use super::{AverageOps, composed};
use crate::cube::{THREADS, addresses, empty, rows, threads};

impl AverageOps for Cube {
    fn moving_average(average: FloatTensor<Self>, new: FloatTensor<Self>, keep: f64, share: f64) -> FloatTensor<Self> {
        let number = average.shape().num_elements();
        if number == 0 || [average.dtype, new.dtype] != [DType::F32; 2] {
            return composed::<Self>(average, new, keep, share);
        }
        let (average, new) = (rows(average), rows(new));
        let parts = new.shape().num_elements() / number;
        let moved = empty(&average, average.shape(), DType::F32);
        let client = average.client.clone();
        move_each::launch(
            &client,
            threads(number),
            CubeDim::new_1d(THREADS),
            addresses(&[&average, &new]),
            average.into_tensor_arg(),
            new.into_tensor_arg(),
            moved.clone().into_tensor_arg(),
            number,
            parts,
            keep as f32,
            share as f32,
        );
        moved
    }
}

#[cube(launch, address_type = "dynamic")]
fn move_each(
    average: &Tensor<f32>,
    new: &Tensor<f32>,
    moved: &mut Tensor<f32>,
    number: usize,
    parts: usize,
    keep: f32,
    share: f32,
) {
    let position = ABSOLUTE_POS;
    if position >= number {
        terminate!();
    }
    let mut value = average[position];
    let mut part = 0usize.runtime();
    while part < parts {
        value = value * keep + new[part * number + position] * share;
        part += 1;
    }
    moved[position] = value;
}
