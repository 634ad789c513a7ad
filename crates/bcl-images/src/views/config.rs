//! Configuration of random views.

use super::augmentation::Augmentation;
use super::error::{holds, is_between_one_and};
use super::{
    BlurConfig, ColourSpace, CropConfig, JitterConfig, LARGEST_SIDE, LocalCropsConfig, SecondViewConfig, SolariseConfig,
    ViewsError, is_default,
};
use serde::{Deserialize, Serialize};

/// The number of global views in most methods.
const PAIR: usize = 2;

/// The maximum number of global views of an image.
const MOST_VIEWS: usize = 16;

/// Configuration of random views. The defaults follow SimCLR for CIFAR; the papers on its losses use them for every data set.
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
    /// Number of global views of an image, from 1 to 16.
    #[serde(skip_serializing_if = "is_pair")]
    pub count: usize,
    /// Height and width of a global view in pixels, from 1 to 4096.
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
    /// Solarisation; off by default.
    #[serde(skip_serializing_if = "is_default")]
    pub solarise: SolariseConfig,
    /// What differs for the second global view; nothing by default.
    #[serde(skip_serializing_if = "is_default")]
    pub second: SecondViewConfig,
    /// Local crops, which come after the global views; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalCropsConfig>,
    /// Colour space of all views, in training and evaluation. Views are converted after all other steps.
    #[serde(skip_serializing_if = "is_default")]
    pub colour: ColourSpace,
    /// Mean to subtract from red, green and blue, which are in [0, 1]; in [0, 1]. Other colour spaces have constants of their own.
    pub mean: [f64; 3],
    /// Standard deviation to divide red, green and blue by; in [1e-5, 1e5]. Other colour spaces have constants of their own.
    pub std: [f64; 3],
}

impl Default for ViewsConfig {
    fn default() -> Self {
        Self {
            count: PAIR,
            side: 32,
            crop: CropConfig::default(),
            flip: 0.5,
            jitter: JitterConfig::default(),
            grayscale: 0.2,
            blur: BlurConfig::default(),
            solarise: SolariseConfig::default(),
            second: SecondViewConfig::default(),
            local: None,
            colour: ColourSpace::Rgb,
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
        is_between_one_and("count", self.count, MOST_VIEWS)?;
        is_between_one_and("side", self.side, LARGEST_SIDE)?;
        let first = self.first_view();
        first.check()?;
        self.second.check(&first)?;
        if self.count == 1 && !is_default(&self.second) {
            return Err(ViewsError::Meaningless {
                name: "views.second".into(),
                because: "views.count = 1, which leaves no second view; raise the count, or remove the table".into(),
            });
        }
        self.local.as_ref().map_or(Ok(()), LocalCropsConfig::check)?;
        self.check_normalisation()
    }

    fn check_normalisation(&self) -> Result<(), ViewsError> {
        let mean = self.mean.iter().all(|mean| (0.0..=1.0).contains(mean));
        holds("mean", self.mean, mean, "[0, 1] for each channel")?;
        // The division is in 32 bits.
        let std = self.std.iter().all(|std| (1e-5..=1e5).contains(std));
        holds("std", self.std, std, "[1e-5, 1e5] for each channel")?;
        if self.colour == ColourSpace::Rgb {
            return Ok(());
        }
        let default = Self::default();
        for (name, given, default) in [("mean", self.mean, default.mean), ("std", self.std, default.std)] {
            if given != default {
                let colour = self.colour.name();
                return Err(ViewsError::Meaningless {
                    name: format!("views.{name}"),
                    because: format!(
                        "views.colour = \"{colour}\", whose channels are normalised with constants of their own; remove it, or set it to \
                         its default {default:?}"
                    ),
                });
            }
        }
        Ok(())
    }

    /// Height and width of each view of an image: first the global views, then the local crops.
    ///
    /// ```
    /// use bcl_images::{LocalCropsConfig, ViewsConfig};
    ///
    /// let local = Some(LocalCropsConfig { count: 3, side: 14, scale: [0.05, 0.14] });
    /// assert_eq!(ViewsConfig { local, ..ViewsConfig::default() }.layout(), [32, 32, 14, 14, 14]);
    /// ```
    pub fn layout(&self) -> Vec<usize> {
        let mut sides = vec![self.side; self.count];
        if let Some(local) = &self.local {
            sides.resize(self.count + local.count, local.side);
        }
        sides
    }

    /// The augmentation of the first global view.
    fn first_view(&self) -> Augmentation {
        Augmentation {
            side: self.side,
            crop: self.crop.clone(),
            flip: self.flip,
            jitter: self.jitter.clone(),
            grayscale: self.grayscale,
            blur: self.blur.clone(),
            solarise: self.solarise.clone(),
        }
    }

    /// The augmentation of each view of an image, in order.
    pub(super) fn augmentations(&self) -> Vec<Augmentation> {
        let first = self.first_view();
        let mut views = vec![first.clone(); self.count];
        if let Some(second) = views.get_mut(1) {
            *second = self.second.augmentation(&first);
        }
        if let Some(local) = &self.local {
            views.resize(self.count + local.count, local.augmentation(&first));
        }
        views
    }
}

/// Whether the number of global views may be left out when it is written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_pair(count: &usize) -> bool {
    *count == PAIR
}
