//! Moves rows of an image between planes, `[channels, height, width]`, and pixels, `[rows, columns, channels]`.

use pulp::Simd;

use crate::strided::LANES;
use crate::transpose::{Block, transposed};

/// A window of an image as pixels, with zeros where it reaches beyond the image.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// Height and width of the image.
    pub(super) image: [usize; 2],
    pub(super) channels: usize,
    /// The image row of the first row of the window.
    pub(super) first_row: isize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The column of the window in which the image begins.
    pub(super) left: usize,
}

/// The number of channels with those that fill the last vector.
pub(super) fn padded(channels: usize) -> usize {
    channels.next_multiple_of(LANES)
}

impl Window {
    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.rows * self.columns * padded(self.channels)
    }

    /// The rows of the image within the window, as pixels of a plane.
    #[inline(always)]
    fn pixels(&self) -> std::ops::Range<usize> {
        let [height, width] = self.image;
        let row = |row: isize| row.clamp(0, height as isize) as usize * width;
        row(self.first_row)..row(self.first_row + self.rows as isize)
    }

    /// Where a pixel of a plane is in the window.
    #[inline(always)]
    fn place(&self, pixel: usize) -> Place {
        let width = self.image[1];
        Place {
            row: ((pixel / width) as isize - self.first_row) as usize,
            column: pixel % width,
        }
    }

    /// Copies the image into the window. Columns beyond the image keep what they have.
    #[inline(always)]
    pub(super) fn load<S: Simd>(&self, simd: S, planes: &[f32], window: &mut [f32]) {
        let stride = padded(self.channels);
        let pixels = self.pixels();
        let inside = self.place(pixels.start).row * self.columns * stride;
        let end = inside + pixels.len() / self.image[1] * self.columns * stride;
        let len = self.len();
        window[..inside].fill(0.0);
        window[end..len].fill(0.0);
        for channel in (0..self.channels).step_by(LANES) {
            let mut place = self.place(pixels.start);
            for pixel in pixels.clone().step_by(LANES) {
                let part = self.part(channel, pixel..pixels.end);
                let block = transposed(simd, &part.read(planes));
                for values in &block[..part.pixels] {
                    let start = place.next(self) * stride + channel;
                    window[start..start + LANES].copy_from_slice(values);
                }
            }
        }
    }

    /// Copies the part of the window that is within the image into it.
    #[inline(always)]
    pub(super) fn store<S: Simd>(&self, simd: S, window: &[f32], planes: &mut [f32]) {
        let stride = padded(self.channels);
        let pixels = self.pixels();
        for channel in (0..self.channels).step_by(LANES) {
            let mut place = self.place(pixels.start);
            for pixel in pixels.clone().step_by(LANES) {
                let part = self.part(channel, pixel..pixels.end);
                let mut block = [[0.0; LANES]; LANES];
                for values in &mut block[..part.pixels] {
                    let start = place.next(self) * stride + channel;
                    values.copy_from_slice(&window[start..start + LANES]);
                }
                part.write(&transposed(simd, &block), planes);
            }
        }
    }

    /// Up to [`LANES`] of some pixels, of up to as many planes from a channel on.
    #[inline(always)]
    fn part(&self, channel: usize, pixels: std::ops::Range<usize>) -> Part {
        let plane = self.image[0] * self.image[1];
        Part {
            start: channel * plane + pixels.start,
            plane,
            channels: LANES.min(self.channels - channel),
            pixels: LANES.min(pixels.len()),
        }
    }
}

/// Some pixels of some planes: at most a [`Block`].
#[derive(Clone, Copy)]
struct Part {
    /// Index of the first of them.
    start: usize,
    /// Pixels of a plane.
    plane: usize,
    channels: usize,
    pixels: usize,
}

impl Part {
    /// Reads them, one plane per row; what the block has beyond them is 0.
    #[inline(always)]
    fn read(self, planes: &[f32]) -> Block {
        let mut block = [[0.0; LANES]; LANES];
        // Loops of their own for full rows and blocks: with lengths that are known, a row is one vector, and nothing is cleared before.
        if self.pixels == LANES && self.channels == LANES {
            for channel in 0..LANES {
                block[channel].copy_from_slice(&planes[self.start + channel * self.plane..][..LANES]);
            }
        } else if self.pixels == LANES {
            for channel in 0..self.channels {
                block[channel].copy_from_slice(&planes[self.start + channel * self.plane..][..LANES]);
            }
        } else {
            for channel in 0..self.channels {
                let values = &planes[self.start + channel * self.plane..][..self.pixels];
                block[channel][..self.pixels].copy_from_slice(values);
            }
        }
        block
    }

    #[inline(always)]
    fn write(self, block: &Block, planes: &mut [f32]) {
        if self.pixels == LANES {
            for (channel, values) in block[..self.channels].iter().enumerate() {
                planes[self.start + channel * self.plane..][..LANES].copy_from_slice(values);
            }
        } else {
            for (channel, values) in block[..self.channels].iter().enumerate() {
                planes[self.start + channel * self.plane..][..self.pixels].copy_from_slice(&values[..self.pixels]);
            }
        }
    }
}

/// A pixel of the image within the window.
struct Place {
    row: usize,
    /// Column of the image.
    column: usize,
}

impl Place {
    /// The index of this pixel in the window; goes on to the next one.
    #[inline(always)]
    fn next(&mut self, window: &Window) -> usize {
        let index = self.row * window.columns + window.left + self.column;
        self.column += 1;
        if self.column == window.image[1] {
            self.column = 0;
            self.row += 1;
        }
        index
    }
}
