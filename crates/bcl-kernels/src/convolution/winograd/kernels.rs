//! Kernels and their gradients, between taps and frequencies.

use pulp::Simd;
use rayon::prelude::*;

use super::tiling::{Block, Tiling};
use super::transforms::{FREQUENCIES, INPUT, TAPS, Taps, TapsGradient, Transform};
use crate::convolution::geometry::Geometry;
use crate::convolution::pixels::padded;
use crate::cpu::Kernel;
use crate::strided::{LANES, Left, PANEL, Right, Sizes, product};

/// Number of taps of a kernel.
pub(super) const ALL_TAPS: usize = TAPS * TAPS;

/// Transformed kernels, `[panels, frequencies, channels_in, panel]`: the output channels are in panels of at most [`PANEL`].
pub(in crate::convolution) struct Kernels {
    values: Vec<f32>,
    channels_in: usize,
    panel: usize,
}

impl Kernels {
    /// Transforms `weight`, `[channels_out, channels_in, 3, 3]`.
    pub(in crate::convolution) fn new(geometry: &Geometry, weight: &[f32]) -> Self {
        Self::transform(geometry, weight, false)
    }

    /// Swaps input and output channels of `weight`, `[channels_in, channels_out, 3, 3]` in terms of this geometry, rotates it by 180°, and
    /// transforms it: these kernels turn gradients of outputs into gradients of inputs.
    pub(in crate::convolution) fn rotated(geometry: &Geometry, weight: &[f32]) -> Self {
        Self::transform(geometry, weight, true)
    }

    fn transform(geometry: &Geometry, weight: &[f32], rotated: bool) -> Self {
        let Geometry {
            channels_in,
            channels_out,
            ..
        } = *geometry;
        let panel = padded(channels_out).min(PANEL);
        let mut values = vec![0.0; channels_out.div_ceil(panel) * FREQUENCIES * Self::stride(channels_in, panel)];
        values
            .par_chunks_mut(FREQUENCIES * Self::stride(channels_in, panel))
            .enumerate()
            .for_each(|(number, out)| {
                let first = number * panel;
                PanelTransform {
                    weight,
                    channels: [channels_in, channels_out],
                    outputs: first..channels_out.min(first + panel),
                    panel,
                    rotated,
                    out,
                }
                .dispatch();
            });
        Self {
            values,
            channels_in,
            panel,
        }
    }

    /// Values between two frequencies of a panel.
    fn stride(channels_in: usize, panel: usize) -> usize {
        // One vector more: a power of two would put all frequencies into the same few lines of the cache.
        channels_in * panel + LANES
    }

    /// Multiplies the tiles of a block with the kernels at a frequency, over the input channels.
    ///
    /// # Shapes
    /// - inputs: the [spectrum](Tiling::spectrum) of the block
    /// - out:    `[tiles, channels_out in lanes]`
    #[inline(always)]
    pub(super) fn multiply<S: Simd>(
        &self,
        simd: S,
        frequency: usize,
        (tiling, block): (&Tiling, &Block),
        inputs: &[f32],
        out: &mut [f32],
    ) {
        let stride = Self::stride(self.channels_in, self.panel);
        let left = Left {
            values: &inputs[frequency * tiling.spectrum_stride(self.channels_in)..],
            row_stride: padded(self.channels_in),
            step_stride: 1,
        };
        let right = Right {
            values: &self.values[frequency * stride..],
            step_stride: self.panel,
            panel_stride: FREQUENCIES * stride,
        };
        let sizes = Sizes {
            rows: tiling.len(block),
            steps: self.channels_in,
            columns: padded(tiling.geometry.channels_out),
        };
        product(simd, out, false, left, right, sizes);
    }
}

struct PanelTransform<'a> {
    weight: &'a [f32],
    channels: [usize; 2],
    outputs: std::ops::Range<usize>,
    panel: usize,
    rotated: bool,
    out: &'a mut [f32],
}

impl Kernel for PanelTransform<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let [channels_in, channels_out] = self.channels;
        let zero = simd.splat_f32s(0.0);
        for first in self.outputs.clone().step_by(LANES) {
            let lanes = LANES.min(self.outputs.end - first);
            let place = first - self.outputs.start;
            let mut taps = [[0.0; LANES]; ALL_TAPS];
            for channel in 0..channels_in {
                for lane in 0..lanes {
                    let output = first + lane;
                    let index = if self.rotated {
                        channel * channels_out + output
                    } else {
                        output * channels_in + channel
                    };
                    let kernel = &self.weight[index * ALL_TAPS..][..ALL_TAPS];
                    for tap in 0..ALL_TAPS {
                        taps[tap][lane] = kernel[if self.rotated { ALL_TAPS - 1 - tap } else { tap }];
                    }
                }
                for part in (0..LANES).step_by(S::F32_LANES) {
                    let mut square = [[zero; TAPS]; TAPS];
                    for tap in 0..ALL_TAPS {
                        square[tap / TAPS][tap % TAPS] = S::as_simd_f32s(&taps[tap][part..part + S::F32_LANES]).0[0];
                    }
                    let spectrum = Taps::square(simd, &square);
                    for frequency in 0..FREQUENCIES {
                        let start = frequency * Kernels::stride(channels_in, self.panel) + channel * self.panel + place + part;
                        let (out, _) = S::as_mut_simd_f32s(&mut self.out[start..start + S::F32_LANES]);
                        out[0] = spectrum[frequency / INPUT][frequency % INPUT];
                    }
                }
            }
        }
    }
}

/// Adds the gradients of taps that belong to gradients of frequencies.
///
/// `spectrum` has [`FREQUENCIES`] matrices `stride` apart, `[channels_in, columns]`, of which the columns from `first` on belong to the
/// kernels in `out`, `[up to LANES channels_out, all channels_in, 3, 3]`, and the rows to their input channels from `channels.start` on.
pub(super) struct AddTaps<'a> {
    pub(super) spectrum: &'a [f32],
    pub(super) stride: usize,
    pub(super) columns: usize,
    pub(super) first: usize,
    pub(super) channels: std::ops::Range<usize>,
    pub(super) channels_in: usize,
    pub(super) out: &'a mut [f32],
}

impl Kernel for AddTaps<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let zero = simd.splat_f32s(0.0);
        let mut taps = [[0.0; LANES]; ALL_TAPS];
        for (row, channel) in self.channels.enumerate() {
            for part in (0..LANES).step_by(S::F32_LANES) {
                let mut square = [[zero; INPUT]; INPUT];
                for frequency in 0..FREQUENCIES {
                    let start = frequency * self.stride + row * self.columns + self.first + part;
                    square[frequency / INPUT][frequency % INPUT] =
                        S::as_simd_f32s(&self.spectrum[start..start + S::F32_LANES]).0[0];
                }
                let gradient = TapsGradient::square(simd, &square);
                for tap in 0..ALL_TAPS {
                    let (out, _) = S::as_mut_simd_f32s(&mut taps[tap][part..part + S::F32_LANES]);
                    out[0] = gradient[tap / TAPS][tap % TAPS];
                }
            }
            for (lane, kernels) in self.out.chunks_exact_mut(self.channels_in * ALL_TAPS).enumerate() {
                for (tap, out) in kernels[channel * ALL_TAPS..][..ALL_TAPS].iter_mut().enumerate() {
                    *out += taps[tap][lane];
                }
            }
        }
    }
}
