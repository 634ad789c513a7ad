//! Configuration of random views.

use super::error::{holds, is_probability};
use super::{BlurConfig, CropConfig, JitterConfig, Views, ViewsError};
use serde::{Deserialize, Serialize};

/// The maximum side of a view; one such view takes 192 MiB.
pub const LARGEST_SIDE: usize = 4096;

/// Configuration of random views. The defaults are those of SimCLR for CIFAR, which the papers on its losses use for every data set.
///
/// ```
/// use bcl_images::ViewsConfig;
///
/// let config = ViewsConfig { flip: 1.5, ..ViewsConfig::default() };
/// assert_eq!(
///     config.check().unwrap_err().to_string(),
///     "views.flip is 1.5, but must be in [0, 1]. Change it in the recipe or with `--set views.flip=…`."
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewsConfig {
    /// Height and width of a view in pixels, from 1 to 4096.
    pub side: usize,
    /// Random crop.
    pub crop: CropConfig,
    /// Probability of a horizontal flip, in [0, 1].
    pub flip: f64,
    /// Colour jitter.
    pub jitter: JitterConfig,
    /// Probability of conversion to grey, in [0, 1].
    pub grayscale: f64,
    /// Gaussian blur.
    pub blur: BlurConfig,
    /// Mean to subtract from red, green and blue, which are in [0, 1]; in [0, 1].
    pub mean: [f64; 3],
    /// Standard deviation to divide red, green and blue by; in [1e-5, 1e5].
    pub std: [f64; 3],
}

impl Default for ViewsConfig {
    fn default() -> Self {
        Self {
            side: 32,
            crop: CropConfig::default(),
            flip: 0.5,
            jitter: JitterConfig::default(),
            grayscale: 0.2,
            blur: BlurConfig::default(),
            mean: [0.4914, 0.4822, 0.4465],
            std: [0.2023, 0.1994, 0.2010],
        }
    }
}

impl ViewsConfig {
    /// Views without augmentation: only resized and normalised.
    pub fn plain(side: usize) -> Self {
        Self {
            side,
            crop: CropConfig {
                scale: [1.0, 1.0],
                ..CropConfig::default()
            },
            flip: 0.0,
            jitter: JitterConfig {
                probability: 0.0,
                ..JitterConfig::default()
            },
            grayscale: 0.0,
            blur: BlurConfig {
                probability: 0.0,
                ..BlurConfig::default()
            },
            ..Self::default()
        }
    }

    /// Checks that every field is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first field out of range, its value, and the range.
    pub fn check(&self) -> Result<(), ViewsError> {
        let range = format!("[1, {LARGEST_SIDE}]");
        holds("side", self.side, (1..=LARGEST_SIDE).contains(&self.side), &range)?;
        self.crop.check()?;
        is_probability("flip", self.flip)?;
        self.jitter.check()?;
        is_probability("grayscale", self.grayscale)?;
        self.blur.check()?;
        let mean = self.mean.iter().all(|mean| (0.0..=1.0).contains(mean));
        holds("mean", self.mean, mean, "[0, 1] for each channel")?;
        // The division is in 32 bits.
        let std = self.std.iter().all(|std| (1e-5..=1e5).contains(std));
        holds("std", self.std, std, "[1e-5, 1e5] for each channel")
    }

    /// Creates the [`Views`].
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn init(&self) -> Views {
        if let Err(error) = self.check() {
            panic!("{error}");
        }
        Views::new(self.clone())
    }
}
