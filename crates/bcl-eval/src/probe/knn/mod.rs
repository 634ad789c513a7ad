//! Weighted k-nearest-neighbour classification by cosine similarity.

use super::{
    Labelled, ProbeError, TopK,
    accuracy::place,
    labelled::{check_pair, to_host, unit_rows},
};
use crate::top_k::{RankedItem, top_k};
use bcl_core::{
    ParameterError, matmul,
    parameter::{count_in, temperature},
};
use burn::tensor::Tensor;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Number of similarities computed at a time (32 MB).
const BLOCK_SIMILARITIES: usize = 8 << 20;

/// Configuration of the k-nearest-neighbour classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KnnConfig {
    /// Number of neighbours that vote, 1 to 1,000,000; at most all training samples.
    pub k: usize,
    /// Temperature t of a vote's weight exp(similarity / t), in [1e-6, 1e6].
    pub temperature: f64,
}

impl Default for KnnConfig {
    fn default() -> Self {
        Self {
            k: 200,
            temperature: 0.5,
        }
    }
}

impl KnnConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("k", self.k, 1, 1_000_000)?;
        temperature(self.temperature)
    }
}

/// Accuracy of k-nearest-neighbour classification on frozen features.
///
/// With s the cosine similarity of a test sample to a training sample, and N the k most similar training samples,
///
/// ```text
/// votes[c] = sum of exp(s_i / t) over i in N with label_i = c
/// ```
///
/// "Unsupervised feature learning via non-parametric instance discrimination" (Wu et al., CVPR 2018), section 3.4.
///
/// # Errors
/// Returns a [`ProbeError`] if features or labels are invalid.
///
/// # Panics
/// Panics if [`KnnConfig::check`] fails.
///
/// ```
/// use bcl_eval::probe::{KnnConfig, Labelled, knn};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let train = Labelled { features: Tensor::from_floats([[1.0, 0.1], [0.1, 1.0]], &device), labels: vec![0, 1] };
/// let test = Labelled { features: Tensor::from_floats([[3.0, 0.0], [0.0, 0.2]], &device), labels: vec![0, 1] };
/// assert_eq!(knn(&train, &test, 2, &KnnConfig::default())?.top1, 1.0);
/// # Ok::<(), bcl_eval::probe::ProbeError>(())
/// ```
pub fn knn(train: &Labelled, test: &Labelled, num_classes: usize, config: &KnnConfig) -> Result<TopK, ProbeError> {
    let block = BLOCK_SIMILARITIES / train.labels.len().max(1);
    let places = places(train, test, num_classes, config, block.max(1))?;
    Ok(TopK::of_places(&places, num_classes))
}

/// The rank of each test sample's class, computed in blocks of `block` test samples.
fn places(
    train: &Labelled,
    test: &Labelled,
    num_classes: usize,
    config: &KnnConfig,
    block: usize,
) -> Result<Vec<usize>, ProbeError> {
    config.check().unwrap_or_else(|error| panic!("{error}"));
    let (train_features, test_features) = check_pair(train, test, num_classes)?;
    let columns = unit_rows(train_features).transpose();
    let rows = unit_rows(test_features);

    let mut places = Vec::with_capacity(test.labels.len());
    for (index, labels) in test.labels.chunks(block).enumerate() {
        let start = index * block;
        let similarities = similarities(rows.clone().slice(start..start + labels.len()), columns.clone());
        places.par_extend(similarities.par_chunks(train.labels.len()).zip(labels).map(|(row, &label)| {
            let nearest = top_k(row, &[], config.k).expect("features are finite");
            place(&votes(&nearest, &train.labels, num_classes, config.temperature), label)
        }));
    }
    Ok(places)
}

fn similarities(rows: Tensor<2>, columns: Tensor<2>) -> Vec<f32> {
    to_host(matmul(rows, columns))
}

/// The vote of each class, relative to the nearest neighbour's vote: this keeps the order and keeps `exp` finite.
fn votes(nearest: &[RankedItem], labels: &[u32], num_classes: usize, temperature: f64) -> Vec<f64> {
    let best = f64::from(nearest[0].score);
    let mut votes = vec![0.0; num_classes];
    for neighbour in nearest {
        let similarity = f64::from(neighbour.score);
        votes[labels[neighbour.item as usize] as usize] += ((similarity - best) / temperature).exp();
    }
    votes
}

#[cfg(test)]
mod tests;
