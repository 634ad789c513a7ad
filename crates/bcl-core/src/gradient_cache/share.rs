//! The share of some anchors in the gradients of a batch.

use super::{EmbeddingGradients, Table, blocks};
use crate::{Losses, Reduction, losses::share_correction};
use burn::tensor::Tensor;
use std::ops::Range;

/// What some anchors of a batch contribute to its loss and to the gradients of that loss with respect to embeddings. None of the tensors is
/// part of a graph.
///
/// The shares of all anchors add up, tensor by tensor, to the share of the whole batch, which [`whole`](Self::whole) turns into
/// [`EmbeddingGradients`]. Each process that trains on the batch computes one share.
///
/// # Shapes
/// - loss:           `[1]`, nats: the sum over these anchors, divided by the number of all anchors of the batch
/// - gradients:      the shapes of the tables
/// - `num_left_out`: `[1]`
#[derive(Debug, Clone)]
pub struct GradientShare {
    /// Share of these anchors in the mean loss over all anchors of the batch.
    pub loss: Tensor<1>,
    /// Gradients of that share, one per table; `None` for constant tables.
    pub gradients: Vec<Option<Tensor<2>>>,
    /// How many of these anchors have no loss; `None` if all have one.
    pub num_left_out: Option<Tensor<1>>,
    /// Number of all anchors of the batch.
    pub num_anchors: usize,
}

impl GradientShare {
    /// Computes the share of the range `anchors` of `num_anchors` anchors, at most `at_most` of them at a time. It is zero for an empty range.
    ///
    /// Takes tables and `losses` as [`EmbeddingGradients::compute`] does.
    ///
    /// # Panics
    /// Panics if there is no table, `at_most` is 0, or the range reaches beyond the anchors.
    pub fn compute(
        tables: impl IntoIterator<Item = Table>,
        num_anchors: usize,
        anchors: Range<usize>,
        at_most: usize,
        losses: impl Fn(&[Tensor<2>], Range<usize>) -> Losses,
    ) -> Self {
        assert!(
            anchors.end <= num_anchors && num_anchors > 0,
            "the anchors {anchors:?} must be some of 0..{num_anchors}"
        );
        let tables: Vec<Table> = tables.into_iter().map(Table::without_autodiff).collect();
        let first = anchors.start;
        blocks(anchors.len(), at_most)
            .map(|block| Self::of_block(&tables, num_anchors, first + block.start..first + block.end, &losses))
            .reduce(Self::plus)
            .unwrap_or_else(|| Self::zero(tables, num_anchors))
    }

    fn of_block(
        tables: &[Table],
        num_anchors: usize,
        anchors: Range<usize>,
        losses: impl Fn(&[Tensor<2>], Range<usize>) -> Losses,
    ) -> Self {
        let leaves: Vec<_> = tables.iter().map(Table::leaf).collect();
        let num_compared = anchors.len() as f64;
        let losses = losses(&leaves, anchors);
        let num_left_out = losses
            .num_counted()
            .map(|num_counted| -num_counted.without_autodiff() + num_compared);
        // A product, because the backward pass of Burn's division of an f64 tensor by a number is in f32.
        let loss = losses.reduce(Reduction::Sum) * (num_anchors as f64).recip();
        let mut gradients = loss.backward();
        let gradient_of = |(table, leaf): (&Table, Tensor<2>)| match table {
            Table::Trained(rows) => Some(leaf.grad_remove(&mut gradients).unwrap_or_else(|| rows.zeros_like())),
            Table::Constant(_) => None,
        };
        Self {
            loss: loss.without_autodiff(),
            gradients: tables.iter().zip(leaves).map(gradient_of).collect(),
            num_left_out,
            num_anchors,
        }
    }

    fn zero(tables: Vec<Table>, num_anchors: usize) -> Self {
        let rows = tables.first().cloned().expect("a batch has at least one table").into_rows();
        let zeros = |table| match table {
            Table::Trained(rows) => Some(rows.zeros_like()),
            Table::Constant(_) => None,
        };
        Self {
            loss: Tensor::zeros([1], (&rows.device(), rows.dtype())),
            gradients: tables.into_iter().map(zeros).collect(),
            num_left_out: None,
            num_anchors,
        }
    }

