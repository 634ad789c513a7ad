//! A block of scores in device memory, for weights by rank: the rank of a score depends on its whole row.

// The kernel language declares element types by arguments with an underscore.
#![allow(clippy::used_underscore_binding)]

use cubecl::ir::ElemType;
use cubecl::prelude::*;

use super::rule::{self, Rule, is_negative, mark};
use super::tile::{self, BELOW, SIDE, Tile, add_scores, end_of, place, zeros};

/// The scores of negatives; far below all others where a row is no negative. One workgroup per chunk of a tile's rows.
#[cube(launch, address_type = "dynamic")]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are its bindings")]
pub(super) fn scores<E: Numeric, N: Size, M: Size>(
    anchors: &Tensor<Vector<E, N>>,
    negatives: &Tensor<Vector<E, N>>,
    lists: &Tensor<u32>,
    scores: &mut Tensor<Vector<f32, M>>,
    tiles_per_chunk: usize,
    first: usize,
    #[comptime] rule: Rule,
    #[comptime] tile: Tile,
    #[define(E)] _dtype: ElemType,
) {
    let side = comptime!(tile.side());
    let own = comptime!(tile.own());
    let groups = comptime!(tile.groups);
    let vector = M::value().comptime();
    let (num_anchors, num_rows) = (anchors.shape(0), negatives.shape(0));
    let blocks = num_anchors.div_ceil(side);
    let tiles = num_rows.div_ceil(side);
    let first_anchor = CUBE_POS % blocks * side;
    let first_tile = CUBE_POS / blocks * tiles_per_chunk;
    if first_tile >= tiles {
        terminate!();
    }
    let end_tile = end_of(first_tile, tiles_per_chunk, tiles);
    let unit = UNIT_POS as usize;
    let (down, right) = (unit / SIDE, unit % SIDE);
    let mut memory = tile::memory();
    let mut marks = rule::memory(tile, rule);
    for number in first_tile..end_tile {
        let first_row = number * side;
        let mut sums = zeros(comptime!(own * groups));
        mark(lists, first_anchor, num_anchors, first_row, first, &mut marks, tile, rule);
        add_scores(anchors, negatives, first_anchor, first_row, &mut memory, &mut sums, tile);
        #[unroll]
        for i in 0..own {
            let of_tile = place(down, i);
            let anchor = first_anchor + of_tile;
            #[unroll]
            for group in 0..groups {
                let mut line = sums[comptime!(i * groups + group)];
                #[unroll]
                for j in 0..4usize {
                    let row = place(right, comptime!(4 * group + j));
                    let negative = is_negative(anchor, first_row + row, of_tile, row, num_rows, first, &marks, tile, rule);
                    line.insert(j, select(negative, line.extract(j), BELOW.runtime()));
                }
                let row = first_row + place(right, comptime!(4 * group));
                if anchor < num_anchors {
                    #[unroll]
                    for part in 0..comptime!(4 / vector) {
                        if row + part * vector < num_rows {
                            let mut some = Vector::<f32, M>::zero();
                            #[unroll]
                            for j in 0..vector {
                                some.insert(j, line.extract(comptime!(part * vector + j)));
                            }
                            scores[(anchor * num_rows + row) / vector + part] = some;
                        }
                    }
                }
            }
        }
    }
}
