//! Exponentials that compile to vector instructions.

pub(crate) trait Exponential {
    fn exponential(self) -> Self;
}

impl Exponential for f64 {
    #[inline(always)]
    fn exponential(self) -> Self {
        self.exp()
    }
}

impl Exponential for f32 {
    /// `2^n · e^r` with `n` the integer nearest to `x / ln 2`. For `e^r`, with `|r| <= ln 2 / 2`, the Taylor polynomial of degree 7 has a
    /// remainder below 1e-8. Results too small for a normal number are 0.
    #[inline(always)]
    fn exponential(self) -> Self {
        /// Adding this constant rounds to an integer, because no bits remain for the fraction.
        const ROUNDER: f32 = 12_582_912.0;
        // ln 2 in two parts. The first has so few digits that its products with n are exact.
        const LN_2_HIGH: f32 = 0.693_359_4;
        const LN_2_LOW: f32 = -2.121_944_4e-4;
        const LARGEST: f32 = 88.722_83;
        const SMALLEST: f32 = -87.336_54;
        const FACTORS: [f32; 6] = [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5];

        // Written so that NaN passes through.
        let x = if self > LARGEST { LARGEST } else { self };
        let x = if x < SMALLEST { SMALLEST } else { x };
        let rounded = x * std::f32::consts::LOG2_E + ROUNDER;
        let n = rounded - ROUNDER;
        let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
        let mut polynomial = FACTORS[0];
        for factor in &FACTORS[1..] {
            polynomial = polynomial * r + factor;
        }
        let fraction = polynomial * r * r + r + 1.0;
        // The low bits hold the integer n. It is applied as an exponent in two halves, because 2^128 is not representable.
        let n = rounded.to_bits().wrapping_sub(ROUNDER.to_bits()).cast_signed();
        let half = n >> 1;
        let power = |n: i32| Self::from_bits((n.wrapping_add(127) << 23).cast_unsigned());
        let result = fraction * power(half) * power(n.wrapping_sub(half));
        let result = if self > LARGEST { Self::INFINITY } else { result };
        if self < SMALLEST { 0.0 } else { result }
    }
}

#[cfg(test)]
mod tests {
    use super::Exponential;

    #[test]
    fn exponentials_are_as_good_as_those_of_the_standard_library() {
        for i in -870_000..887_000 {
            let x = i as f32 * 1e-4;
            let exact = f64::from(x).exp();
            let error = (f64::from(x.exponential()) / exact - 1.0).abs();
            assert!(error < 1.5e-7, "{x}: {error:e}");
        }
    }

    #[test]
    fn exponentials_beyond_the_range() {
        assert_eq!(f32::NEG_INFINITY.exponential(), 0.0);
        assert_eq!((-1e30f32).exponential(), 0.0);
        assert_eq!(f32::INFINITY.exponential(), f32::INFINITY);
        assert_eq!(0f32.exponential(), 1.0);
        assert!(f32::NAN.exponential().is_nan());
    }
}
