//! Draws and makes a single view.

use super::blur::Blurrer;
use super::flip::flip;
use super::grayscale::grayscale;
use super::normalise::Normalisation;
use super::resize::Resizer;
use super::{Draw, ViewsConfig, happens};
use crate::Image;
use bcl_data::Seed;
use rand::Rng;
use std::cell::RefCell;

/// Makes views. Create it with [`ViewsConfig::init`].
#[derive(Debug, Clone)]
pub struct Views {
    config: ViewsConfig,
    pub(super) normalisation: Normalisation,
    kernel_size: usize,
}

/// Buffers reused from one view to the next.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) resizer: Resizer,
    blurrer: Blurrer,
    pub(super) planes: Vec<u8>,
}

thread_local! {
    /// One per thread, so that a view needs no allocation.
    pub(super) static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Views {
    pub(super) fn new(config: ViewsConfig) -> Self {
        Self {
            normalisation: Normalisation::new(config.mean, config.std),
            kernel_size: config.blur.kernel_size(config.side),
            config,
        }
    }

    /// The distribution of the views.
    pub fn config(&self) -> &ViewsConfig {
        &self.config
    }

    /// Number of values in a view: `3 side²`.
    pub fn view_len(&self) -> usize {
        3 * self.config.side * self.config.side
    }

    /// Draws the parameters of a view of an image of this size: region, flip, jitter, grayscale and blur, in this order.
    ///
    /// # Panics
    /// Panics if the image is empty.
    pub fn draw(&self, width: usize, height: usize, rng: &mut impl Rng) -> Draw {
        let config = &self.config;
        Draw {
            region: config.crop.draw(width, height, rng),
            flip: happens(config.flip, rng),
            jitter: config.jitter.draw(rng),
            grayscale: happens(config.grayscale, rng),
            blur: config.blur.draw(rng),
        }
    }

    /// Makes the view with the given parameters.
    ///
    /// # Shapes
    /// - out: `[3, side, side]`
    ///
    /// # Panics
    /// Panics if the region is not inside the image, or `out` has another size.
    pub fn apply(&self, image: Image<'_>, draw: &Draw, out: &mut [f32]) {
        let side = self.config.side;
        assert_eq!(out.len(), self.view_len(), "length of a view with side {side}");
        SCRATCH.with_borrow_mut(|scratch| {
            let Scratch {
                resizer,
                blurrer,
                planes,
            } = scratch;
            planes.resize(out.len(), 0);
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
                blurrer.blur(planes, side, self.kernel_size, sigma);
            }
            self.normalisation.planar(planes, out);
        });
    }

    /// Makes the random view of an image for a seed; [`view_seed`](super::view_seed) derives a seed for each view of a run.
    ///
    /// # Shapes
    /// - out: `[3, side, side]`
    ///
    /// # Panics
    /// Panics if the image is empty, or `out` has another size.
    pub fn view(&self, image: Image<'_>, seed: Seed, out: &mut [f32]) {
        let draw = self.draw(image.width, image.height, &mut seed.rng());
        self.apply(image, &draw, out);
    }
}
