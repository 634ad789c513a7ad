//! Recommends random items.

use crate::ranking::Scorer;
use bcl_data::Seed;
use rand::RngExt;

/// Scores items at random, differently for each user. A trained model must beat its metrics, which measure guessing.
///
/// The scores of a user depend only on the seed and the user, not on the users before.
///
/// ```
/// use bcl_data::Seed;
/// use bcl_eval::{baselines::Random, ranking::Scorer};
///
/// let (mut together, mut alone) = (Vec::new(), Vec::new());
/// Random::new(3, Seed(0)).score(&[0, 1], &mut together);
/// Random::new(3, Seed(0)).score(&[1], &mut alone);
/// assert_eq!(together[3..], alone);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Random {
    num_items: usize,
    seed: Seed,
}

impl Random {
    /// Scores `num_items` items.
    pub fn new(num_items: usize, seed: Seed) -> Self {
        Self {
            num_items,
            seed: seed.named("random baseline"),
        }
    }
}

impl Scorer for Random {
    fn num_items(&self) -> usize {
        self.num_items
    }

    fn score(&self, users: &[u32], out: &mut Vec<f32>) {
        out.clear();
        for &user in users {
            let mut rng = self.seed.index(u64::from(user)).rng();
            out.extend((0..self.num_items).map(|_| rng.random::<f32>()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::RankingEvaluator;
    use bcl_data::Interactions;

    #[test]
    fn metrics_are_those_of_guessing() {
        // 400 users with one of 50 items held out: a list of 5 has it with probability 0.1, with a standard error of 0.015.
        let train = Interactions::from_pairs(400, 50, []);
        let test = Interactions::from_pairs(400, 50, (0..400).map(|user| (user, user % 50)));
        let metrics = RankingEvaluator::new(&[5], &train, &test)
            .evaluate(&Random::new(50, Seed(0)))
            .unwrap();
        assert!((metrics["recall@5"] - 0.1).abs() < 0.045, "{metrics:?}");
        assert_eq!(metrics["coverage@5"], 1.0);
    }
}
