//! Losses of anchors composed of tensor operations, a block of anchors after the other.

use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::Slice;
use std::ops::Range;

use crate::contrast::Plan;
use crate::{ProductOps, RankOps};

/// About as many scores exist at once: 16 MiB, a few times over.
pub(in crate::contrast) const SCORES: usize = 1 << 22;

/// [`losses`](super::losses), of at most `scores` scores at a time.
pub(in crate::contrast) fn losses<B: RankOps + ProductOps>(
    anchors: FloatTensor<B>,
    positives: FloatTensor<B>,
    negatives: FloatTensor<B>,
    table: FloatTensor<B>,
    plan: &Plan,
    scores: usize,
) -> FloatTensor<B> {
    let losses = blocks::<B>(&anchors, &negatives, scores).map(|block| {
        let [anchors, positives] = [&anchors, &positives].map(|tensor| rows::<B>(tensor, &block));
        super::losses::<B>(
            anchors,
            positives,
            negatives.clone(),
            table.clone(),
            &plan.starting_at(block.start),
        )
    });
    B::float_cat(losses.collect(), 0)
}

/// [`gradients`](super::gradients), of at most `scores` scores at a time.
pub(in crate::contrast) fn gradients<B: RankOps + ProductOps>(
    anchors: FloatTensor<B>,
    positives: FloatTensor<B>,
    negatives: FloatTensor<B>,
    table: FloatTensor<B>,
    grad: FloatTensor<B>,
    plan: &Plan,
    scores: usize,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let (mut of_anchors, mut of_positives, mut of_negatives) = (Vec::new(), Vec::new(), None);
    for block in blocks::<B>(&anchors, &negatives, scores) {
        let [anchors, positives, grad] = [&anchors, &positives, &grad].map(|tensor| rows::<B>(tensor, &block));
        let (of_block, of_block_positives, of_block_negatives) = super::gradients::<B>(
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
pub(in crate::contrast) fn losses_of_views<B: RankOps + ProductOps>(
    views: FloatTensor<B>,
    table: FloatTensor<B>,
    plan: &Plan,
) -> FloatTensor<B> {
    let others = swapped::<B>(&views);
    losses::<B>(views.clone(), others, views, table, plan, SCORES)
}

/// The gradient of all rows of two views from the gradients of the losses, `[num_rows, 1]`.
pub(in crate::contrast) fn gradients_of_views<B: RankOps + ProductOps>(
    views: FloatTensor<B>,
    table: FloatTensor<B>,
    grad: FloatTensor<B>,
    plan: &Plan,
) -> FloatTensor<B> {
    let others = swapped::<B>(&views);
    let (anchors, positives, negatives) = gradients::<B>(views.clone(), others, views, table, grad, plan, SCORES);
    B::float_add(B::float_add(anchors, negatives), swapped::<B>(&positives))
}

/// The rows of the second view, then the rows of the first.
fn swapped<B: RankOps + ProductOps>(views: &FloatTensor<B>) -> FloatTensor<B> {
    let half = views.shape()[0] / 2;
    B::float_cat(vec![rows::<B>(views, &(half..2 * half)), rows::<B>(views, &(0..half))], 0)
}

/// Splits the anchors into blocks.
fn blocks<B: RankOps + ProductOps>(
    anchors: &FloatTensor<B>,
    negatives: &FloatTensor<B>,
    scores: usize,
) -> impl Iterator<Item = Range<usize>> + use<B> {
    let (num_anchors, num_rows) = (anchors.shape()[0], negatives.shape()[0]);
    let block = (scores / num_rows).max(1);
    (0..num_anchors)
        .step_by(block)
        .map(move |start| start..(start + block).min(num_anchors))
}

fn rows<B: RankOps + ProductOps>(tensor: &FloatTensor<B>, rows: &Range<usize>) -> FloatTensor<B> {
    if *rows == (0..tensor.shape()[0]) {
        return tensor.clone();
    }
    B::float_slice(tensor.clone(), &[Slice::from(rows.clone()), Slice::full()])
}

#[cfg(test)]
mod tests {
    use super::super::super::{Contrast, Correction, Excluded, Weighing, table_and_plan};
    use burn::backend::Dispatch;
    use burn::tensor::{DType, Device, Distribution, Tensor};

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
            let of = |scores: usize| {
                let tensors = || [&anchors, &positives, &negatives].map(|tensor| tensor.clone().into_dispatch());
                let [a, p, n] = tensors();
                let losses = super::losses::<Dispatch>(a, p, n, table.clone().into_dispatch(), &plan, scores);
                let [a, p, n] = tensors();
                let (table, grad) = (table.clone().into_dispatch(), grad.clone().into_dispatch());
                let (of_anchors, of_positives, of_negatives) = super::gradients::<Dispatch>(a, p, n, table, grad, &plan, scores);
                [losses, of_anchors, of_positives, of_negatives].map(Tensor::<2>::from_dispatch)
            };
            for (by_blocks, at_once) in of(41).into_iter().zip(of(1000)) {
                let difference = (by_blocks - at_once).abs().max().into_scalar::<f64>();
                assert!(difference < 1e-13, "{excluded:?}: {difference:e}");
            }
        }
    }
}
