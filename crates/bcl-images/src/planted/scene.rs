//! Everything in an image that does not depend on its class.

use super::PlantedImagesConfig;
use super::shape::Shape;
use super::texture::Texture;
use bcl_data::Xoshiro256PlusPlus;
use rand::RngExt;
use rand::seq::SliceRandom;

/// Samples per pixel in each direction, for smooth edges.
const SAMPLES: usize = 2;

/// The random circumstances of an image.
pub(super) struct Scene {
    side: usize,
    noise: f32,
    shape: Frame,
    texture: Frame,
    /// Colours of the background and of the texture, red, green and blue in [0, 1].
    background: [f32; 3],
    first: [f32; 3],
    second: [f32; 3],
}

/// A coordinate system: translated, rotated and scaled.
struct Frame {
    x: f32,
    y: f32,
    cosine: f32,
    sine: f32,
    /// Pixels per unit.
    unit: f32,
}

impl Scene {
    pub(super) fn draw(config: &PlantedImagesConfig, rng: &mut Xoshiro256PlusPlus) -> Self {
        let pixels = config.side as f32;
        let shape = Frame::draw(pixels, (0.38, 0.62), 0.2, (0.34, 0.44), rng);
        let texture = Frame::draw(pixels, (0.0, 1.0), 0.1, (0.19, 0.25), rng);
        // Dark, medium and bright, in any order: the shape is visible in grey, too, and no part of it is brighter on average.
        let mut brightness = [(0.05, 0.25), (0.40, 0.60), (0.75, 0.95)];
        brightness.shuffle(rng);
        let [background, first, second] = brightness.map(|range| colour(range, config.tint as f32, rng));
        Self {
            side: config.side,
            noise: config.noise as f32,
            shape,
            texture,
            background,
            first,
            second,
        }
    }

    /// Renders the pixels, `[side, side, 3]`.
    pub(super) fn render(&self, shape: Shape, texture: Texture, rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
        let mut pixels = Vec::with_capacity(self.side * self.side * 3);
        for row in 0..self.side {
            for column in 0..self.side {
                let colour = self.pixel(row, column, shape, texture);
                pixels.extend(colour.map(|value| {
                    let noisy = value + self.noise * standard_noise(rng);
                    (noisy.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
                }));
            }
        }
        pixels
    }

    fn pixel(&self, row: usize, column: usize, shape: Shape, texture: Texture) -> [f32; 3] {
        let mut sum = [0.0; 3];
        for sample in 0..SAMPLES * SAMPLES {
            let offset = |index: usize| (index as f32 + 0.5) / SAMPLES as f32;
            let (x, y) = (
                column as f32 + offset(sample % SAMPLES),
                row as f32 + offset(sample / SAMPLES),
            );
            let colour = self.colour_at(x, y, shape, texture);
            for (sum, value) in sum.iter_mut().zip(colour) {
                *sum += value;
            }
        }
        sum.map(|sum| sum / (SAMPLES * SAMPLES) as f32)
    }

    fn colour_at(&self, x: f32, y: f32, shape: Shape, texture: Texture) -> [f32; 3] {
        let (shape_x, shape_y) = self.shape.inner(x, y);
        if !shape.contains(shape_x, shape_y) {
            return self.background;
        }
        let (texture_x, texture_y) = self.texture.inner(x, y);
        if texture.is_first(texture_x, texture_y) {
            self.first
        } else {
            self.second
        }
    }
}

impl Frame {
    /// Draws a coordinate system with origin and unit in the given ranges, as fractions of the side, rotated by up to twice the arc tangent of
    /// `most_turn`.
    fn draw(side: f32, origin: (f32, f32), most_turn: f32, unit: (f32, f32), rng: &mut Xoshiro256PlusPlus) -> Self {
        let [x, y] = [0; 2].map(|_| side * between(origin, rng));
        // Sine and cosine by their rational form, because the system's functions differ in the last digit between machines.
        let tangent = between((-most_turn, most_turn), rng);
        let scale = 1.0 / (1.0 + tangent * tangent);
        Self {
            x,
            y,
            cosine: (1.0 - tangent * tangent) * scale,
            sine: 2.0 * tangent * scale,
            unit: side * between(unit, rng),
        }
    }

    fn inner(&self, x: f32, y: f32) -> (f32, f32) {
        let (x, y) = (x - self.x, y - self.y);
        (
            (self.cosine * x + self.sine * y) / self.unit,
            (self.cosine * y - self.sine * x) / self.unit,
        )
    }
}

/// Draws a colour whose mean over red, green and blue is roughly in the range.
fn colour(range: (f32, f32), tint: f32, rng: &mut Xoshiro256PlusPlus) -> [f32; 3] {
    let brightness = between(range, rng);
    let tint = [0; 3].map(|_| between((-tint, tint), rng));
    let mean = (tint[0] + tint[1] + tint[2]) / 3.0;
    tint.map(|tint| (brightness + tint - mean).clamp(0.0, 1.0))
}

fn between((low, high): (f32, f32), rng: &mut Xoshiro256PlusPlus) -> f32 {
    low + (high - low) * rng.random::<f32>()
}

/// Draws noise with mean 0 and variance 1: the sum of four uniform draws, which is close to normal and needs no logarithm.
fn standard_noise(rng: &mut Xoshiro256PlusPlus) -> f32 {
    const SCALE: f32 = 1.732_050_8;
    let sum: f32 = (0..4).map(|_| rng.random::<f32>()).sum();
    (sum - 2.0) * SCALE
}
