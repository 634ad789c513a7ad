//! Initial points: the principal components of unit features.

use super::super::Cosines;
use faer::{Mat, Side};
use rand::RngExt;

/// Largest initial coordinate.
const LARGEST: f64 = 10.0;

/// Largest random offset of an initial coordinate, which separates copies of a sample.
const JITTER: f64 = 1e-4;

/// The first two principal components of unit features; `None` if the eigenvalues cannot be computed.
///
/// The cosines are inner products of unit features. With rows and columns centred, their eigenvectors, scaled by the roots of the
/// eigenvalues, are the principal components.
pub(super) fn principal_components(cosines: &Cosines) -> Option<Vec<[f64; 2]>> {
    let num_samples = cosines.num_samples;
    let cosine = |row: usize, column: usize| f64::from(cosines.values[row * num_samples + column]);
    let means: Vec<f64> = cosines
        .rows()
        .map(|row| row.iter().map(|&cosine| f64::from(cosine)).sum::<f64>() / num_samples as f64)
        .collect();
    let mean = means.iter().sum::<f64>() / num_samples as f64;
    let centred = Mat::from_fn(num_samples, num_samples, |row, column| {
        cosine(row, column) - means[row] - means[column] + mean
    });
    let eigen = centred.self_adjoint_eigen(Side::Lower).ok()?;
    let (values, vectors) = (eigen.S(), eigen.U());
    // Eigenvalues ascend.
    let axes = [num_samples - 1, num_samples - 2];
    let point = |row| axes.map(|axis| vectors[(row, axis)] * values[axis].max(0.0).sqrt());
    Some((0..num_samples).map(point).collect())
}

/// Scales points to a largest coordinate of 10 and moves each a little.
pub(super) fn rescale(points: &mut [[f64; 2]], rng: &mut impl RngExt) {
    let largest = points
        .iter()
        .flatten()
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { LARGEST / largest } else { 0.0 };
    for value in points.iter_mut().flatten() {
        *value = *value * scale + JITTER * (2.0 * rng.random::<f64>() - 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::Seed;

    #[test]
    fn principal_components_preserve_the_distances_of_points_in_a_plane() {
        // On a circle, the cosine of two points is the cosine of the difference of their angles. Evenly spread points are centred.
        let num_samples = 12;
        let angle = |sample: usize| sample as f64 * std::f64::consts::TAU / num_samples as f64;
        let values = (0..num_samples * num_samples).map(|i| (angle(i / num_samples) - angle(i % num_samples)).cos() as f32);
        let cosines = Cosines {
            num_samples,
            values: values.collect(),
        };
        let points = principal_components(&cosines).unwrap();
        for (i, p) in points.iter().enumerate() {
            for (j, q) in points.iter().enumerate() {
                let chord = 2.0 * ((angle(i) - angle(j)) / 2.0).sin().abs();
                assert!(((p[0] - q[0]).hypot(p[1] - q[1]) - chord).abs() < 1e-6, "{i} {j}");
            }
        }
    }

    #[test]
    fn rescaled_points_keep_their_proportions_and_copies_are_separated() {
        let mut points = [[0.0, 0.0], [0.0, 0.0], [1.0, -2.0]];
        rescale(&mut points, &mut Seed(1).rng());
        assert!((points[2][0] - 5.0).abs() <= JITTER && (points[2][1] + LARGEST).abs() <= JITTER);
        assert!(points[0] != points[1] && points[..2].iter().flatten().all(|value| value.abs() <= JITTER));
    }
}
