//! Geometry of features on the unit sphere: alignment of two views of a sample, and uniformity of different samples.

use super::{
    ProbeError,
    labelled::{check_finite, to_host, unit_rows},
};
use bcl_core::matmul;
use burn::tensor::{Tensor, assert_shape};

/// Number of similarities computed at a time (32 MB).
const BLOCK_SIMILARITIES: usize = 8 << 20;

/// Alignment: mean squared distance between two views of the same samples, from 0 (views agree) to 4.
///
/// ```text
/// mean of |u_i - v_i|²        u, v: first and second, with rows normalised to length 1
/// ```
///
/// "Understanding contrastive representation learning through alignment and uniformity on the hypersphere" (Wang and Isola, ICML
/// 2020), equation 2 with exponent 2.
///
/// # Shapes
/// - first, second: `[num_samples, dim]`
///
/// # Errors
/// Returns [`ProbeError::Empty`] without samples and [`ProbeError::NotFinite`] if a feature is NaN or infinite.
///
/// # Panics
/// Panics if the shapes differ.
///
/// ```
/// use bcl_eval::probe::alignment;
/// use burn::tensor::{Device, Tensor};
///
/// let views = |rows: [[f32; 2]; 2]| Tensor::<2>::from_floats(rows, &Device::flex());
/// let distance = alignment(views([[1.0, 0.0], [0.0, 2.0]]), views([[5.0, 0.0], [1.0, 0.0]]))?;
/// assert_eq!(distance, 1.0); // 0 and 2
/// # Ok::<(), bcl_eval::probe::ProbeError>(())
/// ```
pub fn alignment(first: Tensor<2>, second: Tensor<2>) -> Result<f64, ProbeError> {
    let [num_samples, dim] = first.dims();
    assert_shape!(second, [num_samples, dim]);
    let (first, second) = (unit_rows(checked(&first)?), unit_rows(checked(&second)?));
    let distances = to_host((first - second).square().sum_dim(1));
    Ok(distances.iter().copied().map(f64::from).sum::<f64>() / distances.len() as f64)
}

/// Uniformity: how evenly features cover the unit sphere. It is 0 if all features are equal, about -4 for independent features in many
/// dimensions, and -8 for two opposite points. Features of zeros stay zero, so that an encoder without output has 0, too.
///
/// ```text
/// log of the mean over i < j of exp(-2 |u_i - u_j|²)        u: features, with rows normalised to length 1
/// ```
///
/// "Understanding contrastive representation learning through alignment and uniformity on the hypersphere" (Wang and Isola, ICML
/// 2020), equation 3 with t = 2.
///
/// # Shapes
/// - features: `[num_samples, dim]`
///
/// # Errors
/// Returns [`ProbeError::Empty`] or [`ProbeError::NoPairs`] with fewer than two samples, and [`ProbeError::NotFinite`] if a feature is
/// NaN or infinite.
///
/// ```
/// use bcl_eval::probe::uniformity;
/// use burn::tensor::{Device, Tensor};
///
/// let opposite = Tensor::from_floats([[1.0, 0.0], [-3.0, 0.0]], &Device::flex());
/// assert!((uniformity(opposite)? + 8.0).abs() < 1e-6);
/// # Ok::<(), bcl_eval::probe::ProbeError>(())
/// ```
pub fn uniformity(features: Tensor<2>) -> Result<f64, ProbeError> {
    let block = BLOCK_SIMILARITIES / features.dims()[0].max(1);
    uniformity_in_blocks(&features, block.max(1))
}

fn uniformity_in_blocks(features: &Tensor<2>, block: usize) -> Result<f64, ProbeError> {
    let rows = unit_rows(checked(features)?);
    let num_samples = rows.dims()[0];
    if num_samples < 2 {
        return Err(ProbeError::NoPairs);
    }
    // Exactly 1, or 0 for a row of zeros.
    let lengths = rows.clone().square().sum_dim(1).round();
    let mut sum = 0.0;
    for start in (0..num_samples).step_by(block) {
        let end = (start + block).min(num_samples);
        // Pairs with samples before the block are already counted; `triu(1)` keeps the pairs i < j.
        let others = rows.clone().slice(start..num_samples).transpose();
        let similarities = matmul(rows.clone().slice(start..end), others);
        let both = lengths.clone().slice(start..end) + lengths.clone().slice(start..num_samples).transpose();
        // -2 |u - v|² = 4 <u, v> - 2 |u|² - 2 |v|²
        let kernel = ((similarities - both / 2.0) * 4.0).exp().triu(1);
        sum += to_host(kernel.sum_dim(1)).iter().copied().map(f64::from).sum::<f64>();
    }
    let num_pairs = num_samples as f64 * (num_samples - 1) as f64 / 2.0;
    // Unit rows are at most 2 apart. Only a device that computes nothing (see `fake-cuda`) gives less.
    Ok((sum / num_pairs).ln().max(-8.0))
}

