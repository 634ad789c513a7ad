//! Losses of anchors composed of tensor operations, a block of anchors after the other.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::Slice;
use std::ops::Range;

use crate::contrast::Plan;
use crate::{ProductOps, RankOps};

/// How the losses of a block of anchors are computed, from all its scores.
pub(in crate::contrast) trait Block<B: Backend> {
    /// About as many scores are in a block.
    const SCORES: usize;

    /// The losses, `[num_anchors, 1]`.
    fn losses(
        anchors: FloatTensor<B>,
        positives: FloatTensor<B>,
        negatives: FloatTensor<B>,
        table: FloatTensor<B>,
        plan: &Plan,
    ) -> FloatTensor<B>;

    /// The gradients of anchors, positives and negatives from the gradients of the losses, `[num_anchors, 1]`.
    fn gradients(
        anchors: FloatTensor<B>,
        positives: FloatTensor<B>,
        negatives: FloatTensor<B>,
        table: FloatTensor<B>,
        grad: FloatTensor<B>,
        plan: &Plan,
    ) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>);
}

/// [`losses`](super::losses) and [`gradients`](super::gradients) of tensor operations.
pub(in crate::contrast) struct Composed;

impl<B: RankOps + ProductOps> Block<B> for Composed {
    // 16 MiB, a few times over.
    const SCORES: usize = 1 << 22;

    fn losses(
        anchors: FloatTensor<B>,
        positives: FloatTensor<B>,
        negatives: FloatTensor<B>,
        table: FloatTensor<B>,
        plan: &Plan,
    ) -> FloatTensor<B> {
        super::losses::<B>(anchors, positives, negatives, table, plan)
    }

    fn gradients(
        anchors: FloatTensor<B>,
        positives: FloatTensor<B>,
        negatives: FloatTensor<B>,
        table: FloatTensor<B>,
        grad: FloatTensor<B>,
        plan: &Plan,
    ) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
        super::gradients::<B>(anchors, positives, negatives, table, grad, plan)
    }
}

/// The losses of all anchors.
pub(in crate::contrast) fn losses<B: Backend, K: Block<B>>(
    anchors: FloatTensor<B>,
    positives: FloatTensor<B>,
    negatives: FloatTensor<B>,
    table: FloatTensor<B>,
    plan: &Plan,
) -> FloatTensor<B> {
    let losses = blocks::<B, K>(&anchors, &negatives).map(|block| {
        let [anchors, positives] = [&anchors, &positives].map(|tensor| rows::<B>(tensor, &block));
        K::losses(
            anchors,
            positives,
            negatives.clone(),
            table.clone(),
            &plan.starting_at(block.start),
        )
    });
    B::float_cat(losses.collect(), 0)
}

/// The gradients of all anchors, positives and negatives.
pub(in crate::contrast) fn gradients<B: Backend, K: Block<B>>(
    anchors: FloatTensor<B>,
    positives: FloatTensor<B>,
    negatives: FloatTensor<B>,
    table: FloatTensor<B>,
    grad: FloatTensor<B>,
    plan: &Plan,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let (mut of_anchors, mut of_positives, mut of_negatives) = (Vec::new(), Vec::new(), None);
    for block in blocks::<B, K>(&anchors, &negatives) {
        let [anchors, positives, grad] = [&anchors, &positives, &grad].map(|tensor| rows::<B>(tensor, &block));
        let (of_block, of_block_positives, of_block_negatives) = K::gradients(
            anchors,
            positives,
            negatives.clone(),
            table.clone(),
            grad,
            &plan.starting_at(block.start),
        );
        of_anchors.push(of_block);
        of_positives.push(of_block_positives);
        of_negatives = Some(match of_negatives {
            Some(sum) => B::float_add(sum, of_block_negatives),
            None => of_block_negatives,
        });
    }
    let of_negatives = of_negatives.expect("there are anchors");
    (B::float_cat(of_anchors, 0), B::float_cat(of_positives, 0), of_negatives)
}

/// The losses of all rows of two views.
pub(in crate::contrast) fn losses_of_views<B: Backend, K: Block<B>>(
    views: FloatTensor<B>,
    table: FloatTensor<B>,
    plan: &Plan,
) -> FloatTensor<B> {
    let others = swapped::<B>(&views);
    losses::<B, K>(views.clone(), others, views, table, plan)
}

/// The gradient of all rows of two views from the gradients of the losses, `[num_rows, 1]`.
pub(in crate::contrast) fn gradients_of_views<B: Backend, K: Block<B>>(
    views: FloatTensor<B>,
    table: FloatTensor<B>,
    grad: FloatTensor<B>,
    plan: &Plan,
) -> FloatTensor<B> {
    let others = swapped::<B>(&views);
    let (anchors, positives, negatives) = gradients::<B, K>(views.clone(), others, views, table, grad, plan);
    B::float_add(B::float_add(anchors, negatives), swapped::<B>(&positives))
}

