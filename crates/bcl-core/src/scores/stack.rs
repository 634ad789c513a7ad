//! Stacks scores.

use super::Scores;
use burn::tensor::{Bool, Tensor};

impl Scores {
    /// Stacks the scores of several sets of anchors, for example of two directions of a symmetric loss.
    ///
    /// # Panics
    /// Panics if there are no scores, or they differ in their numbers of positives or negatives or in their least similarity, or have
    /// log-weights, weights of positives or a factor.
    ///
    /// ```
    /// use bcl_core::Scores;
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let scores = |value: f32| Scores::new(Tensor::from_data([value], &device), Tensor::from_data([[0.1, -0.2]], &device));
    /// let both = Scores::stack([scores(0.7), scores(0.5)]);
    /// assert_eq!((both.num_anchors(), both.num_negatives()), (2, 2));
    /// ```
    pub fn stack(scores: impl IntoIterator<Item = Self>) -> Self {
        let mut scores: Vec<Self> = scores.into_iter().collect();
        match scores.len() {
            0 => panic!("there are no scores to stack"),
            1 => scores.remove(0),
            _ => stack(&scores),
        }
    }
}

fn stack(scores: &[Scores]) -> Scores {
    let least = scores[0].least_similarity;
    assert!(
        scores.iter().all(|scores| scores.least_similarity == least),
        "scores to stack must have the same least similarity"
    );
    assert!(
        scores
            .iter()
            .all(|scores| scores.log_weights.is_none() && scores.positive_weights.is_none() && scores.factor.is_none()),
        "scores to stack must have neither log-weights nor weights of positives nor a factor"
    );
    let cat = |tensor: fn(&Scores) -> &Tensor<2>| Tensor::cat(scores.iter().map(|scores| tensor(scores).clone()).collect(), 0);
    let mut stacked = Scores::multi_positive(cat(|scores| &scores.positives), cat(|scores| &scores.negatives));
    stacked.positives_mask = masks(scores, |scores| (&scores.positives_mask, &scores.positives));
    stacked.mask = masks(scores, |scores| (&scores.mask, &scores.negatives));
    stacked.with_least_similarity(least)
}

/// The stacked masks; where there is none, everything counts.
fn masks(scores: &[Scores], of: fn(&Scores) -> (&Option<Tensor<2, Bool>>, &Tensor<2>)) -> Option<Tensor<2, Bool>> {
    if scores.iter().all(|scores| of(scores).0.is_none()) {
        return None;
    }
    let or_all = |scores| {
        let (mask, values) = of(scores);
        mask.clone()
            .unwrap_or_else(|| Tensor::full(values.dims(), true, &values.device()))
    };
    Some(Tensor::cat(scores.iter().map(or_all).collect(), 0))
}
