//! Losses on a GPU against the same losses of tensor operations on the CPU in double precision.

use super::{
    common::{Numbers, values},
    gpu,
};
use bcl_kernels::{Contrast, Correction, Excluded, Weighing, contrast, contrast_views, portable, unit_rows};
use burn::tensor::{DType, Device, Tensor, TensorData};

/// More anchors than a tile has.
const ANCHORS: usize = 70;

const CORRECTIONS: [Correction; 4] = [
    Correction::None,
    Correction::Decoupled,
    Correction::Floored {
        unlabelled: 1.1,
        positive: 0.1,
        least: Some(-1.0),
    },
    Correction::Floored {
        unlabelled: 1.2,
        positive: 0.2,
        least: None,
    },
];

/// The losses of unit rows, and the gradients of anchors, positives and negatives of a sum with different weights.
fn measured(
    [num_anchors, num_rows, dim]: [usize; 3],
    dtype: DType,
    device: &Device,
    losses: impl FnOnce([Tensor<2>; 3]) -> Tensor<1>,
) -> [Vec<f64>; 4] {
    let device = device.clone().autodiff();
    let mut numbers = Numbers(11);
    let mut draw = |rows| {
        let drawn = numbers.matrix([rows, dim], DType::F64, &Device::flex());
        let drawn = unit_rows(drawn).into_data().convert_dtype(DType::F32);
        Tensor::<2>::from_data(drawn, (&device, dtype)).require_grad()
    };
    let tables = [num_anchors, num_anchors, num_rows].map(&mut draw);
    let losses = losses(tables.clone());
    let weights: Vec<f64> = (0..losses.dims()[0]).map(|anchor| (anchor as f64).cos()).collect();
    let weights = Tensor::<1>::from_data(TensorData::from(&*weights), (&device, dtype));
    let gradients = (losses.clone() * weights).sum().backward();
    let [anchors, positives, negatives] = tables.map(|table| table.grad(&gradients).map_or_else(Vec::new, values));
    [values(losses), anchors, positives, negatives]
}

/// Asserts that all numbers are near, for the largest of their tensor.
#[track_caller]
fn assert_near(there: [Vec<f64>; 4], here: [Vec<f64>; 4], tolerance: f64, case: &str) {
    for (number, (there, here)) in there.into_iter().zip(here).enumerate() {
        assert_eq!(there.len(), here.len(), "{case}");
        let largest = here.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        for (there, here) in there.into_iter().zip(here) {
            assert!(
                (there - here).abs() <= tolerance * largest,
                "{case}, {number}: {there} {here}"
            );
        }
    }
}

fn assert_same(num_rows: usize, dim: usize, loss: &Contrast) {
    let sizes = [ANCHORS, num_rows, dim];
    let there = measured(sizes, DType::F32, &gpu(), |[a, p, n]| contrast(a, p, n, loss));
    let here = measured(sizes, DType::F64, &Device::flex(), |[a, p, n]| {
        portable::contrast(a, p, n, loss)
    });
    assert_near(there, here, 3e-5, &format!("{loss:?}"));
}

fn with_corrections(excluded: Excluded, weighing: Weighing) -> impl Iterator<Item = Contrast> {
    CORRECTIONS.into_iter().map(move |correction| Contrast {
        temperature: 0.2,
        excluded: excluded.clone(),
        weighing: weighing.clone(),
        correction,
    })
}

#[test]
fn losses_with_a_queue_are_those_of_the_cpu() {
    for loss in with_corrections(Excluded::None, Weighing::Equal) {
        assert_same(200, 13, &loss);
    }
}

#[test]
fn losses_of_hard_negatives_are_those_of_the_cpu() {
    for loss in with_corrections(Excluded::Own { first: 60 }, Weighing::ByHardness(0.7)) {
        assert_same(131, 132, &loss);
    }
}

#[test]
fn losses_of_some_rows_of_two_views_are_those_of_the_cpu() {
    for loss in with_corrections(Excluded::BothViews { first: 41 }, Weighing::Equal) {
        assert_same(130, 12, &loss);
    }
}

/// Lists of rows among 200, of many lengths. One anchor has no negatives.
fn lists() -> Excluded {
    let lists = (0..ANCHORS as u32 + 5).map(|anchor| match anchor {
        8 => (0..200).collect(),
        _ => (anchor..2 * anchor).collect(),
    });
    Excluded::listed(lists).starting_at(5)
}

#[test]
fn losses_with_lists_of_excluded_rows_are_those_of_the_cpu() {
    for loss in with_corrections(lists(), Weighing::ByHardness(1.0)) {
        assert_same(200, 12, &loss);
    }
}

