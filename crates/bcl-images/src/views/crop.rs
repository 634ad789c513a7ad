//! Which part of the image a view shows.

use super::error::{ViewsError, is_positive_range};
use super::uniform;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// How often a region is drawn anew when it does not fit into the image.
const NUM_TRIES: usize = 10;

/// Describes the regions that views show: torchvision's `RandomResizedCrop`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CropConfig {
    /// Smallest and largest area of the region as a share of the image's, in (0, 1].
    pub scale: [f64; 2],
    /// Smallest and largest width of the region divided by its height, finite and above 0.
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
    /// Columns to the left of it.
    pub left: usize,
    /// Rows above it.
    pub top: usize,
    /// Columns, at least 1.
    pub width: usize,
    /// Rows, at least 1.
    pub height: usize,
}

impl Region {
    /// The whole of an image.
    pub fn whole(width: usize, height: usize) -> Self {
        Self {
            left: 0,
            top: 0,
            width,
            height,
        }
    }

    /// The middle of an image.
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
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value, and the range.
    pub fn check(&self) -> Result<(), ViewsError> {
        is_positive_range("crop.scale", self.scale, [1e-6, 1.0])?;
        is_positive_range("crop.ratio", self.ratio, [1e-3, 1e3])
    }

    /// Draws the region that a view of an image of this size shows.
    ///
    /// The share `s` of the area is uniform and the logarithm of the ratio `r` is uniform, from which
    ///
    /// ```text
    /// width = round(sqrt(s r area)),   height = round(sqrt(s / r area))
    /// ```
    ///
    /// and the place is uniform among those where the region lies inside the image. When ten draws of `s` and `r` are all larger than the
    /// image, the region is the largest in the middle whose ratio is as near to the image's as `ratio` allows.
    ///
    /// # Panics
    /// When the image is empty.
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

    /// The largest region in the middle whose ratio is as near to the image's as `ratio` allows.
    pub fn fallback(&self, width: usize, height: usize) -> Region {
        let [narrowest, widest] = self.ratio;
        let ratio = width as f64 / height as f64;
        // A side of an image that is thinner than the ratio allows may round to nothing.
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
