//! Draws and makes a single view.

use super::augmentation::{Augmentation, SCRATCH};
use super::normalise::Normalisation;
use super::{Draw, ViewsConfig};
use crate::Image;
use bcl_data::Seed;
use rand::Rng;

/// Makes views. Create it with [`ViewsConfig::init`].
///
/// The views of an image are numbered: the global ones come first, from 0, then the local crops; see [`ViewsConfig::layout`].
#[derive(Debug, Clone)]
pub struct Views {
    config: ViewsConfig,
    pub(super) normalisation: Normalisation,
    /// One for each view of an image.
    augmentations: Vec<Augmentation>,
}

impl ViewsConfig {
    /// Creates the [`Views`].
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn init(&self) -> Views {
        if let Err(error) = self.check() {
            panic!("{error}");
        }
        Views::new(self.clone())
    }
}

impl Views {
    fn new(config: ViewsConfig) -> Self {
        Self {
            normalisation: Normalisation::new(&config),
            augmentations: config.augmentations(),
            config,
        }
    }

    /// The distribution of the views.
    pub fn config(&self) -> &ViewsConfig {
        &self.config
    }

    /// Height and width of each view of an image: [`ViewsConfig::layout`].
    pub fn layout(&self) -> Vec<usize> {
        self.config.layout()
    }

    /// Number of values in view `which` of an image: `3 side²`.
    ///
    /// # Panics
    /// Panics if images have fewer views, as all functions with a parameter `which` do.
    pub fn view_len(&self, which: usize) -> usize {
        3 * self.augmentation(which).side.pow(2)
    }

    /// Draws the parameters of view `which` of an image of this size: region, flip, jitter, grayscale, blur and solarisation, in this
    /// order.
    ///
    /// # Panics
    /// Panics if the image is empty.
    pub fn draw(&self, which: usize, width: usize, height: usize, rng: &mut impl Rng) -> Draw {
        self.augmentation(which).draw(width, height, rng)
    }

    /// Makes view `which` with the given parameters.
    ///
    /// # Shapes
    /// - out: `[3, side, side]`
    ///
    /// # Panics
    /// Panics if the region is not inside the image, or `out` has another size.
    pub fn apply(&self, which: usize, image: Image<'_>, draw: &Draw, out: &mut [f32]) {
        let augmentation = self.augmentation(which);
        assert_eq!(
            out.len(),
            self.view_len(which),
            "length of a view with side {}",
            augmentation.side
        );
        SCRATCH.with_borrow_mut(|scratch| {
            augmentation.apply(image, draw, scratch);
            self.normalisation.planar(&scratch.planes, out);
        });
    }

    /// Makes view `which` of an image at random for a seed; [`view_seed`](super::view_seed) derives a seed for each view of a run.
    ///
    /// # Shapes
    /// - out: `[3, side, side]`
    ///
    /// # Panics
    /// Panics if the image is empty, or `out` has another size.
    pub fn view(&self, which: usize, image: Image<'_>, seed: Seed, out: &mut [f32]) {
        let draw = self.draw(which, image.width, image.height, &mut seed.rng());
        self.apply(which, image, &draw, out);
    }

    fn augmentation(&self, which: usize) -> &Augmentation {
        let num_views = self.augmentations.len();
        self.augmentations
            .get(which)
            .unwrap_or_else(|| panic!("images have {num_views} views, and none has number {which}"))
    }
}
