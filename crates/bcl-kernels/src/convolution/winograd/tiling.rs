//! How the images of a batch are cut into tiles.

use std::ops::Range;

use super::transforms::{FREQUENCIES, INPUT, OUTPUT, TAPS};
use crate::convolution::geometry::Geometry;
use crate::convolution::pixels::{Window, padded};
use crate::strided::LANES;

/// Tiles of a block, as far as possible: enough for the matrix products, few enough for the cache.
const TILES: usize = 32;
/// The least number of groups into which a batch is cut, as far as possible, so that many processors have work.
const GROUPS: usize = 8;
/// The same for many channels, where panels and frequencies are work for many processors, too, and products of few tiles are slow.
const GROUPS_OF_MANY_CHANNELS: usize = 2;
/// Kernels that stay in the cache of a core while it goes through the tiles: input channels times output channels.
const CACHED: usize = 96 * 96;

/// A 3 x 3 convolution with stride 1 whose output is cut into tiles of 4 x 4 pixels.
#[derive(Clone, Copy)]
pub(in crate::convolution) struct Tiling {
    pub(super) geometry: Geometry,
    /// Rows and columns of tiles in an image.
    tiles: [usize; 2],
    /// Rows of tiles in a block.
    rows: usize,
    /// Images in a block. If there are several, then a block has all their rows.
    pub(super) images: usize,
}

/// Some rows of tiles of some images.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) images: Range<usize>,
    pub(super) rows: Range<usize>,
}

/// Whether all transformed kernels exceed the cache of a core.
fn exceeds_cache(geometry: &Geometry) -> bool {
    geometry.channels_in * padded(geometry.channels_out) > CACHED
}

impl Tiling {
    /// The tiles of a convolution; `None` if another algorithm suits it better.
    pub(in crate::convolution) fn of(geometry: &Geometry) -> Option<Self> {
        let [height, width] = geometry.output;
        let tiles = [height, width].map(|size| size.div_ceil(OUTPUT));
        // Tiles that are mostly empty multiply more than they save, and so do channels that fill few lanes of a vector.
        let pays = tiles[0] * tiles[1] * 6 <= height * width && geometry.channels_out * 2 >= LANES && geometry.batch_size > 0;
        let suits = geometry.kernel == [TAPS; 2] && geometry.stride == 1 && geometry.padding < TAPS;
        let groups = if exceeds_cache(geometry) {
            GROUPS_OF_MANY_CHANNELS
        } else {
            GROUPS
        };
        (suits && pays).then(|| Self {
            geometry: *geometry,
            tiles,
            rows: (TILES / tiles[1]).clamp(1, tiles[0]),
            images: (TILES / (tiles[0] * tiles[1])).clamp(1, geometry.batch_size.div_ceil(groups)),
        })
    }

    /// The blocks of some images, which are at most [`images`](Self::images).
    pub(super) fn blocks_of(&self, images: Range<usize>) -> impl Iterator<Item = Block> {
        let (all, rows) = (self.tiles[0], self.rows);
        (0..all).step_by(rows).map(move |first| Block {
            images: images.clone(),
            rows: first..all.min(first + rows),
        })
    }

    /// The blocks of the first `images` images.
    pub(super) fn blocks(&self, images: usize) -> Vec<Block> {
        let groups = (0..images).step_by(self.images);
        groups
            .flat_map(|first| self.blocks_of(first..images.min(first + self.images)))
            .collect()
    }

    /// Whether to go frequency by frequency, because all transformed kernels exceed the cache of a core.
    pub(super) fn by_frequency(&self) -> bool {
        exceeds_cache(&self.geometry)
    }

    /// Number of tiles in an image.
    pub(super) fn tiles_of_image(&self) -> usize {
        self.tiles[0] * self.tiles[1]
    }

    /// Index of the first tile of a block among the tiles of all images.
    pub(super) fn first_tile(&self, image: usize, rows: &Range<usize>) -> usize {
        image * self.tiles_of_image() + rows.start * self.tiles[1]
    }

    /// Number of tiles in a full block.
    fn block_len(&self) -> usize {
        self.images * self.rows * self.tiles[1]
    }

    /// Tiles of one image in a block.
    pub(super) fn tiles(&self, block: &Block) -> [usize; 2] {
        [block.rows.len(), self.tiles[1]]
    }

    /// Number of tiles in a block.
    pub(super) fn len(&self, block: &Block) -> usize {
        block.images.len() * block.rows.len() * self.tiles[1]
    }

    /// The pixels that the tiles of a block read in each of its images.
    pub(super) fn input_window(&self, rows: &Range<usize>) -> Window {
        let padding = self.geometry.padding;
        Window {
            image: self.geometry.input,
            channels: self.geometry.channels_in,
            first_row: (rows.start * OUTPUT) as isize - padding as isize,
            rows: rows.len() * OUTPUT + INPUT - OUTPUT,
            columns: self.tiles[1] * OUTPUT + INPUT - OUTPUT,
            left: padding,
        }
    }

    /// The pixels that they write.
    pub(super) fn output_window(&self, rows: &Range<usize>) -> Window {
        Window {
            image: self.geometry.output,
            channels: self.geometry.channels_out,
            first_row: (rows.start * OUTPUT) as isize,
            rows: rows.len() * OUTPUT,
            columns: self.tiles[1] * OUTPUT,
            left: 0,
        }
    }

    /// Memory for the largest windows of a block: input and output.
    pub(super) fn windows(&self) -> [Vec<f32>; 2] {
        let rows = 0..self.rows;
        [self.input_window(&rows), self.output_window(&rows)].map(|window| vec![0.0; window.len()])
    }

    /// Values between two frequencies of a block, `[tiles, channels]`.
    pub(super) fn spectrum_stride(&self, channels: usize) -> usize {
        // One vector more: a power of two would put all frequencies of a tile into the same few lines of the cache.
        self.block_len() * padded(channels) + LANES
    }

    /// Memory for the frequencies of a block.
    pub(super) fn spectrum(&self, channels: usize) -> Vec<f32> {
        vec![0.0; FREQUENCIES * self.spectrum_stride(channels)]
    }
}
