//! The part of a manifest that describes images. `bcl-images` reads them.

use super::{Contents, Manifest};
use serde::{Deserialize, Serialize};

/// How images are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageFormat {
    /// JPEG, PNG and WebP files with one folder per class, below `train` and `test` (or `val`).
    ImageFolder,
    /// The binary version of CIFAR-10.
    Cifar10,
    /// The binary version of CIFAR-100, with its 100 fine classes.
    Cifar100,
    /// The binary version of STL-10. Its unlabelled images are used for training as well.
    Stl10,
    /// tinyImageNet as packed by its authors; `val` serves as test.
    #[serde(rename = "tiny_imagenet")]
    TinyImageNet,
}

/// Expected counts of a data set of images, checked when it is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ImageCounts {
    /// Training images, with and without a class.
    pub train: usize,
    /// Training images without a class.
    #[serde(default)]
    pub unlabelled: usize,
    /// Test images.
    pub test: usize,
    /// Number of classes.
    pub classes: usize,
    /// Height and width of each image, in pixels.
    pub side: usize,
    /// The counts that the BCL paper prints, if it uses the data set.
    pub paper: Option<PaperImageCounts>,
}

/// The counts in Tables 6 and 7 of the BCL paper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PaperImageCounts {
    /// Training images, as printed.
    pub train: usize,
    /// Test images, as printed.
    pub test: usize,
    /// Training images of two random classes, as printed.
    pub two_class_train: usize,
    /// Test images of two random classes, as printed.
    pub two_class_test: usize,
    /// Why the expected counts differ from these.
    pub note: Option<String>,
}

impl Manifest {
    /// Whether this data set contains images .
    pub fn is_images(&self) -> bool {
        self.layout.contents() == Contents::Images
    }
}
