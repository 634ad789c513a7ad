//! Sorting and searching a tile of scores in the memory of one workgroup.
//!
//! Scores are compared as keys: unsigned integers in the order of the scores, in which equal scores are equal and NaN is `+∞`. A shader
//! compiler may assume that floats are neither NaN nor infinite; it assumes nothing about integers.

use cubecl::prelude::*;

/// The scores that a workgroup sorts at once: 16 KiB, all the workgroup memory that every WebGPU device guarantees.
pub(crate) const TILE: usize = 4096;

/// A key larger than any score's; pads the end of a tile.
pub(crate) const BEYOND: u32 = u32::MAX;

/// The sort key of a score.
#[cube]
pub(crate) fn key(score: f32) -> u32 {
    let sign = 0x8000_0000u32;
    let infinity = 0x7f80_0000u32;
    let mut bits = u32::reinterpret(score);
    if bits & 0x7fff_ffffu32 > infinity {
        bits = infinity;
    }
    // +0 and -0 are equal.
    if bits == sign {
        bits = 0u32;
    }
    let mut key = bits | sign;
    if bits >= sign {
        key = !bits;
    }
    key
}

/// The score of a key.
#[cube]
pub(crate) fn score_of(key: u32) -> f32 {
    let sign = 0x8000_0000u32;
    let mut bits = key ^ sign;
    if key < sign {
        bits = !key;
    }
    f32::reinterpret(bits)
}

/// Whether both are true or both are false. CUDA kernels cannot compare two `bool`s with `==`: the C++ emitter of cubecl has no such operation.
#[cube]
fn same(one: bool, other: bool) -> bool {
    (one && other) || !(one || other)
}

/// Sorts a tile, whose length is a power of two, with a bitonic network. All threads of the workgroup take part.
#[cube]
pub(crate) fn sort(tile: &mut Shared<[u32]>, #[comptime] len: usize) {
    let pairs = len / 2;
    let mut run = 2usize.runtime();
    while run <= len {
        let mut stride = run / 2;
        while stride > 0 {
            sync_cube();
            let mut pair = UNIT_POS as usize;
            while pair < pairs {
                let low = 2 * pair - pair % stride;
                let high = low + stride;
                let ascending = low & run == 0;
                let first = tile[low];
                let second = tile[high];
                if same(first > second, ascending) {
                    tile[low] = second;
                    tile[high] = first;
                }
                pair += CUBE_DIM as usize;
            }
            stride /= 2;
        }
        run *= 2;
    }
    sync_cube();
}

/// Sorts a tile of pairs by key and, for equal keys, by number. All threads of the workgroup take part.
#[cube]
pub(crate) fn sort_pairs(keys: &mut Shared<[u32]>, numbers: &mut Shared<[u32]>, #[comptime] len: usize) {
    let pairs = len / 2;
    let mut run = 2usize.runtime();
    while run <= len {
        let mut stride = run / 2;
        while stride > 0 {
            sync_cube();
            let mut pair = UNIT_POS as usize;
            while pair < pairs {
                let low = 2 * pair - pair % stride;
                let high = low + stride;
                let ascending = low & run == 0;
                let key = keys[low];
                let other = keys[high];
                let number = numbers[low];
                let other_number = numbers[high];
                let is_above = key > other || (key == other && number > other_number);
                if same(is_above, ascending) {
                    keys[low] = other;
                    keys[high] = key;
                    numbers[low] = other_number;
                    numbers[high] = number;
                }
                pair += CUBE_DIM as usize;
            }
            stride /= 2;
        }
        run *= 2;
    }
    sync_cube();
}

/// Counts the keys of a sorted tile that are at most `key`.
#[cube]
pub(crate) fn at_most(tile: &Shared<[u32]>, key: u32, #[comptime] len: usize) -> usize {
    let mut count = 0usize.runtime();
    let mut step = (len / 2).runtime();
    while step > 0 {
        if tile[count + step - 1] <= key {
            count += step;
        }
        step /= 2;
    }
    // The search stops before the last key.
    if tile[count] <= key {
        count += 1;
    }
    count
}
