//! Mixing of two levels, which brightness, contrast and saturation share.

/// Goes from `from` to `to` for a factor of 1, less far below it and further above it; in 32-bit floats, cut off to a level as PIL does.
#[inline]
pub(super) fn blend(from: f32, to: u8, factor: f32) -> u8 {
    // Rust's cast ends at 0 and 255.
    (from + factor * (f32::from(to) - from)) as u8
}
