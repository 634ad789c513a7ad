//! Losses of anchors from embeddings against the same losses of tensor operations.

use super::common::{Numbers, TYPES, values};
use bcl_kernels::{Contrast, Correction, Excluded, Weighing, contrast, contrast_views, portable, unit_rows};
use burn::tensor::{DType, Device, Tensor, TensorData};
use std::collections::BTreeSet;

/// Anchors, positives and negatives.
type Tables = [Tensor<2>; 3];

/// Unit rows, so that scores are cosines.
fn tables(num_anchors: usize, num_rows: usize, excluded: &Excluded, dtype: DType, device: &Device, seed: u64) -> Tables {
    let mut numbers = Numbers(seed);
    let mut draw = |rows| unit_rows(numbers.matrix([rows, 19], dtype, device));
    let negatives = draw(num_rows);
    let rows = |start: usize| negatives.clone().slice_dim(0, start..start + num_anchors);
    match *excluded {
        Excluded::None | Excluded::Listed { .. } => [draw(num_anchors), draw(num_anchors), negatives],
        Excluded::Own { first } => [draw(num_anchors), rows(first), negatives],
        Excluded::BothViews { first } => {
            let half = num_rows / 2;
            let views = [0, 1].map(|view| negatives.clone().slice_dim(0, view * half..(view + 1) * half));
            let [one, other] = views;
            let swapped = Tensor::cat(vec![other, one], 0);
            [
                rows(first),
                swapped.slice_dim(0, first..first + num_anchors),
                negatives.clone(),
            ]
        }
    }
}

/// The losses, and the gradients of their sum weighted by `weights`.
fn measured(tables: &Tables, weights: &Tensor<1>, loss: impl FnOnce([Tensor<2>; 3]) -> Tensor<1>) -> (Tensor<1>, Tables) {
    let tables = tables.clone().map(|table| table.detach().require_grad());
    let losses = loss(tables.clone());
    let gradients = (losses.clone() * weights.clone()).sum().backward();
    (
        losses.inner(),
        tables.map(|table| table.grad(&gradients).unwrap_or_else(|| table.inner().zeros_like())),
    )
}

/// All weighings of the negatives of some anchors.
fn weighings(num_anchors: usize, num_rows: usize, excluded: &Excluded, dtype: DType, device: &Device) -> Vec<Weighing> {
    let table = |count: usize| -> Vec<f64> { (0..count).map(|k| 0.5 + (k as f64 / count as f64)).collect() };
    let by_rank = if let Some(count) = excluded.count() {
        let table = table(num_rows - count);
        Weighing::ByRank(Tensor::from_data(TensorData::from(&*table), (device, dtype)))
    } else {
        let counts: BTreeSet<usize> = (0..num_anchors)
            .map(|anchor| num_rows - excluded.rows(anchor, num_rows).count())
            .filter(|&count| count > 0)
            .collect();
        Weighing::ByRankOf(counts.into_iter().map(|count| table(count).into()).collect())
    };
    vec![
        by_rank,
        Weighing::Equal,
        Weighing::ByHardness(0.0),
        Weighing::ByHardness(0.7),
        Weighing::ByHardness(1.0),
    ]
}

const CORRECTIONS: [Correction; 4] = [
    Correction::None,
    Correction::Decoupled,
    Correction::Floored {
        unlabelled: 1.2,
        positive: 0.2,
        least: Some(-1.0),
    },
    Correction::Floored {
        unlabelled: 1.1,
        positive: 0.1,
        least: None,
    },
];

fn shapes() -> [(usize, usize, Excluded); 8] {
    // Anchor 3 has no negatives, and lists are of all lengths.
    let few = Excluded::listed([vec![], vec![4, 1, 4], vec![0], (0..6).collect(), vec![5]]);
    let many = Excluded::listed((0..130).map(|anchor| (anchor..anchor + anchor % 50).collect())).starting_at(20);
    [
        (1, 3, Excluded::None),
        (5, 40, Excluded::None),
        (6, 6, Excluded::Own { first: 0 }),
        (3, 70, Excluded::Own { first: 60 }),
        (8, 8, Excluded::BothViews { first: 0 }),
        (100, 300, Excluded::BothViews { first: 120 }),
        (5, 6, few),
        (110, 300, many),
    ]
}

