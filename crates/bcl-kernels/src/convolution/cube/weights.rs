//! Kernels of convolutions as matrices.

use burn::tensor::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::Refused;
use super::tiling::element;
use crate::convolution::geometry::Geometry;
use crate::cube::{THREADS, addresses, empty, threads};

/// The order of kernels in a matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// A row per output channel: for each kernel position, the input channels.
    ByOutput,
    /// A row per input channel: for each kernel position, in reverse, the output channels.
    Rotated,
}

/// Kernels as a matrix with rows of this length, filled up with zeros.
///
/// # Shapes
/// - weight: `[channels_out, channels_in, height, width]`, in any memory order
/// - output: `[channels_out, length]` or, rotated, `[channels_in, length]`, contiguous
pub(super) fn arranged(weight: CubeTensor, order: Order, length: usize) -> Result<CubeTensor, Refused> {
    let [channels_out, channels_in] = [weight.meta.shape()[0], weight.meta.shape()[1]];
    let (rows, inner) = match order {
        Order::ByOutput => (channels_out, channels_in),
        Order::Rotated => (channels_in, channels_out),
    };
    let out = empty(&weight, [rows, length], weight.dtype);
    let client = weight.client.clone();
    let element = element(weight.dtype)?;
    arrange::launch(
        &client,
        threads(rows * length),
        CubeDim::new_1d(THREADS),
        addresses(&[&weight, &out]),
        weight.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        rows * length,
        length,
        inner,
        order == Order::Rotated,
        element,
    );
    Ok(out)
}

#[cube(launch, address_type = "dynamic")]
fn arrange<E: Numeric>(
    weight: &Tensor<E>,
    matrix: &mut Tensor<E>,
    number: usize,
    length: usize,
    inner: usize,
    #[comptime] rotated: bool,
    #[define(E)] _dtype: ElemType,
) {
    let position = ABSOLUTE_POS;
    if position >= number {
        terminate!();
    }
    let row = position / length;
    let entry = position % length;
    let taps = weight.shape(2) * weight.shape(3);
    let mut tap = entry / inner;
    let mut value = E::from_int(0);
    if tap < taps {
        let mut channel_out = row;
        let mut channel_in = entry % inner;
        if comptime!(rotated) {
            tap = taps - 1 - tap;
            channel_out = entry % inner;
            channel_in = row;
        }
        let y = tap / weight.shape(3);
        let x = tap % weight.shape(3);
        value =
            weight[channel_out * weight.stride(0) + channel_in * weight.stride(1) + y * weight.stride(2) + x * weight.stride(3)];
    }
    matrix[position] = value;
}

/// Partial sums of the gradient of kernels, in single precision: where the number for a part, kernel position, output channel and input
/// channel is, in elements. Input channels are side by side.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) number: usize,
    pub(super) part: usize,
    pub(super) tap: usize,
    pub(super) channel_out: usize,
}

/// Adds up partial sums, in the order of the parts.
///
/// # Shapes
/// - output: `[channels_out, channels_in, height, width]`, contiguous
pub(super) fn summed(sums: CubeTensor, parts: Parts, sizes: &Geometry, dtype: DType) -> Result<CubeTensor, Refused> {
    let [height, width] = sizes.kernel;
    let out = empty(&sums, [sizes.channels_out, sizes.channels_in, height, width], dtype);
    let number = sizes.channels_out * sizes.channels_in * height * width;
    let client = sums.client.clone();
    let element = element(dtype)?;
    add_parts::launch(
        &client,
        threads(number),
        CubeDim::new_1d(THREADS),
        addresses(&[&sums, &out]),
        sums.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        number,
        height * width,
        sizes.channels_in,
        parts.number,
        parts.part,
        parts.tap,
        parts.channel_out,
        element,
    );
    Ok(out)
}

/// Neighbouring threads read neighbouring input channels.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn add_parts<E: Numeric>(
    sums: &Tensor<f32>,
    out: &mut Tensor<E>,
    number: usize,
    taps: usize,
    channels_in: usize,
    parts: usize,
    part_stride: usize,
    tap_stride: usize,
    channel_out_stride: usize,
    #[define(E)] _dtype: ElemType,
) {
    let position = ABSOLUTE_POS;
    if position >= number {
        terminate!();
    }
    let channel_in = position % channels_in;
    let tap = position / channels_in % taps;
    let channel_out = position / channels_in / taps;
    let start = channel_out * channel_out_stride + tap * tap_stride + channel_in;
    let mut sum = 0.0f32;
    for part in 0..parts {
        sum += sums[start + part * part_stride];
    }
    out[(channel_out * channels_in + channel_in) * taps + tap] = E::cast_from(sum);
}
