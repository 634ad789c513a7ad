//! The one seam of the library: what passes from a source of negatives to an estimator.

use crate::Similarity;
use burn::tensor::{Bool, Tensor};

/// Raw similarities of a batch of anchors with their positives and their negatives.
///
/// Wherever scores come from (other views of the batch, a queue, a memory bank, sampled items, graph patches), an
/// [`Estimator`](crate::Estimator) turns them into a loss without knowing the source.
///
/// # Shapes
/// - positives:  `[num_anchors]`
/// - negatives:  `[num_anchors, num_negatives]`
/// - mask:       `[num_anchors, num_negatives]`, true where the entry counts
/// - `same_class`: `[num_anchors, num_negatives]`, true where the negative shares the anchor's class
/// - noise:      `[num_anchors]`, standard Gamma draws
#[derive(Debug, Clone)]
pub struct Scores {
    /// Similarity of each anchor with its positive, before the temperature.
    pub positives: Tensor<1>,
    /// Similarities of each anchor with its unlabelled negatives, before the temperature.
    pub negatives: Tensor<2>,
    /// Which negatives count, where rows are ragged; each row needs at least one.
    pub mask: Option<Tensor<2, Bool>>,
    /// Which negatives are false ones, where labels are known. Only the supervised oracle and measurements read it.
    pub same_class: Option<Tensor<2, Bool>>,
    /// Draws from a Gamma distribution of unit rate and of the shape that
    /// [`Estimator::noise_shape`](crate::Estimator::noise_shape) asks for.
    pub noise: Option<Tensor<1>>,
}

impl Scores {
    /// Wraps similarities.
    ///
    /// # Panics
    /// When the numbers of anchors differ, or there is no anchor or no negative.
    pub fn new(positives: Tensor<1>, negatives: Tensor<2>) -> Self {
        let [num_anchors] = positives.dims();
        let [rows, num_negatives] = negatives.dims();
        assert_eq!(
            rows, num_anchors,
            "negatives have {rows} rows, but there are {num_anchors} positives"
        );
        assert!(num_anchors > 0, "there must be at least one anchor");
        assert!(num_negatives > 0, "each anchor needs at least one negative");
        Self {
            positives,
            negatives,
            mask: None,
            same_class: None,
            noise: None,
        }
    }

    /// Scores of two views of a batch against each other, as in SimCLR.
    ///
    /// Every embedding is an anchor (first those of `first`, then those of `second`); its positive is the other view of the same
    /// sample, its negatives are both views of all other samples.
    ///
    /// # Shapes
    /// - first, second: `[batch_size, dim]`
    /// - positives:     `[2 · batch_size]`
    /// - negatives:     `[2 · batch_size, 2 · batch_size - 2]`
    ///
    /// # Panics
    /// When the shapes differ or there are fewer than two samples.
    pub fn from_views(first: Tensor<2>, second: Tensor<2>, similarity: Similarity) -> Self {
        let [batch_size, dim] = first.dims();
        assert_eq!(second.dims(), [batch_size, dim], "the two views must have one shape");
        assert!(
            batch_size > 1,
            "in-batch negatives need at least 2 samples, but there is {batch_size}"
        );

        let first = similarity.prepare(first);
        let second = similarity.prepare(second);
        let across = first.clone().matmul(second.clone().transpose());
        let within_first = first.clone().matmul(first.clone().transpose());
        let within_second = second.clone().matmul(second.clone().transpose());
        let positives = (first * second).sum_dim(1).squeeze_dim::<1>(1);

        let of_first = Tensor::cat(vec![off_diagonal(within_first), off_diagonal(across.clone())], 1);
        let of_second = Tensor::cat(vec![off_diagonal(across.transpose()), off_diagonal(within_second)], 1);
        Self::new(
            Tensor::cat(vec![positives.clone(), positives], 0),
            Tensor::cat(vec![of_first, of_second], 0),
        )
    }

    /// Marks the negatives that count (true).
    ///
    /// # Panics
    /// When the shape is not that of the negatives.
    pub fn with_mask(mut self, mask: Tensor<2, Bool>) -> Self {
        assert_eq!(
            mask.dims(),
            self.negatives.dims(),
            "the mask must have the shape of the negatives"
        );
        self.mask = Some(mask);
        self
    }

