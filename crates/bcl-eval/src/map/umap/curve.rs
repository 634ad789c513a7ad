//! The probability that two samples are neighbours, as a function of their distance in the plane.

/// Number of distances to fit the curve to.
const SAMPLES: usize = 300;

/// Number of Gauss-Newton steps; five give six digits.
const STEPS: usize = 10;

/// The smooth curve 1 / (1 + a d^2b) of distance d.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Curve {
    a: f64,
    b: f64,
}

impl Curve {
    /// Fits the curve to 1 up to `min_dist` and exp(-(d - `min_dist`) / `spread`) beyond, by least squares over distances up to
    /// 3 `spread` (section 5.2 of the paper).
    pub(super) fn fit(min_dist: f64, spread: f64) -> Self {
        let mut curve = Self { a: 1.0, b: 1.0 };
        for _ in 0..STEPS {
            curve = curve.refined(min_dist, spread);
        }
        curve
    }

    /// One Gauss-Newton step: solves J'J Δ = J'r, with residuals r and their derivatives J by a and b.
    fn refined(self, min_dist: f64, spread: f64) -> Self {
        let Self { a, b } = self;
        let (mut aa, mut ab, mut bb, mut ra, mut rb) = (0.0, 0.0, 0.0, 0.0, 0.0);
        // At distance 0, both curves are 1.
        for sample in 1..SAMPLES {
            let distance = 3.0 * spread * sample as f64 / (SAMPLES - 1) as f64;
            let wanted = (-(distance - min_dist).max(0.0) / spread).exp();
            let power = distance.powf(2.0 * b);
            let value = 1.0 / (1.0 + a * power);
            let by_a = -power * value * value;
            let by_b = 2.0 * a * distance.ln() * by_a;
            aa += by_a * by_a;
            ab += by_a * by_b;
            bb += by_b * by_b;
            ra += by_a * (wanted - value);
            rb += by_b * (wanted - value);
        }
        let determinant = aa * bb - ab * ab;
        Self {
            a: a + (bb * ra - ab * rb) / determinant,
            b: b + (aa * rb - ab * ra) / determinant,
        }
    }

    /// The factor of the difference of two points in the gradient that attracts them, given their squared distance.
    pub(super) fn attraction(self, squared: f64) -> f64 {
        if squared == 0.0 {
            return 0.0;
        }
        let Self { a, b } = self;
        let power = squared.powf(b);
        -2.0 * a * b * power / (squared * (1.0 + a * power))
    }

    /// The factor of the difference of two points in the gradient that repels them, given their squared distance.
    pub(super) fn repulsion(self, squared: f64) -> f64 {
        let Self { a, b } = self;
        // Without the small constant, near points would be thrown apart.
        2.0 * b / ((0.001 + squared) * (1.0 + a * squared.powf(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_and_b_are_those_of_umap_learn() {
        // `find_ab_params(spread, min_dist)` of umap-learn 0.5.12.
        for (min_dist, spread, a, b) in [
            (0.1, 1.0, 1.576_943, 0.895_061),
            (0.5, 1.0, 0.583_030, 1.334_167),
            (0.0, 1.0, 1.932_808, 0.790_495),
            (0.2, 1.5, 0.689_678, 0.930_826),
        ] {
            let curve = Curve::fit(min_dist, spread);
            assert!((curve.a - a).abs() < 2e-6 && (curve.b - b).abs() < 2e-6, "{curve:?}");
        }
    }

    #[test]
    fn forces_are_the_derivatives_of_the_log_probabilities() {
        let curve = Curve { a: 1.6, b: 0.9 };
        let probability = |distance: f64| 1.0 / (1.0 + curve.a * distance.powf(2.0 * curve.b));
        for distance in [0.5, 1.0, 3.0] {
            let slope = |log: &dyn Fn(f64) -> f64| (log(distance + 1e-6) - log(distance - 1e-6)) / 2e-6;
            let squared = distance * distance;
            let attracting = slope(&|d| probability(d).ln());
            assert!((curve.attraction(squared) * distance - attracting).abs() < 1e-6, "{distance}");
            let repelling = slope(&|d| (1.0 - probability(d)).ln()) * squared / (0.001 + squared);
            assert!((curve.repulsion(squared) * distance - repelling).abs() < 1e-6, "{distance}");
        }
    }
}
