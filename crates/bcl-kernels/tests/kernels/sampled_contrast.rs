//! Losses against sampled rows, and their gradients, compared with tensor operations for one anchor at a time.

use super::common::{Numbers, TYPES, matrix};
use super::contrast::assert_near;
use bcl_kernels::{Contrast, Correction, Excluded, Weighing, gather_rows, portable, sampled_contrast};
use burn::tensor::{Device, Int, Tensor};

const ANCHORS: usize = 24;
const NEGATIVES: usize = 30;

/// Rows of the table: few, which all have many terms, and many, some of which have none.
const ROWS: [usize; 2] = [10, 200];

/// The losses, and the gradients of anchors and table of their sum weighted by `weights`.
fn measured(
    [anchors, table]: [&Tensor<2>; 2],
    weights: &Tensor<1>,
    losses: impl FnOnce(Tensor<2>, Tensor<2>) -> Tensor<1>,
) -> [Tensor<2>; 3] {
    let [anchors, table] = [anchors, table].map(|input| input.clone().detach().require_grad());
    let losses = losses(anchors.clone(), table.clone());
    let gradients = (losses.clone() * weights.clone()).sum().backward();
    let [of_anchors, of_table] = [anchors, table].map(|input| input.grad(&gradients).expect("tracked"));
    [losses.inner().unsqueeze(), of_anchors, of_table]
}

/// The losses of all anchors, one after the other.
fn one_by_one(
    anchors: &Tensor<2>,
    table: &Tensor<2>,
    positives: &Tensor<1, Int>,
    negatives: &Tensor<2, Int>,
    loss: &Contrast,
) -> Tensor<1> {
    let one = |anchor: usize| {
        let row = |rows: &Tensor<2>| rows.clone().slice_dim(0, anchor..=anchor);
        let positive = gather_rows(table.clone(), positives.clone().slice_dim(0, anchor..=anchor));
        let negatives = negatives.clone().slice_dim(0, anchor..=anchor).squeeze_dim(0);
        portable::contrast(row(anchors), positive, gather_rows(table.clone(), negatives), loss)
    };
    Tensor::cat((0..ANCHORS).map(one).collect(), 0)
}

#[test]
fn losses_and_gradients_are_those_of_each_anchor_alone() {
    let device = Device::flex().autodiff();
    for (dtype, num_rows) in TYPES.into_iter().flat_map(|dtype| ROWS.map(|num_rows| (dtype, num_rows))) {
        let mut numbers = Numbers(num_rows as u64);
        let [anchors, table] = [ANCHORS, num_rows].map(|rows| numbers.matrix([rows, 19], dtype, &device) * 0.3);
        let positives = numbers.indices([1, ANCHORS], num_rows, &device).squeeze_dim::<1>(0);
        let negatives = numbers.indices([ANCHORS, NEGATIVES], num_rows, &device);
        let by_rank = (0..NEGATIVES).map(|rank| 0.5 + rank as f64 / NEGATIVES as f64).collect();
        let by_rank = matrix(by_rank, [1, NEGATIVES], dtype, &device).squeeze_dim::<1>(0);
        let uneven = numbers.matrix([1, ANCHORS], dtype, &device).squeeze_dim::<1>(0);
        let floored = Correction::Floored {
            unlabelled: 1.2,
            positive: 0.2,
            least: Some(-1.0),
        };
        for (weighing, correction) in [
            (Weighing::Equal, Correction::None),
            (Weighing::ByRank(by_rank), Correction::None),
            (Weighing::ByHardness(0.7), Correction::Decoupled),
            (Weighing::Equal, floored),
        ] {
            let loss = Contrast {
                temperature: 0.2,
                excluded: Excluded::None,
                weighing,
                correction,
            };
            for weights in [uneven.full_like(0.3), uneven.clone()] {
                let ours = measured([&anchors, &table], &weights, |anchors, table| {
                    sampled_contrast(anchors, table, positives.clone(), negatives.clone(), &loss)
                });
                let expected = measured([&anchors, &table], &weights, |anchors, table| {
                    one_by_one(&anchors, &table, &positives, &negatives, &loss)
                });
                for (ours, expected) in ours.into_iter().zip(expected) {
                    assert_near(ours, expected, &loss);
                }
            }
        }
    }
}
