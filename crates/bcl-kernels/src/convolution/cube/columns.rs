//! The im2col matrix in memory, and the way back.

use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::Refused;
use super::layout::vector;
use super::tiling::element;
use crate::convolution::geometry::Geometry;
use crate::cube::{THREADS, addresses, empty, threads};

/// Rows of the im2col matrix are padded with zeros to a multiple of this, which tensor cores and wide loads want.
const ALIGNMENT: usize = 8;

/// The length of a row of the im2col matrix of images with this many channels.
pub(super) fn row_length(sizes: &Geometry, channels: usize) -> usize {
    (sizes.kernel[0] * sizes.kernel[1] * channels).next_multiple_of(ALIGNMENT)
}

/// The im2col matrix of images in NHWC: per output pixel, the channels of each kernel position.
///
/// # Shapes
/// - images: `[batch_size, height, width, channels_in]`
/// - output: `[output pixels, row_length]`, contiguous
pub(super) fn im2col(images: CubeTensor, sizes: &Geometry) -> Result<CubeTensor, Refused> {
    let length = row_length(sizes, sizes.channels_in);
    let out = empty(&images, [sizes.batch_size * sizes.output_pixels(), length], images.dtype);
    let pixels = sizes.batch_size * sizes.output_pixels();
    let client = images.client.clone();
    let element = element(images.dtype)?;
    let together = vector(&images);
    let vector = if together > 1 { together } else { vector(&out) };
    let number = pixels * length / vector;
    let launch = if together > 1 { gather::launch } else { gather_each::launch };
    launch(
        &client,
        threads(number),
        CubeDim::new_1d(THREADS),
        addresses(&[&images, &out]),
        vector,
        images.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        number,
        length / vector,
        sizes.channels_in,
        sizes.kernel[0],
        sizes.kernel[1],
        sizes.output[0],
        sizes.output[1],
        sizes.stride,
        sizes.padding,
        element,
    );
    Ok(out)
}

/// One thread per vector of the matrix.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn gather<E: Numeric, N: Size>(
    images: &Tensor<Vector<E, N>>,
    columns: &mut Tensor<Vector<E, N>>,
    number: usize,
    vectors_per_row: usize,
    channels: usize,
    kernel_height: usize,
    kernel_width: usize,
    out_height: usize,
    out_width: usize,
    stride: usize,
    padding: usize,
    #[define(E)] _dtype: ElemType,
) {
    let position = ABSOLUTE_POS;
    if position >= number {
        terminate!();
    }
    let pixel = position / vectors_per_row;
    let entry = position % vectors_per_row * images.vector_size();
    let tap = entry / channels;
    let channel = entry % channels;
    let line = pixel / out_width;
    let image = line / out_height;
    // Both are larger by the padding than the position in the image, so that they are not negative.
    let down = line % out_height * stride + tap / kernel_width;
    let right = pixel % out_width * stride + tap % kernel_width;

    let mut value = Vector::<E, N>::zero();
    if tap < kernel_height * kernel_width && down >= padding && right >= padding {
        let y = down - padding;
        let x = right - padding;
        if y < images.shape(1) && x < images.shape(2) {
            let start = image * images.stride(0) + y * images.stride(1) + x * images.stride(2) + channel * images.stride(3);
            value = images[start / images.vector_size()];
        }
    }
    columns[position] = value;
}

/// As [`gather`], for images whose channels are too few or too far apart to be read together: a vector of the matrix is gathered from several places.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn gather_each<E: Numeric, N: Size>(
    images: &Tensor<E>,
    columns: &mut Tensor<Vector<E, N>>,
    number: usize,
    vectors_per_row: usize,
    channels: usize,
    kernel_height: usize,
    kernel_width: usize,
    out_height: usize,
    out_width: usize,
    stride: usize,
    padding: usize,
    #[define(E)] _dtype: ElemType,
) {
    let position = ABSOLUTE_POS;
    if position >= number {
        terminate!();
    }
    let pixel = position / vectors_per_row;
    let first = position % vectors_per_row * columns.vector_size();
    let line = pixel / out_width;
    let image = line / out_height;
    let top = line % out_height * stride;
    let left = pixel % out_width * stride;

    let mut value = Vector::<E, N>::zero();
    #[unroll]
    for i in 0..N::value() {
        let entry = first + i;
        let tap = entry / channels;
        let down = top + tap / kernel_width;
        let right = left + tap % kernel_width;
        if tap < kernel_height * kernel_width && down >= padding && right >= padding {
            let y = down - padding;
            let x = right - padding;
            if y < images.shape(1) && x < images.shape(2) {
                let channel = entry % channels;
                let at = image * images.stride(0) + y * images.stride(1) + x * images.stride(2) + channel * images.stride(3);
                value.insert(i, images[at]);
            }
        }
    }
    columns[position] = value;
}

/// Adds up the entries of the im2col matrix that belong to the same pixel, in the order of the kernel positions and in single precision.
///
/// # Shapes
/// - columns: `[output pixels, row_length]`, contiguous
/// - output:  `[batch_size, height, width, channels_in]`, contiguous
pub(super) fn col2im(columns: CubeTensor, sizes: &Geometry) -> Result<CubeTensor, Refused> {
    let [height, width] = sizes.input;
    let out = empty(&columns, [sizes.batch_size, height, width, sizes.channels_in], columns.dtype);
    let vector = vector(&out);
    let number = sizes.batch_size * height * width * sizes.channels_in / vector;
    let client = columns.client.clone();
    let element = element(columns.dtype)?;
    fold::launch(
        &client,
        threads(number),
        CubeDim::new_1d(THREADS),
        addresses(&[&columns, &out]),
        vector,
        columns.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        number,
        sizes.channels_in,
        height,
        width,
        sizes.kernel[0],
        sizes.kernel[1],
        sizes.output[0],
        sizes.output[1],
        sizes.stride,
        sizes.padding,
        element,
    );
    Ok(out)
}

/// One thread per vector of the images.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn fold<E: Numeric, N: Size>(
    columns: &Tensor<Vector<E, N>>,
    images: &mut Tensor<Vector<E, N>>,
    number: usize,
    channels: usize,
    height: usize,
    width: usize,
    kernel_height: usize,
    kernel_width: usize,
    out_height: usize,
    out_width: usize,
    stride: usize,
    padding: usize,
    #[define(E)] _dtype: ElemType,
) {
    let position = ABSOLUTE_POS;
    if position >= number {
        terminate!();
    }
    let vectors_per_pixel = channels / images.vector_size();
    let channel = position % vectors_per_pixel * images.vector_size();
    let pixel = position / vectors_per_pixel;
    let line = pixel / width;
    let image = line / height;
    let down = line % height + padding;
    let right = pixel % width + padding;

    let mut sum = Vector::<f32, N>::zero();
    for i in 0..kernel_height {
        if down >= i {
            let y = (down - i) / stride;
            if y * stride == down - i && y < out_height {
                for j in 0..kernel_width {
                    if right >= j {
                        let x = (right - j) / stride;
                        if x * stride == right - j && x < out_width {
                            let row = (image * out_height + y) * out_width + x;
                            let start = row * columns.stride(0) + (i * kernel_width + j) * channels + channel;
                            sum += Vector::cast_from(columns[start / columns.vector_size()]);
                        }
                    }
                }
            }
        }
    }
    images[position] = Vector::cast_from(sum);
}
