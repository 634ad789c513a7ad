//! Ranks on GPUs, without a round trip to the host.
//!
//! The rank of a score is the number of scores that do not exceed it, so only keys need sorting, without their indices:
//!
//! - rows of up to [`COUNTED`] scores: a workgroup loads the row and counts for each score;
//! - rows of up to [`TILE`] scores: a workgroup sorts the row in its own memory and finds each score by bisection;
//! - longer rows: tiles are sorted first, and a rank is the sum of what bisection finds in each tile. Only the sorted tiles take extra
//!   memory, as much as the row.

use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{Cube, TensorMetadata, get_or_init_device_settings, ops::FloatTensorOps, ops::IntTensorOps};
use burn::tensor::{DType, FloatDType};
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::{RankOps, portable};
use crate::cube::tile::{BEYOND, TILE, at_most, key, score_of, sort};
use crate::cube::{THREADS, addresses, empty, rows, single, sum_of_workgroup, workgroups};

/// The longest row whose scores are counted instead of sorted: one score per thread.
const COUNTED: usize = THREADS as usize;

/// Scores per thread whose ranks are found in longer rows. Loading a tile pays off more with more of them.
const SOUGHT: usize = 8;

impl RankOps for Cube {
    fn rank_weights(scores: FloatTensor<Self>, table: FloatTensor<Self>) -> FloatTensor<Self> {
        let dtype: FloatDType = scores.dtype().into();
        // Keys have 32 bits, which is enough for half precision but not for double.
        if scores.shape().num_elements() == 0 || dtype == FloatDType::F64 {
            return portable::rank_weights::<Self>(scores, table);
        }
        Self::float_cast(weigh(single(scores), single(table), None).values, dtype)
    }

    fn row_ranks(scores: FloatTensor<Self>) -> IntTensor<Self> {
        if scores.shape().num_elements() == 0 || scores.dtype() == DType::F64 {
            return portable::row_ranks::<Self>(scores, None);
        }
        let device = scores.device();
        let settings = get_or_init_device_settings::<Self>(&device);
        // Ranks are integers that 32-bit floats represent exactly up to 2^24, more than the length of any row.
        let num_columns = scores.shape()[1] as i64;
        let ranks = Self::int_arange(1..num_columns + 1, &device, settings.int_dtype);
        let ranks = Self::int_into_float(ranks, FloatDType::F32);
        Self::float_into_int(weigh(single(scores), ranks, None).values, settings.int_dtype)
    }

    fn masked_row_ranks(scores: FloatTensor<Self>, mask: BoolTensor<Self>) -> IntTensor<Self> {
        if scores.shape().num_elements() == 0 {
            return Self::row_ranks(scores);
        }
        portable::masked::<Self>(scores, mask, Self::row_ranks)
    }
}

/// Multiplies weights by exponentials, `exp((score - offset) · rate)`.
pub(crate) struct Tilt {
    /// Offsets, `[num_rows, 1]`, for [`ranked_mass`](crate::ranked_mass). `None`: the highest score of each row, for [`contrast`](crate::contrast).
    pub(crate) offsets: Option<CubeTensor>,
    /// One over the temperature.
    pub(crate) rate: f64,
}

/// What is an offset, as kernels know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Offset {
    /// There is none, nor a tilt.
    None,
    Given,
    Highest,
}

/// The output of the kernels.
pub(crate) struct Weighted {
    /// The weight of each score, times its exponential if tilted; `[num_rows, num_columns]`.
    pub(crate) values: CubeTensor,
    /// Sums of tilted values over blocks of each row, `[num_rows, num_blocks]`. If offsets are the highest scores: `[num_blocks, num_rows, 4]`, the
    /// highest score and the sum.
    pub(crate) sums: CubeTensor,
}