#[test]
fn losses_of_two_views_are_those_of_the_cpu() {
    let excluded = Excluded::BothViews { first: 0 };
    for loss in with_corrections(excluded, Weighing::ByHardness(1.5)) {
        let sizes = [1, 150, 12];
        let there = measured(sizes, DType::F32, &gpu(), |[_, _, views]| contrast_views(views, &loss));
        let here = measured(sizes, DType::F64, &Device::flex(), |[_, _, views]| {
            contrast_views(views, &loss)
        });
        assert_near(there, here, 3e-5, &format!("{loss:?}"));
    }
}

#[test]
fn losses_in_large_tiles_are_those_of_the_cpu() {
    let loss = Contrast {
        temperature: 0.2,
        excluded: Excluded::BothViews { first: 0 },
        weighing: Weighing::Equal,
        correction: Correction::None,
    };
    let sizes = [1, 4100, 4];
    let there = measured(sizes, DType::F32, &gpu(), |[_, _, views]| contrast_views(views, &loss));
    let here = measured(sizes, DType::F64, &Device::flex(), |[_, _, views]| {
        contrast_views(views, &loss)
    });
    assert_near(there, here, 3e-5, "large tiles");
}

/// Weights of many sizes for `number` ranks.
fn weights(number: usize) -> Vec<f64> {
    (0..number).map(|rank| 0.5 + rank as f64 / number as f64).collect()
}

fn by_rank(number: usize, device: &Device) -> Weighing {
    Weighing::ByRank(Tensor::from_data(TensorData::from(&*weights(number)), (device, DType::F32)))
}

/// Asserts that losses by rank are the CPU's in single precision, because ranks depend on which of two scores is rounded up.
fn assert_same_by_rank(sizes: [usize; 3], excluded: &Excluded, correction: Correction) {
    let loss = |device: &Device| Contrast {
        temperature: 0.2,
        excluded: excluded.clone(),
        weighing: match excluded.count() {
            Some(count) => by_rank(sizes[1] - count, device),
            None => Weighing::ByRankOf((1..=sizes[1]).map(|number| weights(number).into()).collect()),
        },
        correction,
    };
    let computed = |device: &Device| {
        measured(sizes, DType::F32, device, |[a, p, n]| match excluded {
            Excluded::BothViews { first: 0 } => contrast_views(n, &loss(device)),
            _ => contrast(a, p, n, &loss(device)),
        })
    };
    assert_near(
        computed(&gpu()),
        computed(&Device::flex()),
        1e-4,
        &format!("{sizes:?}, {excluded:?}"),
    );
}

#[test]
fn losses_by_rank_are_those_of_the_cpu() {
    for correction in CORRECTIONS {
        assert_same_by_rank([ANCHORS, 130, 12], &Excluded::BothViews { first: 41 }, correction);
        assert_same_by_rank([ANCHORS, 131, 13], &Excluded::None, correction);
    }
    assert_same_by_rank([ANCHORS, 200, 12], &lists(), CORRECTIONS[2]);
    // Rows that are sorted at once, and in parts.
    assert_same_by_rank([ANCHORS, 1001, 132], &Excluded::Own { first: 7 }, Correction::None);
    assert_same_by_rank([ANCHORS, 9000, 4], &Excluded::None, Correction::None);
}

#[test]
fn losses_by_rank_of_two_views_are_those_of_the_cpu() {
    let excluded = Excluded::BothViews { first: 0 };
    assert_same_by_rank([1, 150, 12], &excluded, Correction::None);
    assert_same_by_rank([1, 602, 5], &excluded, CORRECTIONS[2]);
}

#[test]
fn losses_by_rank_of_more_scores_than_a_block_has_are_those_of_the_cpu() {
    assert_same_by_rank([4200, 4000, 4], &Excluded::None, Correction::None);
}

#[test]
fn a_score_that_is_no_number_shows_in_losses_by_rank() {
    let device = gpu();
    let rows = |values: [f32; 6]| Tensor::<2>::from_data(TensorData::new(values.to_vec(), [3, 2]), &device);
    let loss = Contrast {
        temperature: 0.2,
        excluded: Excluded::None,
        weighing: by_rank(3, &device),
        correction: Correction::None,
    };
    let anchors = rows([1.0, 0.0, 0.0, 1.0, 0.5, 0.5]);
    let negatives = rows([f32::NAN, 0.0, 1.0, 2.0, 3.0, 4.0]);

    let losses = values(contrast(anchors.clone(), anchors, negatives, &loss));

    assert!(losses.iter().all(|loss| !loss.is_finite()), "{losses:?}");
}
