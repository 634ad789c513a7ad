//! From 8-bit levels to the numbers that an encoder gets.

use super::{Conversion, ViewsConfig, channels};

/// How levels become numbers.
#[derive(Debug, Clone)]
pub(super) enum Normalisation {
    /// Channel by channel.
    Levels(Box<Levels>),
    /// Pixel by pixel.
    Colours(&'static Conversion),
}

/// A table from levels to normalised values: `(level / 255 - mean) / std` per channel, in 32 bits as in torchvision.
#[derive(Debug, Clone)]
pub(super) struct Levels {
    table: [[f32; 256]; 3],
    mean: [f32; 3],
    std: [f32; 3],
}

impl Normalisation {
    pub(super) fn new(config: &ViewsConfig) -> Self {
        match config.colour.conversion() {
            None => Self::Levels(Box::new(Levels::new(config.mean, config.std))),
            Some(conversion) => Self::Colours(conversion),
        }
    }

    /// Normalises `[3, height, width]`.
    pub(super) fn planar(&self, planes: &[u8], out: &mut [f32]) {
        match self {
            Self::Levels(levels) => levels.planar(planes, out),
            Self::Colours(conversion) => {
                let [red, green, blue] = channels(planes);
                let pixels = red.iter().zip(green).zip(blue).map(|((&r, &g), &b)| [r, g, b]);
                convert(conversion, pixels, out);
            }
        }
    }

    /// Normalises `[height, width, 3]` into `[3, height, width]`.
    pub(super) fn interleaved(&self, pixels: &[u8], out: &mut [f32]) {
        match self {
            Self::Levels(levels) => levels.interleaved(pixels, out),
            Self::Colours(conversion) => convert(conversion, pixels.as_chunks().0.iter().copied(), out),
        }
    }

    /// The red, green and blue levels whose normalised values are `numbers`.
    pub(super) fn restored(&self, numbers: [f32; 3]) -> [u8; 3] {
        match self {
            Self::Levels(levels) => [0, 1, 2].map(|channel| levels.level(channel, numbers[channel])),
            Self::Colours(conversion) => conversion.restored(numbers.map(f64::from)),
        }
    }
}

/// Converts pixels into `[3, pixels]`.
fn convert(conversion: &Conversion, pixels: impl Iterator<Item = [u8; 3]>, out: &mut [f32]) {
    let (first, rest) = out.split_at_mut(out.len() / 3);
    let (second, third) = rest.split_at_mut(first.len());
    for (((pixel, x), y), z) in pixels.zip(first).zip(second).zip(third) {
        [*x, *y, *z] = conversion.normalised(pixel).map(|number| number as f32);
    }
}

impl Levels {
    fn new(mean: [f64; 3], std: [f64; 3]) -> Self {
        let [mean, std] = [mean, std].map(|values| values.map(|value| value as f32));
        let table = [0, 1, 2].map(|channel| std::array::from_fn(|level| (level as f32 / 255.0 - mean[channel]) / std[channel]));
        Self { table, mean, std }
    }

    fn planar(&self, planes: &[u8], out: &mut [f32]) {
        let length = planes.len() / 3;
        for ((table, plane), out) in self
            .table
            .iter()
            .zip(planes.chunks_exact(length))
            .zip(out.chunks_exact_mut(length))
        {
            for (out, &level) in out.iter_mut().zip(plane) {
                *out = table[usize::from(level)];
            }
        }
    }

    fn interleaved(&self, pixels: &[u8], out: &mut [f32]) {
        let length = pixels.len() / 3;
        for ((channel, table), out) in self.table.iter().enumerate().zip(out.chunks_exact_mut(length)) {
            for (out, pixel) in out.iter_mut().zip(pixels.chunks_exact(3)) {
                *out = table[usize::from(pixel[channel])];
            }
        }
    }

    fn level(&self, channel: usize, number: f32) -> u8 {
        ((number * self.std[channel] + self.mean[channel]) * 255.0).round() as u8
    }
}
