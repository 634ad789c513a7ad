//! Folds against scikit-learn, and what must hold for any labels.

use super::*;
use rand::RngExt;

fn random_labels(seed: u64) -> (Vec<u32>, usize) {
    let mut rng = Seed(seed).named("labels").rng();
    let num_classes = rng.random_range(1..6);
    let length = rng.random_range(1..120);
    (
        (0..length).map(|_| 10 * rng.random_range(0..num_classes)).collect(),
        rng.random_range(2..12),
    )
}

fn count(folds: &[usize], labels: &[u32], fold: usize, class: Option<u32>) -> usize {
    let is_counted = |(&other, &label): (&usize, &u32)| other == fold && class.is_none_or(|class| class == label);
    folds.iter().zip(labels).filter(|&pair| is_counted(pair)).count()
}

/// `StratifiedKFold(4)` of scikit-learn 1.9.
#[test]
fn folds_without_shuffling_are_those_of_scikit_learn() {
    let labels = [2, 2, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 0, 1, 2, 0, 0];
    let expected = [0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 1, 2, 2, 1, 2, 3, 3, 3, 3, 3];
    assert_eq!(stratified_folds(&labels, 4), expected);
}

#[test]
fn folds_have_equal_sizes_and_equal_shares_of_each_class() {
    for seed in 0..200 {
        let (labels, num_folds) = random_labels(seed);
        for folds in [
            stratified_folds(&labels, num_folds),
            shuffled_folds(&labels, num_folds, Seed(seed)),
        ] {
            for class in [None, Some(0), Some(10), Some(20), Some(30), Some(40)] {
                let counts: Vec<usize> = (0..num_folds).map(|fold| count(&folds, &labels, fold, class)).collect();
                let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                assert!(most - least <= 1, "seed {seed}, class {class:?}: {counts:?}");
            }
        }
    }
}

#[test]
fn train_and_test_share_no_sample_and_miss_none() {
    let (labels, num_folds) = random_labels(3);
    let folds = shuffled_folds(&labels, num_folds, Seed(0));
    let mut tested = Vec::new();
    for fold in 0..num_folds {
        let [train, test] = train_and_test(&folds, fold);
        let mut all = [train, test.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..labels.len()).collect::<Vec<_>>());
        tested.extend(test);
    }
    tested.sort_unstable();
    assert_eq!(tested, (0..labels.len()).collect::<Vec<_>>());
}

#[test]
fn the_seed_determines_shuffled_folds() {
    let labels: Vec<u32> = (0..60).map(|sample| sample % 3).collect();
    let folds = |seed| shuffled_folds(&labels, 5, Seed(seed));
    assert_eq!(folds(1), folds(1));
    assert_ne!(folds(1), folds(2));
    assert_ne!(folds(1), stratified_folds(&labels, 5));
}

/// Changing these folds would change every published accuracy.
#[test]
fn shuffled_folds_are_frozen() {
    let labels: Vec<u32> = (0..20).map(|sample| sample % 2).collect();
    let expected = [0, 1, 1, 3, 1, 1, 1, 2, 3, 2, 3, 3, 0, 3, 0, 0, 2, 0, 2, 2];
    assert_eq!(shuffled_folds(&labels, 4, Seed(0)), expected);
}