    /// Adds the share of other anchors of the same batch.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let pairs = self.gradients.into_iter().zip(other.gradients);
        Self {
            loss: self.loss + other.loss,
            gradients: pairs.map(|(left, right)| Some(left? + right?)).collect(),
            num_left_out: match (self.num_left_out, other.num_left_out) {
                (Some(left), Some(right)) => Some(left + right),
                (left, right) => left.or(right),
            },
            num_anchors: self.num_anchors,
        }
    }

    /// Turns the sum of the shares of all anchors, which is a mean over all of them, into one over those that have a loss: their number is known
    /// after the last share.
    pub fn whole(self) -> EmbeddingGradients {
        let Some(num_left_out) = self.num_left_out else {
            return EmbeddingGradients {
                loss: self.loss,
                gradients: self.gradients,
                num_counted: None,
            };
        };
        let num_counted = -num_left_out + self.num_anchors as f64;
        let correction = share_correction(self.num_anchors, num_counted.clone());
        let corrected = |gradient: Tensor<2>| {
            let correction = correction.clone().cast(gradient.dtype());
            gradient * correction.unsqueeze::<2>()
        };
        EmbeddingGradients {
            loss: self.loss * correction.clone(),
            gradients: self.gradients.into_iter().map(|gradient| gradient.map(corrected)).collect(),
            num_counted: Some(num_counted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecoupledLossConfig, Estimator, Pairs, SideInformation, Similarity};
    use burn::tensor::{Bool, DType, Device, TensorData};

    fn view(phase: f64) -> Tensor<2> {
        let numbers: Vec<f64> = (0..5 * 3).map(|i| (1.7 * f64::from(i) + phase).sin()).collect();
        Tensor::from_data(TensorData::new(numbers, [5, 3]), (&Device::flex(), DType::F64))
    }

    /// The share of some anchors, of which the second has no negatives.
    fn share(anchors: Range<usize>, at_most: usize) -> GradientShare {
        let tables = [
            Table::Trained(view(0.0)),
            Table::Constant(view(0.4)),
            Table::Trained(view(0.9)),
        ];
        GradientShare::compute(tables, 10, anchors, at_most, |rows, anchors| {
            let pairs = Pairs::from_views_of(rows[0].clone(), rows[2].clone(), Similarity::Cosine, anchors.clone());
            let scores = pairs.into_scores();
            let counts: Vec<bool> = anchors.flat_map(|anchor| [anchor != 1; 8]).collect();
            let shape = [counts.len() / 8, 8];
            let mask = Tensor::<2, Bool>::from_data(TensorData::new(counts, shape), &scores.negatives.device());
            let estimator = DecoupledLossConfig::new().init();
            estimator.losses(scores.with_mask(mask).into(), &SideInformation::none())
        })
    }

    fn host<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
        tensor.to_data().iter::<f64>().collect()
    }

    #[test]
    fn shares_add_up_to_the_gradients_of_the_batch() {
        let whole = share(0..10, 10).whole();
        let sum = [0..3, 3..3, 3..4, 4..10]
            .map(|anchors| share(anchors, 2))
            .into_iter()
            .reduce(GradientShare::plus);
        let sum = sum.expect("there are four").whole();
        let close = |found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-13, "{found} is not {expected}");
            }
        };
        close(&host(&sum.loss), &host(&whole.loss));
        assert_eq!(host(&sum.num_counted.clone().expect("one anchor is masked")), [9.0]);
        assert!(sum.gradients[1].is_none());
        for table in [0, 2] {
            let [found, expected] = [&sum, &whole].map(|of| host(of.gradients[table].as_ref().expect("it is trained")));
            close(&found, &expected);
            assert!(expected.iter().any(|slope| slope.abs() > 1e-3));
        }
    }

    #[test]
    #[should_panic(expected = "8..11 must be some of 0..10")]
    fn anchors_beyond_the_batch_are_refused() {
        share(8..11, 10);
    }
}
