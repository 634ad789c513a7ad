//! Lighter or darker.

use super::blend::blend;

/// Blends with black: `factor` 0 gives black, 1 the image, more than 1 a brighter one.
pub fn adjust_brightness(planes: &mut [u8], factor: f64) {
    let factor = factor as f32;
    for value in planes {
        *value = blend(0.0, *value, factor);
    }
}
