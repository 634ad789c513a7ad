//! Arithmetic on levels that several steps share.

/// From this number on, 32-bit floats have no fraction.
const WHOLE: f32 = 8_388_608.0;

/// Interpolates from `from` (factor 0) to `to` (factor 1), and extrapolates beyond, in 32-bit floats; clipped and truncated as in PIL.
#[inline]
pub(super) fn blend(from: f32, to: u8, factor: f32) -> u8 {
    cut_off((from + factor * (f32::from(to) - from)).clamp(0.0, 255.0))
}

/// Truncates a number from 0 to 255 to a level.
///
/// A cast would do the same, but does not vectorise, because it also defines the result for numbers out of range.
#[inline]
pub(super) fn cut_off(number: f32) -> u8 {
    let rounded = number + WHOLE;
    let is_above = rounded - WHOLE > number;
    (rounded.to_bits() as u8).wrapping_sub(u8::from(is_above))
}

/// Rounds a number from 0 to 255 to the nearest level. It must not be halfway between two.
#[inline]
pub(super) fn nearest(number: f32) -> u8 {
    (number + WHOLE).to_bits() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cut_off_as_by_a_cast_and_rounded_to_the_nearest() {
        for step in 0..=255 * 64 {
            let number = step as f32 / 64.0;
            for number in [number, number.next_up().min(255.0), number.next_down().max(0.0)] {
                assert_eq!(cut_off(number), number as u8, "{number}");
                if number.fract() != 0.5 {
                    assert_eq!(nearest(number), number.round() as u8, "{number}");
                }
            }
        }
    }
}
