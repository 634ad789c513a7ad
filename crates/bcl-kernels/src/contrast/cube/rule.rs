//! Which rows are negatives of which anchors, in kernels.

use burn::backend::{Cube, ops::IntTensorOps};
use burn::tensor::TensorData;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::tile::Tile;
use crate::contrast::Excluded;

/// The kind of [`Excluded`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Rule {
    None,
    Own,
    BothViews,
    Listed,
}

impl Rule {
    /// The rule of some anchors, their first row or list, and their lists: where each begins, then all rows.
    pub(super) fn of(excluded: &Excluded, beside: &CubeTensor) -> (Self, usize, CubeTensor) {
        // Without lists, any tensor serves as a placeholder.
        match excluded {
            Excluded::None => (Self::None, 0, beside.clone()),
            Excluded::Own { first } => (Self::Own, *first, beside.clone()),
            Excluded::BothViews { first } => (Self::BothViews, *first, beside.clone()),
            Excluded::Listed { lists, first } => {
                let lists = TensorData::from(lists.joined().as_slice());
                (Self::Listed, *first, Cube::int_from_data(lists, &beside.device))
            }
        }
    }

    /// Words of shared memory that mark the rows of a tile's lists.
    const fn words(self, tile: Tile) -> usize {
        match self {
            Self::Listed => tile.side() * tile.side() / 32,
            _ => 1,
        }
    }
}

/// Memory for marks.
#[cube]
pub(super) fn memory(#[comptime] tile: Tile, #[comptime] rule: Rule) -> Shared<[u32]> {
    Shared::<[u32]>::new_slice(comptime!(rule.words(tile)))
}

/// Where the list of an anchor begins and ends.
#[cube]
fn list(lists: &Tensor<u32>, number: usize) -> (usize, usize) {
    (lists[number] as usize, lists[number + 1] as usize)
}

/// The number of rows that are negatives of an anchor, of `num_rows`.
#[cube]
pub(super) fn num_negatives(lists: &Tensor<u32>, anchor: usize, num_rows: usize, first: usize, #[comptime] rule: Rule) -> usize {
    let mut number = num_rows;
    if comptime!(rule == Rule::Own) {
        number -= 1;
    }
    if comptime!(rule == Rule::BothViews) {
        number -= 2;
    }
    if comptime!(rule == Rule::Listed) {
        let (start, end) = list(lists, first + anchor);
        number -= end - start;
    }
    number
}

/// Marks the rows of the lists of a tile's anchors. Each thread has the list of one anchor.
#[cube]
#[expect(clippy::too_many_arguments, reason = "kernels pass what a structure would hold")]
pub(super) fn mark(
    lists: &Tensor<u32>,
    first_anchor: usize,
    num_anchors: usize,
    first_row: usize,
    first: usize,
    marks: &mut Shared<[u32]>,
    #[comptime] tile: Tile,
    #[comptime] rule: Rule,
) {
    let side = comptime!(tile.side());
    let words = comptime!(side / 32);
    if comptime!(rule == Rule::Listed) {
        // Nobody reads the marks of the tile before.
        sync_cube();
        let unit = UNIT_POS as usize;
        if unit < side {
            #[unroll]
            for i in 0..words {
                marks[unit * words + i] = 0u32;
            }
            if first_anchor + unit < num_anchors {
                let (start, end) = list(lists, first + first_anchor + unit);
                let mut at = start;
                let mut above = end;
                while at < above {
                    let middle = at + (above - at) / 2;
                    if (lists[middle] as usize) < first_row {
                        at = middle + 1;
                    } else {
                        above = middle;
                    }
                }
                let mut row = 0usize;
                while at < end && row < side {
                    row = lists[at] as usize - first_row;
                    if row < side {
                        marks[unit * words + row / 32] |= 1u32 << (row % 32) as u32;
                    }
                    at += 1;
                }
            }
        }
        sync_cube();
    }
}

/// Whether a row is a negative of an anchor. Both are given by their table and, for [marks](mark), by their tile.
#[cube]
#[expect(clippy::too_many_arguments, reason = "kernels pass what a structure would hold")]
pub(super) fn is_negative(
    anchor: usize,
    row: usize,
    anchor_of_tile: usize,
    row_of_tile: usize,
    num_rows: usize,
    first: usize,
    marks: &Shared<[u32]>,
    #[comptime] tile: Tile,
    #[comptime] rule: Rule,
) -> bool {
    let mut negative = true.runtime();
    if comptime!(rule == Rule::Own) {
        negative = row != first + anchor;
    }
    if comptime!(rule == Rule::BothViews) {
        negative = row != first + anchor && row != other_view(first + anchor, num_rows);
    }
    if comptime!(rule == Rule::Listed) {
        let word = marks[anchor_of_tile * comptime!(tile.side() / 32) + row_of_tile / 32];
        negative = (word >> (row_of_tile % 32) as u32) & 1u32 == 0u32;
    }
    negative
}

/// The other view of a row's sample.
#[cube]
pub(super) fn other_view(row: usize, num_rows: usize) -> usize {
    let half = num_rows / 2;
    let mut other = row + half;
    if row >= half {
        other = row - half;
    }
    other
}
