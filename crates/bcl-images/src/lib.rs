//! Images for contrastive learning: readers, random views (augmentations), class subsets and synthetic images. No tensors.
//!
//! Every reader returns an [`ImageData`]: train and test, each a [`Collection`] of 8-bit RGB images, with labels if known.
//! Views are made from a collection on demand, in parallel:
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
//!
//! | to | see |
//! | --- | --- |
//! | read a folder or archive of images, CIFAR, STL-10 or tinyImageNet | [`load()`], [`ImageSource`] |
//! | read a published data set by name | [`load_named`] |
//! | read single image files | [`read_files`] |
//! | skip images that cannot be decoded | [`load_skipping_broken`] |
//! | read images that do not fit into memory | [`load_with`], [`ImageData::unreadable`] |
//! | generate images with known false negatives | [`PlantedImagesConfig`] |
//! | make random views, as SimCLR does, or multi-crops, as SwAV does | [`ViewsConfig`], [`Views`] |
//! | make deterministic views for evaluation | [`Views::test_batch`] |
//! | use some of the classes, or some images of each | [`Subset`] |
//! | hold out images for model selection | [`hold_out()`] |
//! | draw a few labels of each class | [`few_labels()`] |
//!
//! # Invariants
//!
//! Nothing here uses the network or a clock. All randomness comes from a [`Seed`](bcl_data::Seed) passed in, by the index of the image and
//! the epoch, so the number of threads does not affect the result.

pub mod collection;
pub mod decoding;
pub mod error;
pub mod few_labels;
pub mod hold_out;
pub mod load;
pub mod planted;
mod read;
pub mod subset;
mod unreadable;
pub mod views;

pub use collection::{Collection, Image, ImageData, Loaded};
pub use decoding::{Background, Decoding, Orientation};
pub use error::ImageError;
pub use few_labels::{by_class, few_labels};
pub use hold_out::hold_out;
pub use load::{ImageSource, LoadOptions, load, load_manifest, load_named, load_skipping_broken, load_with};
pub use planted::PlantedImagesConfig;
#[doc(hidden)]
pub use read::fuzz;
pub use read::{CacheBytes, is_image, read_files};
pub use subset::Subset;
pub use views::{
    Adjustment, BlurConfig, ColourSpace, Conversion, CropConfig, Draw, Jitter, JitterConfig, LARGEST_SIDE, LocalCropsConfig,
    Region, SecondBlur, SecondCrop, SecondJitter, SecondSolarise, SecondViewConfig, SolariseConfig, Views, ViewsConfig,
    ViewsError, view_seed,
};
