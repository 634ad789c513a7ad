//! Groups samples by the table row they name, on the GPU, so that sums over repeated rows have a fixed order.
//!
//! The samples (entries of the index tensor) are sorted by row and, within a row, by their position. Tiles are sorted first. The final
//! position of an entry is its position in its own tile plus the number of entries before it in each other tile, found by bisection.

use burn::backend::{Cube, TensorMetadata, ops::IntTensorOps};
use burn::tensor::{DType, IntDType, Shape};
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use crate::cube::tile::{BEYOND, at_most, sort_pairs};
use crate::cube::{THREADS, addresses, empty, rows, threads, workgroups};

/// Entries that a workgroup sorts at once: half as many as scores, because a pair of numbers takes twice the memory.
const TILE: usize = 2048;

/// Entries of a tile per thread.
const OWN: usize = TILE / THREADS as usize;

/// For each table row, the entries that name it; row by row.
pub(super) struct Inverse {
    /// The start of each row in `entries`, then the end of the last; `[num_rows + 1]`.
    pub(super) starts: CubeTensor,
    /// The entries, `[num_entries]`.
    pub(super) entries: CubeTensor,
}

/// Converts row numbers to the type that the kernels read.
pub(super) fn row_numbers(indices: CubeTensor) -> CubeTensor {
    rows(Cube::int_cast(indices, IntDType::U32))
}

impl Inverse {
    /// Groups the entries of `named` by the row they name.
    ///
    /// # Shapes
    /// - named: any, `u32` below `num_rows`, not empty
    pub(super) fn new(named: CubeTensor, num_rows: usize) -> Self {
        let num_entries = named.shape().num_elements();
        let tiles = num_entries.div_ceil(TILE);
        let named = Cube::int_reshape(named, Shape::from([num_entries]));
        let [tile_keys, tile_entries] = [(); 2].map(|()| empty(&named, [tiles * TILE], DType::U32));
        let [keys, entries] = [(); 2].map(|()| empty(&named, [num_entries], DType::U32));
        let starts = empty(&named, [num_rows + 1], DType::U32);
        let client = named.client.clone();
        let widths = addresses(&[&tile_keys, &starts]);
        sort_entries::launch(
            &client,
            workgroups(tiles),
            CubeDim::new_1d(THREADS),
            widths,
            named.into_tensor_arg(),
            tile_keys.clone().into_tensor_arg(),
            tile_entries.clone().into_tensor_arg(),
            num_entries,
            TILE,
        );
        place_entries::launch(
            &client,
            workgroups(tiles),
            CubeDim::new_1d(THREADS),
            widths,
            tile_keys.into_tensor_arg(),
            tile_entries.into_tensor_arg(),
            keys.clone().into_tensor_arg(),
            entries.clone().into_tensor_arg(),
            num_entries,
            TILE,
            OWN,
        );
        find_starts::launch(
            &client,
            threads(num_rows + 1),
            CubeDim::new_1d(THREADS),
            widths,
            keys.into_tensor_arg(),
            starts.clone().into_tensor_arg(),
            num_entries,
            num_rows + 1,
        );
        Self { starts, entries }
    }
}

/// One workgroup per tile.
#[cube(launch, address_type = "dynamic")]
fn sort_entries(
    named: &Tensor<u32>,
    tile_keys: &mut Tensor<u32>,
    tile_entries: &mut Tensor<u32>,
    num_entries: usize,
    #[comptime] len: usize,
) {
    let first = CUBE_POS * len;
    if first >= num_entries {
        terminate!();
    }
    let mut keys = Shared::<[u32]>::new_slice(len);
    let mut entries = Shared::<[u32]>::new_slice(len);
    let mut i = UNIT_POS as usize;
    while i < len {
        let mut key = BEYOND.runtime();
        if first + i < num_entries {
            key = named[first + i];
        }
        keys[i] = key;
        entries[i] = (first + i) as u32;
        i += CUBE_DIM as usize;
    }
    sort_pairs(&mut keys, &mut entries, len);
    let mut i = UNIT_POS as usize;
    while i < len {
        tile_keys[first + i] = keys[i];
        tile_entries[first + i] = entries[i];
        i += CUBE_DIM as usize;
    }
}

/// One workgroup per tile: finds the final positions of its entries.
#[cube(launch, address_type = "dynamic")]
fn place_entries(
    tile_keys: &Tensor<u32>,
    tile_entries: &Tensor<u32>,
    keys: &mut Tensor<u32>,
    entries: &mut Tensor<u32>,
    num_entries: usize,
    #[comptime] len: usize,
    #[comptime] own: usize,
) {
    let tiles = num_entries.div_ceil(len);
    let own_tile = CUBE_POS;
    if own_tile >= tiles {
        terminate!();
    }
    let first = own_tile * len;
    let mut positions = Array::<usize>::new(own);
    let mut own_keys = Array::<u32>::new(own);
    #[unroll]
    for i in 0..own {
        let position = i * CUBE_DIM as usize + UNIT_POS as usize;
        positions[i] = position;
        own_keys[i] = tile_keys[first + position];
    }
    let mut tile = Shared::<[u32]>::new_slice(len);
    for t in 0..tiles {
        if t != own_tile {
            sync_cube();
            let mut i = UNIT_POS as usize;
            while i < len {
                tile[i] = tile_keys[t * len + i];
                i += CUBE_DIM as usize;
            }
            sync_cube();
            #[unroll]
            for i in 0..own {
                let key = own_keys[i];
                // Equal keys in earlier tiles have earlier positions.
                if t < own_tile {
                    positions[i] += at_most(&tile, key, len);
                } else if key > 0 {
                    positions[i] += at_most(&tile, key - 1, len);
                }
            }
        }
    }
    #[unroll]
    for i in 0..own {
        let entry = tile_entries[first + i * CUBE_DIM as usize + UNIT_POS as usize];
        if (entry as usize) < num_entries {
            keys[positions[i]] = own_keys[i];
            entries[positions[i]] = entry;
        }
    }
}

/// One thread per row: finds the first entry that names this row or a later one.
#[cube(launch, address_type = "dynamic")]
fn find_starts(keys: &Tensor<u32>, starts: &mut Tensor<u32>, num_entries: usize, num_starts: usize) {
    let row = ABSOLUTE_POS;
    if row >= num_starts {
        terminate!();
    }
    let mut low = 0usize;
    let mut high = num_entries;
    while low < high {
        let middle = low + (high - low) / 2;
        if (keys[middle] as usize) < row {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    starts[row] = low as u32;
}
