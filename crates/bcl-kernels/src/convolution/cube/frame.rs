//! Images copied into larger, zero-filled grids.

use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::Refused;
use super::layout::vector;
use super::tiling::element;
use crate::cube::{THREADS, addresses, empty, threads};

/// Where the pixels of an image go in a grid: pixel `[y, x]` to `[top + step y, left + step x]`.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) height: usize,
    pub(super) width: usize,
    /// Both `top` and `left`.
    pub(super) offset: usize,
    pub(super) step: usize,
}

/// Copies images in NHWC into grids of zeros, one below the other.
///
/// # Shapes
/// - images: `[batch_size, height, width, channels]`
/// - output: `[pixels, channels]`, contiguous; rows after the last grid are zero
pub(super) fn framed(images: CubeTensor, frame: Frame, pixels: usize) -> Result<CubeTensor, Refused> {
    let channels = images.meta.shape()[3];
    let out = empty(&images, [pixels, channels], images.dtype);
    let vector = vector(&images);
    let number = pixels * channels / vector;
    let client = images.client.clone();
    let element = element(images.dtype)?;
    place::launch(
        &client,
        threads(number),
        CubeDim::new_1d(THREADS),
        addresses(&[&images, &out]),
        vector,
        images.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        number,
        channels / vector,
        frame.height,
        frame.width,
        frame.offset,
        frame.step,
        element,
    );
    Ok(out)
}

/// One thread per vector of the grids.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn place<E: Numeric, N: Size>(
    images: &Tensor<Vector<E, N>>,
    grids: &mut Tensor<Vector<E, N>>,
    number: usize,
    vectors_per_pixel: usize,
    height: usize,
    width: usize,
    offset: usize,
    step: usize,
    #[define(E)] _dtype: ElemType,
) {
    let position = ABSOLUTE_POS;
    if position >= number {
        terminate!();
    }
    let pixel = position / vectors_per_pixel;
    let channel = position % vectors_per_pixel * images.vector_size();
    let column = pixel % width;
    let line = pixel / width;
    let row = line % height;
    let image = line / height;

    let mut value = Vector::<E, N>::zero();
    if image < images.shape(0) && row >= offset && column >= offset {
        let down = row - offset;
        let right = column - offset;
        let y = down / step;
        let x = right / step;
        if y * step == down && x * step == right && y < images.shape(1) && x < images.shape(2) {
            let start = image * images.stride(0) + y * images.stride(1) + x * images.stride(2) + channel;
            value = images[start / images.vector_size()];
        }
    }
    grids[position] = value;
}