/// Looks up the weight of each score by its rank.
///
/// # Shapes
/// - scores: `[num_rows, num_columns]`, `f32`, not empty
/// - table:  `[num_columns]`, `f32`
pub(crate) fn weigh(scores: CubeTensor, table: CubeTensor, tilt: Option<Tilt>) -> Weighted {
    let (scores, table) = (rows(scores), rows(table));
    let shape = scores.shape();
    let [num_rows, num_columns] = shape.dims();
    let client = scores.client.clone();
    let values = empty(&scores, shape, DType::F32);
    // Without given offsets, any tensor serves as a placeholder.
    let (offset, offsets, rate) = match tilt {
        Some(Tilt { offsets, rate }) => match offsets {
            Some(offsets) => (Offset::Given, rows(offsets), rate),
            None => (Offset::Highest, table.clone(), rate),
        },
        None => (Offset::None, table.clone(), 1.0),
    };
    let rate = rate as f32;
    let sums_of = |blocks| match offset {
        Offset::Highest => empty(&scores, [blocks, num_rows, 4], DType::F32),
        _ => empty(&scores, [num_rows, blocks], DType::F32),
    };
    let threads = CubeDim::new_1d(THREADS);
    if num_columns <= TILE {
        let sums = sums_of(1);
        weigh_rows::launch(
            &client,
            workgroups(num_rows),
            threads,
            addresses(&[&scores, &values]),
            scores.into_tensor_arg(),
            table.into_tensor_arg(),
            offsets.into_tensor_arg(),
            values.clone().into_tensor_arg(),
            sums.clone().into_tensor_arg(),
            num_rows,
            num_columns,
            rate,
            num_columns.next_power_of_two().max(COUNTED),
            num_columns > COUNTED,
            offset,
        );
        return Weighted { values, sums };
    }
    let tiles = num_columns.div_ceil(TILE);
    let sorted = empty(&scores, [num_rows, tiles * TILE], DType::U32);
    let widths = addresses(&[&scores, &sorted, &values]);
    sort_tiles::launch(
        &client,
        workgroups(num_rows * tiles),
        threads,
        widths,
        scores.clone().into_tensor_arg(),
        sorted.clone().into_tensor_arg(),
        num_rows,
        num_columns,
        TILE,
    );
    let blocks = num_columns.div_ceil(THREADS as usize * SOUGHT);
    let sums = sums_of(blocks);
    weigh_blocks::launch(
        &client,
        workgroups(num_rows * blocks),
        threads,
        widths,
        scores.into_tensor_arg(),
        sorted.into_tensor_arg(),
        table.into_tensor_arg(),
        offsets.into_tensor_arg(),
        values.clone().into_tensor_arg(),
        sums.clone().into_tensor_arg(),
        num_rows,
        num_columns,
        rate,
        TILE,
        SOUGHT,
        offset,
    );
    Weighted { values, sums }
}

/// One workgroup per row.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn weigh_rows(
    scores: &Tensor<f32>,
    table: &Tensor<f32>,
    offsets: &Tensor<f32>,
    values: &mut Tensor<f32>,
    sums: &mut Tensor<f32>,
    num_rows: usize,
    num_columns: usize,
    rate: f32,
    #[comptime] len: usize,
    #[comptime] sorted: bool,
    #[comptime] offset: Offset,
) {
    let row = CUBE_POS;
    if row >= num_rows {
        terminate!();
    }
    let start = row * num_columns;
    let mut tile = Shared::<[u32]>::new_slice(len);
    load(scores, start, num_columns, &mut tile, len);
    if comptime!(sorted) {
        sort(&mut tile, len);
    } else {
        sync_cube();
    }
    let mut origin = 0.0f32;
    if comptime!(offset == Offset::Given) {
        origin = offsets[row];
    }
    if comptime!(offset == Offset::Highest) {
        let mut highest = 0u32;
        if comptime!(sorted) {
            highest = tile[num_columns - 1];
        } else {
            for other in 0..num_columns {
                highest = largest(highest, tile[other]);
            }
        }
        origin = score_of(highest);
    }
    let mut sum = 0.0f32;
    let mut column = UNIT_POS as usize;
    while column < num_columns {
        let score = scores[start + column];
        let own = key(score);
        let mut rank = 0usize;
        if comptime!(sorted) {
            rank = at_most(&tile, own, len);
        } else {
            for other in 0..num_columns {
                if tile[other] <= own {
                    rank += 1;
                }
            }
        }
        let mut value = table[rank - 1];
        if comptime!(offset != Offset::None) {
            value *= ((score - origin) * rate).exp();
            sum += value;
        }
        values[start + column] = value;
        column += CUBE_DIM as usize;
    }
    add_up(sum, origin, row, 0usize, 1usize, num_rows, sums, &mut tile, offset);
}

