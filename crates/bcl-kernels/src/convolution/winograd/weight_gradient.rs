//! The gradient of the weight: for each frequency, a product over all tiles.

use std::ops::Range;

use pulp::Simd;
use rayon::prelude::*;

use super::by_frequency::VALUES;
use super::kernels::{ALL_TAPS, AddTaps};
use super::spectra::Tiles;
use super::tiling::{Block, Tiling};
use super::transforms::FREQUENCIES;
use crate::convolution::geometry::SHARDS;
use crate::convolution::pixels::padded;
use crate::cpu::Kernel;
use crate::strided::{LANES, Left, PANEL, Right, Sizes, product};

/// Input channels whose sums over the tiles are computed together, for a panel of output channels: they fit into the cache of a core.
const CHANNELS: usize = 64;

/// The gradient of the weight, `[channels_out, channels_in, 3, 3]`.
pub(in crate::convolution) fn weight_gradient(tiling: &Tiling, input: &[f32], grad: &[f32]) -> Vec<f32> {
    let geometry = &tiling.geometry;
    let batch = Batch { tiling, input, grad };
    if geometry.channels_in <= CHANNELS && geometry.channels_out <= PANEL {
        batch.by_shards()
    } else {
        batch.by_panels()
    }
}

#[derive(Clone, Copy)]
struct Batch<'a> {
    tiling: &'a Tiling,
    input: &'a [f32],
    grad: &'a [f32],
}

impl Batch<'_> {
    /// For few channels: each shard of the blocks adds to sums of its own, and no frequency leaves the cache.
    fn by_shards(self) -> Vec<f32> {
        let geometry = &self.tiling.geometry;
        let blocks = self.tiling.blocks(geometry.batch_size);
        let shards = blocks.par_chunks(blocks.len().div_ceil(SHARDS));
        let sums: Vec<Vec<f32>> = shards
            .map(|blocks| {
                let mut sums = Sums::new(0..geometry.channels_in, 0..geometry.channels_out);
                let mut spectra = Spectra::new(self.tiling);
                for block in blocks {
                    spectra.fill(self, block);
                    sums.add(self.tiling, &spectra);
                }
                sums.values
            })
            .collect();
        let mut all = sums.into_iter();
        let mut sums = Sums::new(0..geometry.channels_in, 0..geometry.channels_out);
        sums.values = all.next().expect("there is a block");
        for other in all {
            for (total, &value) in sums.values.iter_mut().zip(&other) {
                *total += value;
            }
        }
        let mut out = vec![0.0; geometry.channels_out * geometry.channels_in * ALL_TAPS];
        sums.add_taps(geometry.channels_in, &mut out);
        out
    }

    /// For many channels: all blocks are transformed in parallel, then each panel of output channels is multiplied with all input
    /// channels, some at a time. The sums over the tiles become taps before they leave the cache.
    fn by_panels(self) -> Vec<f32> {
        let geometry = &self.tiling.geometry;
        let blocks = self.tiling.blocks(geometry.batch_size);
        let kernel = geometry.channels_in * ALL_TAPS;
        let mut out = vec![0.0; geometry.channels_out * kernel];
        let mut spectra: Vec<Spectra> = Vec::new();
        let at_once = (VALUES / Spectra::values(self.tiling)).max(1);
        for blocks in blocks.chunks(at_once) {
            spectra.resize_with(blocks.len(), || Spectra::new(self.tiling));
            spectra
                .par_iter_mut()
                .zip(blocks)
                .for_each(|(spectra, block)| spectra.fill(self, block));
            out.par_chunks_mut(PANEL * kernel).enumerate().for_each(|(panel, out)| {
                let outputs = panel * PANEL..geometry.channels_out.min((panel + 1) * PANEL);
                for first in (0..geometry.channels_in).step_by(CHANNELS) {
                    let mut sums = Sums::new(first..geometry.channels_in.min(first + CHANNELS), outputs.clone());
                    for spectra in &spectra {
                        sums.add(self.tiling, spectra);
                    }
                    sums.add_taps(geometry.channels_in, out);
                }
            });
        }
        out
    }
}

/// For some input and output channels, sums over tiles at each frequency, `[channels_in, channels_out in lanes]`.
struct Sums {
    inputs: Range<usize>,
    outputs: Range<usize>,
    values: Vec<f32>,
}

impl Sums {
    fn new(inputs: Range<usize>, outputs: Range<usize>) -> Self {
        let stride = Self::stride(&inputs, &outputs);
        Self {
            inputs,
            outputs,
            values: vec![0.0; FREQUENCIES * stride],
        }
    }

