//! The macro AUC: how often a user's held-out item scores above an item that the user has not interacted with.

use super::{RankingError, RankingEvaluator, Scorer};
use rayon::prelude::*;

/// Users whose scores are computed at a time, at most.
const BLOCK_USERS: usize = 1024;

impl RankingEvaluator {
    /// Computes the AUC of each user's held-out items against the items that the user has neither in training nor held out, averaged over the
    /// users. Ties count one half; items that [the order](Self::in_order) leaves out do not take part. The Bayesian loss reads it as `α`.
    ///
    /// ```text
    /// AUC_u = ( #{ p > n } + ½ #{ p = n } ) / ( #p · #n )        p: held-out items of user u,  n: items unknown to u
    /// ```
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    ///
    /// # Panics
    /// As [`evaluate`](Self::evaluate).
    pub fn macro_auc(&self, scorer: &dyn Scorer) -> Result<f64, RankingError> {
        let num_items = self.train.num_items();
        assert_eq!(
            scorer.num_items(),
            num_items,
            "scorer and interactions must have the same number of items"
        );
        let block = (self.blocks.bytes / size_of::<f32>() / num_items.max(1)).clamp(1, BLOCK_USERS);
        let (mut scores, mut sum, mut count) = (Vec::new(), 0.0, 0_usize);
        for users in self.users.chunks(block) {
            if self.blocks.interrupt.is_requested() {
                return Err(RankingError::Interrupted);
            }
            scorer.score(users, &mut scores);
            let aucs: Vec<Result<Option<f64>, RankingError>> = users
                .par_iter()
                .zip(scores.par_chunks(num_items))
                .map(|(&user, scores)| self.auc_of(user, scores))
                .collect();
            for auc in aucs {
                let Some(auc) = auc? else { continue };
                sum += auc;
                count += 1;
            }
        }
        if count == 0 {
            return Err(RankingError::NothingHeldOut);
        }
        Ok(sum / count as f64)
    }

    /// The AUC of one user; `None` if no held-out or no unknown item takes part.
    fn auc_of(&self, user: u32, scores: &[f32]) -> Result<Option<f64>, RankingError> {
        let takes_part = |item: u32| self.order.as_ref().is_none_or(|order| order.place(item).is_some());
        if let Some(item) = (0..).zip(scores).find(|&(item, score)| takes_part(item) && score.is_nan()) {
            return Err(RankingError::NotANumber { user, item: item.0 });
        }
        let held_out = self.held_out.items_of(user).iter().copied().filter(|&item| takes_part(item));
        let mut positives: Vec<f32> = held_out.map(|item| scores[item as usize]).collect();
        positives.sort_unstable_by(f32::total_cmp);
        let (mut wins, mut num_unknown) = (0.0, 0_usize);
        for (item, &score) in (0..).zip(scores) {
            if !takes_part(item) || self.train.contains(user, item) || self.held_out.contains(user, item) {
                continue;
            }
            let below = positives.partition_point(|&positive| positive < score);
            let not_above = positives.partition_point(|&positive| positive <= score);
            wins += positives.len() as f64 - (below + not_above) as f64 / 2.0;
            num_unknown += 1;
        }
        let pairs = positives.len() * num_unknown;
        Ok((pairs > 0).then(|| wins / pairs as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::ItemOrder;
    use bcl_core::auc::auc;
    use bcl_data::Interactions;

    /// Scores with ties between items.
    #[derive(Debug)]
    struct Steps;

    impl Scorer for Steps {
        fn num_items(&self) -> usize {
            20
        }

        fn score(&self, users: &[u32], out: &mut Vec<f32>) {
            out.clear();
            out.extend(
                users
                    .iter()
                    .flat_map(|&user| (0..20_u32).map(move |item| ((user * 7 + item * 3) % 11) as f32)),
            );
        }
    }

    fn data() -> [Interactions; 2] {
        let pairs = |step: u32| (0..6_u32).flat_map(move |user| (0..3).map(move |i| (user, (user * step + i * 4) % 20)));
        [3, 11].map(|step| Interactions::from_pairs(6, 20, pairs(step)))
    }

    #[test]
    fn equals_the_auc_of_sorted_samples_averaged_over_users() {
        let [train, held_out] = data();
        let evaluator = RankingEvaluator::new(&[5], &train, &held_out);
        let aucs: Vec<f64> = (0..6)
            .filter_map(|user| {
                let mut scores = Vec::new();
                Steps.score(&[user], &mut scores);
                let of = |wanted: &dyn Fn(u32) -> bool| {
                    let items = (0..20).filter(|&item| !train.contains(user, item) && wanted(item));
                    items.map(|item| f64::from(scores[item as usize])).collect::<Vec<f64>>()
                };
                auc(
                    &of(&|item| held_out.contains(user, item)),
                    &of(&|item| !held_out.contains(user, item)),
                )
            })
            .collect();
        let expected = aucs.iter().sum::<f64>() / aucs.len() as f64;
        assert!((0.1..0.9).contains(&expected));
        let found = evaluator.macro_auc(&Steps).unwrap();
        assert!((found - expected).abs() < 1e-12);
        let one_by_one = evaluator.with_block_bytes(1).macro_auc(&Steps).unwrap();
        assert_eq!(one_by_one, found);
    }

    #[test]
    fn untrained_items_do_not_take_part() {
        let train = Interactions::from_pairs(1, 20, [(0, 0)]);
        let held_out = Interactions::from_pairs(1, 20, [(0, 1)]);
        let known = Interactions::from_pairs(1, 20, [(0, 0), (0, 1), (0, 2), (0, 3)]);
        let order = ItemOrder::numbered(20).without_untrained(&known);
        // Items 1, 2 and 3 score 3, 6 and 9: the held-out item is the lowest of those that remain.
        let evaluator = RankingEvaluator::new(&[5], &train, &held_out).in_order(order);
        assert_eq!(evaluator.macro_auc(&Steps), Ok(0.0));
    }

    #[test]
    fn without_pairs_nothing_is_held_out() {
        let all = Interactions::from_pairs(1, 20, (0..20).map(|item| (0, item)));
        let none = Interactions::from_pairs(1, 20, []);
        assert_eq!(
            RankingEvaluator::new(&[5], &none, &all).macro_auc(&Steps),
            Err(RankingError::NothingHeldOut)
        );
    }
}