/// The rows of the second view, then the rows of the first.
fn swapped<B: Backend>(views: &FloatTensor<B>) -> FloatTensor<B> {
    let half = views.shape()[0] / 2;
    B::float_cat(vec![rows::<B>(views, &(half..2 * half)), rows::<B>(views, &(0..half))], 0)
}

/// Splits the anchors into blocks.
fn blocks<B: Backend, K: Block<B>>(
    anchors: &FloatTensor<B>,
    negatives: &FloatTensor<B>,
) -> impl Iterator<Item = Range<usize>> + use<B, K> {
    let (num_anchors, num_rows) = (anchors.shape()[0], negatives.shape()[0]);
    let block = (K::SCORES / num_rows).max(1);
    (0..num_anchors)
        .step_by(block)
        .map(move |start| start..(start + block).min(num_anchors))
}

fn rows<B: Backend>(tensor: &FloatTensor<B>, rows: &Range<usize>) -> FloatTensor<B> {
    if *rows == (0..tensor.shape()[0]) {
        return tensor.clone();
    }
    B::float_slice(tensor.clone(), &[Slice::from(rows.clone()), Slice::full()])
}

#[cfg(test)]
mod tests {
    use super::super::super::{Contrast, Correction, Excluded, Plan, Weighing, table_and_plan};
    use super::{Block, Composed};
    use burn::backend::{Dispatch, tensor::FloatTensor};
    use burn::tensor::{DType, Device, Distribution, Tensor};

    type Floats = FloatTensor<Dispatch>;

    /// [`Composed`] losses, of two anchors at a time.
    struct Small;

    impl Block<Dispatch> for Small {
        const SCORES: usize = 41;

        fn losses(anchors: Floats, positives: Floats, negatives: Floats, table: Floats, plan: &Plan) -> Floats {
            <Composed as Block<Dispatch>>::losses(anchors, positives, negatives, table, plan)
        }

        fn gradients(
            anchors: Floats,
            positives: Floats,
            negatives: Floats,
            table: Floats,
            grad: Floats,
            plan: &Plan,
        ) -> (Floats, Floats, Floats) {
            <Composed as Block<Dispatch>>::gradients(anchors, positives, negatives, table, grad, plan)
        }
    }

    /// The losses of a sum with different weights, and the gradients of all tables.
    fn computed<K: Block<Dispatch>>(
        [a, p, n]: [&Tensor<2>; 3],
        table: &Tensor<1>,
        grad: &Tensor<2>,
        plan: &Plan,
    ) -> [Tensor<2>; 4] {
        let tensors = || [a, p, n].map(|tensor| tensor.clone().into_dispatch());
        let table = || table.clone().into_dispatch();
        let [a, p, n] = tensors();
        let losses = super::losses::<Dispatch, K>(a, p, n, table(), plan);
        let [a, p, n] = tensors();
        let (of_anchors, of_positives, of_negatives) =
            super::gradients::<Dispatch, K>(a, p, n, table(), grad.clone().into_dispatch(), plan);
        [losses, of_anchors, of_positives, of_negatives].map(Tensor::<2>::from_dispatch)
    }

    #[test]
    fn blocks_of_anchors_give_what_all_of_them_give() {
        let device = Device::flex();
        device.seed(3);
        let draw = |rows: usize| Tensor::<2>::random([rows, 5], Distribution::Default, (&device, DType::F64));
        let negatives = draw(20);
        let grad = draw(9).slice_dim(1, 0..1);
        let table = Tensor::<1>::random([18], Distribution::Default, (&device, DType::F64));
        let listed = Excluded::listed((0..9).map(|anchor| (anchor..=2 * anchor).collect()));
        for (excluded, weighing) in [
            (Excluded::None, Weighing::Equal),
            (Excluded::Own { first: 4 }, Weighing::ByHardness(0.5)),
            (Excluded::BothViews { first: 7 }, Weighing::ByRank(table)),
            (listed, Weighing::ByHardness(2.0)),
        ] {
            let loss = Contrast {
                temperature: 0.3,
                excluded: excluded.clone(),
                weighing,
                correction: Correction::None,
            };
            let (anchors, positives) = (draw(9), draw(9));
            let (table, plan) = table_and_plan(&anchors, &positives, &negatives, &loss);
            let tables = [&anchors, &positives, &negatives];
            let by_blocks = computed::<Small>(tables, &table, &grad, &plan);
            let at_once = computed::<Composed>(tables, &table, &grad, &plan);
            for (by_blocks, at_once) in by_blocks.into_iter().zip(at_once) {
                let difference = (by_blocks - at_once).abs().max().into_scalar::<f64>();
                assert!(difference < 1e-13, "{excluded:?}: {difference:e}");
            }
        }
    }
}
