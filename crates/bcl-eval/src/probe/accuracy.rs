//! Top-1 and top-5 accuracy.

use super::labelled::to_host;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Top-1 and top-5 accuracy, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopK {
    /// Fraction of samples whose class has the highest score.
    pub top1: f64,
    /// Fraction of samples whose class is among the five highest scores; `None` with five classes or fewer, where it is always 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top5: Option<f64>,
}

impl TopK {
    /// Accuracies from the scores of each class. Ties go to the lower class. `None` if a score is not a finite number.
    ///
    /// # Shapes
    /// - scores: `[num_samples, num_classes]`
    /// - labels: the class of each sample
    ///
    /// # Panics
    /// Panics if there are not as many labels as samples, no samples, or a label is not below the number of classes.
    ///
    /// ```
    /// use bcl_eval::probe::TopK;
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let scores = Tensor::from_floats([[2.0, 1.0], [0.5, 3.0]], &Device::flex());
    /// assert_eq!(TopK::of_scores(scores, &[0, 0]).unwrap().top1, 0.5);
    /// ```
    pub fn of_scores(scores: Tensor<2>, labels: &[u32]) -> Option<Self> {
        let [num_samples, num_classes] = scores.dims();
        assert_eq!(num_samples, labels.len(), "each sample has a label");
        let scores = to_host(scores);
        if scores.iter().any(|score| !score.is_finite()) {
            return None;
        }
        let rows = scores.chunks_exact(num_classes).zip(labels);
        let places: Vec<usize> = rows.map(|(row, &label)| place(row, label)).collect();
        Some(Self::of_places(&places, num_classes))
    }

    /// Accuracies from the rank of each sample's class, 0 for the best.
    pub(super) fn of_places(places: &[usize], num_classes: usize) -> Self {
        let share = |k| places.iter().filter(|&&place| place < k).count() as f64 / places.len() as f64;
        Self {
            top1: share(1),
            top5: (num_classes > 5).then(|| share(5)),
        }
    }
}

/// The rank of `class`, from 0: the number of classes with a higher score, or the same score and a lower index. A NaN score ranks last.
pub(super) fn place<S: PartialOrd>(scores: &[S], class: u32) -> usize {
    let class = class as usize;
    let own = &scores[class];
    let is_number = own.partial_cmp(own).is_some();
    let before = |(other, score): (usize, &S)| !is_number || score > own || (score == own && other < class);
    scores.iter().enumerate().filter(|&entry| before(entry)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_go_to_the_lower_class() {
        let scores = [0.5, 0.9, 0.5, 0.9];
        assert_eq!([0, 1, 2, 3].map(|class| place(&scores, class)), [2, 0, 3, 1]);
    }

    #[test]
    fn nan_is_sorted_last() {
        let scores = [f64::NAN, 0.9, 0.5];
        assert_eq!([0, 1, 2].map(|class| place(&scores, class)), [3, 0, 1]);
    }

    #[test]
    fn the_fifth_place_counts_among_five_and_the_sixth_does_not() {
        let found = TopK::of_places(&[0, 4, 5, 0], 6);
        assert_eq!(
            found,
            TopK {
                top1: 0.5,
                top5: Some(0.75)
            }
        );
    }

    #[test]
    fn five_classes_have_no_top_five() {
        assert_eq!(TopK::of_places(&[0, 4], 5).top5, None);
    }
}
