//! Helpers of the GPU kernels: contiguous tensors, launch sizes and sums over a workgroup.

pub(crate) mod tile;

use burn::backend::{Cube, ops::FloatTensorOps};
use burn::tensor::{DType, FloatDType, Shape};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

/// Threads per workgroup, which every WebGPU device allows.
pub(crate) const THREADS: u32 = 256;

/// The largest number of workgroups along one axis; WebGPU allows 65,535.
const GRID_SIDE: usize = 32_768;

/// Casts to `f32`. A tensor that already is `f32` is returned unchanged, as by all of Burn's casts.
pub(crate) fn single(tensor: CubeTensor) -> CubeTensor {
    Cube::float_cast(tensor, FloatDType::F32)
}

/// Makes a tensor contiguous, in row-major order.
pub(crate) fn rows(tensor: CubeTensor) -> CubeTensor {
    into_contiguous(tensor)
}

/// A tensor in row-major order that nothing else sees, so that a kernel may write into it.
pub(crate) fn owned(tensor: CubeTensor) -> CubeTensor {
    let tensor = rows(tensor);
    if tensor.can_mut() { tensor } else { tensor.copy() }
}

/// Allocates an output tensor on the device of `beside`.
pub(crate) fn empty(beside: &CubeTensor, shape: impl Into<Shape>, dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(beside.client.clone(), beside.device.clone(), shape.into(), dtype)
}

/// At least `number` workgroups. The kernel must skip the surplus ones.
pub(crate) fn workgroups(number: usize) -> CubeCount {
    let x = number.clamp(1, GRID_SIDE);
    CubeCount::Static(x as u32, number.div_ceil(x) as u32, 1)
}

/// Enough workgroups for one thread per element.
pub(crate) fn threads(number: usize) -> CubeCount {
    workgroups(number.div_ceil(THREADS as usize))
}

/// The address width that reaches all of these tensors.
pub(crate) fn addresses(tensors: &[&CubeTensor]) -> AddressType {
    let widest = tensors.iter().map(|tensor| tensor.required_address_type()).max();
    widest.unwrap_or_default()
}

/// Sums one number per thread in a fixed order, for [`THREADS`] threads.
///
/// `scratch` needs room for at least as many numbers. It may be memory used before, because workgroups have little.
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
