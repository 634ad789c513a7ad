//! The mass of a row of scores: the sum of `exp(score / temperature)` over the negatives of an anchor, plain or weighted by rank.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Scalar, backend_extension};
use burn::tensor::Tensor;

use crate::RankOps;
use crate::ranks::check_table;

#[cfg(feature = "cube")]
mod cube;
mod flex;
pub(crate) mod portable;

/// Sums the exponentials of each row: the *mass* of its scores.
///
/// ```text
/// out[r] = Σ_i exp((scores[r, i] - offsets[r]) / temperature)
/// ```
///
/// Differentiable in the scores and the offsets. One matrix of the shape of the scores is saved for backward; the scores themselves
/// are not. To keep the exponentials from overflowing, pass at least the largest score of each row as its offset.
///
/// # Shapes
/// - scores:  `[num_rows, num_columns]`
/// - offsets: `[num_rows, 1]`
/// - output:  `[num_rows, 1]`
///
/// # Panics
/// Panics if there is not exactly one offset per row.
///
/// # Example
/// ```
/// use bcl_kernels::mass;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Tensor::<2>::from_floats([[0.0, 0.5, 0.5]], &device);
/// let offsets = Tensor::<2>::from_floats([[0.5]], &device);
///
/// let mass = mass(scores, offsets, 0.5).into_scalar::<f32>();
///
/// assert!((mass - (2.0 + (-1f32).exp())).abs() < 1e-6);
/// ```
pub fn mass(scores: Tensor<2>, offsets: Tensor<2>, temperature: f64) -> Tensor<2> {
    check_offsets(scores.dims(), offsets.dims());
    let rate = temperature.recip();
    let (mass, _) = Dispatch::mass(scores.into_dispatch(), offsets.into_dispatch(), rate);
    Tensor::from_dispatch(mass)
}

/// Sums the exponentials of each row, each weighted by the rank of its score.
///
/// ```text
/// out[r] = Σ_i table[rank[r, i] - 1] · exp((scores[r, i] - offsets[r]) / temperature)
/// rank[r, i] = #{ j : scores[r, j] <= scores[r, i] }
/// ```
///
/// This fuses [`rank_weights`](crate::rank_weights) and [`mass`]: neither ranks nor weights are stored, and one matrix of the shape of
/// the scores is saved for backward. Ranks and table are constants in the gradient. Ties and NaN rank as in
/// [`rank_weights`](crate::rank_weights).
///
/// # Shapes
/// - scores:  `[num_rows, num_columns]`
/// - offsets: `[num_rows, 1]`
/// - table:   `[num_columns]`
/// - output:  `[num_rows, 1]`
///
/// # Panics
/// Panics if there is not exactly one offset per row, or the table is not as long as a row.
///
/// # Example
/// ```
/// use bcl_kernels::ranked_mass;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Tensor::<2>::from_floats([[0.0, 0.5, 0.5]], &device);
/// let offsets = Tensor::<2>::from_floats([[0.5]], &device);
/// let table = Tensor::<1>::from_floats([10.0, 20.0, 30.0], &device);
///
/// let mass = ranked_mass(scores, offsets, table, 0.5).into_scalar::<f32>();
///
/// assert!((mass - (30.0 + 30.0 + 10.0 * (-1f32).exp())).abs() < 1e-5);
/// ```
pub fn ranked_mass(scores: Tensor<2>, offsets: Tensor<2>, table: Tensor<1>, temperature: f64) -> Tensor<2> {
    check_offsets(scores.dims(), offsets.dims());
    check_table(scores.dims()[1], table.dims()[0]);
    let (mass, _) = Dispatch::ranked_mass(
        scores.into_dispatch(),
        offsets.into_dispatch(),
        table.into_dispatch(),
        temperature.recip(),
    );
    Tensor::from_dispatch(mass)
}

fn check_offsets(scores: [usize; 2], offsets: [usize; 2]) {
    assert_eq!(
        offsets,
        [scores[0], 1],
        "the scores have shape {scores:?}, so the offsets must have shape {:?}, but have {offsets:?}",
        [scores[0], 1]
    );
}

/// The mass kernels of a backend. The default bodies compose tensor operations.
///
/// Each function returns the masses and the terms that they sum. The backward pass needs the terms; under autodiff they are returned
/// without a gradient.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait MassOps: Backend + RankOps {
    /// The kernel behind [`mass`](crate::mass); `rate` is one over the temperature.
    fn mass(scores: FloatTensor<Self>, offsets: FloatTensor<Self>, rate: f64) -> (FloatTensor<Self>, FloatTensor<Self>) {
        portable::mass::<Self>(scores, offsets, rate)
    }

    /// The kernel behind [`ranked_mass`](crate::ranked_mass); `rate` is one over the temperature.
    fn ranked_mass(
        scores: FloatTensor<Self>,
        offsets: FloatTensor<Self>,
        table: FloatTensor<Self>,
        rate: f64,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        portable::ranked_mass::<Self>(scores, offsets, table, rate)
    }
}

impl<B: Backend + MassOps, C: CheckpointStrategy> MassOps for Autodiff<B, C> {
    fn mass(scores: FloatTensor<Self>, offsets: FloatTensor<Self>, rate: f64) -> (FloatTensor<Self>, FloatTensor<Self>) {
        tracked::<B, C>(scores, offsets, rate, |scores, offsets| B::mass(scores, offsets, rate))
    }

    fn ranked_mass(
        scores: FloatTensor<Self>,
        offsets: FloatTensor<Self>,
        table: FloatTensor<Self>,
        rate: f64,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let table = table.into_primitive();
        tracked::<B, C>(scores, offsets, rate, |scores, offsets| {
            B::ranked_mass(scores, offsets, table, rate)
        })
    }
}

/// Masses and their terms.
type Pair<B> = (FloatTensor<B>, FloatTensor<B>);

fn tracked<B: Backend + MassOps, C: CheckpointStrategy>(
    scores: FloatTensor<Autodiff<B, C>>,
    offsets: FloatTensor<Autodiff<B, C>>,
    rate: f64,
    run: impl FnOnce(FloatTensor<B>, FloatTensor<B>) -> Pair<B>,
) -> Pair<Autodiff<B, C>> {
    let (scores, scores_node) = scores.into_parts();
    let (offsets, offsets_node) = offsets.into_parts();
    let (mass, terms) = run(scores, offsets);
    let mass = match Mass.prepare::<C>([scores_node, offsets_node]).compute_bound().stateful() {
        OpsKind::Tracked(prep) => prep.finish((terms.clone(), mass.clone(), rate), mass),
        OpsKind::UnTracked(prep) => prep.finish(mass),
    };
    (mass, FloatTensor::<Autodiff<B, C>>::new(terms))
}

#[derive(Debug)]
struct Mass;

impl<B: Backend> Backward<B, 2> for Mass {
    /// The terms, the masses and the rate.
    type State = (FloatTensor<B>, FloatTensor<B>, f64);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [scores_node, offsets_node] = ops.parents;
        let (terms, mass, rate) = ops.state;
        let grad = B::float_mul_scalar(grads.consume::<B>(&ops.node), Scalar::from(rate));
        if let Some(node) = offsets_node {
            let grad = B::float_neg(B::float_mul(mass, grad.clone()));
            grads.register::<B>(node.id, grad);
        }
        if let Some(node) = scores_node {
            grads.register::<B>(node.id, B::float_mul(terms, grad));
        }
    }
}
