//! The gradient of kernels with several blocks in flight, for GPUs with asynchronous copies and `mma.sync`.
//!
//! A workgroup computes a block of output channels by input channels, for one kernel position and a part of the pixels. It walks over
//! these pixels and gathers the input pixels that the kernel position reads, so that no im2col matrix is needed.

use burn::tensor::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::cmma::{MatrixIdent, MmaDefinition};
use cubecl::prelude::barrier::{Barrier, copy_async_checked};
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

use super::Refused;
use super::pipeline::{Pipeline, VECTOR, check, swizzled};
use super::tiling::element;
use super::weights::{Parts, summed};
use crate::convolution::geometry::Geometry;
use crate::cube::{addresses, empty};

/// The gradient of kernels in NCHW. Images and the output's gradient are in NHWC, contiguous.
pub(super) fn weight(images: CubeTensor, grad: CubeTensor, sizes: &Geometry, how: Pipeline) -> Result<CubeTensor, Refused> {
    let client = images.client.clone();
    let dtype = grad.dtype;
    let element = element(dtype)?;
    check(&client, element, sizes)?;
    let [height, width] = [how.height(), how.width()].map(|side| side as usize);
    let copies = |columns: u32| (how.length() * columns / VECTOR).is_multiple_of(how.threads());
    let whole = sizes.channels_out.is_multiple_of(height) && sizes.channels_in.is_multiple_of(width);
    if !whole || !copies(how.height()) || !copies(how.width()) {
        return Err(Refused(format!("a pipeline of {how} needs whole blocks of channels")));
    }
    let taps = sizes.kernel[0] * sizes.kernel[1];
    let pixels = sizes.batch_size * sizes.output_pixels();
    let blocks = sizes.channels_out / height * (sizes.channels_in / width) * taps;
    let parts = (WORKGROUPS / blocks).min(pixels / PIXELS_PER_PART).max(1);
    let per_part = pixels.div_ceil(parts).next_multiple_of(how.length() as usize);
    let parts = pixels.div_ceil(per_part);
    let sums = empty(&images, [parts, sizes.channels_out, taps, sizes.channels_in], DType::F32);
    convolve_weight::launch(
        &client,
        CubeCount::Static((blocks * parts) as u32, 1, 1),
        CubeDim::new_2d(32, how.warps_down * how.warps_right),
        addresses(&[&images, &grad, &sums]),
        VECTOR as usize,
        2,
        images.into_tensor_arg(),
        grad.into_tensor_arg(),
        sums.clone().into_tensor_arg(),
        pixels as u32,
        per_part as u32,
        sizes.input[0] as u32,
        sizes.input[1] as u32,
        sizes.channels_in as u32,
        sizes.channels_out as u32,
        sizes.output[0] as u32,
        sizes.output[1] as u32,
        taps as u32,
        sizes.kernel[1] as u32,
        sizes.stride as u32,
        sizes.padding as u32,
        how,
        element,
    );
    let parts = Parts {
        number: parts,
        part: sizes.channels_out * taps * sizes.channels_in,
        tap: sizes.channels_in,
        channel_out: taps * sizes.channels_in,
    };
    summed(sums, parts, sizes, dtype)
}

/// Workgroups that keep a large GPU busy: four for each of 132 processors.
const WORKGROUPS: usize = 528;

/// Fewer pixels per part cost more in partial sums than they win.
const PIXELS_PER_PART: usize = 1024;

