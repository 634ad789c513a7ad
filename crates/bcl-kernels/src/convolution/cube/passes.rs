//! The passes of a convolution by a given algorithm.

use burn::backend::Cube;
use burn::tensor::DType;
use burn_cubecl::ops::permute_nchw_to_nhwc;
use burn_cubecl::tensor::CubeTensor;

use super::algorithm::{Algorithm, Convolution, Product};
use super::columns::{col2im, im2col, row_length};
use super::frame::{Frame, framed};
use super::layout::{channels_first, channels_last, matrix, transposed, view};
use super::product::product;
use super::weights::{Order, Parts, arranged, summed};
use super::{Refused, implicit, pipelined, pipelined_weight};
use crate::convolution::geometry::Geometry;
use crate::convolution::portable;

/// The output of a convolution.
///
/// # Errors
/// If the algorithm cannot compute these sizes or this type on this device.
pub fn forward(
    input: CubeTensor,
    weight: CubeTensor,
    stride: usize,
    padding: usize,
    algorithm: Algorithm,
) -> Result<CubeTensor, Refused> {
    let sizes = geometry(&input, &weight, stride, padding);
    let how = match algorithm {
        Algorithm::Portable => return Ok(portable::convolve::<Cube>(input, weight, stride, padding)),
        Algorithm::Implicit(how) => Convolution::Implicit(how),
        Algorithm::Pipelined(how) => Convolution::Pipelined(how),
        Algorithm::Columns(how) => Convolution::Columns(how),
        Algorithm::Rotated(_) | Algorithm::Spread(_) | Algorithm::Shifted(_) => return Err(other_pass(algorithm)),
    };
    convolved(input, weight, Order::ByOutput, &sizes, how)
}

/// A convolution of images in NCHW.
fn convolved(
    images: CubeTensor,
    weight: CubeTensor,
    order: Order,
    sizes: &Geometry,
    how: Convolution,
) -> Result<CubeTensor, Refused> {
    let dtype = images.dtype;
    let taps = sizes.kernel[0] * sizes.kernel[1];
    let output = match how {
        Convolution::Implicit(how) => {
            let kernels = arranged(weight, order, taps * sizes.channels_in)?;
            implicit::forward(channels_last(images), as_images(&kernels, sizes.kernel), sizes, how)?
        }
        Convolution::Pipelined(how) => {
            let kernels = arranged(weight, order, taps * sizes.channels_in)?;
            pipelined::forward(channels_last(images), kernels, sizes, 1, how)?
        }
        Convolution::Columns(how) => {
            let columns = columns(images, sizes)?;
            let kernels = arranged(weight, order, columns.meta.shape()[1])?;
            product(columns, transposed(&kernels), dtype, how)?
        }
    };
    Ok(channels_first(as_images_of(&output, sizes.batch_size, sizes.output)))
}

/// The gradient of the input, of which only the shape is used.
///
/// # Errors
/// If the algorithm cannot compute these sizes or this type on this device.
pub fn data(
    input: CubeTensor,
    weight: CubeTensor,
    grad: CubeTensor,
    stride: usize,
    padding: usize,
    algorithm: Algorithm,
) -> Result<CubeTensor, Refused> {
    let sizes = geometry(&input, &weight, stride, padding);
    let dtype = grad.dtype;
    let gradient = match algorithm {
        Algorithm::Portable => {
            return Ok(portable::convolve_input_backward::<Cube>(
                input, weight, grad, stride, padding,
            ));
        }
        Algorithm::Implicit(how) => {
            let kernels = arranged(weight, Order::ByOutput, sizes.kernel[0] * sizes.kernel[1] * sizes.channels_in)?;
            implicit::data(channels_last(grad), as_images(&kernels, sizes.kernel), &sizes, how)?
        }
        Algorithm::Columns(how) => {
            let pointwise = sizes.is_pointwise();
            let length = if pointwise {
                sizes.channels_in
            } else {
                row_length(&sizes, sizes.channels_in)
            };
            let kernels = arranged(weight, Order::ByOutput, length)?;
            let columns = product(matrix(&channels_last(grad)), kernels, dtype, how)?;
            if pointwise { columns } else { col2im(columns, &sizes)? }
        }
        Algorithm::Spread(how) => {
            let reversed = Geometry {
                input: sizes.output,
                ..reversed(&sizes)?
            };
            let kernels = arranged(weight, Order::Rotated, sizes.kernel[0] * sizes.kernel[1] * sizes.channels_out)?;
            pipelined::forward(channels_last(grad), kernels, &reversed, sizes.stride, how)?
        }
        Algorithm::Rotated(how) => {
            let (grad, reversed) = spread(grad, &sizes)?;
            return convolved(grad, weight, Order::Rotated, &reversed, how);
        }
        Algorithm::Pipelined(_) | Algorithm::Shifted(_) => return Err(other_pass(algorithm)),
    };
    Ok(channels_first(as_images_of(&gradient, sizes.batch_size, sizes.input)))
}

