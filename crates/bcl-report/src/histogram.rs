//! Histogram of the weights ω, with fixed bins so that epochs and runs can be compared.

/// Number of bins on each side of the middle one, which is centred at weight 1.
const HALF: i32 = 8;

/// Number of bins.
pub const BINS: usize = 2 * HALF as usize + 1;

/// The weight at the centre of a bin. Bins are half an octave wide, from 1/16 to 16; the middle one is centred at 1, the weight in
/// InfoNCE.
///
/// ```text
/// centre(k) = 2^((k - 8) / 2),   k = 0 … 16
/// ```
///
/// ```
/// use bcl_report::histogram::{BINS, centre};
///
/// assert_eq!((centre(0), centre(BINS / 2), centre(BINS - 1)), (1.0 / 16.0, 1.0, 16.0));
/// ```
pub fn centre(bin: usize) -> f64 {
    ((bin as f64 - f64::from(HALF)) / 2.0).exp2()
}

/// Counts the weights in each bin. The first and the last bin also count weights beyond the range, including 0.
pub fn histogram(weights: impl IntoIterator<Item = f64>) -> Vec<u64> {
    let mut counts = vec![0; BINS];
    for weight in weights {
        // log2(0) is -inf and is clamped to the first bin.
        let half_octaves = (2.0 * weight.log2()).round();
        let place = half_octaves.clamp(f64::from(-HALF), f64::from(HALF)) + f64::from(HALF);
        counts[place as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_beyond_the_bins_are_counted_in_the_outermost_ones() {
        let counts = histogram([0.0, 1e-9, 1.0, 0.99, 1e9, f64::INFINITY]);
        assert_eq!((counts[0], counts[BINS / 2], counts[BINS - 1]), (2, 2, 2));
    }

    proptest! {
        #[test]
        fn a_weight_is_within_a_quarter_octave_of_the_centre_of_its_bin(weight in 0.0626_f64..15.9) {
            let bin = histogram([weight]).iter().position(|&count| count == 1).unwrap();
            prop_assert!((weight / centre(bin)).log2().abs() <= 0.25 + 1e-9);
        }
    }
}
