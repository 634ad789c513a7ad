//! EASE against its normal equations, and both baselines against published results on `MovieLens` 100K.

use super::{Ease, EaseError, Popularity};
use crate::ranking::{RankingEvaluator, Scorer};
use bcl_data::Interactions;
use proptest::prelude::*;

/// Solves one column of EASE by Gauss-Jordan elimination: the ridge regression of item `target` on all other items.
fn ridge_regression(train: &Interactions, target: u32, lambda: f64) -> Vec<f64> {
    let num_items = train.num_items() as u32;
    let others: Vec<u32> = (0..num_items).filter(|&item| item != target).collect();
    let together = |a: u32, b: u32| {
        (0..train.num_users() as u32)
            .filter(|&user| train.contains(user, a) && train.contains(user, b))
            .count() as f64
    };
    let mut system: Vec<Vec<f64>> = others
        .iter()
        .map(|&row| {
            let penalty = |column: u32| if row == column { lambda } else { 0.0 };
            let mut equation: Vec<f64> = others.iter().map(|&column| together(row, column) + penalty(column)).collect();
            equation.push(together(row, target));
            equation
        })
        .collect();
    // The matrix is positive definite, so no pivot is zero.
    for pivot in 0..system.len() {
        let scale = system[pivot][pivot];
        system[pivot].iter_mut().for_each(|value| *value /= scale);
        let pivot_row = system[pivot].clone();
        for (_, row) in system.iter_mut().enumerate().filter(|(index, _)| *index != pivot) {
            let factor = row[pivot];
            row.iter_mut()
                .zip(&pivot_row)
                .for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    let mut coefficients: Vec<f64> = system.iter().map(|row| row[row.len() - 1]).collect();
    coefficients.insert(target as usize, 0.0);
    coefficients
}

proptest! {
    #[test]
    fn ease_regresses_each_item_on_the_others(
        pairs in prop::collection::vec((0_u32..10, 0_u32..6), 0..40),
        lambda in 0.5_f64..20.0,
    ) {
        let train = Interactions::from_pairs(10, 6, pairs);
        let mut scores = Vec::new();
        let users: Vec<u32> = (0..10).collect();
        Ease::fit(&train, lambda).unwrap().score(&users, &mut scores);
        for target in 0..6_u32 {
            let coefficients = ridge_regression(&train, target, lambda);
            for user in 0..10_u32 {
                let expected: f64 = train.items_of(user).iter().map(|&item| coefficients[item as usize]).sum();
                let found = f64::from(scores[(user * 6 + target) as usize]);
                prop_assert!((found - expected).abs() < 1e-5, "user {} item {}: {} not {}", user, target, found, expected);
            }
        }
    }
}

#[test]
fn a_fit_is_the_same_on_any_number_of_threads() {
    // More items than one block of the factorisation.
    let pairs = (0..20_000_u32).map(|index| (index % 97, index.wrapping_mul(2_654_435_761) % 301));
    let train = Interactions::from_pairs(97, 301, pairs);
    let users: Vec<u32> = (0..97).collect();
    let scores = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut scores = Vec::new();
        pool.install(|| Ease::fit(&train, 10.0).unwrap().score(&users, &mut scores));
        scores
    };
    assert_eq!(scores(1), scores(3));
}

#[test]
fn a_catalogue_too_large_is_refused_with_the_reason() {
    let train = Interactions::from_pairs(1, 40_981, [(0, 0)]);
    let error = Ease::fit(&train, 400.0).unwrap_err();
    assert!(matches!(
        error,
        EaseError::TooManyItems {
            num_items: 40_981,
            limit: 12_000,
            ..
        }
    ));
    let text = error.to_string();
    assert!(
        text.contains("40981 items would take about 40 GB") && text.contains("evaluation.baselines"),
        "{text}"
    );
}

#[test]
fn a_lambda_out_of_range_is_refused() {
    let train = Interactions::from_pairs(1, 2, [(0, 0), (0, 1)]);
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Ease::fit(&train, lambda).unwrap_err();
        assert!(matches!(error, EaseError::Lambda { .. }), "{error}");
    }
    // 1 + 1e-300 is 1, and the two items are identical: a singular matrix.
    let error = Ease::fit(&train, 1e-300).unwrap_err();
    assert!(matches!(error, EaseError::NotInvertible { .. }), "{error}");
}

#[test]
fn an_empty_catalogue_has_no_scores() {
    let train = Interactions::from_pairs(1, 0, []);
    let mut scores = vec![1.0];
    Ease::fit(&train, 1.0).unwrap().score(&[0], &mut scores);
    assert_eq!(scores, [0.0; 0]);
}

/// Reads a `user,item,rating` file with dense ids.
fn read_pairs(path: &std::path::Path) -> Vec<(u32, u32)> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .skip(1)
        .map(|line| {
            let mut fields = line.split(',').map(|field| field.parse().unwrap());
            (fields.next().unwrap(), fields.next().unwrap())
        })
        .collect()
}

/// Results on `MovieLens` 100K in the split of Liu and Wang, with all ratings as positives; `BCL_DATA` is the folder with `ml-100k/`.
#[test]
#[ignore = "needs downloaded data: BCL_DATA=DIR cargo test -p bcl-eval movielens_100k -- --ignored"]
fn figures_of_movielens_100k_are_the_published_ones() {
    let folder = std::env::var_os("BCL_DATA").expect("BCL_DATA must be the folder with ml-100k/authors-split");
    let folder = std::path::Path::new(&folder).join("ml-100k/authors-split");
    let train = Interactions::from_pairs(943, 1682, read_pairs(&folder.join("100k_train.csv")));
    let test = Interactions::from_pairs(943, 1682, read_pairs(&folder.join("100k_test.csv")));
    let evaluator = RankingEvaluator::new(&[5, 10, 20], &train, &test);

    let popularity = evaluator.evaluate(&Popularity::new(&train)).unwrap();
    let start = std::time::Instant::now();
    let ease = Ease::fit(&train, 400.0).unwrap();
    let fit_seconds = start.elapsed().as_secs_f64();
    let start = std::time::Instant::now();
    let ease = evaluator.evaluate(&ease).unwrap();
    println!("popularity {popularity:#?}\nEASE {ease:#?}");
    println!(
        "EASE fit {fit_seconds:.2} s, scoring and ranking {:.3} s",
        start.elapsed().as_secs_f64()
    );

    assert!((0.220..0.222).contains(&popularity["ndcg@20"]));
    assert!((0.449..0.451).contains(&ease["ndcg@20"]));
}
