//! Random views: the augmentations of SimCLR (Chen et al., 2020, appendix A), with the arithmetic of torchvision on PIL images.
//!
//! ```text
//! crop and resize -> flip -> colour jitter -> grayscale -> blur -> solarise -> change of the colour space -> normalise
//! ```
//!
//! An image has global views, two by default, and after them local crops, if any. [`ViewsConfig`] gives the distributions, [`Views::draw`]
//! draws the parameters of one view as a [`Draw`], and [`Views::apply`] makes the view. Each step has its own module and is a function of only the pixels and explicit parameters, so that it can be tested against
//! reference values.
//!
//! Between the steps an image is planar, `[3, height, width]`, in 8 bits. Every step rounds to levels from 0 to 255 as PIL does, because
//! the published figures come from images that were rounded there.
//!
//! ```
//! use bcl_data::Seed;
//! use bcl_images::{Collection, Image, ViewsConfig};
//!
//! let mut images = Collection::new(vec!["grey".into()]);
//! images.push(Image { width: 9, height: 7, pixels: &[128; 9 * 7 * 3] }, Some(0));
//!
//! let views = ViewsConfig { side: 4, ..ViewsConfig::default() }.init();
//! let mut batch = Vec::new();
//! views.batch(&images, &[0, 0, 0], 17, Seed(3), &mut batch)?;
//! assert_eq!(batch.len(), 2 * 3 * 3 * 4 * 4); // [view, sample, channel, row, column]
//! # Ok::<(), bcl_images::ImageError>(())
//! ```

mod augmentation;
mod batch;
mod blend;
pub mod blur;
pub mod brightness;
pub mod colour;
mod config;
mod contact_sheet;
pub mod contrast;
pub mod crop;
mod draw;
mod error;
mod evaluation;
pub mod flip;
pub mod grayscale;
pub mod hue;
pub mod jitter;
pub mod local;
mod normalise;
pub mod resize;
pub mod saturation;
pub mod second;
pub mod solarise;
mod view;

pub use batch::view_seed;
pub use blur::BlurConfig;
pub use colour::{ColourSpace, Conversion};
pub use config::ViewsConfig;
pub use crop::{CropConfig, Region};
pub use draw::Draw;
pub use error::ViewsError;
pub use jitter::{Adjustment, Jitter, JitterConfig};
pub use local::LocalCropsConfig;
pub use second::{SecondBlur, SecondCrop, SecondJitter, SecondSolarise, SecondViewConfig};
pub use solarise::SolariseConfig;
pub use view::Views;

use rand::{Rng, RngExt};

/// The maximum side of a view; one such view takes 192 MiB.
pub const LARGEST_SIDE: usize = 4096;

/// Splits `[3, height, width]` into its red, green and blue planes.
fn channels(planes: &[u8]) -> [&[u8]; 3] {
    let (red, rest) = planes.split_at(planes.len() / 3);
    let (green, blue) = rest.split_at(red.len());
    [red, green, blue]
}

/// Splits `[3, height, width]` into its red, green and blue planes, mutably.
fn channels_mut(planes: &mut [u8]) -> [&mut [u8]; 3] {
    let (red, rest) = planes.split_at_mut(planes.len() / 3);
    let (green, blue) = rest.split_at_mut(red.len());
    [red, green, blue]
}

/// Whether a setting may be left out when it is written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Draws a uniform value in `[low, high]`.
fn uniform([low, high]: [f64; 2], rng: &mut impl Rng) -> f64 {
    (low + (high - low) * rng.random::<f64>()).min(high)
}

/// Returns true with the given probability: never for 0, always for 1.
fn happens(probability: f64, rng: &mut impl Rng) -> bool {
    rng.random::<f64>() < probability
}
