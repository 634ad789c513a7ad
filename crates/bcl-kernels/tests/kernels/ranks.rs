//! Ranks against direct counting.

use super::common::{Numbers, TYPES, integers, matrix, values};
use bcl_kernels::{portable, rank_weights, row_ranks};
use burn::tensor::{Bool, DType, Device, Tensor, TensorData};
use proptest::prelude::*;

/// Eq. 11 literally, with NaN as `+∞`.
fn counted(row: &[f64], mask: &[bool]) -> Vec<i64> {
    let number = |score: f64| if score.is_nan() { f64::INFINITY } else { score };
    let rank = |(&score, &counts): (&f64, &bool)| {
        let not_above = |&(&other, &counts): &(&f64, &bool)| counts && number(other) <= number(score);
        if counts {
            row.iter().zip(mask).filter(not_above).count() as i64
        } else {
            0
        }
    };
    row.iter().zip(mask).map(rank).collect()
}

#[track_caller]
fn assert_ranks(row: &[f64], dtype: DType) {
    let device = Device::flex();
    let scores = matrix(row.to_vec(), [1, row.len()], dtype, &device);
    // The row after rounding to the type.
    let rounded = values(scores.clone());
    let expected = counted(&rounded, &vec![true; row.len()]);
    assert_eq!(integers(row_ranks(scores.clone(), None)), expected);
    let table = Tensor::<1>::from_data(
        TensorData::from(&*(1..=row.len()).map(|k| k as f64).collect::<Vec<_>>()),
        (&device, dtype),
    );
    let looked_up: Vec<i64> = values(rank_weights(scores, table)).iter().map(|&rank| rank as i64).collect();
    assert_eq!(looked_up, expected);
}

fn awkward() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1.0..1.0,
        4 => (-3i32..3).prop_map(f64::from),
        1 => Just(-0.0),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(f64::NAN),
        1 => Just(-f64::NAN),
        1 => Just(f64::MAX),
        1 => Just(f64::MIN),
        1 => Just(f64::MIN_POSITIVE),
        1 => Just(f64::from(f32::MAX)),
        1 => Just(f64::from(f32::MIN_POSITIVE) / 8.0),
        1 => Just(1e30),
    ]
}

proptest! {
    #[test]
    fn ranks_equal_counting_for_any_scores(row in prop::collection::vec(awkward(), 1..200)) {
        for dtype in TYPES {
            assert_ranks(&row, dtype);
        }
    }

    #[test]
    fn masked_entries_have_no_rank(row in prop::collection::vec((awkward(), any::<bool>()), 1..60)) {
        let (row, mask): (Vec<f64>, Vec<bool>) = row.into_iter().unzip();
        let shape = [1, row.len()];
        let device = Device::flex();
        for dtype in TYPES {
            let scores = matrix(row.clone(), shape, dtype, &device);
            let kept = Tensor::<2, Bool>::from_data(TensorData::new(mask.clone(), shape), &device);
            let expected = counted(&values(scores.clone()), &mask);
            assert_eq!(integers(row_ranks(scores.clone(), Some(kept.clone()))), expected);
            assert_eq!(integers(portable::row_ranks(scores, Some(kept))), expected);
        }
    }

    #[test]
    fn the_portable_body_counts_as_well(row in prop::collection::vec(awkward(), 1..60)) {
        for dtype in TYPES {
            let scores = matrix(row.clone(), [1, row.len()], dtype, &Device::flex());
            let expected = counted(&values(scores.clone()), &vec![true; row.len()]);
            assert_eq!(integers(portable::row_ranks(scores, None)), expected);
        }
    }
}

#[test]
fn crowded_rows_rank_as_spread_rows_do() {
    let mut numbers = Numbers(1);
    let mut row = |score: &dyn Fn(f64, usize) -> f64| (0..700).map(|i| score(numbers.signed(), i)).collect::<Vec<_>>();
    let rows = [
        row(&|x, _| x),
        row(&|_, _| 0.25),
        row(&|x, _| (x * 3.0).round()),
        row(&|x, i| if i == 5 { 1e30 } else { x }),
        row(&|x, _| 1.0 / (x * x + 1e-9)),
        row(&|x, i| if i % 9 == 0 { f64::INFINITY } else { x }),
        row(&|_, i| if i % 2 == 0 { f64::INFINITY } else { f64::NEG_INFINITY }),
        row(&|x, _| x * 1e-42),
        row(&|x, _| 1.0 + x * 1e-16),
        row(&|x, _| x * 3e38),
    ];
    for row in rows {
        for dtype in TYPES {
            assert_ranks(&row, dtype);
        }
    }
}

#[test]
fn rows_with_one_and_without_negatives() {
    let device = Device::flex();
    assert_ranks(&[0.5], DType::F32);
    let none = Tensor::<2>::zeros([3, 0], &device);
    assert_eq!(row_ranks(none.clone(), None).dims(), [3, 0]);
    assert_eq!(rank_weights(none, Tensor::zeros([0], &device)).dims(), [3, 0]);
}

#[test]
fn each_row_is_ranked_by_itself_for_any_memory_layout() {
    let device = Device::flex();
    let mut numbers = Numbers(2);
    let whole = numbers.matrix([40, 30], DType::F32, &device);
    let views = [
        whole.clone().transpose(),
        whole.clone().slice([3..17, 5..25]),
        whole.clone().flip([1]),
    ];
    for view in views {
        let [rows, columns] = view.dims();
        let expected: Vec<i64> = values(view.clone())
            .chunks(columns)
            .flat_map(|row| counted(row, &vec![true; columns]))
            .collect();
        assert_eq!(integers(row_ranks(view.clone(), None)), expected);
        let mask = view.clone().greater_elem(0.0);
        let expected: Vec<i64> = values(view.clone())
            .chunks(columns)
            .flat_map(|row| counted(row, &row.iter().map(|&score| score > 0.0).collect::<Vec<_>>()))
            .collect();
        assert_eq!(integers(row_ranks(view.clone(), Some(mask))), expected);
        assert_eq!(view.dims(), [rows, columns]);
    }
}

#[test]
fn half_precision_takes_the_portable_body() {
    let scores = matrix(vec![0.5, -1.0, 0.5, 2.0], [1, 4], DType::F16, &Device::flex());
    assert_eq!(integers(row_ranks(scores, None)), [3, 1, 3, 4]);
}

#[test]
fn no_gradient_reaches_the_scores() {
    let device = Device::flex().autodiff();
    let scores = Numbers(3).matrix([2, 5], DType::F32, &device).require_grad();
    let table = Tensor::<1>::from_floats([1.0, 2.0, 3.0, 4.0, 5.0], &device).require_grad();
    let weights = rank_weights(scores.clone(), table.clone());
    let gradients = (weights * scores.clone()).sum().backward();
    assert!(table.grad(&gradients).is_none());
    let gradient = scores.grad(&gradients).expect("the scores are tracked");
    // For Σ weight · score with constant weights, the gradient is the weight.
    assert_eq!(values(gradient), values(rank_weights(scores, table)));
}

#[test]
#[should_panic(expected = "the table has 3 entries, but must have one for each of the 5 ranks")]
fn a_table_of_another_length_is_refused() {
    let device = Device::flex();
    rank_weights(Tensor::zeros([2, 5], &device), Tensor::zeros([3], &device));
}
