//! Ranks with a trained recommender: the best items for users and for new users, similar items, and the metrics of these rankings.

use super::{
    recommendations::{Recommendations, Subject},
    saved::TrainedRecommender,
};
use crate::{error::Error, training::Stop};
use bcl_data::{InteractionData, Interactions};
use bcl_eval::ranking::{EmbeddingScorer, ItemOrder, RankedItem, RankingEvaluator, TopItems};
use bcl_models::{Embeddings, Similarity};
use bcl_report::{SampleMetrics, result::Metrics};
use burn::tensor::{Tensor, TensorData};

/// What a list of recommended items contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListOptions {
    /// Number of items.
    pub top: usize,
    /// Whether the list may contain the training items of its user. Test items never count as seen.
    pub include_seen: bool,
}

/// How a trained recommender is evaluated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankingOptions {
    /// Lengths of the lists, ascending; the recipe's if absent.
    pub cutoffs: Option<Vec<usize>>,
    /// Interactions to evaluate on in place of the test data of the run.
    pub test: Option<Interactions>,
    /// Whether the vectors of users are computed from their training items, as if all users were new.
    pub fold_in: bool,
    /// Whether to return the metrics of each user, too.
    pub per_user: bool,
}

/// The evaluation of a trained recommender.
#[derive(Debug, Clone, PartialEq)]
pub struct RankingMetrics {
    /// Number of users that were evaluated.
    pub users: usize,
    /// Means over these users.
    pub metrics: Metrics,
    /// Metrics of each user, if requested.
    pub per_user: Option<SampleMetrics>,
}

impl TrainedRecommender {
    /// Evaluates the rankings of all users with test interactions.
    ///
    /// # Errors
    /// Returns an error if a score is not finite.
    pub fn evaluate(&self, options: RankingOptions) -> Result<RankingMetrics, Error> {
        let data = &self.data;
        let cutoffs = options.cutoffs.as_ref().unwrap_or(&self.recipe.evaluation.cutoffs);
        let tested = match options.test {
            Some(test) => InteractionData { test, ..data.clone() }.trained_test(),
            None => data.trained_test(),
        };
        let evaluator = RankingEvaluator::new(cutoffs, &data.train, &tested).in_order(self.order());
        let scorer = EmbeddingScorer::new(Embeddings {
            users: if options.fold_in {
                self.folded_users()
            } else {
                self.embeddings.users.clone()
            },
            items: self.embeddings.items.clone(),
        });
        let metrics = evaluator.evaluate(&scorer)?;
        let per_user = || super::metrics_of_users(&evaluator, &scorer, data);
        Ok(RankingMetrics {
            users: evaluator.num_evaluated_users(),
            per_user: options.per_user.then(per_user).transpose()?,
            metrics,
        })
    }

    /// Lists the best items for a user of the run, by dense id.
    ///
    /// # Errors
    /// Returns an error if a score is not finite.
    pub fn recommend(&self, user: u32, options: ListOptions) -> Result<Recommendations, Error> {
        let seen = (!options.include_seen).then_some(&self.data.train);
        let list = self.ranked(&EmbeddingScorer::new(self.embeddings.clone()), seen, user, options.top)?;
        Ok(Recommendations::new(self, Subject::of_user(&self.data, user), &list))
    }

    /// Lists the best items for a new user who has some items, by dense id. The user's vector is computed from those with a training interaction, as
    /// the others' vectors are random; only if there are none is it computed from all. Nothing is trained.
    ///
    /// # Errors
    /// Returns an error if a score is not finite.
    pub fn recommend_to_new(&self, items: &[u32], options: ListOptions) -> Result<Recommendations, Error> {
        let mut items = items.to_vec();
        items.sort_unstable();
        items.dedup();
        let counts = self.data.train.item_counts();
        let trained: Vec<u32> = items.iter().copied().filter(|&item| counts[item as usize] > 0).collect();
        let scorer = EmbeddingScorer::new(Embeddings {
            users: self.fold_in(&[if trained.is_empty() { &items } else { &trained }]),
            items: self.embeddings.items.clone(),
        });
        let seen = Interactions::from_pairs(1, self.data.items.len(), items.iter().map(|&item| (0, item)));
        let list = self.ranked(&scorer, (!options.include_seen).then_some(&seen), 0, options.top)?;
        Ok(Recommendations::new(self, Subject::of_new_user(self, &items), &list))
    }

