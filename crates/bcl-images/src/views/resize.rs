//! Resizing as in PIL: a triangle filter that widens when the image shrinks, in fixed point, rounded to 8 bits after each direction.

use super::Region;
use crate::Image;
use std::ops::Range;

/// Fractional bits of the weights: 32 bits less 8 for the result and 2 for headroom.
const PRECISION_BITS: u32 = 32 - 8 - 2;

/// Resizes regions of images, reusing its buffers.
///
/// An output pixel at `x`, in units of output pixels, is the mean of the input pixels `i` around it,
///
/// ```text
/// Σ_i w((i + 1/2 - (x + 1/2) s) / max(s, 1)) pixel_i,   w(d) ∝ max(1 - |d|, 0),   s = input / output
/// ```
///
/// first along the rows, then along the columns. Pixels outside the region are not used.
#[derive(Debug, Clone, Default)]
pub struct Resizer {
    columns: Taps,
    rows: Taps,
    /// `[region.height, 3, width]`: the region after resizing along the rows.
    narrowed: Vec<u8>,
}

/// The input pixels of each output pixel in one direction, and their weights.
#[derive(Debug, Clone, Default)]
struct Taps {
    /// The first input pixel of each output pixel.
    starts: Vec<usize>,
    /// `[output, count]` in fixed point; zero if an output pixel has fewer inputs than others.
    weights: Vec<i32>,
    /// Input pixels per output pixel.
    count: usize,
    /// The weights of one output pixel before rounding.
    exact: Vec<f64>,
}

impl Resizer {
    /// Resizes a region of an image to `width` columns and `height` rows.
    ///
    /// # Shapes
    /// - out: `[3, height, width]`
    ///
    /// # Panics
    /// Panics if the region is empty or not inside the image, or `out` has another size.
    pub fn resize(&mut self, image: Image<'_>, region: Region, width: usize, height: usize, out: &mut [u8]) {
        self.resize_part(image, region, [width, height], [0..width, 0..height], out);
    }

    /// As [`resize`](Self::resize) to `[columns, rows]`, but computes only a part of them.
    ///
    /// # Shapes
    /// - out: `[3, part rows, part columns]`
    ///
    /// # Panics
    /// As [`resize`](Self::resize).
    pub(super) fn resize_part(
        &mut self,
        image: Image<'_>,
        region: Region,
        [all_columns, all_rows]: [usize; 2],
        [columns, rows]: [Range<usize>; 2],
        out: &mut [u8],
    ) {
        let (width, height) = (columns.len(), rows.len());
        assert!(
            region.width > 0
                && region.height > 0
                && region.left + region.width <= image.width
                && region.top + region.height <= image.height,
            "{region:?} is not inside an image of {} rows and {} columns",
            image.height,
            image.width
        );
        assert_eq!(
            out.len(),
            3 * width * height,
            "length of an RGB image of {height} rows and {width} columns"
        );
        self.columns.set(region.width, all_columns, columns);
        self.rows.set(region.height, all_rows, rows);
        self.narrowed.resize(region.height * 3 * width, 0);

        for (y, narrow) in self.narrowed.chunks_exact_mut(3 * width).enumerate() {
            let start = ((region.top + y) * image.width + region.left) * 3;
            let row = &image.pixels[start..start + region.width * 3];
            match self.columns.count {
                1 => along_row::<1>(row, &self.columns, narrow),
                2 => along_row::<2>(row, &self.columns, narrow),
                3 => along_row::<3>(row, &self.columns, narrow),
                _ => along_long_row(row, &self.columns, narrow),
            }
        }
        for y in 0..height {
            let start = self.rows.starts[y] * 3 * width;
            let weights = &self.rows.weights[y * self.rows.count..][..self.rows.count];
            for (channel, out) in out.chunks_exact_mut(width * height).enumerate() {
                let inputs = &self.narrowed[start + channel * width..];
                mix_rows(inputs, 3 * width, weights, &mut out[y * width..][..width]);
            }
        }
    }
}

/// Shrinks a whole image so that its longer side has at most `longest` pixels, and returns its columns and rows and its pixels, `[rows, columns, 3]`.
/// Smaller images keep their size, and a thin one at least one pixel.
///
/// # Panics
/// Panics if the image or `longest` is empty.
pub fn shrunk(image: Image<'_>, longest: usize) -> ([usize; 2], Vec<u8>) {
    let Image { width, height, pixels } = image;
    let longer = width.max(height);
    if longer <= longest {
        return ([width, height], pixels.to_vec());
    }
    let [columns, rows] = [width, height].map(|length| (length * longest / longer).max(1));
    let mut planes = vec![0; 3 * columns * rows];
    Resizer::default().resize(image, Region::whole(width, height), columns, rows, &mut planes);
    let pixels = (0..columns * rows).flat_map(|pixel| [0, 1, 2].map(|channel| planes[channel * columns * rows + pixel]));
    ([columns, rows], pixels.collect())
}

