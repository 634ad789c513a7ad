//! Losses block by block on a GPU against the CPU's.

use super::{common::Numbers, gpu};
use bcl_kernels::{Contrast, Correction, Excluded, Weighing, contrast, contrast_views, unit_rows};
use burn::tensor::{DType, Device, Tensor, TensorData};

const ANCHORS: usize = 700;

/// More scores than a block has.
const ROWS: usize = 8000;

/// The losses, and the gradients of a sum of them with different weights.
fn measured(loss: impl FnOnce(&Device) -> Contrast, device: &Device) -> Vec<Vec<f32>> {
    let device = device.clone().autodiff();
    let mut numbers = Numbers(11);
    let mut draw = |rows| {
        unit_rows(numbers.matrix([rows, 12], DType::F32, &device))
            .detach()
            .require_grad()
    };
    let [anchors, positives, negatives] = [draw(ANCHORS), draw(ANCHORS), draw(ROWS)];
    let losses = contrast(anchors.clone(), positives.clone(), negatives.clone(), &loss(&device));
    let weights: Vec<f32> = (0..ANCHORS).map(|anchor| (anchor as f32).cos()).collect();
    let weights = Tensor::<1>::from_data(TensorData::from(&*weights), &device);
    let gradients = (losses.clone() * weights).sum().backward();
    let of_tables = [anchors, positives, negatives].map(|table| table.grad(&gradients).expect("all take part"));
    let host = |data: TensorData| data.iter::<f32>().collect();
    [losses.into_data()]
        .into_iter()
        .chain(of_tables.map(Tensor::into_data))
        .map(host)
        .collect()
}

#[test]
fn losses_of_more_scores_than_a_block_has_are_those_of_the_cpu() {
    for by_rank in [false, true] {
        let weighing = |device: &Device| {
            if !by_rank {
                return Weighing::Equal;
            }
            let table: Vec<f32> = (0..ROWS - 2).map(|rank| 0.5 + rank as f32 / ROWS as f32).collect();
            Weighing::ByRank(Tensor::from_data(TensorData::from(&*table), device))
        };
        let loss = |device: &Device| Contrast {
            temperature: 0.2,
            excluded: Excluded::BothViews { first: 5 },
            weighing: weighing(device),
            correction: Correction::None,
        };
        let case = format!("by rank: {by_rank}");
        assert_near(measured(loss, &gpu()), measured(loss, &Device::flex()), &case);
    }
}

#[test]
fn losses_with_lists_of_excluded_rows_are_those_of_the_cpu() {
    let loss = |_: &Device| Contrast {
        temperature: 0.2,
        // One anchor has no negatives.
        excluded: Excluded::listed((0..ANCHORS as u32).map(|anchor| match anchor {
            3 => (0..ROWS as u32).collect(),
            _ => (anchor..2 * anchor).collect(),
        })),
        weighing: Weighing::ByHardness(1.0),
        correction: Correction::Decoupled,
    };
    assert_near(measured(loss, &gpu()), measured(loss, &Device::flex()), "lists");
}

/// Asserts that all numbers are near, for the largest of their tensor.
#[track_caller]
fn assert_near(there: Vec<Vec<f32>>, here: Vec<Vec<f32>>, case: &str) {
    for (there, here) in there.into_iter().zip(here) {
        let largest = here.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
        for (there, here) in there.into_iter().zip(here) {
            assert!((there - here).abs() <= 1e-4 * largest, "{case}: {there} {here}");
        }
    }
}

#[test]
fn losses_of_two_views_are_those_of_the_cpu() {
    let measured = |device: &Device| {
        let device = device.clone().autodiff();
        let views = unit_rows(Numbers(5).matrix([60, 12], DType::F32, &device))
            .detach()
            .require_grad();
        let loss = Contrast {
            temperature: 0.2,
            excluded: Excluded::BothViews { first: 0 },
            weighing: Weighing::ByHardness(1.0),
            correction: Correction::None,
        };
        let losses = contrast_views(views.clone(), &loss);
        let gradients = losses.clone().mean().backward();
        let gradient = views.grad(&gradients).expect("all rows take part").into_data();
        let values: Vec<f32> = losses.into_data().iter::<f32>().chain(gradient.iter::<f32>()).collect();
        values
    };
    for (there, here) in measured(&gpu()).into_iter().zip(measured(&Device::flex())) {
        assert!((there - here).abs() <= 1e-5 * (1.0 + here.abs()), "{there} {here}");
    }
}