    /// Lists the items most similar to an item, by the cosine of their embeddings.
    ///
    /// # Errors
    /// Returns an error if a score is not finite.
    pub fn similar(&self, item: u32, top: usize) -> Result<Recommendations, Error> {
        let itself = itself(self.data.items.len());
        let list = self.ranked(&self.cosines(), Some(&itself), item, top)?;
        Ok(Recommendations::new(self, Subject::of_item(self, item), &list))
    }

    /// Calls `each` with the best items of each of some users, in their order.
    ///
    /// # Errors
    /// Returns an error if a score is not finite, `stop` is requested, or `each` fails.
    pub fn recommend_each(
        &self,
        users: &[u32],
        options: ListOptions,
        stop: &Stop,
        each: impl FnMut(u32, &[RankedItem]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let scorer = EmbeddingScorer::new(self.embeddings.clone());
        let order = self.order();
        let ranking = TopItems::new(&scorer, options.top).in_order(&order);
        let ranking = if options.include_seen {
            ranking
        } else {
            ranking.excluding(&self.data.train)
        };
        let stop = stop.clone();
        ranking.with_interrupt(move || stop.is_requested()).of_users(users, each)
    }

    /// Calls `each` with the most similar items of each of some items, in their order.
    ///
    /// # Errors
    /// As [`recommend_each`](Self::recommend_each).
    pub fn similar_each(
        &self,
        items: &[u32],
        top: usize,
        stop: &Stop,
        each: impl FnMut(u32, &[RankedItem]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (scorer, itself) = (self.cosines(), itself(self.data.items.len()));
        let (stop, order) = (stop.clone(), self.order());
        let ranking = TopItems::new(&scorer, top).in_order(&order).excluding(&itself);
        ranking.with_interrupt(move || stop.is_requested()).of_users(items, each)
    }

    /// The best items for one user of a scorer.
    fn ranked(
        &self,
        scorer: &EmbeddingScorer,
        seen: Option<&Interactions>,
        user: u32,
        top: usize,
    ) -> Result<Vec<RankedItem>, Error> {
        let mut best = Vec::new();
        let order = self.order();
        let ranking = TopItems::new(scorer, top).in_order(&order);
        let ranking = match seen {
            Some(seen) => ranking.excluding(seen),
            None => ranking,
        };
        ranking.of_users(&[user], |_, list| {
            best = list.to_vec();
            Ok::<(), Error>(())
        })?;
        Ok(best)
    }

    fn order(&self) -> ItemOrder {
        super::item_order(&self.data)
    }

    /// Scores items as neighbours of items: the cosine of their embeddings.
    fn cosines(&self) -> EmbeddingScorer {
        let items = Similarity::Cosine.prepare(self.embeddings.items.clone());
        EmbeddingScorer::new(Embeddings {
            users: items.clone(),
            items,
        })
    }

    /// The vectors of users as if they were new: from their training items. Users without any get zeros.
    fn folded_users(&self) -> Tensor<2> {
        let train = &self.data.train;
        let histories: Vec<&[u32]> = (0..train.num_users() as u32).map(|user| train.items_of(user)).collect();
        let trained: Vec<&[u32]> = histories.iter().copied().filter(|items| !items.is_empty()).collect();
        let [_, dim] = self.embeddings.items.dims();
        let device = self.embeddings.items.device();
        let folded: Vec<f32> = self.fold_in(&trained).into_data().iter::<f32>().collect();
        let mut rows = folded.chunks(dim);
        let zeros = vec![0.0; dim];
        let all: Vec<f32> = histories
            .iter()
            .flat_map(|items| {
                if items.is_empty() {
                    &zeros[..]
                } else {
                    rows.next().unwrap_or(&zeros)
                }
            })
            .copied()
            .collect();
        Tensor::from_data(TensorData::new(all, [histories.len(), dim]), &device)
    }
}

/// Each item as its own only item, to leave it out of its neighbours.
fn itself(num_items: usize) -> Interactions {
    Interactions::from_pairs(num_items, num_items, (0..num_items as u32).map(|item| (item, item)))
}