    /// Values between two frequencies; one vector more, as for [`Tiling::spectrum_stride`].
    fn stride(inputs: &Range<usize>, outputs: &Range<usize>) -> usize {
        inputs.len() * padded(outputs.len()) + LANES
    }

    /// Adds the products of the tiles of a block.
    fn add(&mut self, tiling: &Tiling, spectra: &Spectra) {
        AddProducts {
            sums: self,
            tiling,
            spectra,
        }
        .dispatch();
    }

    /// Adds the gradients of the taps to kernels of the output channels, `[channels_out, all channels_in, 3, 3]`.
    fn add_taps(&self, channels_in: usize, out: &mut [f32]) {
        out.par_chunks_mut(LANES * channels_in * ALL_TAPS)
            .enumerate()
            .for_each(|(number, out)| {
                AddTaps {
                    spectrum: &self.values,
                    stride: Self::stride(&self.inputs, &self.outputs),
                    columns: padded(self.outputs.len()),
                    first: number * LANES,
                    channels: self.inputs.clone(),
                    channels_in,
                    out,
                }
                .dispatch();
            });
    }
}

/// The frequencies of a block.
struct Spectra {
    inputs: Vec<f32>,
    grads: Vec<f32>,
    windows: [Vec<f32>; 2],
    /// Number of tiles.
    tiles: usize,
}

impl Spectra {
    fn new(tiling: &Tiling) -> Self {
        Self {
            inputs: tiling.spectrum(tiling.geometry.channels_in),
            grads: tiling.spectrum(tiling.geometry.channels_out),
            windows: tiling.windows(),
            tiles: 0,
        }
    }

    /// Number of values of the frequencies of a block.
    fn values(tiling: &Tiling) -> usize {
        let geometry = &tiling.geometry;
        FREQUENCIES * (tiling.spectrum_stride(geometry.channels_in) + tiling.spectrum_stride(geometry.channels_out))
    }

    fn fill(&mut self, batch: Batch<'_>, block: &Block) {
        self.tiles = batch.tiling.len(block);
        Fill {
            spectra: self,
            batch,
            block,
        }
        .dispatch();
    }
}

/// Transforms inputs and gradients of a block.
struct Fill<'a> {
    spectra: &'a mut Spectra,
    batch: Batch<'a>,
    block: &'a Block,
}

impl Kernel for Fill<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Batch { tiling, input, grad } = self.batch;
        let geometry = &tiling.geometry;
        let Spectra {
            inputs,
            grads,
            windows: [input_pixels, grad_pixels],
            ..
        } = self.spectra;
        let count = tiling.tiles(self.block);
        let (input_window, grad_window) = (tiling.input_window(&self.block.rows), tiling.output_window(&self.block.rows));
        let input_tiles = Tiles::new(count, &input_window, tiling.spectrum_stride(geometry.channels_in));
        let grad_tiles = Tiles::new(count, &grad_window, tiling.spectrum_stride(geometry.channels_out));
        for (index, image) in self.block.images.clone().enumerate() {
            let first_tile = index * count[0] * count[1];
            input_window.load(simd, &input[image * geometry.image()..][..geometry.image()], input_pixels);
            input_tiles.transform_input(simd, input_pixels, inputs, first_tile);
            grad_window.load(
                simd,
                &grad[image * geometry.image_out()..][..geometry.image_out()],
                grad_pixels,
            );
            grad_tiles.transform_gradient(simd, grad_pixels, grads, first_tile);
        }
    }
}

struct AddProducts<'a> {
    sums: &'a mut Sums,
    tiling: &'a Tiling,
    spectra: &'a Spectra,
}

impl Kernel for AddProducts<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Sums { inputs, outputs, values } = self.sums;
        let [channels_in, channels_out] = [self.tiling.geometry.channels_in, self.tiling.geometry.channels_out];
        let stride = Sums::stride(inputs, outputs);
        let sizes = Sizes {
            rows: inputs.len(),
            steps: self.spectra.tiles,
            columns: padded(outputs.len()),
        };
        for (frequency, sum) in values.chunks_exact_mut(stride).enumerate() {
            let left = Left {
                values: &self.spectra.inputs[frequency * self.tiling.spectrum_stride(channels_in) + inputs.start..],
                row_stride: 1,
                step_stride: padded(channels_in),
            };
            let right = Right {
                values: &self.spectra.grads[frequency * self.tiling.spectrum_stride(channels_out) + outputs.start..],
                step_stride: padded(channels_out),
                panel_stride: PANEL,
            };
            product(simd, sum, true, left, right, sizes);
        }
    }
}