#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn convolve_weight<E: Float, N: Size, P: Size>(
    images: &Tensor<Vector<E, N>>,
    grad: &Tensor<Vector<E, N>>,
    out: &mut Tensor<Vector<f32, P>>,
    pixels: u32,
    pixels_per_part: u32,
    height: u32,
    width: u32,
    channels_in: u32,
    channels_out: u32,
    out_height: FastDivmod<u32>,
    out_width: FastDivmod<u32>,
    taps: u32,
    kernel_width: u32,
    stride: u32,
    padding: u32,
    #[comptime] how: Pipeline,
    #[define(E)] _dtype: ElemType,
) {
    let threads = comptime!(how.threads());
    let stages = comptime!(how.stages as usize);
    let length = comptime!(how.length());
    let left_vectors = comptime!(how.height() / VECTOR);
    let right_vectors = comptime!(how.width() / VECTOR);
    let left_len = comptime!(how.length() * how.height() / VECTOR);
    let right_len = comptime!(how.length() * how.width() / VECTOR);
    let left_loads = comptime!((how.length() * how.height() / VECTOR / how.threads()) as usize);
    let right_loads = comptime!((how.length() * how.width() / VECTOR / how.threads()) as usize);
    let left_rows = comptime!(how.threads() / (how.height() / VECTOR));
    let right_rows = comptime!(how.threads() / (how.width() / VECTOR));
    let rows = comptime!(how.rows as usize);
    let columns = comptime!(how.columns as usize);
    let depth = comptime!(how.depth as usize);

    let lane = UNIT_POS_X;
    let warp = UNIT_POS_Y;
    let unit = warp * 32 + lane;
    let warp_down = warp / how.warps_right;
    let warp_right = warp % how.warps_right;

    // Neighbouring workgroups read the same pixels.
    let out_blocks = channels_out / how.height();
    let in_blocks = channels_in / how.width();
    let block = CUBE_POS as u32;
    let first_in = block % in_blocks * how.width();
    let first_out = block / in_blocks % out_blocks * how.height();
    let tap = block / (in_blocks * out_blocks) % taps;
    let part = block / (in_blocks * out_blocks * taps);
    let first_pixel = part * pixels_per_part;
    let end = min(first_pixel + pixels_per_part, pixels);
    let tap_down = i32::cast_from(tap / kernel_width) - i32::cast_from(padding);
    let tap_right = i32::cast_from(tap % kernel_width) - i32::cast_from(padding);

    let mut left = Shared::<[Vector<E, N>]>::new_aligned_slice(comptime!(how.stages as usize * left_len as usize), 128usize);
    let mut right = Shared::<[Vector<E, N>]>::new_aligned_slice(comptime!(how.stages as usize * right_len as usize), 128usize);
    let mut barriers = Sequence::<Shared<Barrier>>::new();
    #[unroll]
    for _ in 0..stages {
        barriers.push(Barrier::shared(threads, unit == 0));
    }

    let left_column = unit % left_vectors;
    let left_row = unit / left_vectors;
    let right_column = unit % right_vectors;
    let right_row = unit / right_vectors;
    let out_vectors = channels_out / VECTOR;
    let in_vectors = channels_in / VECTOR;
    let steps = (end - first_pixel + comptime!(how.length() - 1)) / length;

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
                let pixel_of_step = first_pixel + step * length;
                #[unroll]
                for i in 0..left_loads {
                    let row = left_row + i as u32 * left_rows;
                    let pixel = pixel_of_step + row;
                    let inside = pixel < end;
                    let from = select(inside, pixel * out_vectors + first_out / VECTOR + left_column, 0u32) as usize;
                    let number = select(inside, 1u32, 0u32) as usize;
                    let to = (target * left_len + swizzled(row, left_column, left_vectors)) as usize;
                    copy_async_checked(&grad[from..from + number], &mut left[to..to + 1], 8u32);
                }
                #[unroll]
                for i in 0..right_loads {
                    let row = right_row + i as u32 * right_rows;
                    let pixel = pixel_of_step + row;
                    let (line, column) = out_width.div_mod(pixel);
                    let (image, line) = out_height.div_mod(line);
                    let y = i32::cast_from(line * stride) + tap_down;
                    let x = i32::cast_from(column * stride) + tap_right;
                    let inside = pixel < end && y >= 0 && y < i32::cast_from(height) && x >= 0 && x < i32::cast_from(width);
                    let there = ((image * height + u32::cast_from(y)) * width + u32::cast_from(x)) * in_vectors;
                    let from = select(inside, there + first_in / VECTOR + right_column, 0u32) as usize;
                    let number = select(inside, 1u32, 0u32) as usize;
                    let to = (target * right_len + swizzled(row, right_column, right_vectors)) as usize;
                    copy_async_checked(&images[from..from + number], &mut right[to..to + 1], 8u32);
                }
                let barrier = barriers.index(stage);
                barrier.commit_copy_async();
                let _token = barrier.arrive();
            }

            let behind = comptime!(how.stages - 1);
            if step >= behind && step - behind < steps {
                let current = step - behind;
                let source = comptime!((stage as u32 + 1) % how.stages);
                barriers
                    .index(comptime!((stage + 1) % how.stages as usize))
                    .wait_parity(current / how.stages % 2);
                // Both blocks have a row per pixel, along which the sum runs, so `ldmatrix` transposes them.
                #[unroll]
                for k in 0..depth {
                    let mut rights = Sequence::<Array<Vector<E, Const<2>>>>::new();
                    #[unroll]
                    for pair in 0..columns {
                        let row = comptime!(16 * k as u32) + lane / 8 % 2 * 8 + lane % 8;
                        let column = (warp_right * how.columns + comptime!(pair as u32)) * 2 + lane / 16;
                        let at = (source * right_len + swizzled(row, column, right_vectors)) as usize;
                        let both = def.load_matrix::<Vector<E, N>, Const<2>>(&right[at..at + 1], MatrixIdent::B, 4usize, true);
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
                        let row = comptime!(16 * k as u32) + lane / 16 * 8 + lane % 8;
                        let column = (warp_down * how.rows + comptime!(i as u32)) * 2 + lane / 8 % 2;
                        let at = (source * left_len + swizzled(row, column, left_vectors)) as usize;
                        let lefts = def.load_matrix::<Vector<E, N>, Const<2>>(&left[at..at + 1], MatrixIdent::A, 4usize, true);
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
            let channel_in = first_in + warp_right * how.columns * 16 + comptime!(8 * j as u32) + lane % 4 * 2;
            #[unroll]
            for half in 0..2usize {
                let row = (warp_down * how.rows + comptime!(i as u32)) * 16 + lane / 4 + comptime!(8 * half as u32);
                let channel_out = first_out + row;
                let at = ((part * channels_out + channel_out) * taps + tap) * channels_in + channel_in;
                out[(at / 2) as usize] = Vector::cast_from(sums.index(comptime!(i * 2 * how.columns as usize + j))[half]);
            }
        }
    }
}
