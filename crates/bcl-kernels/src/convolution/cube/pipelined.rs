//! Convolution as implicit GEMM with several blocks in flight, for GPUs with asynchronous copies and `mma.sync`.
//!
//! A workgroup computes a block of output pixels by output channels. It walks over kernel positions and input channels: while its warps
//! multiply one block, copies of the next ones are under way. Each thread copies the same rows of every block, so what depends on the
//! pixel is computed once, and a kernel position is a constant offset.

use burn_cubecl::tensor::CubeTensor;
use cubecl::cmma::{MatrixIdent, MmaDefinition};
use cubecl::prelude::barrier::{Barrier, copy_async, copy_async_checked};
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

use super::Refused;
use super::pipeline::{Pipeline, VECTOR, check, swizzled};
use super::tiling::element;
use crate::convolution::geometry::Geometry;
use crate::cube::{addresses, empty};

/// Convolves images in NHWC with kernels `[channels_out, height, width, channels_in]`, all contiguous.
///
/// With a `spread` above 1, the images' pixels are so far apart, with zeros between them, for the gradient of a convolution with this stride. The zeros
/// are not multiplied: output pixels that meet the same kernel positions are computed together.
pub(super) fn forward(
    images: CubeTensor,
    kernels: CubeTensor,
    sizes: &Geometry,
    spread: usize,
    how: Pipeline,
) -> Result<CubeTensor, Refused> {
    let client = images.client.clone();
    let element = element(images.dtype)?;
    check(&client, element, sizes)?;
    let copies = |rows: u32| (rows * how.length() / VECTOR).is_multiple_of(how.threads());
    let whole =
        sizes.channels_in.is_multiple_of(how.length() as usize) && sizes.channels_out.is_multiple_of(how.width() as usize);
    if !whole || !copies(how.height()) || !copies(how.width()) {
        return Err(Refused(format!("a pipeline of {how} needs whole blocks of channels")));
    }
    let out = empty(
        &images,
        [sizes.batch_size * sizes.output_pixels(), sizes.channels_out],
        images.dtype,
    );
    let [lines, columns] = sizes.output.map(|side| side.div_ceil(spread));
    let pixels = sizes.batch_size * lines * columns;
    let blocks = pixels.div_ceil(how.height() as usize) * (sizes.channels_out / how.width() as usize);
    convolve::launch(
        &client,
        CubeCount::Static((spread * spread * blocks) as u32, 1, 1),
        CubeDim::new_2d(32, how.warps_down * how.warps_right),
        addresses(&[&images, &kernels, &out]),
        VECTOR as usize,
        2,
        images.into_tensor_arg(),
        kernels.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        pixels as u32,
        blocks as u32,
        sizes.input[0] as u32,
        sizes.input[1] as u32,
        sizes.channels_in as u32 / VECTOR,
        sizes.channels_out as u32,
        lines as u32,
        columns as u32,
        sizes.output[0] as u32,
        sizes.output[1] as u32,
        sizes.kernel[0] as u32,
        sizes.kernel[1] as u32,
        sizes.stride as u32,
        sizes.padding as u32,
        spread as u32,
        how,
        element,
    );
    Ok(out)
}

