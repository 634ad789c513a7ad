//! Contrastive losses against rows that are sampled for each anchor, without tensors of scores in between.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Autodiff, AutodiffBackend, Backend, Dispatch, backend_extension};
use burn::tensor::{Device, Int, Tensor};

use crate::contrast::{Plan, table_and_plan_of};
use crate::{Contrast, Excluded, RankOps, SampledOps};

mod flex;
pub(crate) mod portable;

/// Computes the loss of each anchor against its positive and negatives, which are rows of a table, by dot products.
///
/// Equals the losses from [`sampled_dot`](crate::sampled_dot) up to rounding. On the CPU, everything about an anchor happens at once, while the rows of its
/// candidates are in the cache: scores, loss, and the gradients of the scores and the anchor. The backward pass adds up the gradient of the table.
///
/// # Shapes
/// - anchors:   `[num_anchors, dim]`
/// - table:     `[num_rows, dim]`
/// - positives: `[num_anchors]`, rows of the table
/// - negatives: `[num_anchors, num_negatives]`, rows of the table
/// - output:    `[num_anchors]`, nats
///
/// # Panics
/// Panics if the shapes do not fit together, there are no negatives, the weights by rank are not as many as negatives, or rows are excluded. On the
/// CPU, also if an index lies outside the table.
///
/// # Example
/// ```
/// use bcl_kernels::{Contrast, Correction, Excluded, Weighing, sampled_contrast};
/// use burn::tensor::{Device, Int, Tensor};
///
/// let device = Device::flex();
/// let users = Tensor::<2>::from_floats([[1.0, 0.0]], &device);
/// let items = Tensor::<2>::from_floats([[1.0, 2.0], [1.0, 4.0], [5.0, 6.0]], &device);
/// let positives = Tensor::<1, Int>::from_ints([0], &device);
/// let negatives = Tensor::<2, Int>::from_ints([[1, 1, 1]], &device);
/// let info_nce = Contrast {
///     temperature: 0.5,
///     excluded: Excluded::None,
///     weighing: Weighing::Equal,
///     correction: Correction::None,
/// };
///
/// let loss = sampled_contrast(users, items, positives, negatives, &info_nce).into_scalar::<f32>();
///
/// assert!((loss - 4f32.ln()).abs() < 1e-6); // one positive among four equal scores
/// ```
pub fn sampled_contrast(
    anchors: Tensor<2>,
    table: Tensor<2>,
    positives: Tensor<1, Int>,
    negatives: Tensor<2, Int>,
    loss: &Contrast,
) -> Tensor<1> {
    let (weights, plan) = checked(&anchors, &table, &positives, &negatives, loss);
    let (losses, ..) = Dispatch::sampled_contrast(
        anchors.into_dispatch(),
        table.into_dispatch(),
        positives.unsqueeze_dim::<2>(1).into_dispatch(),
        negatives.into_dispatch(),
        weights.into_dispatch(),
        plan,
    );
    Tensor::<2>::from_dispatch(losses).squeeze_dim(1)
}

/// Whether [`sampled_contrast`] computes losses and most gradients in one pass on this device: on the CPU.
pub fn sampled_contrast_is_fused(device: &Device) -> bool {
    crate::device::is_processor(device)
}

/// Checks the shapes; returns the weights by rank, and the rest of the loss.
pub(crate) fn checked(
    anchors: &Tensor<2>,
    table: &Tensor<2>,
    positives: &Tensor<1, Int>,
    negatives: &Tensor<2, Int>,
    loss: &Contrast,
) -> (Tensor<1>, Plan) {
    crate::sampled::check_shapes(anchors.dims(), table.dims(), negatives.dims());
    let ([num_anchors, num_negatives], [num_positives]) = (negatives.dims(), positives.dims());
    assert_eq!(num_positives, num_anchors, "there must be one positive per anchor");
    assert!(
        num_anchors > 0 && num_negatives > 0,
        "{num_anchors} anchors with {num_negatives} negatives leave nothing to compare"
    );
    assert_eq!(loss.excluded, Excluded::None, "rows are sampled, so none is excluded");
    table_and_plan_of(loss, num_negatives, anchors)
}

