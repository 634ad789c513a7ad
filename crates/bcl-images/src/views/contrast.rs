//! Changes the contrast.

use super::blend::blend;
use super::channels;
use super::grayscale::luma;

/// Blends with the mean of the grey image: `factor` 0 gives that grey, 1 the original, above 1 more contrast.
///
/// # Shapes
/// - planes: `[3, height, width]`
pub fn adjust_contrast(planes: &mut [u8], factor: f64) {
    let [red, green, blue] = channels(planes);
    let greys = red.iter().zip(green).zip(blue).map(|((&r, &g), &b)| u64::from(luma(r, g, b)));
    let mean = greys.sum::<u64>() as f64 / red.len() as f64;
    let mean = (mean + 0.5).floor() as f32;
    let factor = factor as f32;
    for value in planes {
        *value = blend(mean, *value, factor);
    }
}
