//! What the GPU kernels share: plain rows of numbers, and how many workgroups to launch.

pub(crate) mod tile;

use burn::backend::{Cube, ops::FloatTensorOps};
use burn::tensor::{DType, FloatDType, Shape};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

/// Threads of a workgroup: what every WebGPU device allows.
pub(crate) const THREADS: u32 = 256;

/// The most workgroups along one axis; WebGPU allows 65,535.
const GRID_SIDE: usize = 32_768;

/// The same numbers in 32 bits; what has them already is left as it is, as in all casts of Burn's.
pub(crate) fn single(tensor: CubeTensor) -> CubeTensor {
    Cube::float_cast(tensor, FloatDType::F32)
}

/// The same numbers, row after row without gaps.
pub(crate) fn rows(tensor: CubeTensor) -> CubeTensor {
    into_contiguous(tensor)
}

/// Room for an output beside an input, on the same device.
pub(crate) fn empty(beside: &CubeTensor, shape: impl Into<Shape>, dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(beside.client.clone(), beside.device.clone(), shape.into(), dtype)
}

/// At least so many workgroups; those beyond have nothing to do and must say so.
pub(crate) fn workgroups(number: usize) -> CubeCount {
    let x = number.clamp(1, GRID_SIDE);
    CubeCount::Static(x as u32, number.div_ceil(x) as u32, 1)
}

/// Enough workgroups for one thread an element.
pub(crate) fn threads(number: usize) -> CubeCount {
    workgroups(number.div_ceil(THREADS as usize))
}

/// How wide the addresses have to be that reach all of these tensors.
pub(crate) fn addresses(tensors: &[&CubeTensor]) -> AddressType {
    let widest = tensors.iter().map(|tensor| tensor.required_address_type()).max();
    widest.unwrap_or_default()
}

/// The sum of a number of each thread, in an order that is always the same; for [`THREADS`] threads.
///
/// `scratch` holds at least as many numbers, whatever it was used for before: workgroups have little memory.
#[cube]
pub(crate) fn sum_of_workgroup(own: f32, scratch: &mut Shared<[u32]>) -> f32 {
    let position = UNIT_POS as usize;
    sync_cube();
    scratch[position] = u32::reinterpret(own);
    let mut width = comptime!(THREADS as usize / 2).runtime();
    while width > 0 {
        sync_cube();
        if position < width {
            let sum = f32::reinterpret(scratch[position]) + f32::reinterpret(scratch[position + width]);
            scratch[position] = u32::reinterpret(sum);
        }
        width /= 2;
    }
    sync_cube();
    f32::reinterpret(scratch[0])
}