/// The kernel behind [`sampled_contrast`](crate::sampled_contrast()) for a backend. The default bodies compose tensor operations.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait SampledContrastOps: Backend + RankOps + SampledOps {
    /// Computes the loss of each anchor, `[num_anchors, 1]`; the gradients of the sum of all losses with respect to the anchors, and to the scores,
    /// `[num_anchors, 1 + num_negatives]`; and the candidates of these scores, positives first. All but the losses may be empty if the plan does not ask for
    /// gradients. `positives` is `[num_anchors, 1]`.
    #[allow(clippy::type_complexity)] // backend tensors cannot be put into a struct here
    fn sampled_contrast(
        anchors: FloatTensor<Self>,
        table: FloatTensor<Self>,
        positives: IntTensor<Self>,
        negatives: IntTensor<Self>,
        weights: FloatTensor<Self>,
        plan: Plan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, IntTensor<Self>) {
        portable::sampled_contrast::<Self>(anchors, table, positives, negatives, weights, plan)
    }

    /// The gradients of the anchors and of scores, given the forward pass's gradients and the gradient of each loss, `[num_anchors, 1]`.
    fn scaled_by_anchor(
        anchors: FloatTensor<Self>,
        scores: FloatTensor<Self>,
        grad: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        (Self::float_mul(anchors, grad.clone()), Self::float_mul(scores, grad))
    }
}

#[cfg(feature = "cube")]
impl SampledContrastOps for burn::backend::Cube {}

impl<B: Backend + SampledContrastOps, C: CheckpointStrategy> SampledContrastOps for Autodiff<B, C> {
    fn sampled_contrast(
        anchors: FloatTensor<Self>,
        table: FloatTensor<Self>,
        positives: IntTensor<Self>,
        negatives: IntTensor<Self>,
        weights: FloatTensor<Self>,
        plan: Plan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, IntTensor<Self>) {
        let nodes = [anchors.node(), table.node()];
        let [anchors, table, weights] = [anchors, table, weights].map(FloatTensor::<Self>::into_primitive);
        let num_rows = burn::backend::TensorMetadata::shape(&table)[0];
        let run = |with_gradients| {
            let plan = Plan { with_gradients, ..plan };
            let (anchors, table) = (anchors.clone(), table.clone());
            B::sampled_contrast(anchors, table, positives, negatives, weights, plan)
        };
        let (losses, of_anchors, of_scores, candidates) = match SampledContrast.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let (losses, of_anchors, of_scores, candidates) = run(true);
                let saved = Saved {
                    anchors,
                    of_anchors: of_anchors.clone(),
                    of_scores: of_scores.clone(),
                    candidates: candidates.clone(),
                    num_rows,
                };
                (prep.finish(saved, losses), of_anchors, of_scores, candidates)
            }
            OpsKind::UnTracked(prep) => {
                let (losses, of_anchors, of_scores, candidates) = run(false);
                (prep.finish(losses), of_anchors, of_scores, candidates)
            }
        };
        let [of_anchors, of_scores] = [of_anchors, of_scores].map(Self::from_inner);
        (losses, of_anchors, of_scores, candidates)
    }
}

/// Saved for backward.
#[derive(Debug, Clone)]
struct Saved<F, I> {
    anchors: F,
    of_anchors: F,
    of_scores: F,
    candidates: I,
    num_rows: usize,
}

#[derive(Debug)]
struct SampledContrast;

impl<B: Backend + SampledContrastOps> Backward<B, 2> for SampledContrast {
    type State = Saved<FloatTensor<B>, IntTensor<B>>;

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [anchors_node, table_node] = ops.parents;
        let grad = grads.consume::<B>(&ops.node);
        let saved = ops.state;
        let (of_anchors, of_scores) = B::scaled_by_anchor(saved.of_anchors, saved.of_scores, grad);
        if let Some(node) = anchors_node {
            grads.register::<B>(node.id, of_anchors);
        }
        if let Some(node) = table_node {
            let of_table = B::scatter_sum(of_scores, saved.anchors, saved.candidates, saved.num_rows);
            grads.register::<B>(node.id, of_table);
        }
    }
}