#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn convolve<E: Float, N: Size, P: Size>(
    images: &Tensor<Vector<E, N>>,
    kernels: &Tensor<Vector<E, N>>,
    out: &mut Tensor<Vector<E, P>>,
    pixels: u32,
    blocks: u32,
    height: u32,
    width: u32,
    channel_vectors: u32,
    channels_out: u32,
    lines: FastDivmod<u32>,
    columns_of_line: FastDivmod<u32>,
    out_height: u32,
    out_width: u32,
    kernel_height: u32,
    kernel_width: u32,
    stride: u32,
    padding: u32,
    #[comptime] spread: u32,
    #[comptime] how: Pipeline,
    #[define(E)] _dtype: ElemType,
) {
    let threads = comptime!(how.threads());
    let vectors = comptime!(how.length() / VECTOR);
    let stages = comptime!(how.stages as usize);
    let left_len = comptime!(how.height() * how.length() / VECTOR);
    let right_len = comptime!(how.width() * how.length() / VECTOR);
    let rows_per_round = comptime!(how.threads() / (how.length() / VECTOR));
    let left_loads = comptime!((how.height() * how.length() / VECTOR / how.threads()) as usize);
    let right_loads = comptime!((how.width() * how.length() / VECTOR / how.threads()) as usize);
    let rows = comptime!(how.rows as usize);
    let columns = comptime!(how.columns as usize);
    let depth = comptime!(how.depth as usize);

    let lane = UNIT_POS_X;
    let warp = UNIT_POS_Y;
    let unit = warp * 32 + lane;
    let warp_down = warp / how.warps_right;
    let warp_right = warp % how.warps_right;

    let channel_blocks = channels_out / how.width();
    let block = CUBE_POS as u32 % blocks;
    // Output pixels `[y, x]` with these remainders of `y` and `x`. They meet every `spread`-th kernel position, from the first on.
    let phase = CUBE_POS as u32 / blocks;
    let (phase_down, phase_right) = (phase / spread, phase % spread);
    let first_down = first_tap(phase_down, padding, spread);
    let first_right = first_tap(phase_right, padding, spread);
    let first_pixel = block / channel_blocks * how.height();
    let first_channel = block % channel_blocks * how.width();

    let mut left = Shared::<[Vector<E, N>]>::new_aligned_slice(comptime!(how.stages as usize * left_len as usize), 128usize);
    let mut right = Shared::<[Vector<E, N>]>::new_aligned_slice(comptime!(how.stages as usize * right_len as usize), 128usize);
    let mut barriers = Sequence::<Shared<Barrier>>::new();
    #[unroll]
    for _ in 0..stages {
        barriers.push(Barrier::shared(threads, unit == 0));
    }

    // What each thread copies: one vector of these rows of each block.
    let column = unit % vectors;
    let first_row = unit / vectors;
    let mut starts = Array::<u32>::new(left_loads);
    let mut tops = Array::<i32>::new(left_loads);
    let mut lefts = Array::<i32>::new(left_loads);
    #[unroll]
    for i in 0..left_loads {
        let pixel = first_pixel + first_row + i as u32 * rows_per_round;
        let (line, column_of_pixel) = columns_of_line.div_mod(pixel);
        let (image, line) = lines.div_mod(line);
        starts[i] = image * height * width * channel_vectors + column;
        lefts[i] = first_read(column_of_pixel, phase_right, first_right, stride, padding, spread);
        // Rows after the last pixel are above every image.
        tops[i] = select(
            pixel < pixels,
            first_read(line, phase_down, first_down, stride, padding, spread),
            -1_000_000i32,
        );
    }
    let kernel_vectors = kernel_height * kernel_width * channel_vectors;
    let kernel_start = (first_channel + first_row) * kernel_vectors + column;

    // The next block to load: its kernel position, its first vector of channels, and its first vector of a row of kernels.
    let mut tap_down = 0u32.runtime();
    let mut tap_right = 0u32.runtime();
    let mut channel = 0u32.runtime();
    let mut along = (first_down * kernel_width + first_right) * channel_vectors;
    let taps_down = (kernel_height + comptime!(spread - 1) - first_down) / spread;
    let taps_right = (kernel_width + comptime!(spread - 1) - first_right) / spread;
    let steps = taps_down * taps_right * channel_vectors / vectors;

    let def = MmaDefinition::<E, E, f32>::new(16usize, 8usize, 16usize);
    let mut sums = Sequence::<Array<Vector<f32, Const<2>>>>::new();
    #[unroll]
    for _ in 0..comptime!(2 * how.rows as usize * how.columns as usize) {
        let mut sum = Array::<Vector<f32, Const<2>>>::new(2usize);
        sum[0] = Vector::zero();
        sum[1] = Vector::zero();
        sums.push(sum);
    }

    let rounds = (steps + comptime!(2 * how.stages - 2)) / how.stages;
    for round in 0..rounds {
        #[unroll]
        for stage in 0..stages {
            // Loading runs `stages - 1` steps ahead of multiplying.
            let step = round * how.stages + comptime!(stage as u32);
            let target = comptime!(stage as u32);
            // All warps have multiplied what was here.
            sync_cube();
            if step < steps {
                #[unroll]
                for i in 0..left_loads {
                    let y = tops[i] + i32::cast_from(tap_down);
                    let x = lefts[i] + i32::cast_from(tap_right);
                    let inside = y >= 0 && y < i32::cast_from(height) && x >= 0 && x < i32::cast_from(width);
                    let there = starts[i] + (u32::cast_from(y) * width + u32::cast_from(x)) * channel_vectors + channel;
                    let from = select(inside, there, 0u32) as usize;
                    let number = select(inside, 1u32, 0u32) as usize;
                    let row = first_row + i as u32 * rows_per_round;
                    let to = (target * left_len + swizzled(row, column, vectors)) as usize;
                    copy_async_checked(&images[from..from + number], &mut left[to..to + 1], 8u32);
                }
                #[unroll]
                for i in 0..right_loads {
                    let from = (kernel_start + i as u32 * rows_per_round * kernel_vectors + along) as usize;
                    let row = first_row + i as u32 * rows_per_round;
                    let to = (target * right_len + swizzled(row, column, vectors)) as usize;
                    copy_async(&kernels[from..from + 1], &mut right[to..to + 1], 8u32);
                }
                let barrier = barriers.index(stage);
                barrier.commit_copy_async();
                let _token = barrier.arrive();

                along += vectors;
                channel += vectors;
                if channel == channel_vectors {
                    channel = 0u32;
                    tap_right += 1;
                    if tap_right == taps_right {
                        tap_right = 0u32;
                        tap_down += 1;
                    }
                    if comptime!(spread > 1) {
                        let (down, right) = (first_down + tap_down * spread, first_right + tap_right * spread);
                        along = (down * kernel_width + right) * channel_vectors;
                    }
                }
            }

            let behind = comptime!(how.stages - 1);
            if step >= behind && step - behind < steps {
                let current = step - behind;
                let source = comptime!((stage as u32 + 1) % how.stages);
                barriers
                    .index(comptime!((stage + 1) % how.stages as usize))
                    .wait_parity(current / how.stages % 2);
                #[unroll]
                for k in 0..depth {
                    let mut rights = Sequence::<Array<Vector<E, Const<2>>>>::new();
                    #[unroll]
                    for pair in 0..columns {
                        let row = (warp_right * how.columns + comptime!(pair as u32)) * 16 + lane / 16 * 8 + lane % 8;
                        let at = (source * right_len + swizzled(row, comptime!(2 * k as u32) + lane / 8 % 2, vectors)) as usize;
                        let both = def.load_matrix::<Vector<E, N>, Const<2>>(&right[at..at + 1], MatrixIdent::B, 4usize, false);
                        let mut one = Array::<Vector<E, Const<2>>>::new(2usize);
                        one[0] = both[0];
                        one[1] = both[1];
                        let mut other = Array::<Vector<E, Const<2>>>::new(2usize);
                        other[0] = both[2];
                        other[1] = both[3];
                        rights.push(one);
                        rights.push(other);
                    }
                    #[unroll]
                    for i in 0..rows {
                        let row = (warp_down * how.rows + comptime!(i as u32)) * 16 + lane % 16;
                        let at = (source * left_len + swizzled(row, comptime!(2 * k as u32) + lane / 16, vectors)) as usize;
                        let lefts = def.load_matrix::<Vector<E, N>, Const<2>>(&left[at..at + 1], MatrixIdent::A, 4usize, false);
                        #[unroll]
                        for j in 0..comptime!(2 * how.columns as usize) {
                            def.execute_inplace(
                                &lefts,
                                rights.index(j),
                                sums.index_mut(comptime!(i * 2 * how.columns as usize + j)),
                            );
                        }
                    }
                }
            }
        }
    }

    #[unroll]
    for i in 0..rows {
        #[unroll]
        for j in 0..comptime!(2 * how.columns as usize) {
            let channel = first_channel + warp_right * how.columns * 16 + comptime!(8 * j as u32) + lane % 4 * 2;
            #[unroll]
            for half in 0..2usize {
                let pixel =
                    first_pixel + (warp_down * how.rows + comptime!(i as u32)) * 16 + lane / 4 + comptime!(8 * half as u32);
                let sum = sums.index(comptime!(i * 2 * how.columns as usize + j))[half];
                if comptime!(spread > 1) {
                    let (line, column) = columns_of_line.div_mod(pixel);
                    let (image, line) = lines.div_mod(line);
                    let (y, x) = (line * spread + phase_down, column * spread + phase_right);
                    if pixel < pixels && y < out_height && x < out_width {
                        let at = (image * out_height + y) * out_width + x;
                        out[((at * channels_out + channel) / 2) as usize] = Vector::cast_from(sum);
                    }
                } else if pixel < pixels {
                    out[((pixel * channels_out + channel) / 2) as usize] = Vector::cast_from(sum);
                }
            }
        }
    }
}

/// The first kernel position that meets a pixel of spread images, for output pixels with this remainder.
#[cube]
fn first_tap(phase: u32, padding: u32, #[comptime] spread: u32) -> u32 {
    if comptime!(spread > 1) {
        (padding + comptime!(spread) - phase) % comptime!(spread)
    } else {
        0u32.runtime()
    }
}

/// The pixel that an output pixel reads at its first kernel position, in one direction.
#[cube]
fn first_read(place: u32, phase: u32, first: u32, stride: u32, padding: u32, #[comptime] spread: u32) -> i32 {
    if comptime!(spread > 1) {
        // Without a remainder, so that the direction of rounding does not matter.
        i32::cast_from(place) + (i32::cast_from(phase + first) - i32::cast_from(padding)) / comptime!(spread as i32)
    } else {
        i32::cast_from(place * stride) - i32::cast_from(padding)
    }
}