    /// Marks the negatives that share their anchor's class (true).
    ///
    /// # Panics
    /// When the shape is not that of the negatives.
    pub fn with_same_class(mut self, same_class: Tensor<2, Bool>) -> Self {
        assert_eq!(
            same_class.dims(),
            self.negatives.dims(),
            "the truth must have the shape of the negatives"
        );
        self.same_class = Some(same_class);
        self
    }

    /// Adds one standard Gamma draw an anchor, for the estimators that ask for noise.
    ///
    /// # Panics
    /// When there is not one draw an anchor.
    pub fn with_noise(mut self, noise: Tensor<1>) -> Self {
        assert_eq!(noise.dims(), self.positives.dims(), "there must be one draw an anchor");
        self.noise = Some(noise);
        self
    }

    /// Number of anchors.
    pub fn num_anchors(&self) -> usize {
        self.positives.dims()[0]
    }

    /// Number of columns of the negatives, masked ones included.
    pub fn num_negatives(&self) -> usize {
        self.negatives.dims()[1]
    }

    /// How many negatives of each anchor count.
    ///
    /// # Shapes
    /// - output: `[num_anchors, 1]`, or `[1, 1]` without a mask
    pub(crate) fn counts(&self) -> Tensor<2> {
        match &self.mask {
            Some(mask) => mask.clone().float().cast(self.negatives.dtype()).sum_dim(1),
            None => Tensor::full(
                [1, 1],
                self.num_negatives() as f64,
                (&self.negatives.device(), self.negatives.dtype()),
            ),
        }
    }
}

/// Drops the diagonal of a square matrix by slices alone: cut off the first entry, and rows one longer end with a diagonal entry.
///
/// # Shapes
/// - square: `[n, n]`
/// - output: `[n, n - 1]`, columns in order
fn off_diagonal(square: Tensor<2>) -> Tensor<2> {
    let [n, _] = square.dims();
    square
        .reshape([n * n])
        .slice(1..n * n)
        .reshape([n - 1, n + 1])
        .slice([0..n - 1, 0..n])
        .reshape([n, n - 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, TensorData};

    #[test]
    fn each_anchor_meets_every_other_sample_but_its_positive() {
        let device = Device::flex();
        let first = Tensor::<2>::from_data([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], &device);
        let second = Tensor::<2>::from_data([[10.0, 0.0], [20.0, 0.0], [30.0, 0.0]], &device);
        let scores = Scores::from_views(first, second, Similarity::Dot);
        scores
            .positives
            .into_data()
            .assert_eq(&TensorData::from([10.0f32, 40.0, 90.0, 10.0, 40.0, 90.0]), true);
        scores.negatives.into_data().assert_eq(
            &TensorData::from([
                [2.0f32, 3.0, 20.0, 30.0],
                [2.0, 6.0, 20.0, 60.0],
                [3.0, 6.0, 30.0, 60.0],
                [20.0, 30.0, 200.0, 300.0],
                [20.0, 60.0, 200.0, 600.0],
                [30.0, 60.0, 300.0, 600.0],
            ]),
            true,
        );
    }

    #[test]
    #[should_panic(expected = "at least 2 samples")]
    fn one_sample_has_no_negatives() {
        let z = Tensor::<2>::ones([1, 4], &Device::flex());
        Scores::from_views(z.clone(), z, Similarity::Cosine);
    }

    #[test]
    fn a_row_of_zeros_has_a_finite_gradient() {
        let device = Device::flex().autodiff();
        let z = Tensor::<2>::zeros([2, 3], &device).require_grad();
        let scores = Scores::from_views(z.clone(), Tensor::ones([2, 3], &device), Similarity::Cosine);
        let gradients = (scores.positives.sum() + scores.negatives.sum()).backward();
        let gradient = z.grad(&gradients).expect("z takes part").into_data();
        assert!(gradient.iter::<f32>().all(f32::is_finite));
    }
}