impl Taps {
    /// Computes the weights of a part of the pixels when `input` are resized to `output`.
    fn set(&mut self, input: usize, output: usize, part: Range<usize>) {
        let scale = input as f64 / output as f64;
        let support = scale.max(1.0);
        // Casting a negative end truncates it to 0, which keeps the filter inside the image.
        let span = |x: usize| {
            let centre = (x as f64 + 0.5) * scale;
            let first = (centre - support + 0.5) as usize;
            let end = ((centre + support + 0.5) as usize).min(input);
            (centre, first, end)
        };
        self.count = part.clone().map(span).map(|(_, first, end)| end - first).max().unwrap_or(0);
        self.starts.clear();
        self.weights.clear();
        self.weights.resize(part.len() * self.count, 0);
        for (x, weights) in part.zip(self.weights.chunks_exact_mut(self.count)) {
            let (centre, first, end) = span(x);
            // A span that would pass the end starts earlier; its first weights stay zero.
            let start = first.min(input - self.count);
            self.starts.push(start);

            self.exact.clear();
            self.exact.extend((first..end).map(|i| {
                let distance = (i as f64 - centre + 0.5) / support;
                (1.0 - distance.abs()).max(0.0)
            }));
            let sum: f64 = self.exact.iter().sum();
            for (weight, exact) in weights[first - start..].iter_mut().zip(&self.exact) {
                *weight = (0.5 + exact / sum * f64::from(1 << PRECISION_BITS)) as i32;
            }
        }
    }
}

/// Half a level, so that the shift rounds to the nearest level.
const HALF: i32 = 1 << (PRECISION_BITS - 1);

/// Converts from fixed point. The weights are not negative and sum to one, so nothing needs clipping.
fn level(sum: i32) -> u8 {
    (sum >> PRECISION_BITS) as u8
}

/// Resizes a row from `[input, 3]` to `[3, output]`, with `N` input pixels per output pixel.
fn along_row<const N: usize>(row: &[u8], taps: &Taps, out: &mut [u8]) {
    let (red, rest) = out.split_at_mut(taps.starts.len());
    let (green, blue) = rest.split_at_mut(taps.starts.len());
    let places = taps.starts.iter().zip(taps.weights.as_chunks::<N>().0);
    for ((((&start, weights), red), green), blue) in places.zip(red).zip(green).zip(blue) {
        let pixels = &row[start * 3..][..N * 3];
        let mut sums = [HALF; 3];
        for (pixel, &weight) in pixels.chunks_exact(3).zip(weights) {
            for (sum, &value) in sums.iter_mut().zip(pixel) {
                *sum += weight * i32::from(value);
            }
        }
        [*red, *green, *blue] = sums.map(level);
    }
}

/// Resizes a row from `[input, 3]` to `[3, output]`, with any number of input pixels per output pixel.
fn along_long_row(row: &[u8], taps: &Taps, out: &mut [u8]) {
    let output = taps.starts.len();
    for (x, (&start, weights)) in taps.starts.iter().zip(taps.weights.chunks_exact(taps.count)).enumerate() {
        let mut sums = [HALF; 3];
        for (pixel, &weight) in row[start * 3..].chunks_exact(3).zip(weights) {
            for (sum, &value) in sums.iter_mut().zip(pixel) {
                *sum += weight * i32::from(value);
            }
        }
        for (channel, sum) in sums.into_iter().enumerate() {
            out[channel * output + x] = level(sum);
        }
    }
}

/// The weighted sum of rows that are `stride` apart.
fn mix_rows(inputs: &[u8], stride: usize, weights: &[i32], out: &mut [u8]) {
    let width = out.len();
    let row = |i: usize| &inputs[i * stride..][..width];
    match *weights {
        [a] => {
            for (out, &x) in out.iter_mut().zip(row(0)) {
                *out = level(HALF + a * i32::from(x));
            }
        }
        [a, b] => {
            for ((out, &x), &y) in out.iter_mut().zip(row(0)).zip(row(1)) {
                *out = level(HALF + a * i32::from(x) + b * i32::from(y));
            }
        }
        [a, b, c] => {
            for (((out, &x), &y), &z) in out.iter_mut().zip(row(0)).zip(row(1)).zip(row(2)) {
                *out = level(HALF + a * i32::from(x) + b * i32::from(y) + c * i32::from(z));
            }
        }
        _ => {
            for (x, out) in out.iter_mut().enumerate() {
                let sum: i32 = (0..)
                    .zip(weights)
                    .map(|(i, &weight): (usize, _)| weight * i32::from(inputs[i * stride + x]))
                    .sum();
                *out = level(HALF + sum);
            }
        }
    }
}
