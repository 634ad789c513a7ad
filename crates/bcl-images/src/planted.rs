//! Synthetic images of textured shapes with planted classes, for which the false negatives are known.

mod scene;
mod shape;
mod texture;

use crate::error::ImageError;
use crate::{Collection, Image, ImageData};
use bcl_data::Seed;
use rayon::prelude::*;
use scene::Scene;
use serde::{Deserialize, Serialize};
use shape::Shape;
use texture::Texture;

/// Number of images drawn at a time.
const BLOCK: usize = 1024;
/// Maximum memory for all images, in bytes.
const MOST_BYTES: usize = 8 << 30;

/// Configuration of planted images: a shape filled with a texture on a plain background. Shape and texture together are the class.
///
/// Shapes (disc, square, triangle, ring, cross) and textures (stripes, checks, dots) are combined such that neither alone determines the
/// class. Everything else is random and carries no information about it: the three colours and the order of their brightness; position,
/// size and rotation of the shape; period, phase and direction of the texture; noise. Hence the mean image is the same for all classes,
/// and linear models of the pixels fail, although the nearest neighbour among thousands of images does well. Crops, flips and tints
/// preserve shape and texture, and by default tints are too faint to recognise views by. Contrastive learning therefore finds the classes within a
/// few hundred steps of a narrow network. The labels are the truth: two images with equal labels are false negatives of each other.
///
/// Image `i` has the class `i % classes`. It depends only on the seed, the part (train or test) and `i`.
///
/// ```
/// use bcl_images::PlantedImagesConfig;
///
/// let data = PlantedImagesConfig { train: 20, test: 10, seed: 7, ..PlantedImagesConfig::default() }.generate();
/// assert_eq!(data.train.len(), 20);
/// assert_eq!(data.train.labels()[3], Some(3));
/// assert_eq!(data.train.classes()[3], "ring with stripes");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlantedImagesConfig {
    /// Number of classes, in [2, 15].
    pub classes: usize,
    /// Number of training images, at least one per class.
    pub train: usize,
    /// Number of test images, at least one per class.
    pub test: usize,
    /// Height and width of each image, in [16, 256] pixels.
    pub side: usize,
    /// Standard deviation of the noise per pixel and channel, in [0, 0.5]; black is 0 and white is 1.
    pub noise: f64,
    /// How far a colour may be from grey, per channel, in [0, 0.5]. Strong colours identify the views of an image unless these are jittered.
    #[serde(skip_serializing_if = "is_faint")]
    pub tint: f64,
    /// Seed of the images.
    pub seed: u64,
}

/// The tint of planted images that do not set it.
const FAINT: f64 = 0.05;

/// Recipes are written with their tint only if they set it, as they were before there was a choice.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_faint(tint: &f64) -> bool {
    *tint == FAINT
}

impl Default for PlantedImagesConfig {
    fn default() -> Self {
        Self {
            classes: 10,
            train: 4000,
            test: 1000,
            side: 32,
            noise: 0.05,
            tint: FAINT,
            seed: 0,
        }
    }
}

impl PlantedImagesConfig {
    /// Checks that every field is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first field out of range.
    pub fn check(&self) -> Result<(), ImageError> {
        in_range("classes", self.classes, 2, Shape::ALL.len() * Texture::ALL.len())?;
        in_range("side", self.side, 16, 256)?;
        let most = MOST_BYTES / (self.side * self.side * 3);
        in_range("train", self.train, self.classes, most)?;
        in_range("test", self.test, self.classes, most)?;
        let is_level = |name, value: f64| holds(name, value, (0.0..=0.5).contains(&value), "[0, 0.5]");
        is_level("noise", self.noise)?;
        is_level("tint", self.tint)
    }

    /// Generates the images. The result is the same on every machine and for any number of threads.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn generate(&self) -> ImageData {
        if let Err(error) = self.check() {
            panic!("{error}");
        }
        let seed = Seed(self.seed).named("planted images");
        ImageData {
            name: "planted-images".to_string(),
            train: self.part(self.train, seed.named("train")),
            test: self.part(self.test, seed.named("test")),
            skipped: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn part(&self, count: usize, seed: Seed) -> Collection {
        let names = (0..self.classes).map(|class| {
            let (shape, texture) = pair(class);
            format!("{} with {}", shape.name(), texture.name())
        });
        let mut collection = Collection::new(names.collect());
        for start in (0..count).step_by(BLOCK) {
            let block: Vec<Vec<u8>> = (start..count.min(start + BLOCK))
                .into_par_iter()
                .map(|index| self.draw(index % self.classes, seed.index(index as u64)))
                .collect();
            for (index, pixels) in (start..).zip(block) {
                let image = Image {
                    width: self.side,
                    height: self.side,
                    pixels: &pixels,
                };
                collection.push(image, Some((index % self.classes) as u32));
            }
        }
        collection
    }

    fn draw(&self, class: usize, seed: Seed) -> Vec<u8> {
        let (shape, texture) = pair(class);
        // Drawn without the class: with the same seed, another class appears in the same circumstances.
        Scene::draw(self, &mut seed.rng()).render(shape, texture, &mut seed.named("noise").rng())
    }
}

/// Shape and texture of a class. After each round of five classes, the shapes come with other textures.
fn pair(class: usize) -> (Shape, Texture) {
    let (shapes, textures) = (Shape::ALL, Texture::ALL);
    let shape = class % shapes.len();
    (shapes[shape], textures[(shape + class / shapes.len()) % textures.len()])
}

fn in_range(name: &'static str, value: usize, low: usize, high: usize) -> Result<(), ImageError> {
    holds(name, value, (low..=high).contains(&value), &format!("[{low}, {high}]"))
}

fn holds(name: &'static str, value: impl std::fmt::Display, holds: bool, range: &str) -> Result<(), ImageError> {
    if holds {
        return Ok(());
    }
    Err(ImageError::out_of_range(&format!("data.planted.{name}"), value, range))
}

#[cfg(test)]
mod tests;
