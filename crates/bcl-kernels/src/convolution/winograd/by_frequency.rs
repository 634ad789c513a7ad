//! Outputs with many channels: all kernels exceed the cache, so each frequency is multiplied with all tiles at once, and its kernels are
//! read once.

use std::ops::Range;

use pulp::Simd;
use rayon::prelude::*;

use super::kernels::Kernels;
use super::spectra::Tiles;
use super::tiling::{Block, Tiling};
use super::transforms::FREQUENCIES;
use crate::convolution::pixels::padded;
use crate::cpu::Kernel;
use crate::strided::LANES;

/// Frequencies that exist at the same time, in single-precision numbers: 32 MiB.
pub(super) const VALUES: usize = 1 << 23;

/// Convolves all images. Writes every value of `out`.
pub(super) fn forward(tiling: &Tiling, kernels: &Kernels, input: &[f32], out: &mut [f32]) {
    let geometry = &tiling.geometry;
    let of_image = tiling.tiles_of_image() * (padded(geometry.channels_in) + padded(geometry.channels_out));
    let images = (VALUES / (FREQUENCIES * of_image)).max(1).next_multiple_of(tiling.images);
    let chunks = out.chunks_mut(images * geometry.image_out());
    for (out, input) in chunks.zip(input.chunks(images * geometry.image())) {
        let chunk = Chunk::new(tiling, input.len() / geometry.image());
        let inputs = chunk.transform_inputs(input);
        let outputs = chunk.multiply(kernels, &inputs);
        chunk.transform_outputs(&outputs, out);
    }
}

/// Some images of the batch.
struct Chunk<'a> {
    tiling: &'a Tiling,
    images: usize,
    blocks: Vec<Block>,
}

impl<'a> Chunk<'a> {
    fn new(tiling: &'a Tiling, images: usize) -> Self {
        Self {
            tiling,
            images,
            blocks: tiling.blocks(images),
        }
    }

    /// Number of values between two frequencies of the outputs, `[tiles, channels_out in lanes]`.
    fn stride(&self) -> usize {
        self.images * self.tiling.tiles_of_image() * padded(self.tiling.geometry.channels_out) + LANES
    }

    /// The frequencies of each block.
    fn transform_inputs(&self, input: &[f32]) -> Vec<Vec<f32>> {
        let tiling = self.tiling;
        let blocks = self.blocks.par_iter().map_init(
            || tiling.windows()[0].clone(),
            |pixels, block| {
                let mut spectrum = tiling.spectrum(tiling.geometry.channels_in);
                Inputs {
                    tiling,
                    block,
                    input,
                    pixels,
                    spectrum: &mut spectrum,
                }
                .dispatch();
                spectrum
            },
        );
        blocks.collect()
    }

    fn multiply(&self, kernels: &Kernels, inputs: &[Vec<f32>]) -> Vec<f32> {
        let stride = self.stride();
        let mut outputs = vec![0.0; FREQUENCIES * stride];
        outputs.par_chunks_mut(stride).enumerate().for_each(|(frequency, out)| {
            Products {
                tiling: self.tiling,
                kernels,
                blocks: &self.blocks,
                inputs,
                frequency,
                out,
            }
            .dispatch();
        });
        outputs
    }

    fn transform_outputs(&self, outputs: &[f32], out: &mut [f32]) {
        let tiling = self.tiling;
        out.par_chunks_mut(tiling.geometry.image_out()).enumerate().for_each_init(
            || {
                let [_, window] = tiling.windows();
                window
            },
            |pixels, (image, planes)| {
                Outputs {
                    tiling,
                    image,
                    spectrum: outputs,
                    stride: self.stride(),
                    pixels,
                    planes,
                }
                .dispatch();
            },
        );
    }
}

/// Transforms the input pixels of a block.
struct Inputs<'a> {
    tiling: &'a Tiling,
    block: &'a Block,
    input: &'a [f32],
    pixels: &'a mut [f32],
    spectrum: &'a mut [f32],
}

impl Kernel for Inputs<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let geometry = &self.tiling.geometry;
        let window = self.tiling.input_window(&self.block.rows);
        let count = self.tiling.tiles(self.block);
        let tiles = Tiles::new(count, &window, self.tiling.spectrum_stride(geometry.channels_in));
        let images = &self.input[self.block.images.start * geometry.image()..self.block.images.end * geometry.image()];
        for (index, planes) in images.chunks_exact(geometry.image()).enumerate() {
            window.load(simd, planes, self.pixels);
            tiles.transform_input(simd, self.pixels, self.spectrum, index * count[0] * count[1]);
        }
    }
}

/// Multiplies all tiles at a frequency.
struct Products<'a> {
    tiling: &'a Tiling,
    kernels: &'a Kernels,
    blocks: &'a [Block],
    inputs: &'a [Vec<f32>],
    frequency: usize,
    out: &'a mut [f32],
}

impl Kernel for Products<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let tiling = self.tiling;
        for (block, inputs) in self.blocks.iter().zip(self.inputs) {
            let first = tiling.first_tile(block.images.start, &block.rows) * padded(tiling.geometry.channels_out);
            let out = &mut self.out[first..];
            self.kernels.multiply(simd, self.frequency, (tiling, block), inputs, out);
        }
    }
}

/// Transforms an image back to pixels.
struct Outputs<'a> {
    tiling: &'a Tiling,
    image: usize,
    spectrum: &'a [f32],
    stride: usize,
    pixels: &'a mut [f32],
    planes: &'a mut [f32],
}

impl Kernel for Outputs<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for block in self.tiling.blocks_of(self.image..self.image + 1) {
            let rows: &Range<usize> = &block.rows;
            let window = self.tiling.output_window(rows);
            let tiles = Tiles::new(self.tiling.tiles(&block), &window, self.stride);
            tiles.transform_back(simd, self.spectrum, self.pixels, self.tiling.first_tile(self.image, rows));
            window.store(simd, self.pixels, self.planes);
        }
    }
}
