//! Recommends the most popular items to every user.

use crate::ranking::Scorer;
use bcl_data::Interactions;

/// Scores each item by its number of training interactions, the same for every user.
///
/// ```
/// use bcl_data::Interactions;
/// use bcl_eval::{baselines::Popularity, ranking::Scorer};
///
/// let train = Interactions::from_pairs(2, 3, [(0, 1), (1, 1), (1, 2)]);
/// let mut scores = Vec::new();
/// Popularity::new(&train).score(&[0, 1], &mut scores);
/// assert_eq!(scores, [0.0, 2.0, 1.0, 0.0, 2.0, 1.0]);
/// ```
#[derive(Debug, Clone)]
pub struct Popularity {
    scores: Vec<f32>,
}

impl Popularity {
    /// Counts the training interactions of each item.
    pub fn new(train: &Interactions) -> Self {
        let counts = train.item_counts();
        Self {
            scores: counts.into_iter().map(|count| count as f32).collect(),
        }
    }
}

impl Scorer for Popularity {
    fn num_items(&self) -> usize {
        self.scores.len()
    }

    fn score(&self, users: &[u32], out: &mut Vec<f32>) {
        out.clear();
        for _ in users {
            out.extend_from_slice(&self.scores);
        }
    }
}
