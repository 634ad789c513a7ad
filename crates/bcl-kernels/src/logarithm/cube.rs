//! `log(1 + x)` on GPUs.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata, ops::FloatTensorOps};
use burn::tensor::{DType, FloatDType};
use cubecl::prelude::*;

use super::LogarithmOps;
use crate::cube::{THREADS, addresses, empty, rows, single, threads};

impl LogarithmOps for Cube {
    fn precise_log1p(x: FloatTensor<Self>) -> FloatTensor<Self> {
        let dtype: FloatDType = x.dtype().into();
        let number = x.shape().num_elements();
        if number == 0 || dtype == FloatDType::F64 {
            return Self::float_log1p(x);
        }
        let x = rows(single(x));
        let out = empty(&x, x.shape(), DType::F32);
        let client = x.client.clone();
        log1p_of_each::launch(
            &client,
            threads(number),
            CubeDim::new_1d(THREADS),
            addresses(&[&x]),
            x.into_tensor_arg(),
            out.clone().into_tensor_arg(),
            number,
        );
        Self::float_cast(out, dtype)
    }
}

#[cube(launch, address_type = "dynamic")]
fn log1p_of_each(x: &Tensor<f32>, out: &mut Tensor<f32>, number: usize) {
    let position = ABSOLUTE_POS;
    if position >= number {
        terminate!();
    }
    out[position] = log1p(x[position]);
}

/// Near 0 it uses the series of `log(1 + x) = 2 artanh(x / (2 + x))`; the first omitted term is below 1e-10.
#[cube]
pub(crate) fn log1p(x: f32) -> f32 {
    let mut result = (x + 1.0f32).ln();
    if x > -0.2f32 && x < 0.25f32 {
        let z = x / (x + 2.0f32);
        let square = z * z;
        let series = 1.0f32 / 3.0f32 + square * (1.0f32 / 5.0f32 + square * (1.0f32 / 7.0f32 + square * (1.0f32 / 9.0f32)));
        result = 2.0f32 * (z + z * square * series);
    }
    result
}
