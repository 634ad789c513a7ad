//! Gaussian blur as in `OpenCV` for 8-bit images.

use super::error::{ViewsError, holds, is_positive_range, is_probability};
use super::{happens, uniform};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The fixed-point representation of 1 in a kernel.
const ONE: u32 = 256;

/// Configuration of the Gaussian blur of views.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlurConfig {
    /// Kernel size as a fraction of the side, in [0, 1]; truncated to whole pixels and made odd, for example 3 pixels for a side of 32.
    pub kernel_fraction: f64,
    /// Smallest and largest standard deviation in pixels, finite and above 0; uniform in between.
    pub sigma: [f64; 2],
    /// Probability of blurring a view, in [0, 1].
    pub probability: f64,
}

impl Default for BlurConfig {
    fn default() -> Self {
        Self {
            kernel_fraction: 0.1,
            sigma: [0.1, 2.0],
            probability: 0.5,
        }
    }
}

impl BlurConfig {
    /// Checks that every field is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first field out of range, its value, and the range.
    pub fn check(&self) -> Result<(), ViewsError> {
        let fraction = self.kernel_fraction;
        holds("blur.kernel_fraction", fraction, (0.0..=1.0).contains(&fraction), "[0, 1]")?;
        is_positive_range("blur.sigma", self.sigma, [1e-3, 1e3])?;
        is_probability("blur.probability", self.probability)
    }

    /// Kernel size in pixels for views of the given side; always odd.
    ///
    /// ```
    /// use bcl_images::BlurConfig;
    ///
    /// assert_eq!([8, 32, 64, 96].map(|side| BlurConfig::default().kernel_size(side)), [1, 3, 7, 9]);
    /// ```
    pub fn kernel_size(&self, side: usize) -> usize {
        (self.kernel_fraction * side as f64) as usize | 1
    }

    /// Draws a standard deviation, or `None` for a view without blur.
    pub fn draw(&self, rng: &mut impl Rng) -> Option<f64> {
        happens(self.probability, rng).then(|| uniform(self.sigma, rng))
    }
}

/// Blurs images, reusing its buffers.
///
/// With `n` odd and `r = (n - 1) / 2`,
///
/// ```text
/// out[y, x] = Σ_ij k_i k_j in[y + i - r, x + j - r],   k_i ∝ exp(-(i - r)² / (2 sigma²))
/// ```
///
/// where the `k_i` are multiples of 1/256 that sum to 1. The image is continued by reflection about its outermost pixels. Only the final
/// result is rounded.
#[derive(Debug, Clone, Default)]
pub struct Blurrer {
    kernel: Vec<u32>,
    /// One row with reflected borders.
    padded: Vec<u8>,
    /// `[height, width]`: one channel, blurred along the rows, in units of 1/256 level.
    rows: Vec<u16>,
    /// One row blurred in both directions, in units of 1/65536 level.
    sums: Vec<u32>,
}

impl Blurrer {
    /// Blurs with a kernel of `size` by `size` pixels and standard deviation `sigma`.
    ///
    /// # Shapes
    /// - planes: `[3, height, width]`
    ///
    /// # Panics
    /// Panics if the size is even, sigma is not above 0, or `planes` is not three planes of whole rows.
    pub fn blur(&mut self, planes: &mut [u8], width: usize, size: usize, sigma: f64) {
        assert!(
            size % 2 == 1 && sigma > 0.0,
            "the kernel size is {size} and sigma is {sigma}, but the size must be odd and sigma above 0"
        );
        assert!(
            width > 0 && planes.len().is_multiple_of(3 * width),
            "{} bytes are not RGB in {width} columns",
            planes.len()
        );
        self.set_kernel(size, sigma);
        if self.kernel[size / 2] == ONE || planes.is_empty() {
            return;
        }
        let height = planes.len() / (3 * width);
        for plane in planes.chunks_exact_mut(width * height) {
            self.along_rows(plane, width);
            self.along_columns(plane, width);
        }
    }

    /// Rounds the kernel such that it sums to one: each weight passes its rounding error to the next one inwards, and the middle weight takes
    /// the rest.
    fn set_kernel(&mut self, size: usize, sigma: f64) {
        let radius = size / 2;
        let weight = |i: usize| {
            let distance = i as f64 - radius as f64;
            (-distance * distance / (2.0 * sigma * sigma)).exp()
        };
        let sum: f64 = (0..size).map(weight).sum();
        self.kernel.clear();
        self.kernel.resize(size, 0);
        let mut middle = ONE;
        let mut rest = 0.0;
        for i in 0..radius {
            let exact = weight(i) / sum * f64::from(ONE) + rest;
            let rounded = exact.round_ties_even();
            rest = exact - rounded;
            self.kernel[i] = rounded as u32;
            self.kernel[size - 1 - i] = rounded as u32;
            middle -= 2 * rounded as u32;
        }
        self.kernel[radius] = middle;
    }

    fn along_rows(&mut self, plane: &[u8], width: usize) {
        let radius = self.kernel.len() / 2;
        self.rows.resize(plane.len(), 0);
        self.padded.resize(width + 2 * radius, 0);
        for (row, out) in plane.chunks_exact(width).zip(self.rows.chunks_exact_mut(width)) {
            self.padded[radius..radius + width].copy_from_slice(row);
            for i in 0..radius {
                self.padded[i] = row[mirrored(i as isize - radius as isize, width)];
                self.padded[radius + width + i] = row[mirrored((width + i) as isize, width)];
            }
            out.fill(0);
            for (i, &weight) in self.kernel.iter().enumerate() {
                // The sum fits into 16 bits: weights sum to 256 and levels are at most 255.
                for (out, &value) in out.iter_mut().zip(&self.padded[i..]) {
                    *out += weight as u16 * u16::from(value);
                }
            }
        }
    }

    fn along_columns(&mut self, plane: &mut [u8], width: usize) {
        let height = plane.len() / width;
        let radius = self.kernel.len() / 2;
        self.sums.resize(width, 0);
        for (y, out) in plane.chunks_exact_mut(width).enumerate() {
            self.sums.fill(0x8000);
            for (i, &weight) in self.kernel.iter().enumerate() {
                let from = mirrored((y + i) as isize - radius as isize, height);
                for (sum, &value) in self.sums.iter_mut().zip(&self.rows[from * width..]) {
                    *sum += weight * u32::from(value);
                }
            }
            for (out, &sum) in out.iter_mut().zip(&self.sums) {
                *out = (sum >> 16) as u8;
            }
        }
    }
}

/// The index inside `length` for `index`, with reflection at both ends: -2, -1, 0, 1 become 2, 1, 0, 1.
fn mirrored(index: isize, length: usize) -> usize {
    let period = (2 * length as isize - 2).max(1);
    let index = index.rem_euclid(period);
    index.min(period - index).min(length as isize - 1) as usize
}

#[cfg(test)]
mod tests {
    use super::mirrored;

    #[test]
    fn the_outermost_pixels_are_the_mirrors() {
        let row: Vec<usize> = (-4..8).map(|index| mirrored(index, 4)).collect();
        assert_eq!(row, [2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]);
        let row: Vec<usize> = (-2..4).map(|index| mirrored(index, 2)).collect();
        assert_eq!(row, [0, 1, 0, 1, 0, 1]);
        assert!((-3..4).all(|index| mirrored(index, 1) == 0));
    }
}
