//! Changes the brightness.

use super::blend::blend;

/// Blends with black: `factor` 0 gives black, 1 the original, above 1 a brighter image.
pub fn adjust_brightness(planes: &mut [u8], factor: f64) {
    let factor = factor as f32;
    for value in planes {
        *value = blend(0.0, *value, factor);
    }
}
