//! Changes the saturation.

use super::blend::blend;
use super::channels_mut;
use super::grayscale::luma;

/// Blends each pixel with its grey: `factor` 0 gives the grey image, 1 the original, above 1 stronger colours.
///
/// # Shapes
/// - planes: `[3, height, width]`
pub fn adjust_saturation(planes: &mut [u8], factor: f64) {
    let factor = factor as f32;
    let [red, green, blue] = channels_mut(planes);
    for ((r, g), b) in red.iter_mut().zip(green).zip(blue) {
        let grey = f32::from(luma(*r, *g, *b));
        *r = blend(grey, *r, factor);
        *g = blend(grey, *g, factor);
        *b = blend(grey, *b, factor);
    }
}
