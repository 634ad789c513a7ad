//! Tiles of scores: some rows of one table times some rows of another, with the sums in the registers of a workgroup.
//!
//! The 256 threads are a square of 16 by 16. Each has the scores of every sixteenth group of four rows with every sixteenth group of four
//! columns, so that neighbouring threads read neighbouring vectors from shared memory.

// The kernel language declares element types by arguments with an underscore.
#![allow(clippy::used_underscore_binding)]

use cubecl::prelude::*;

use crate::cube::THREADS;

/// Four numbers that are read and written at once.
pub(super) type Four = Vector<f32, Const<4>>;

/// Below all scores, and finite, because shader compilers may assume that all numbers are.
pub(super) const BELOW: f32 = -1e30;

/// Vectors of shared memory that a workgroup uses: 16 KiB.
const SHARED: usize = 1024;

/// Threads along each axis of a tile.
pub(super) const SIDE: usize = 16;

/// The size of a tile of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Tile {
    /// Groups of four rows per thread, and of four columns: 1 or 2.
    pub(super) groups: usize,
}

impl Tile {
    /// Rows of a tile, and columns.
    pub(super) const fn side(self) -> usize {
        4 * SIDE * self.groups
    }

    /// Rows per thread, and columns.
    pub(super) const fn own(self) -> usize {
        4 * self.groups
    }

    /// Groups of four rows.
    const fn width(self) -> usize {
        SIDE * self.groups
    }

    /// Numbers of each row that are in shared memory at once.
    const fn depth(self) -> usize {
        SHARED / 2 / self.width()
    }
}

/// The tile after the last one of a chunk.
#[cube]
pub(super) fn end_of(first_tile: usize, tiles_per_chunk: usize, tiles: usize) -> usize {
    let mut end = first_tile + tiles_per_chunk;
    if end > tiles {
        end = tiles;
    }
    end
}

/// Memory for the numbers of some rows and columns.
#[cube]
pub(super) fn memory() -> Shared<[Four]> {
    Shared::<[Four]>::new_aligned_slice(comptime!(SHARED), 16usize)
}

/// Registers of a thread.
#[cube]
pub(super) fn zeros(#[comptime] number: usize) -> Array<Four> {
    let mut zeros = Array::<Four>::new(number);
    #[unroll]
    for i in 0..number {
        zeros[i] = Four::zero();
    }
    zeros
}

/// The row of a tile, or the column, that is number `own` of a thread.
#[cube]
pub(super) fn place(thread: usize, #[comptime] own: usize) -> usize {
    4 * thread + comptime!(own / 4 * 4 * SIDE + own % 4)
}

/// Where a group of four rows is in a line of shared memory: threads that write the same group of several lines reach different banks.
#[cube]
pub(super) fn swizzled(group: usize, quad: usize, #[comptime] quads: usize) -> usize {
    group ^ (quad * comptime!(8 / quads))
}

/// Four numbers of a row, from `start` on; 0 where there are none.
#[cube]
pub(super) fn load<E: Numeric, N: Size>(table: &Tensor<Vector<E, N>>, row: usize, start: usize) -> Four {
    let dim = table.shape(1);
    let vector = N::value().comptime();
    let mut four = Four::zero();
    if row < table.shape(0) {
        if comptime!(vector == 4) {
            if start < dim {
                four = Four::cast_from(table[(row * dim + start) / 4]);
            }
        } else {
            #[unroll]
            for i in 0..4usize {
                if start + i < dim {
                    four.insert(i, f32::cast_from(table[row * dim + start + i].extract(0usize)));
                }
            }
        }
    }
    four
}

/// Adds the products of the rows from `first_row` on with those of another table from `first_column` on. Uses all shared memory.
///
/// `sums` are the [own](Tile::own) rows of a thread, each of as many groups of four columns as a thread has.
#[cube]
pub(super) fn add_scores<E: Numeric, N: Size>(
    rows: &Tensor<Vector<E, N>>,
    columns: &Tensor<Vector<E, N>>,
    first_row: usize,
    first_column: usize,
    memory: &mut Shared<[Four]>,
    sums: &mut Array<Four>,
    #[comptime] tile: Tile,
) {
    let quads = comptime!(tile.depth() / 4);
    let width = comptime!(tile.width());
    let groups = comptime!(tile.groups);
    let dim = rows.shape(1);
    let unit = UNIT_POS as usize;
    let half = comptime!(THREADS as usize / 2);
    let (down, right) = (unit / SIDE, unit % SIDE);
    // Half of the threads copies rows, the other half columns: each four numbers of four neighbours, which it transposes.
    let (quad, group) = (unit % half % quads, unit % half / quads);
    let target = unit / half * comptime!(SHARED / 2) + 4 * quad * width + swizzled(group, quad, quads);
    let mut ahead = Array::<Four>::new(4usize);
    let (row, column) = (first_row + 4 * group, first_column + 4 * group);
    load_four(rows, columns, row, column, 4 * quad, unit < half, &mut ahead);
    let mut start = 0usize.runtime();
    while start < dim {
        sync_cube();
        #[unroll]
        for i in 0..4usize {
            let mut line = Four::zero();
            #[unroll]
            for j in 0..4usize {
                line.insert(j, ahead[j].extract(i));
            }
            memory[target + comptime!(i * width)] = line;
        }
        sync_cube();
        start += comptime!(tile.depth());
        // The next numbers arrive while these are multiplied.
        load_four(rows, columns, row, column, start + 4 * quad, unit < half, &mut ahead);
        for quad in 0..quads {
            let row = 4 * quad * width + swizzled(down, quad, quads);
            let column = comptime!(SHARED / 2) + 4 * quad * width + swizzled(right, quad, quads);
            #[unroll]
            for line in 0..4usize {
                #[unroll]
                for j in 0..groups {
                    let of_columns = memory[column + comptime!(line * width + j * SIDE)];
                    #[unroll]
                    for i in 0..groups {
                        let of_rows = memory[row + comptime!(line * width + i * SIDE)];
                        #[unroll]
                        for k in 0..4usize {
                            let sum = comptime!((4 * i + k) * groups + j);
                            sums[sum] += Four::new(of_rows.extract(k)) * of_columns;
                        }
                    }
                }
            }
        }
    }
    sync_cube();
}

/// Four numbers of each of four neighbouring rows, or columns.
#[cube]
fn load_four<E: Numeric, N: Size>(
    rows: &Tensor<Vector<E, N>>,
    columns: &Tensor<Vector<E, N>>,
    row: usize,
    column: usize,
    start: usize,
    are_rows: bool,
    lines: &mut Array<Four>,
) {
    #[unroll]
    for i in 0..4usize {
        if are_rows {
            lines[i] = load(rows, row + i, start);
        } else {
            lines[i] = load(columns, column + i, start);
        }
    }
}
