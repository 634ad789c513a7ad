//! Outputs, group of images by group of images.

use pulp::Simd;
use rayon::prelude::*;

use super::by_frequency;
use super::kernels::Kernels;
use super::spectra::Tiles;
use super::tiling::{Block, Tiling};
use super::transforms::FREQUENCIES;
use crate::cpu::Kernel;

/// Convolves all images. Writes every value of `out`.
pub(in crate::convolution) fn forward(tiling: &Tiling, kernels: &Kernels, input: &[f32], out: &mut [f32]) {
    let geometry = &tiling.geometry;
    if tiling.by_frequency() {
        return by_frequency::forward(tiling, kernels, input, out);
    }
    out.par_chunks_mut(tiling.images * geometry.image_out())
        .zip(input.par_chunks(tiling.images * geometry.image()))
        .for_each_init(
            || Buffers::new(tiling),
            |buffers, (out, input)| {
                Group {
                    tiling,
                    kernels,
                    input,
                    out,
                    buffers,
                }
                .dispatch();
            },
        );
}

/// Scratch memory of one thread.
struct Buffers {
    input: Vec<f32>,
    output: Vec<f32>,
    /// Frequencies of the inputs, and of the outputs.
    inputs: Vec<f32>,
    outputs: Vec<f32>,
}

impl Buffers {
    fn new(tiling: &Tiling) -> Self {
        let [input, output] = tiling.windows();
        Self {
            input,
            output,
            inputs: tiling.spectrum(tiling.geometry.channels_in),
            outputs: tiling.spectrum(tiling.geometry.channels_out),
        }
    }
}

/// Some images.
struct Group<'a> {
    tiling: &'a Tiling,
    kernels: &'a Kernels,
    input: &'a [f32],
    out: &'a mut [f32],
    buffers: &'a mut Buffers,
}

impl Kernel for Group<'_> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let images = self.input.len() / self.tiling.geometry.image();
        for block in self.tiling.blocks_of(0..images) {
            self.transform_inputs(simd, &block);
            self.multiply(simd, &block);
            self.transform_outputs(simd, &block);
        }
    }
}

impl Group<'_> {
    #[inline(always)]
    fn transform_inputs<S: Simd>(&mut self, simd: S, block: &Block) {
        let (tiling, buffers) = (self.tiling, &mut *self.buffers);
        let window = tiling.input_window(&block.rows);
        let count = tiling.tiles(block);
        let tiles = Tiles::new(count, &window, tiling.spectrum_stride(window.channels));
        for (image, planes) in self.input.chunks_exact(tiling.geometry.image()).enumerate() {
            window.load(simd, planes, &mut buffers.input);
            tiles.transform_input(simd, &buffers.input, &mut buffers.inputs, image * count[0] * count[1]);
        }
    }

    #[inline(always)]
    fn multiply<S: Simd>(&mut self, simd: S, block: &Block) {
        let (tiling, buffers) = (self.tiling, &mut *self.buffers);
        let stride = tiling.spectrum_stride(tiling.geometry.channels_out);
        for frequency in 0..FREQUENCIES {
            let out = &mut buffers.outputs[frequency * stride..];
            self.kernels.multiply(simd, frequency, (tiling, block), &buffers.inputs, out);
        }
    }

    #[inline(always)]
    fn transform_outputs<S: Simd>(&mut self, simd: S, block: &Block) {
        let (tiling, buffers) = (self.tiling, &mut *self.buffers);
        let window = tiling.output_window(&block.rows);
        let count = tiling.tiles(block);
        let tiles = Tiles::new(count, &window, tiling.spectrum_stride(window.channels));
        for (image, planes) in self.out.chunks_exact_mut(tiling.geometry.image_out()).enumerate() {
            tiles.transform_back(simd, &buffers.outputs, &mut buffers.output, image * count[0] * count[1]);
            window.store(simd, &buffers.output, planes);
        }
    }
}
