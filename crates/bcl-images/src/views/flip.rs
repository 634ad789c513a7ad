//! Horizontal flip.

/// Flips the image horizontally.
///
/// # Shapes
/// - planes: `[3, height, width]`
pub fn flip(planes: &mut [u8], width: usize) {
    for row in planes.chunks_exact_mut(width) {
        row.reverse();
    }
}