/// The gradient of the weight, of which only the shape is used.
///
/// # Errors
/// If the algorithm cannot compute these sizes or this type on this device.
pub fn weight(
    input: CubeTensor,
    weight: CubeTensor,
    grad: CubeTensor,
    stride: usize,
    padding: usize,
    algorithm: Algorithm,
) -> Result<CubeTensor, Refused> {
    let sizes = geometry(&input, &weight, stride, padding);
    match algorithm {
        Algorithm::Portable => Ok(portable::convolve_weight_backward::<Cube>(
            input, weight, grad, stride, padding,
        )),
        Algorithm::Implicit(how) => {
            let gradient = implicit::weight(channels_last(input), channels_last(grad), &sizes, how)?;
            Ok(channels_first(gradient))
        }
        Algorithm::Pipelined(how) => pipelined_weight::weight(channels_last(input), channels_last(grad), &sizes, how),
        Algorithm::Columns(how) => weight_by_columns(input, channels_last(grad), &sizes, how),
        Algorithm::Shifted(how) => weight_by_shifts(input, grad, &sizes, how),
        Algorithm::Rotated(_) | Algorithm::Spread(_) => Err(other_pass(algorithm)),
    }
}

/// The sizes of a convolution.
pub(super) fn geometry(input: &CubeTensor, weight: &CubeTensor, stride: usize, padding: usize) -> Geometry {
    let shape = |tensor: &CubeTensor| std::array::from_fn(|axis| tensor.meta.shape()[axis]);
    Geometry::new(shape(input), shape(weight), stride, padding)
}

fn other_pass(algorithm: Algorithm) -> Refused {
    Refused(format!("{algorithm} computes another pass"))
}

/// A matrix with a row per pixel as images in NHWC.
fn as_images_of(pixels: &CubeTensor, batch_size: usize, [height, width]: [usize; 2]) -> CubeTensor {
    let channels = pixels.meta.shape()[pixels.meta.num_dims() - 1];
    view(
        pixels,
        [batch_size, height, width, channels],
        [height * width * channels, width * channels, channels, 1],
    )
}

/// A matrix with a row per kernel as images in NHWC.
fn as_images(kernels: &CubeTensor, [height, width]: [usize; 2]) -> CubeTensor {
    let [number, length] = [kernels.meta.shape()[0], kernels.meta.shape()[1]];
    let channels = length / (height * width);
    view(
        kernels,
        [number, height, width, channels],
        [length, width * channels, channels, 1],
    )
}

/// The im2col matrix of images in NCHW.
fn columns(input: CubeTensor, sizes: &Geometry) -> Result<CubeTensor, Refused> {
    if sizes.is_pointwise() {
        return Ok(matrix(&channels_last(input)));
    }
    // A few channels are gathered one by one, for which any memory order does.
    let few = sizes.channels_in < 4;
    im2col(
        if few {
            permute_nchw_to_nhwc(input)
        } else {
            channels_last(input)
        },
        sizes,
    )
}

/// Sizes of the convolution with stride 1 and rotated kernels that computes the data gradient. Pixels of the output's gradient are `stride` apart in it.
fn reversed(sizes: &Geometry) -> Result<Geometry, Refused> {
    let [side, other] = sizes.kernel;
    if side != other || sizes.padding >= side {
        return Err(Refused(
            "the padding is too large for a convolution with rotated kernels".into(),
        ));
    }
    Ok(Geometry {
        channels_in: sizes.channels_out,
        channels_out: sizes.channels_in,
        input: sizes.input.map(|input| input + 2 * sizes.padding + 1 - side),
        output: sizes.input,
        stride: 1,
        padding: side - 1 - sizes.padding,
        ..*sizes
    })
}

