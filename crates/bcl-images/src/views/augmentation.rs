//! The distribution of a single view.

use super::error::is_probability;
use super::flip::flip;
use super::grayscale::grayscale;
use super::solarise::solarise;
use super::view::Scratch;
use super::{BlurConfig, CropConfig, Draw, JitterConfig, SolariseConfig, ViewsConfig, ViewsError, happens};
use crate::Image;
use rand::Rng;

/// Size and random steps of one of the views of an image.
#[derive(Debug, Clone)]
pub(super) struct Augmentation {
    pub(super) side: usize,
    pub(super) crop: CropConfig,
    pub(super) flip: f64,
    pub(super) jitter: JitterConfig,
    pub(super) grayscale: f64,
    pub(super) blur: BlurConfig,
    pub(super) solarise: SolariseConfig,
}

impl Augmentation {
    /// The augmentation of the first global view.
    pub(super) fn first(config: &ViewsConfig) -> Self {
        Self {
            side: config.side,
            crop: config.crop.clone(),
            flip: config.flip,
            jitter: config.jitter.clone(),
            grayscale: config.grayscale,
            blur: config.blur.clone(),
            solarise: config.solarise.clone(),
        }
    }

    /// The augmentation of each view of an image, in order.
    pub(super) fn of_all_views(config: &ViewsConfig) -> Vec<Self> {
        let first = Self::first(config);
        let mut views = vec![first.clone(); config.count];
        if let Some(second) = views.get_mut(1) {
            *second = config.second.augmentation(&first);
        }
        if let Some(local) = &config.local {
            views.resize(config.count + local.count, local.augmentation(&first));
        }
        views
    }

    /// Checks the random steps.
    pub(super) fn check(&self) -> Result<(), ViewsError> {
        self.crop.check()?;
        is_probability("flip", self.flip)?;
        self.jitter.check()?;
        is_probability("grayscale", self.grayscale)?;
        self.blur.check()?;
        self.solarise.check()
    }

    pub(super) fn draw(&self, width: usize, height: usize, rng: &mut impl Rng) -> Draw {
        Draw {
            region: self.crop.draw(width, height, rng),
            flip: happens(self.flip, rng),
            jitter: self.jitter.draw(rng),
            grayscale: happens(self.grayscale, rng),
            blur: self.blur.draw(rng),
            // New steps draw last, so that the draws of the others stay as they were.
            solarise: self.solarise.draw(rng),
        }
    }

    /// Makes the view with the given parameters in `scratch.planes`, before normalisation.
    pub(super) fn apply(&self, image: Image<'_>, draw: &Draw, scratch: &mut Scratch) {
        let side = self.side;
        let Scratch {
            resizer,
            blurrer,
            planes,
        } = scratch;
        planes.resize(3 * side * side, 0);
        resizer.resize(image, draw.region, side, side, planes);
        if draw.flip {
            flip(planes, side);
        }
        if let Some(jitter) = draw.jitter {
            jitter.apply(planes);
        }
        if draw.grayscale {
            grayscale(planes);
        }
        if let Some(sigma) = draw.blur {
            blurrer.blur(planes, side, self.blur.kernel_size(side), sigma);
        }
        if let Some(threshold) = draw.solarise {
            solarise(planes, threshold);
        }
    }
}
