//! Normalisation of 8-bit levels.

/// A table from levels to normalised values: `(level / 255 - mean) / std` per channel, in 32 bits as in torchvision.
#[derive(Debug, Clone)]
pub(super) struct Normalisation {
    table: [[f32; 256]; 3],
    mean: [f32; 3],
    std: [f32; 3],
}

impl Normalisation {
    pub(super) fn new(mean: [f64; 3], std: [f64; 3]) -> Self {
        let [mean, std] = [mean, std].map(|values| values.map(|value| value as f32));
        let table = [0, 1, 2].map(|channel| std::array::from_fn(|level| (level as f32 / 255.0 - mean[channel]) / std[channel]));
        Self { table, mean, std }
    }

    /// Normalises `[3, height, width]`.
    pub(super) fn planar(&self, planes: &[u8], out: &mut [f32]) {
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

    /// Normalises `[height, width, 3]` into `[3, height, width]`.
    pub(super) fn interleaved(&self, pixels: &[u8], out: &mut [f32]) {
        let length = pixels.len() / 3;
        for ((channel, table), out) in self.table.iter().enumerate().zip(out.chunks_exact_mut(length)) {
            for (out, pixel) in out.iter_mut().zip(pixels.chunks_exact(3)) {
                *out = table[usize::from(pixel[channel])];
            }
        }
    }

    /// The level whose normalised value in a channel is `number`.
    pub(super) fn level(&self, channel: usize, number: f32) -> u8 {
        ((number * self.std[channel] + self.mean[channel]) * 255.0).round() as u8
    }
}