/// Images in NCHW with zeros between the pixels, and the sizes of their convolution.
fn spread(grad: CubeTensor, sizes: &Geometry) -> Result<(CubeTensor, Geometry), Refused> {
    let reversed = reversed(sizes)?;
    if sizes.stride == 1 {
        return Ok((grad, reversed));
    }
    let [height, width] = reversed.input;
    let frame = Frame {
        height,
        width,
        offset: 0,
        step: sizes.stride,
    };
    let pixels = framed(channels_last(grad), frame, sizes.batch_size * height * width)?;
    let images = as_images_of(&pixels, sizes.batch_size, [height, width]);
    Ok((channels_first(images), reversed))
}

/// `gradientᵀ · columns`. The sum over all pixels is split, because one product of this shape would keep few processors busy.
fn weight_by_columns(input: CubeTensor, grad: CubeTensor, sizes: &Geometry, how: Product) -> Result<CubeTensor, Refused> {
    let dtype = grad.dtype;
    let (columns, grad) = (columns(input, sizes)?, matrix(&grad));
    let [pixels, length] = [columns.meta.shape()[0], columns.meta.shape()[1]];
    let channels = sizes.channels_out;
    let parts = (1..=parts(channels, length, pixels))
        .rev()
        .find(|parts| pixels % parts == 0)
        .unwrap_or(1);
    let pixels = pixels / parts;
    let sums = product(
        view(&grad, [parts, channels, pixels], [pixels * channels, 1, channels]),
        view(&columns, [parts, pixels, length], [pixels * length, length, 1]),
        DType::F32,
        how,
    )?;
    let parts = Parts {
        number: parts,
        part: channels * length,
        tap: sizes.channels_in,
        channel_out: length,
    };
    summed(sums, parts, sizes, dtype)
}

/// A product per kernel position, of the gradient and the image shifted by it.
///
/// Both are in frames as large as the padded image, with zeros where no output pixel is, so that pixel `p` of the gradient meets pixel
/// `p + y width + x` of the image in kernel position `[y, x]`.
fn weight_by_shifts(input: CubeTensor, grad: CubeTensor, sizes: &Geometry, how: Product) -> Result<CubeTensor, Refused> {
    let dtype = grad.dtype;
    let [taps_down, taps_right] = sizes.kernel;
    let [height, width] = sizes.input.map(|input| input + 2 * sizes.padding);
    let (channels_in, channels_out) = (sizes.channels_in, sizes.channels_out);
    let pixels = sizes.batch_size * height * width;
    let parts = parts(channels_out, channels_in * taps_down * taps_right, pixels);
    let pixels = pixels.div_ceil(parts).next_multiple_of(PART_ALIGNMENT);
    let frame = |offset, step| Frame {
        height,
        width,
        offset,
        step,
    };
    let grad = framed(channels_last(grad), frame(0, sizes.stride), parts * pixels)?;
    let last_shift = (taps_down - 1) * width + taps_right - 1;
    let input = framed(channels_last(input), frame(sizes.padding, 1), parts * pixels + last_shift)?;
    let sums = product(
        view(
            &grad,
            [taps_down, taps_right, parts, channels_out, pixels],
            [0, 0, pixels * channels_out, 1, channels_out],
        ),
        view(
            &input,
            [taps_down, taps_right, parts, pixels, channels_in],
            [width * channels_in, channels_in, pixels * channels_in, channels_in, 1],
        ),
        DType::F32,
        how,
    )?;
    let parts = Parts {
        number: parts,
        part: channels_out * channels_in,
        tap: parts * channels_out * channels_in,
        channel_out: channels_in,
    };
    summed(sums, parts, sizes, dtype)
}

/// Parts of shifted products are a multiple of this long, so that no block of tiles has a remainder.
const PART_ALIGNMENT: usize = 64;

/// Workgroups that keep a large GPU busy: four for each of 132 processors.
const WORKGROUPS: usize = 528;

/// Fewer pixels per part cost more in partial sums than they win.
const PIXELS_PER_PART: usize = 1024;

/// The number of partial sums of a weight gradient. It depends on the sizes only, so that results are the same on all devices.
fn parts(channels_out: usize, columns: usize, pixels: usize) -> usize {
    let workgroups = channels_out.div_ceil(128) * columns.div_ceil(64);
    (WORKGROUPS / workgroups).min(pixels / PIXELS_PER_PART).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_weights_need_no_parts_and_small_ones_many() {
        assert_eq!(parts(512, 9 * 512, 512 * 36), 1);
        assert_eq!(parts(64, 9 * 64, 512 * 34 * 34), 58);
        assert_eq!(parts(64, 32, 8), 1);
    }
}
