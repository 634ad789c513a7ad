//! The online probe: ridge regression on the classes in closed form, cheap enough to run during training.

use super::{
    Labelled, ProbeError,
    accuracy::place,
    labelled::{check_pair, to_host},
};
use bcl_core::matmul;
use burn::tensor::{Device, Tensor, TensorData};
use faer::{Mat, Side, linalg::solvers::Solve};

/// λ as a fraction of the mean of the diagonal of X'X, which makes it independent of the features' scale.
const RIDGE: f64 = 1e-3;

/// Top-1 accuracy of a ridge regression from features to one-hot classes.
///
/// With X and Y the training features and one-hot classes, both centred,
///
/// ```text
/// W = (X'X + λ I)⁻¹ X'Y       scores = (x - mean of features) W + class frequencies       λ = 1e-3 · trace(X'X) / dim
/// ```
///
/// It needs no epochs, seed or learning rate, only one pass over the features. For published results use
/// [`probe_fixed`](super::probe_fixed). Returns `None` if the features are so large that X'X or the scores overflow.
///
/// # Errors
/// Returns a [`ProbeError`] if features or labels are invalid.
///
/// ```
/// use bcl_eval::probe::{Labelled, ridge_accuracy};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let train = Labelled { features: Tensor::from_floats([[1.0, 0.1], [0.1, 1.0]], &device), labels: vec![0, 1] };
/// assert_eq!(ridge_accuracy(&train, &train, 2)?, Some(1.0));
/// # Ok::<(), bcl_eval::probe::ProbeError>(())
/// ```
pub fn ridge_accuracy(train: &Labelled, test: &Labelled, num_classes: usize) -> Result<Option<f64>, ProbeError> {
    let (features, test_features) = check_pair(train, test, num_classes)?;
    let device = features.device();
    let mean = features.clone().mean_dim(0);
    let features = features - mean.clone();
    let classes = one_hot(&train.labels, num_classes, &device);
    let shares = classes.clone().mean_dim(0);

    let transposed = features.clone().transpose();
    // With centred features, the mean of the classes cancels in X'Y, so `classes` need not be centred.
    let Some(weight) = solve(matmul(transposed.clone(), features), matmul(transposed, classes)) else {
        return Ok(None);
    };
    let scores = to_host(matmul(test_features - mean, weight) + shares);
    if scores.iter().any(|score| !score.is_finite()) {
        return Ok(None);
    }
    let rows = scores.chunks_exact(num_classes).zip(&test.labels);
    let hits = rows.filter(|&(row, &label)| place(row, label) == 0).count();
    Ok(Some(hits as f64 / test.labels.len() as f64))
}

/// Solves for W, given X'X and X'Y; `None` if they are not finite or no λ makes the system positive definite.
fn solve(gram: Tensor<2>, targets: Tensor<2>) -> Option<Tensor<2>> {
    let [dim, num_classes] = targets.dims();
    let device = targets.device();
    let (gram, targets) = (to_host(gram), to_host(targets));
    if gram.iter().chain(&targets).any(|value| !value.is_finite()) {
        return None;
    }
    let trace: f64 = (0..dim).map(|i| f64::from(gram[i * dim + i])).sum();
    // Features that have collapsed to a point have zero variance; keep λ positive.
    let mut ridge = (RIDGE * trace / dim as f64).max(f64::from(f32::MIN_POSITIVE));
    let factor = loop {
        let entry = |row: usize, column: usize| f64::from(gram[row * dim + column]) + if row == column { ridge } else { 0.0 };
        match Mat::from_fn(dim, dim, entry).llt(Side::Lower) {
            Ok(factor) => break factor,
            // Rounding X'X to f32 can give it negative eigenvalues if features are linearly dependent. λ = trace outweighs them.
            Err(_) if ridge <= trace => ridge *= 10.0,
            Err(_) => return None,
        }
    };
    let solution = factor.solve(Mat::from_fn(dim, num_classes, |row, column| {
        f64::from(targets[row * num_classes + column])
    }));
    let weight: Vec<f32> = (0..dim * num_classes)
        .map(|i| solution[(i / num_classes, i % num_classes)] as f32)
        .collect();
    Some(Tensor::from_data(TensorData::new(weight, [dim, num_classes]), &device))
}