/// Writes the sum of a workgroup's tilted values, of one block of a row.
#[cube]
#[expect(clippy::too_many_arguments, reason = "kernels pass what a structure would hold")]
fn add_up(
    own: f32,
    origin: f32,
    row: usize,
    block: usize,
    blocks: usize,
    num_rows: usize,
    sums: &mut Tensor<f32>,
    scratch: &mut Shared<[u32]>,
    #[comptime] offset: Offset,
) {
    if comptime!(offset != Offset::None) {
        let sum = sum_of_workgroup(own, scratch);
        if UNIT_POS == 0 {
            if comptime!(offset == Offset::Highest) {
                let at = 4 * (block * num_rows + row);
                sums[at] = origin;
                sums[at + 1] = sum;
                sums[at + 2] = 0.0f32;
                sums[at + 3] = 0.0f32;
            } else {
                sums[row * blocks + block] = sum;
            }
        }
    }
}

#[cube]
fn largest(one: u32, other: u32) -> u32 {
    select(other > one, other, one)
}

/// One workgroup per tile of a row.
#[cube(launch, address_type = "dynamic")]
fn sort_tiles(scores: &Tensor<f32>, sorted: &mut Tensor<u32>, num_rows: usize, num_columns: usize, #[comptime] len: usize) {
    let tiles = num_columns.div_ceil(len);
    let row = CUBE_POS / tiles;
    if row >= num_rows {
        terminate!();
    }
    let first = CUBE_POS % tiles * len;
    let mut tile = Shared::<[u32]>::new_slice(len);
    load(scores, row * num_columns + first, num_columns - first, &mut tile, len);
    sort(&mut tile, len);
    let mut i = UNIT_POS as usize;
    while i < len {
        sorted[CUBE_POS * len + i] = tile[i];
        i += CUBE_DIM as usize;
    }
}

/// One workgroup per block of a row: loads each tile once and searches it for all scores of the block.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
fn weigh_blocks(
    scores: &Tensor<f32>,
    sorted: &Tensor<u32>,
    table: &Tensor<f32>,
    offsets: &Tensor<f32>,
    values: &mut Tensor<f32>,
    sums: &mut Tensor<f32>,
    num_rows: usize,
    num_columns: usize,
    rate: f32,
    #[comptime] len: usize,
    #[comptime] sought: usize,
    #[comptime] offset: Offset,
) {
    let block = CUBE_DIM as usize * sought;
    let blocks = num_columns.div_ceil(block);
    let tiles = num_columns.div_ceil(len);
    let row = CUBE_POS / blocks;
    if row >= num_rows {
        terminate!();
    }
    let start = row * num_columns;
    let first = CUBE_POS % blocks * block + UNIT_POS as usize;
    let mut ranks = Array::<usize>::new(sought);
    let mut keys = Array::<u32>::new(sought);
    #[unroll]
    for i in 0..sought {
        let column = first + i * CUBE_DIM as usize;
        ranks[i] = 0usize;
        keys[i] = 0u32;
        if column < num_columns {
            keys[i] = key(scores[start + column]);
        }
    }
    let mut highest = 0u32;
    let mut tile = Shared::<[u32]>::new_slice(len);
    for t in 0..tiles {
        sync_cube();
        let mut i = UNIT_POS as usize;
        while i < len {
            tile[i] = sorted[(row * tiles + t) * len + i];
            i += CUBE_DIM as usize;
        }
        sync_cube();
        #[unroll]
        for i in 0..sought {
            ranks[i] += at_most(&tile, keys[i], len);
        }
        if comptime!(offset == Offset::Highest) {
            let mut number = num_columns - t * len;
            if number > len {
                number = len.runtime();
            }
            highest = largest(highest, tile[number - 1]);
        }
    }
    let mut origin = score_of(highest);
    if comptime!(offset == Offset::Given) {
        origin = offsets[row];
    }
    let mut sum = 0.0f32;
    #[unroll]
    for i in 0..sought {
        let column = first + i * CUBE_DIM as usize;
        if column < num_columns {
            let mut value = table[ranks[i] - 1];
            if comptime!(offset != Offset::None) {
                value *= ((scores[start + column] - origin) * rate).exp();
                sum += value;
            }
            values[start + column] = value;
        }
    }
    add_up(sum, origin, row, CUBE_POS % blocks, blocks, num_rows, sums, &mut tile, offset);
}

/// Fills a tile with the keys of scores, padded with [`BEYOND`].
#[cube]
fn load(scores: &Tensor<f32>, start: usize, number: usize, tile: &mut Shared<[u32]>, #[comptime] len: usize) {
    let mut i = UNIT_POS as usize;
    while i < len {
        let mut filler = BEYOND.runtime();
        if i < number {
            filler = key(scores[start + i]);
        }
        tile[i] = filler;
        i += CUBE_DIM as usize;
    }
}
