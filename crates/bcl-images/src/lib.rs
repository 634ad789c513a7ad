//! Images: readers, planted images, class subsets and random views.
//!
//! Data arrive as 8-bit RGB in memory, whatever they were stored as: a [`Collection`] of images with their classes, and an
//! [`ImageData`] of two of them, train and test. A view is made of an image at the moment it is needed.
//!
//! Invariants: no tensors; no network, no clock; random numbers only from a [`Seed`](bcl_data::Seed) that was handed in, by the index of
//! the image and the epoch, so that the number of threads changes nothing.

pub mod collection;
pub mod error;
pub mod hold_out;
pub mod load;
pub mod planted;
mod read;
pub mod subset;
pub mod views;

pub use collection::{Collection, Image, ImageData};
pub use error::ImageError;
pub use hold_out::hold_out;
pub use load::{ImageSource, load, load_manifest, load_named, load_skipping_broken};
pub use planted::PlantedImagesConfig;
#[doc(hidden)]
pub use read::fuzz;
pub use subset::Subset;
pub use views::{
    Adjustment, BlurConfig, CropConfig, Draw, Jitter, JitterConfig, LARGEST_SIDE, Region, Views, ViewsConfig, ViewsError,
    view_seed,
};
