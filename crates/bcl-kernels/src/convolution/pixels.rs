//! Moves rows of an image between planes, `[channels, height, width]`, and pixels, `[rows, columns, channels]`.

use crate::strided::LANES;

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
    pub(super) fn load(&self, planes: &[f32], window: &mut [f32]) {
        let stride = padded(self.channels);
        let pixels = self.pixels();
        let inside = self.place(pixels.start).row * self.columns * stride;
        let end = inside + pixels.len() / self.image[1] * self.columns * stride;
        let len = self.len();
        window[..inside].fill(0.0);
        window[end..len].fill(0.0);
        let plane = self.image[0] * self.image[1];
        for channel in (0..self.channels).step_by(LANES) {
            let lanes = LANES.min(self.channels - channel);
            let planes = &planes[channel * plane..];
            let mut place = self.place(pixels.start);
            for pixel in pixels.clone().step_by(LANES) {
                let count = LANES.min(pixels.end - pixel);
                let mut block = [[0.0; LANES]; LANES];
                for lane in 0..lanes {
                    let values = &planes[lane * plane + pixel..];
                    match values.first_chunk() {
                        Some(values) => block[lane] = *values,
                        None => block[lane][..count].copy_from_slice(&values[..count]),
                    }
                }
                let block = transposed(&block);
                for values in &block[..count] {
                    let start = place.next(self) * stride + channel;
                    window[start..start + LANES].copy_from_slice(values);
                }
            }
        }
    }

    /// Copies the part of the window that is within the image into it.
    #[inline(always)]
    pub(super) fn store(&self, window: &[f32], planes: &mut [f32]) {
        let stride = padded(self.channels);
        let pixels = self.pixels();
        let plane = self.image[0] * self.image[1];
        for channel in (0..self.channels).step_by(LANES) {
            let lanes = LANES.min(self.channels - channel);
            let planes = &mut planes[channel * plane..];
            let mut place = self.place(pixels.start);
            for pixel in pixels.clone().step_by(LANES) {
                let count = LANES.min(pixels.end - pixel);
                let mut block = [[0.0; LANES]; LANES];
                for values in &mut block[..count] {
                    let start = place.next(self) * stride + channel;
                    values.copy_from_slice(&window[start..start + LANES]);
                }
                let block = transposed(&block);
                for (lane, values) in block[..lanes].iter().enumerate() {
                    let out = &mut planes[lane * plane + pixel..];
                    if count == LANES {
                        out[..LANES].copy_from_slice(values);
                    } else {
                        out[..count].copy_from_slice(&values[..count]);
                    }
                }
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

#[inline(always)]
fn transposed(block: &[[f32; LANES]; LANES]) -> [[f32; LANES]; LANES] {
    let mut out = [[0.0; LANES]; LANES];
    for row in 0..LANES {
        for column in 0..LANES {
            out[column][row] = block[row][column];
        }
    }
    out
}
