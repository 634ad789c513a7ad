//! Weighted k-nearest-neighbour classification by cosine similarity.

use super::{
    Labelled, ProbeError, TopK,
    accuracy::place,
    labelled::{check_pair, to_host, unit_rows},
};
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
        places.par_extend(similarities.par_chunks(train.labels.len()).zip(labels).map_init(
            Vec::new,
            |nearest, (row, &label)| {
                nearest_first(row, config.k, nearest);
                place(&votes(nearest, &train.labels, num_classes, config.temperature), label)
            },
        ));
    }
    Ok(places)
}

fn similarities(rows: Tensor<2>, columns: Tensor<2>) -> Vec<f32> {
    to_host(matmul(rows, columns))
}

/// The vote of each class, relative to the nearest neighbour's vote: this keeps the order and keeps `exp` finite.
fn votes(nearest: &[Neighbour], labels: &[u32], num_classes: usize, temperature: f64) -> Vec<f64> {
    let best = f64::from(nearest[0].similarity());
    let mut votes = vec![0.0; num_classes];
    for neighbour in nearest {
        let similarity = f64::from(neighbour.similarity());
        votes[labels[neighbour.index()] as usize] += ((similarity - best) / temperature).exp();
    }
    votes
}

/// A training sample and its similarity, packed into one integer that is larger for nearer samples.
///
/// The high bits are the similarity in an order-preserving encoding, the low bits the inverted index, so a tie goes to the lower index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Neighbour(u64);

const SIGN: u32 = 1 << 31;

impl Neighbour {
    fn new(index: usize, similarity: f32) -> Self {
        // Adding 0 turns -0.0 into 0.0.
        let bits = (similarity + 0.0).to_bits();
        let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        Self(u64::from(ordered) << 32 | u64::from(!(index as u32)))
    }

    fn index(self) -> usize {
        !(self.0 as u32) as usize
    }

    fn similarity(self) -> f32 {
        let ordered = (self.0 >> 32) as u32;
        f32::from_bits(if ordered & SIGN == 0 { !ordered } else { ordered & !SIGN })
    }
}

/// Replaces the content of `nearest` with the `k` most similar samples, nearest first.
///
/// Most samples are less similar than the k-th best so far and cost a single comparison.
fn nearest_first(similarities: &[f32], k: usize, nearest: &mut Vec<Neighbour>) {
    nearest.clear();
    let mut bar = f32::NEG_INFINITY;
    for (index, &similarity) in similarities.iter().enumerate() {
        // Later samples have a higher index, so they lose ties with the k-th best.
        if similarity <= bar {
            continue;
        }
        nearest.push(Neighbour::new(index, similarity));
        if nearest.len() == k.saturating_mul(2) {
            nearest.select_nth_unstable_by(k - 1, |a, b| b.cmp(a));
            nearest.truncate(k);
            bar = nearest[k - 1].similarity();
        }
    }
    nearest.sort_unstable_by(|a, b| b.cmp(a));
    nearest.truncate(k);
}

#[cfg(test)]
mod tests;
