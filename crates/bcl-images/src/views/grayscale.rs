//! Conversion to grey.

use super::channels_mut;

/// The luma of ITU-R BT.601 in fixed point: `0.299 r + 0.587 g + 0.114 b`, rounded.
#[inline]
pub fn luma(r: u8, g: u8, b: u8) -> u8 {
    ((19595 * u32::from(r) + 38470 * u32::from(g) + 7471 * u32::from(b) + 0x8000) >> 16) as u8
}

/// Replaces red, green and blue of each pixel by its [`luma`].
///
/// # Shapes
/// - planes: `[3, height, width]`
pub fn grayscale(planes: &mut [u8]) {
    let [red, green, blue] = channels_mut(planes);
    for ((r, g), b) in red.iter_mut().zip(green).zip(blue) {
        let grey = luma(*r, *g, *b);
        (*r, *g, *b) = (grey, grey, grey);
    }
}
