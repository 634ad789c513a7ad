//! Random crops.

use super::error::{ViewsError, is_positive_range};
use super::uniform;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Number of attempts to draw a region that fits into the image.
const NUM_TRIES: usize = 10;

/// Configuration of the random crop: torchvision's `RandomResizedCrop`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CropConfig {
    /// Smallest and largest area of the region as a fraction of the image's, in (0, 1].
    pub scale: [f64; 2],
    /// Smallest and largest aspect ratio (width / height) of the region, finite and above 0.
    pub ratio: [f64; 2],
}

impl Default for CropConfig {
    fn default() -> Self {
        Self {
            scale: [0.08, 1.0],
            ratio: [3.0 / 4.0, 4.0 / 3.0],
        }
    }
}

/// A rectangle of an image, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// Columns to the left of the rectangle.
    pub left: usize,
    /// Rows above the rectangle.
    pub top: usize,
    /// Width, at least 1.
    pub width: usize,
    /// Height, at least 1.
    pub height: usize,
}

impl Region {
    /// A whole image.
    pub fn whole(width: usize, height: usize) -> Self {
        Self {
            left: 0,
            top: 0,
            width,
            height,
        }
    }

    /// The centre of an image.
    fn centre(width: usize, height: usize, image_width: usize, image_height: usize) -> Self {
        Self {
            left: (image_width - width) / 2,
            top: (image_height - height) / 2,
            width,
            height,
        }
    }
}

impl CropConfig {
    /// Checks that every field is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first field out of range, its value, and the range.
    pub fn check(&self) -> Result<(), ViewsError> {
        is_positive_range("crop.scale", self.scale, [1e-6, 1.0])?;
        is_positive_range("crop.ratio", self.ratio, [1e-3, 1e3])
    }

    /// Draws the region that a view of an image of this size shows.
    ///
    /// The fraction `s` of the area and the logarithm of the aspect ratio `r` are uniform, which gives
    ///
    /// ```text
    /// width = round(sqrt(s r area)),   height = round(sqrt(s / r area))
    /// ```
    ///
    /// The position is uniform within the image. If ten draws of `s` and `r` do not fit into the image, the result is the
    /// [`fallback`](Self::fallback).
    ///
    /// # Panics
    /// Panics if the image is empty.
    pub fn draw(&self, width: usize, height: usize, rng: &mut impl Rng) -> Region {
        assert!(
            width > 0 && height > 0,
            "an image of {height} rows and {width} columns has no regions"
        );
        let area = (width * height) as f64;
        let log_ratio = self.ratio.map(f64::ln);
        for _ in 0..NUM_TRIES {
            let target = area * uniform(self.scale, rng);
            let ratio = uniform(log_ratio, rng).exp();
            let columns = (target * ratio).sqrt().round_ties_even() as usize;
            let rows = (target / ratio).sqrt().round_ties_even() as usize;
            if (1..=width).contains(&columns) && (1..=height).contains(&rows) {
                let top = rng.random_range(0..=height - rows);
                let left = rng.random_range(0..=width - columns);
                return Region {
                    left,
                    top,
                    width: columns,
                    height: rows,
                };
            }
        }
        self.fallback(width, height)
    }

    /// The largest centred region whose aspect ratio is as close to the image's as `ratio` allows.
    pub fn fallback(&self, width: usize, height: usize) -> Region {
        let [narrowest, widest] = self.ratio;
        let ratio = width as f64 / height as f64;
        // If the image is much thinner than the ratio allows, a side may round to zero.
        let side = |exact: f64, most: usize| (exact.round_ties_even() as usize).clamp(1, most);
        let (columns, rows) = if ratio < narrowest {
            (width, side(width as f64 / narrowest, height))
        } else if ratio > widest {
            (side(height as f64 * widest, width), height)
        } else {
            (width, height)
        };
        Region::centre(columns, rows, width, height)
    }
}
