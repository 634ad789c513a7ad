//! The distribution of a single view.

use super::blur::Blurrer;
use super::error::is_probability;
use super::flip::flip;
use super::grayscale::grayscale;
use super::resize::Resizer;
use super::solarise::solarise;
use super::{BlurConfig, CropConfig, Draw, JitterConfig, SolariseConfig, ViewsError, happens};
use crate::Image;
use rand::Rng;
use std::cell::RefCell;

/// Buffers reused from one view to the next.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) resizer: Resizer,
    pub(super) blurrer: Blurrer,
    pub(super) planes: Vec<u8>,
}

thread_local! {
    /// One per thread, so that a view needs no allocation.
    pub(super) static SCRATCH: RefCell<Scratch> = RefCell::default();
}

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
