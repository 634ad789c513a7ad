//! Local crops: small views of small regions.

use super::LARGEST_SIDE;
use super::augmentation::Augmentation;
use super::error::{ViewsError, is_between_one_and, is_positive_range};
use serde::{Deserialize, Serialize};

/// The maximum number of local crops of an image.
const MOST_CROPS: usize = 32;

/// Configuration of local crops, as in SwAV's multi-crop (Caron et al., 2020, section 3.3): beside its global views, an image gets small
/// views of small regions. All steps except the crop are the same as for the first global view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalCropsConfig {
    /// Number of local crops per image, from 1 to 32; SwAV has 6.
    #[serde(default = "six")]
    pub count: usize,
    /// Height and width of a local crop in pixels, from 1 to 4096; 96 for global views of 224 pixels.
    pub side: usize,
    /// Smallest and largest area of the region as a fraction of the image's, in (0, 1]; SwAV's is the default. Global views should then
    /// start where local crops end, such as at 0.14.
    #[serde(default = "areas_of_swav")]
    pub scale: [f64; 2],
}

fn six() -> usize {
    6
}

fn areas_of_swav() -> [f64; 2] {
    [0.05, 0.14]
}

impl LocalCropsConfig {
    /// Checks that every field is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first field out of range, its value, and the range.
    pub fn check(&self) -> Result<(), ViewsError> {
        is_between_one_and("local.count", self.count, MOST_CROPS)?;
        is_between_one_and("local.side", self.side, LARGEST_SIDE)?;
        is_positive_range("local.scale", self.scale, [1e-6, 1.0])
    }

    /// The augmentation of local crops, from the augmentation of the first global view.
    pub(super) fn augmentation(&self, first: &Augmentation) -> Augmentation {
        let mut local = first.clone();
        local.side = self.side;
        local.crop.scale = self.scale;
        local
    }
}