/// Checks that there are features and all are finite.
pub(super) fn checked(features: &Tensor<2>) -> Result<Tensor<2>, ProbeError> {
    if features.dims()[0] == 0 {
        return Err(ProbeError::Empty { set: "test" });
    }
    check_finite(features, "test")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::planted::noise;
    use burn::tensor::{Device, TensorData};
    use proptest::prelude::*;

    /// Alignment and uniformity pair by pair in f64, directly from their equations.
    fn slow(first: &[Vec<f64>], second: &[Vec<f64>]) -> (f64, f64) {
        let unit = |row: &Vec<f64>| {
            let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
            row.iter().map(|value| value / length).collect::<Vec<_>>()
        };
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let (first, second): (Vec<_>, Vec<_>) = (first.iter().map(unit).collect(), second.iter().map(unit).collect());
        let n = first.len();
        let alignment = (0..n).map(|i| distance(&first[i], &second[i])).sum::<f64>() / n as f64;
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
        let kernel = |&(i, j): &(usize, usize)| (-2.0 * distance(&first[i], &first[j])).exp();
        (alignment, (pairs.iter().map(kernel).sum::<f64>() / pairs.len() as f64).ln())
    }

    fn tensor(rows: &[Vec<f64>]) -> Tensor<2> {
        let values: Vec<f32> = rows.iter().flatten().map(|&value| value as f32).collect();
        Tensor::from_data(TensorData::new(values, [rows.len(), rows[0].len()]), &Device::flex())
    }

    proptest! {
        #[test]
        fn both_figures_equal_their_equations_in_blocks_of_any_size(
            rows in prop::collection::vec(prop::collection::vec(0.1_f64..1.0, 8), 2..30),
            block in 1_usize..40,
        ) {
            let (first, second): (Vec<_>, Vec<_>) = rows.iter().map(|row| {
                let sign = |i: usize| if ((row[i] * 1000.0) as u32).is_multiple_of(2) { 1.0 } else { -1.0 };
                let signed: Vec<f64> = row.iter().enumerate().map(|(i, value)| value * sign(i)).collect();
                (signed[..4].to_vec(), signed[4..].to_vec())
            }).unzip();
            let (expected_alignment, expected_uniformity) = slow(&first, &second);
            let found = alignment(tensor(&first), tensor(&second)).unwrap();
            prop_assert!((found - expected_alignment).abs() < 1e-5, "{} {}", found, expected_alignment);
            let found = uniformity_in_blocks(&tensor(&first), block).unwrap();
            prop_assert!((found - expected_uniformity).abs() < 1e-5, "{} {}", found, expected_uniformity);
        }
    }

    #[test]
    fn collapsed_features_align_perfectly_and_have_no_uniformity() {
        let same = Tensor::from_floats([[0.3, 0.4]; 50], &Device::flex());
        assert!(alignment(same.clone(), same.clone()).unwrap() < 1e-12);
        assert!(uniformity(same).unwrap().abs() < 1e-5);
    }

    #[test]
    fn zeros_are_one_point_apart_from_all_directions() {
        let device = Device::flex();
        assert_eq!(uniformity(Tensor::zeros([50, 3], &device)), Ok(0.0));
        // A zero is at distance 1 from a unit row.
        let beside = Tensor::from_floats([[0.0, 0.0], [0.0, 7.0]], &device);
        assert!((uniformity(beside).unwrap() + 2.0).abs() < 1e-6);
    }

    #[test]
    fn independent_directions_in_many_dimensions_are_uniform() {
        let features = noise(500, 256, 3);
        // Squared distances are 2, so each pair gives exp(-4).
        assert!((uniformity(features).unwrap() + 4.0).abs() < 0.1);
    }

    #[test]
    fn huge_and_tiny_features_have_the_angles_they_had() {
        let features = noise(20, 4, 7);
        let expected = uniformity(features.clone()).unwrap();
        for scale in [1e30, 1e-30] {
            assert!((uniformity(features.clone() * scale).unwrap() - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn features_that_cannot_be_measured_are_refused() {
        let device = Device::flex();
        assert_eq!(
            uniformity(Tensor::zeros([0, 3], &device)),
            Err(ProbeError::Empty { set: "test" })
        );
        assert_eq!(uniformity(Tensor::ones([1, 3], &device)), Err(ProbeError::NoPairs));
        let broken = Tensor::from_floats([[1.0, 0.0], [f32::NAN, 0.0]], &device);
        let error = Err(ProbeError::NotFinite { set: "test", sample: 1 });
        assert_eq!(uniformity(broken.clone()), error);
        assert_eq!(alignment(Tensor::ones([2, 2], &device), broken), error);
    }
}