fn one_hot(labels: &[u32], num_classes: usize, device: &Device) -> Tensor<2> {
    let mut values = vec![0.0_f32; labels.len() * num_classes];
    for (row, &label) in values.chunks_exact_mut(num_classes).zip(labels) {
        row[label as usize] = 1.0;
    }
    Tensor::from_data(TensorData::new(values, [labels.len(), num_classes]), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::planted::{clusters, coins, noise};
    use burn::tensor::Device;

    #[test]
    fn the_solution_satisfies_the_normal_equations() {
        let features = noise(40, 6, 1);
        let targets = one_hot(&coins(40, 3, 1), 3, &Device::flex());
        let gram = features.clone().transpose().matmul(features.clone());
        let right = features.transpose().matmul(targets);
        let weight = solve(gram.clone(), right.clone()).unwrap();
        let diagonal: f64 = (0..6).map(|i| f64::from(to_host(gram.clone())[i * 7])).sum();
        let left = gram.matmul(weight.clone()) + weight * (RIDGE * diagonal / 6.0);
        for (left, right) in to_host(left).iter().zip(to_host(right)) {
            assert!((left - right).abs() < 1e-4, "{left} {right}");
        }
    }

    #[test]
    fn separate_clusters_are_classified_perfectly_at_any_offset() {
        let (mut train, mut test) = (clusters(400, 16, 10, 0.05, 1), clusters(100, 16, 10, 0.05, 2));
        assert_eq!(ridge_accuracy(&train, &test, 10), Ok(Some(1.0)));
        train.features = train.features * 1e-6 + 1e-3;
        test.features = test.features * 1e-6 + 1e-3;
        assert_eq!(ridge_accuracy(&train, &test, 10), Ok(Some(1.0)));
    }

    #[test]
    fn labels_without_meaning_are_guessed_by_chance() {
        let random = |n, seed| Labelled {
            features: noise(n, 16, seed),
            labels: coins(n, 10, seed),
        };
        let found = ridge_accuracy(&random(1000, 1), &random(2000, 2), 10).unwrap().unwrap();
        assert!((found - 0.1).abs() < 0.021, "{found}");
    }

    #[test]
    fn collapsed_features_give_the_most_frequent_class() {
        let collapsed = |labels: Vec<u32>| Labelled {
            features: Tensor::full([labels.len(), 5], 0.3, &Device::flex()),
            labels,
        };
        let (train, test) = (collapsed(vec![0, 1, 1, 2, 1]), collapsed(vec![0, 1, 2, 1]));
        assert_eq!(ridge_accuracy(&train, &test, 3), Ok(Some(0.5)));
    }

    #[test]
    fn repeated_features_and_fewer_samples_than_features_have_a_solution() {
        let train = clusters(12, 20, 3, 0.05, 3);
        let twice = Tensor::cat(vec![train.features.clone(), train.features.clone()], 1);
        let train = Labelled {
            features: twice,
            labels: train.labels,
        };
        assert_eq!(ridge_accuracy(&train, &train, 3), Ok(Some(1.0)));
    }

    #[test]
    fn features_too_large_to_be_squared_have_no_accuracy() {
        let (mut train, mut test) = (clusters(40, 6, 3, 0.05, 1), clusters(20, 6, 3, 0.05, 2));
        for scale in [1e18, 1e19, 1e25, 1e38] {
            let at = |features: Tensor<2>| features / 2.0 * scale;
            (train.features, test.features) = (
                at(clusters(40, 6, 3, 0.05, 1).features),
                at(clusters(20, 6, 3, 0.05, 2).features),
            );
            let found = ridge_accuracy(&train, &test, 3);
            assert!(found == Ok(None) || found == Ok(Some(1.0)), "{found:?} at {scale}");
        }
        assert_eq!(ridge_accuracy(&train, &test, 3), Ok(None));
    }

    #[test]
    fn the_search_for_a_ridge_ends() {
        let not_numbers = Tensor::<2>::full([2, 2], f32::NAN, &Device::flex());
        assert!(solve(not_numbers.clone(), Tensor::ones([2, 3], &Device::flex())).is_none());
        let negative = Tensor::<2>::from_floats([[-3.0, 0.0], [0.0, 1.0]], &Device::flex());
        assert!(solve(negative.clone(), Tensor::ones([2, 3], &Device::flex())).is_none());
    }
}