fn info_nce(excluded: Excluded) -> Contrast {
    Contrast {
        temperature: 0.5,
        excluded,
        weighing: Weighing::Equal,
        correction: Correction::None,
    }
}

fn in_double(loss: &Contrast) -> Contrast {
    let weighing = match &loss.weighing {
        Weighing::ByRank(table) => Weighing::ByRank(table.clone().cast(DType::F64)),
        weighing => weighing.clone(),
    };
    Contrast {
        weighing,
        ..loss.clone()
    }
}

/// Asserts equality with a result in f64, up to rounding in the type of `ours`.
#[track_caller]
pub(crate) fn assert_near(ours: Tensor<2>, exact: Tensor<2>, loss: &Contrast) {
    let tolerance = if ours.dtype() == DType::F64 { 1e-12 } else { 3e-5 };
    for (ours, exact) in values(ours).into_iter().zip(values(exact)) {
        let error = (ours - exact).abs() / (1.0 + exact.abs());
        assert!(error <= tolerance, "got {ours}, expected {exact}: {loss:?}");
    }
}

#[test]
fn losses_and_gradients_are_those_of_tensor_operations() {
    let device = Device::flex().autodiff();
    for (seed, (num_anchors, num_rows, excluded)) in shapes().into_iter().enumerate() {
        for dtype in TYPES {
            let tables = tables(num_anchors, num_rows, &excluded, dtype, &device, seed as u64);
            // Equal weights take a shorter way backward than any others.
            let uneven: Vec<f64> = (0..num_anchors)
                .map(|anchor| anchor as f64 / num_anchors as f64 - 0.3)
                .collect();
            let uneven = Tensor::<1>::from_data(TensorData::from(&*uneven), (&device, dtype));
            for weighing in weighings(num_anchors, num_rows, &excluded, dtype, &device) {
                for (correction, temperature) in CORRECTIONS
                    .into_iter()
                    .flat_map(|correction| [(correction, 0.5), (correction, 0.07)])
                {
                    let loss = Contrast {
                        temperature,
                        excluded: excluded.clone(),
                        weighing: weighing.clone(),
                        correction,
                    };
                    for weights in [uneven.full_like(0.3), uneven.clone()] {
                        let (losses, gradients) = measured(&tables, &weights, |[a, p, n]| contrast(a, p, n, &loss));
                        let exact = in_double(&loss);
                        let (doubles, weights) = (tables.clone().map(|table| table.cast(DType::F64)), weights.cast(DType::F64));
                        let (expected, slopes) = measured(&doubles, &weights, |[a, p, n]| portable::contrast(a, p, n, &exact));
                        assert_near(losses.unsqueeze(), expected.unsqueeze(), &loss);
                        for (ours, expected) in gradients.into_iter().zip(slopes) {
                            assert_near(ours, expected, &loss);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn two_views_have_the_losses_and_the_gradient_of_three_tables() {
    let device = Device::flex().autodiff();
    let excluded = Excluded::BothViews { first: 0 };
    // Rows have 19 numbers: slopes are kept for up to 16 x 19 = 304 rows, and computed block by block for more.
    for (seed, num_rows) in [4, 34, 290, 330].into_iter().enumerate() {
        for dtype in TYPES {
            let tables = tables(num_rows, num_rows, &excluded, dtype, &device, seed as u64);
            let uneven: Vec<f64> = (0..num_rows).map(|anchor| (anchor as f64).cos()).collect();
            let uneven = Tensor::<1>::from_data(TensorData::from(&*uneven), (&device, dtype));
            for weighing in weighings(num_rows, num_rows, &excluded, dtype, &device) {
                let loss = Contrast {
                    temperature: 0.2,
                    excluded: excluded.clone(),
                    weighing,
                    correction: CORRECTIONS[seed],
                };
                for weights in [uneven.full_like(0.3), uneven.clone()] {
                    let (losses, [gradient, ..]) = measured(&tables, &weights, |[views, _, _]| contrast_views(views, &loss));
                    let exact = in_double(&loss);
                    let (doubles, weights) = (tables.clone().map(|table| table.cast(DType::F64)), weights.cast(DType::F64));
                    let (expected, of_tables) = measured(&doubles, &weights, |[a, p, n]| portable::contrast(a, p, n, &exact));
                    let [of_anchors, of_positives, of_negatives] = of_tables;
                    let half = num_rows / 2;
                    let views = [half..num_rows, 0..half].map(|rows| of_positives.clone().slice_dim(0, rows));
                    let sum = of_anchors + Tensor::cat(views.to_vec(), 0) + of_negatives;
                    assert_near(losses.unsqueeze(), expected.unsqueeze(), &loss);
                    assert_near(gradient, sum, &loss);
                }
            }
        }
    }
}

#[test]
fn the_gradients_of_backends_without_a_kernel_are_those_of_autodiff() {
    let device = Device::flex().autodiff();
    // Half precision has no kernel, so this tests the portable body: its own gradient against autodiff through its steps.
    let listed = Excluded::listed([vec![0, 3], vec![], (0..7).collect()]);
    for (num_anchors, num_rows, excluded) in [
        (5, 40, Excluded::None),
        (8, 8, Excluded::BothViews { first: 0 }),
        (3, 7, listed),
    ] {
        let tables = tables(num_anchors, num_rows, &excluded, DType::F32, &device, 9);
        let halves = tables.map(|table| table.cast(DType::F16));
        let weights = Tensor::<1>::ones([num_anchors], (&device, DType::F16));
        for correction in CORRECTIONS {
            for weighing in [Weighing::Equal, Weighing::ByHardness(0.7)] {
                let loss = Contrast {
                    temperature: 0.5,
                    excluded: excluded.clone(),
                    weighing,
                    correction,
                };
                let (losses, gradients) = measured(&halves, &weights, |[a, p, n]| contrast(a, p, n, &loss));
                let (expected, slopes) = measured(&halves, &weights, |[a, p, n]| portable::contrast(a, p, n, &loss));
                let close = |ours: Vec<f64>, expected: Vec<f64>| {
                    for (ours, expected) in ours.into_iter().zip(expected) {
                        assert!(
                            (ours - expected).abs() < 0.02 * (1.0 + expected.abs()),
                            "{ours} {expected} {loss:?}"
                        );
                    }
                };
                close(values(losses), values(expected));
                for (ours, expected) in gradients.into_iter().zip(slopes) {
                    close(values(ours), values(expected));
                }
            }
        }
    }
}

#[test]
fn no_exponential_overflows() {
    let device = Device::flex().autodiff();
    let rows = |values: [[f64; 1]; 2], dtype| Tensor::<2>::from_data(values, (&device, dtype));
    for (positive, negative) in [(100.0, -100.0), (-100.0, 100.0), (0.0, 0.0)] {
        for correction in CORRECTIONS {
            for weighing in [Weighing::Equal, Weighing::ByHardness(1.0), Weighing::ByHardness(0.5)] {
                let loss = Contrast {
                    temperature: 0.05,
                    excluded: Excluded::None,
                    weighing,
                    correction,
                };
                let of = |dtype| {
                    let tables = [
                        rows([[1.0], [1.0]], dtype),
                        rows([[positive]; 2], dtype),
                        rows([[negative]; 2], dtype),
                    ];
                    let weights = Tensor::ones([2], (&device, dtype));
                    let (losses, gradients) = measured(&tables, &weights, |[a, p, n]| contrast(a, p, n, &loss));
                    let all = [values(losses)].into_iter().chain(gradients.map(values));
                    all.flatten().collect::<Vec<f64>>()
                };
                for (single, double) in of(DType::F32).into_iter().zip(of(DType::F64)) {
                    assert!(
                        (single - double).abs() <= 1e-5 * double.abs().max(1e-3),
                        "{single} {double} {loss:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_score_that_is_no_number_shows_in_its_loss_alone() {
    let device = Device::flex();
    let anchors = Tensor::<2>::from_data([[f64::NAN], [1.0]], (&device, DType::F64));
    let ones = Tensor::<2>::ones([2, 1], (&device, DType::F64));
    let loss = info_nce(Excluded::None);
    let losses = values(contrast(anchors, ones.clone(), ones, &loss));
    assert!(losses[0].is_nan() && (losses[1] - 3f64.ln()).abs() < 1e-12, "{losses:?}");
}

#[test]
fn an_anchor_without_negatives_has_no_loss() {
    let device = Device::flex().autodiff();
    let excluded = Excluded::listed([vec![0, 1, 2], vec![1]]);
    let tables = tables(2, 3, &excluded, DType::F64, &device, 1);
    for correction in CORRECTIONS {
        for weighing in weighings(2, 3, &excluded, DType::F64, &device) {
            let loss = Contrast {
                temperature: 0.1,
                excluded: excluded.clone(),
                weighing,
                correction,
            };
            let (losses, [of_anchors, of_positives, _]) =
                measured(&tables, &Tensor::ones([2], (&device, DType::F64)), |[a, p, n]| {
                    contrast(a, p, n, &loss)
                });
            let losses = values(losses);
            assert!(losses[0] == 0.0 && losses[1] != 0.0, "{losses:?} {loss:?}");
            for gradient in [of_anchors, of_positives] {
                assert!(values(gradient)[..19].iter().all(|&value| value == 0.0), "{loss:?}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "as many negatives for each anchor")]
fn lists_have_no_single_table_of_ranks() {
    let rows = Tensor::<2>::ones([2, 3], &Device::flex());
    let loss = Contrast {
        weighing: Weighing::ByRank(Tensor::ones([2], &Device::flex())),
        ..info_nce(Excluded::listed([vec![0], vec![]]))
    };
    contrast(rows.clone(), rows.clone(), rows, &loss);
}

#[test]
#[should_panic(expected = "there is no table for the ranks of 1 negatives, only for [2]")]
fn anchors_with_lists_have_a_table_of_ranks_of_their_length() {
    let rows = Tensor::<2>::ones([2, 3], &Device::flex());
    let loss = Contrast {
        weighing: Weighing::ByRankOf(vec![[1.0, 2.0].into()]),
        ..info_nce(Excluded::listed([vec![0], vec![]]))
    };
    contrast(rows.clone(), rows.clone(), rows, &loss);
}

#[test]
fn weights_by_rank_are_those_of_the_rows_that_are_left() {
    let device = Device::flex();
    let rows = Tensor::<2>::from_data([[3.0], [-1.0], [2.0], [1.0]], (&device, DType::F64));
    let anchors = Tensor::<2>::ones([2, 1], (&device, DType::F64));
    let loss = Contrast {
        temperature: 1.0,
        excluded: Excluded::listed([vec![0, 3], vec![2]]),
        weighing: Weighing::ByRankOf(vec![[0.2, 0.5].into(), [0.3, 0.7, 1.1].into()]),
        correction: Correction::Decoupled,
    };
    let losses = values(contrast(anchors.clone(), anchors.zeros_like(), rows, &loss));
    let [two, three] = [
        0.2 * (-1f64).exp() + 0.5 * 2f64.exp(),
        0.3 * (-1f64).exp() + 0.7 * 1f64.exp() + 1.1 * 3f64.exp(),
    ];
    for (loss, mass) in losses.into_iter().zip([two, three]) {
        assert!((loss - mass.ln()).abs() < 1e-12, "{loss} {mass}");
    }
}

#[test]
#[should_panic(expected = "row 2 is excluded, but there are 2")]
fn rows_that_do_not_exist_are_not_excluded() {
    let rows = Tensor::<2>::ones([2, 3], &Device::flex());
    let loss = info_nce(Excluded::listed([vec![2], vec![]]));
    contrast(rows.clone(), rows.clone(), rows, &loss);
}

#[test]
#[should_panic(expected = "leave nothing to compare")]
fn a_sample_alone_has_no_negatives() {
    let view = Tensor::<2>::ones([2, 3], &Device::flex());
    let loss = info_nce(Excluded::BothViews { first: 0 });
    contrast(view.clone(), view.clone(), view, &loss);
}
