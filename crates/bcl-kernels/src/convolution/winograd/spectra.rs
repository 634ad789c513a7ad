//! Tiles of a window of pixels, to frequencies and back.

use pulp::Simd;

use super::transforms::{INPUT, Input, OUTPUT, Output, OutputGradient, Transform};
use crate::convolution::pixels::{Window, padded};

/// The tiles of a window, and where they are among the frequencies of a block.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    /// Rows and columns of tiles in the window.
    pub(super) count: [usize; 2],
    /// Values between two columns of the window, and between two rows.
    pixel: usize,
    row: usize,
    /// Values between two frequencies.
    frequency: usize,
}

impl Tiles {
    pub(super) fn new(count: [usize; 2], window: &Window, frequency: usize) -> Self {
        let pixel = padded(window.channels);
        Self {
            count,
            pixel,
            row: window.columns * pixel,
            frequency,
        }
    }

    /// The number of tiles.
    #[inline(always)]
    fn len(self) -> usize {
        self.count[0] * self.count[1]
    }

    /// The index of a tile's first pixel in the window.
    #[inline(always)]
    fn corner(self, tile: usize) -> usize {
        let [row, column] = [tile / self.count[1], tile % self.count[1]];
        row * OUTPUT * self.row + column * OUTPUT * self.pixel
    }

    /// Reads `SIDE` x `SIDE` pixels.
    #[inline(always)]
    fn read<S: Simd, const SIDE: usize>(self, simd: S, window: &[f32], corner: usize) -> [[S::f32s; SIDE]; SIDE] {
        let mut square = [[simd.splat_f32s(0.0); SIDE]; SIDE];
        for y in 0..SIDE {
            for x in 0..SIDE {
                let start = corner + y * self.row + x * self.pixel;
                square[y][x] = S::as_simd_f32s(&window[start..start + S::F32_LANES]).0[0];
            }
        }
        square
    }

    #[inline(always)]
    fn write<S: Simd>(self, pixels: [[S::f32s; OUTPUT]; OUTPUT], window: &mut [f32], corner: usize) {
        for y in 0..OUTPUT {
            for x in 0..OUTPUT {
                let start = corner + y * self.row + x * self.pixel;
                S::as_mut_simd_f32s(&mut window[start..start + S::F32_LANES]).0[0] = pixels[y][x];
            }
        }
    }

    #[inline(always)]
    fn read_frequencies<S: Simd>(self, simd: S, spectrum: &[f32], first: usize) -> [[S::f32s; INPUT]; INPUT] {
        let mut square = [[simd.splat_f32s(0.0); INPUT]; INPUT];
        for y in 0..INPUT {
            for x in 0..INPUT {
                let start = first + (y * INPUT + x) * self.frequency;
                square[y][x] = S::as_simd_f32s(&spectrum[start..start + S::F32_LANES]).0[0];
            }
        }
        square
    }

    #[inline(always)]
    fn write_frequencies<S: Simd>(self, values: [[S::f32s; INPUT]; INPUT], spectrum: &mut [f32], first: usize) {
        for y in 0..INPUT {
            for x in 0..INPUT {
                let start = first + (y * INPUT + x) * self.frequency;
                S::as_mut_simd_f32s(&mut spectrum[start..start + S::F32_LANES]).0[0] = values[y][x];
            }
        }
    }

    /// Transforms input pixels. The first tile becomes tile `first_tile` of the spectrum.
    #[inline(always)]
    pub(super) fn transform_input<S: Simd>(self, simd: S, window: &[f32], spectrum: &mut [f32], first_tile: usize) {
        for tile in 0..self.len() {
            let (corner, first) = (self.corner(tile), (first_tile + tile) * self.pixel);
            for channel in (0..self.pixel).step_by(S::F32_LANES) {
                let square = self.read::<S, INPUT>(simd, window, corner + channel);
                self.write_frequencies::<S>(Input::square(simd, &square), spectrum, first + channel);
            }
        }
    }

    /// Transforms the gradient of output pixels.
    #[inline(always)]
    pub(super) fn transform_gradient<S: Simd>(self, simd: S, window: &[f32], spectrum: &mut [f32], first_tile: usize) {
        for tile in 0..self.len() {
            let (corner, first) = (self.corner(tile), (first_tile + tile) * self.pixel);
            for channel in (0..self.pixel).step_by(S::F32_LANES) {
                let square = self.read::<S, OUTPUT>(simd, window, corner + channel);
                self.write_frequencies::<S>(OutputGradient::square(simd, &square), spectrum, first + channel);
            }
        }
    }

    /// Transforms frequencies back to output pixels.
    #[inline(always)]
    pub(super) fn transform_back<S: Simd>(self, simd: S, spectrum: &[f32], window: &mut [f32], first_tile: usize) {
        for tile in 0..self.len() {
            let (corner, first) = (self.corner(tile), (first_tile + tile) * self.pixel);
            for channel in (0..self.pixel).step_by(S::F32_LANES) {
                let square = self.read_frequencies::<S>(simd, spectrum, first + channel);
                self.write::<S>(Output::square(simd, &square), window, corner + channel);
            }
        }
    }
}
