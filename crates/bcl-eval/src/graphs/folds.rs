//! Stratified folds: parts of the samples in which all classes are represented alike.

#[cfg(test)]
mod tests;

use bcl_data::Seed;
use rand::seq::SliceRandom;

/// Assigns each sample to one of `num_folds` folds, without shuffling.
///
/// With the labels sorted by their first sample, fold f takes every `num_folds`-th of them, from the f-th on; so the sizes of
/// folds differ by at most 1, and so do their numbers of samples per class. Within a class, the first samples are in the first
/// fold. This is the rule of `StratifiedKFold` in scikit-learn.
///
/// # Panics
/// Panics if `num_folds` is 0.
///
/// ```
/// use bcl_eval::graphs::stratified_folds;
///
/// assert_eq!(stratified_folds(&[0, 0, 1, 0, 1, 0], 2), [0, 0, 0, 1, 1, 1]);
/// ```
pub fn stratified_folds(labels: &[u32], num_folds: usize) -> Vec<usize> {
    assign(labels, num_folds, |_, _| {})
}

/// As [`stratified_folds`], with the samples of each class in random order.
///
/// # Panics
/// Panics if `num_folds` is 0.
pub fn shuffled_folds(labels: &[u32], num_folds: usize, seed: Seed) -> Vec<usize> {
    assign(labels, num_folds, |class, folds| {
        folds.shuffle(&mut seed.named("folds").index(u64::from(class)).rng());
    })
}

/// Assigns folds; `reorder` gets each class and the folds of its samples in order.
fn assign(labels: &[u32], num_folds: usize, reorder: impl Fn(u32, &mut [usize])) -> Vec<usize> {
    assert!(num_folds > 0, "there must be at least one fold");
    let mut classes: Vec<u32> = Vec::new();
    for &label in labels {
        if !classes.contains(&label) {
            classes.push(label);
        }
    }
    let mut folds = vec![0; labels.len()];
    let mut start = 0;
    for class in classes {
        let samples: Vec<usize> = (0..labels.len()).filter(|&sample| labels[sample] == class).collect();
        // The sorted labels of this class are at start..start + len.
        let mut of_class: Vec<usize> = (start..start + samples.len()).map(|position| position % num_folds).collect();
        start += samples.len();
        of_class.sort_unstable();
        reorder(class, &mut of_class);
        for (sample, fold) in samples.into_iter().zip(of_class) {
            folds[sample] = fold;
        }
    }
    folds
}

/// The samples outside and inside a fold.
pub(super) fn train_and_test(folds: &[usize], fold: usize) -> [Vec<usize>; 2] {
    let (test, train) = (0..folds.len()).partition(|&sample| folds[sample] == fold);
    [train, test]
}
