//! A few labels of each class, for semi-supervised evaluation.

use bcl_data::Seed;
use rand::seq::SliceRandom;

/// Draws a fraction of the samples of each class, at least one of each; returns their indices in ascending order.
///
/// ```text
/// drawn_c = max(1, round(fraction · n_c))
/// ```
///
/// Samples without a class are never drawn. The choice depends only on the labels and the seed, and a smaller fraction of the same seed
/// draws some of the samples of a larger one.
///
/// # Panics
/// Panics if `fraction` is not in (0, 1].
///
/// ```
/// use bcl_data::Seed;
/// use bcl_images::few_labels;
///
/// let labels: Vec<Option<u32>> = (0..100).map(|i| Some(u32::from(i >= 80))).collect();
/// let drawn = few_labels(&labels, 0.1, Seed(3));
/// assert_eq!(drawn.iter().filter(|&&index| index < 80).count(), 8);
/// assert_eq!(drawn.len(), 10);
/// ```
pub fn few_labels(labels: &[Option<u32>], fraction: f64, seed: Seed) -> Vec<usize> {
    assert!(
        fraction > 0.0 && fraction <= 1.0,
        "fraction is {fraction}, but must be in (0, 1]"
    );
    let mut drawn: Vec<usize> = by_class(labels)
        .into_iter()
        .enumerate()
        .flat_map(|(class, mut members)| {
            let count = ((fraction * members.len() as f64).round() as usize).max(1);
            members.shuffle(&mut seed.index(class as u64).rng());
            members.truncate(count);
            members
        })
        .collect();
    drawn.sort_unstable();
    drawn
}

/// The samples of each class in ascending order; empty for a class without any.
///
/// ```
/// use bcl_images::by_class;
///
/// assert_eq!(by_class(&[Some(2), None, Some(0), Some(2)]), [vec![2], vec![], vec![0, 3]]);
/// ```
pub fn by_class(labels: &[Option<u32>]) -> Vec<Vec<usize>> {
    let num_classes = labels.iter().flatten().max().map_or(0, |&last| last as usize + 1);
    let mut classes = vec![Vec::new(); num_classes];
    for (index, label) in labels.iter().enumerate() {
        if let Some(class) = label {
            classes[*class as usize].push(index);
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 60 samples of class 0, 30 of class 2, 3 of class 3, and 7 without a class.
    fn labels() -> Vec<Option<u32>> {
        let of = |label, count| std::iter::repeat_n(label, count);
        of(Some(0), 60)
            .chain(of(Some(2), 30))
            .chain(of(Some(3), 3))
            .chain(of(None, 7))
            .collect()
    }

    #[test]
    fn each_class_gives_its_share_and_a_small_one_a_single_sample() {
        let drawn = few_labels(&labels(), 0.1, Seed(1));
        let of_class = |class| drawn.iter().filter(|&&index| labels()[index] == Some(class)).count();
        assert_eq!([0, 2, 3].map(of_class), [6, 3, 1]);
        assert!(drawn.is_sorted() && drawn.len() == 10, "{drawn:?}");
    }

    #[test]
    fn a_smaller_fraction_is_part_of_a_larger_one_and_the_seed_decides_which() {
        let [few, more] = [0.1, 0.5].map(|fraction| few_labels(&labels(), fraction, Seed(1)));
        assert!(few.iter().all(|index| more.contains(index)));
        assert_ne!(few, few_labels(&labels(), 0.1, Seed(2)));
        assert_eq!(few_labels(&labels(), 1.0, Seed(2)), (0..93).collect::<Vec<_>>());
    }
}
