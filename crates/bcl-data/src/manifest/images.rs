//! What a manifest says of a data set of images. Reading them is the business of `bcl-images`.

use super::{Layout, Manifest};
use crate::DataError;
use serde::{Deserialize, Serialize};

/// How images are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageFormat {
    /// JPEG and PNG files in a folder a class, below `train` and `test` (or `val`).
    ImageFolder,
    /// The binary version of CIFAR-10.
    Cifar10,
    /// The binary version of CIFAR-100, with its hundred fine classes.
    Cifar100,
    /// The binary version of STL-10; its unlabelled images are learned from as well.
    Stl10,
    /// tinyImageNet as its authors pack it, with `val` for test.
    #[serde(rename = "tiny_imagenet")]
    TinyImageNet,
}

/// What must be in a data set of images; checked when it is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageCounts {
    /// Images that are learned from, with and without a class.
    pub train: usize,
    /// Those of them that have no class.
    #[serde(default)]
    pub unlabelled: usize,
    /// Images that are held out.
    pub test: usize,
    /// Classes.
    pub classes: usize,
    /// Rows, and columns, of each image.
    pub side: usize,
    /// The counts that the BCL paper prints, and where they differ; none where it does not use the data set.
    pub paper: Option<PaperImageCounts>,
}

/// The counts of the BCL paper's Tables 6 and 7.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperImageCounts {
    /// Training images, as printed.
    pub train: usize,
    /// Test images, as printed.
    pub test: usize,
    /// Training images of two random classes, as printed.
    pub two_class_train: usize,
    /// Test images of two random classes, as printed.
    pub two_class_test: usize,
    /// Why other counts are expected here.
    pub note: Option<String>,
}

impl Manifest {
    /// Whether this data set holds images rather than interactions.
    pub fn is_images(&self) -> bool {
        matches!(self.layout, Layout::Images { .. })
    }

    /// The error for whoever wants interactions of this data set.
    pub(super) fn holds_images(&self) -> DataError {
        DataError::HoldsImages { name: self.name.clone() }
    }
}
