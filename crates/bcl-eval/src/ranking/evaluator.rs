//! Ranks all items for every user and averages the metrics.

use super::blocks::Blocks;
use super::coverage::RecommendationCounts;
use super::user_metrics::{Discounts, UserMetrics, insert_means, names};
use super::wanted::Wanted;
use super::{ItemOrder, RankingError, Scorer};
use crate::Interrupt;
use crate::top_k::RankedItem;
use bcl_data::Interactions;
use bcl_report::result::Metrics;
use std::collections::BTreeMap;

/// Measures how well a [`Scorer`] ranks held-out items.
///
/// Each user with a held-out item gets a list of all items except the user's training items, highest score first. At each cutoff `k`,
/// these metrics are averaged over the users:
///
/// ```text
/// precision@k   hits / k                                  recall@k    hits / number of held-out items
/// ndcg@k        DCG / ideal DCG over min(k, held-out)     hit_rate@k  1 if there is a hit
/// mrr@k         1 / rank of the first hit, 0 without      map@k       sum of precision@rank over hits / min(k, held-out)
/// ```
///
/// Over all lists together: `coverage@k` (fraction of all items that are recommended to at least one user), `gini@k` (inequality of how
/// often items are recommended) and `mean_popularity@k` (mean number of training interactions of recommended items).
///
/// A held-out item that is also a training item of the same user cannot be recommended and does not count.
///
/// ```
/// use bcl_data::Interactions;
/// use bcl_eval::{baselines::Popularity, ranking::RankingEvaluator};
///
/// let train = Interactions::from_pairs(2, 4, [(0, 0), (0, 1), (1, 1), (1, 2)]);
/// let test = Interactions::from_pairs(2, 4, [(0, 2)]);
/// let metrics = RankingEvaluator::new(&[1, 2], &train, &test).evaluate(&Popularity::new(&train))?;
/// assert_eq!(metrics["recall@1"], 1.0);
/// assert_eq!(metrics["precision@2"], 0.5);
/// # Ok::<(), bcl_eval::ranking::RankingError>(())
/// ```
#[derive(Debug)]
pub struct RankingEvaluator {
    cutoffs: Vec<usize>,
    pub(super) train: Interactions,
    train_counts: Vec<u32>,
    pub(super) held_out: Interactions,
    /// Users with a held-out item, in ascending order.
    pub(super) users: Vec<u32>,
    discounts: Discounts,
    pub(super) blocks: Blocks,
    pub(super) order: Option<ItemOrder>,
}

/// One user's list and its metrics.
pub(super) struct UserRanking {
    pub(super) list: Vec<RankedItem>,
    /// One entry per cutoff.
    pub(super) metrics: Vec<UserMetrics>,
}

/// Sums over the lists of all users, which are added in the order of the users.
pub(super) struct Totals<'a> {
    cutoffs: &'a [usize],
    sums: Vec<UserMetrics>,
    counts: Vec<RecommendationCounts>,
}

impl<'a> Totals<'a> {
    pub(super) fn new(of: &'a RankingEvaluator) -> Self {
        let counts = of.cutoffs.iter().map(|_| RecommendationCounts::new(of.train.num_items()));
        Self {
            cutoffs: &of.cutoffs,
            sums: vec![UserMetrics::default(); of.cutoffs.len()],
            counts: counts.collect(),
        }
    }

    /// Adds the list of a user, best first, with its metrics at each cutoff.
    pub(super) fn add(&mut self, list: &[u32], metrics: &[UserMetrics]) {
        for (index, &cutoff) in self.cutoffs.iter().enumerate() {
            for (sum, figure) in self.sums[index].iter_mut().zip(metrics[index]) {
                *sum += figure;
            }
            self.counts[index].add(list.iter().take(cutoff).copied());
        }
    }

    /// The metrics by name.
    pub(super) fn metrics(&self, of: &RankingEvaluator) -> Metrics {
        let mut metrics = Metrics::new();
        for (index, &cutoff) in self.cutoffs.iter().enumerate() {
            insert_means(&mut metrics, cutoff, &self.sums[index], of.users.len());
            self.counts[index].insert(&mut metrics, cutoff, &of.train_counts);
        }
        metrics
    }
}

impl RankingEvaluator {
    /// Creates an evaluator for `cutoffs`, which may be in any order; duplicates are ignored.
    ///
    /// # Panics
    /// Panics if `cutoffs` is empty or contains 0, or if `train` and `held_out` have different numbers of users or items.
    pub fn new(cutoffs: &[usize], train: &Interactions, held_out: &Interactions) -> Self {
        assert!(
            cutoffs.iter().all(|&cutoff| cutoff > 0) && !cutoffs.is_empty(),
            "cutoffs are {cutoffs:?}, but there must be at least one, and each must be at least 1"
        );
        assert_eq!(
            (train.num_users(), train.num_items()),
            (held_out.num_users(), held_out.num_items()),
            "training and held-out interactions must have the same numbers of users and items"
        );
        let mut cutoffs = cutoffs.to_vec();
        cutoffs.sort_unstable();
        cutoffs.dedup();

        let held_out = Interactions::from_pairs(
            held_out.num_users(),
            held_out.num_items(),
            held_out.pairs().filter(|&(user, item)| !train.contains(user, item)),
        );
        let users = (0..held_out.num_users() as u32)
            .filter(|&user| !held_out.items_of(user).is_empty())
            .collect();
        let longest = cutoffs[cutoffs.len() - 1].min(train.num_items());
        Self {
            cutoffs,
            train_counts: train.item_counts(),
            train: train.clone(),
            held_out,
            users,
            discounts: Discounts::new(longest),
            blocks: Blocks::default(),
            order: None,
        }
    }

    /// Sets the maximum size of the scores of one block of users, in bytes; the default is 32 MB, the minimum one user's row.
    ///
    /// It affects memory and speed, but not the results.
    pub fn with_block_bytes(mut self, bytes: usize) -> Self {
        self.blocks.bytes = bytes;
        self
    }

    /// Ranks only the items of an order, and ties in this order instead of the items' numbers. Held-out items without a place count as missed.
    ///
    /// # Panics
    /// Panics if the order has another number of items.
    pub fn in_order(mut self, order: ItemOrder) -> Self {
        assert_eq!(
            order.num_items(),
            self.train.num_items(),
            "order and interactions must have the same number of items"
        );
        self.order = Some(order);
        self
    }

    /// Makes [`evaluate`](Self::evaluate) stop with [`RankingError::Interrupted`] once `is_requested` returns `true`. It is checked
    /// before each block of users.
    pub fn with_interrupt(mut self, is_requested: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.blocks.interrupt = Interrupt::when(is_requested);
        self
    }

    /// Number of users with a held-out item, over which metrics are averaged.
    pub fn num_evaluated_users(&self) -> usize {
        self.users.len()
    }

    /// The users with a held-out item, in ascending order.
    pub fn users(&self) -> &[u32] {
        &self.users
    }

    /// Ranks the items for every user and returns the metrics by name, such as `ndcg@20`.
    ///
    /// # Errors
    /// Returns
    /// - [`RankingError::NotANumber`] if a score is NaN, with the first such user and item;
    /// - [`RankingError::NothingHeldOut`] if no user has a held-out item;
    /// - [`RankingError::Interrupted`] if [interrupted](Self::with_interrupt).
    ///
    /// # Panics
    /// Panics if the scorer and the interactions have different numbers of items, or if the scores do not have the shape
    /// `[num_users, num_items]`.
    pub fn evaluate(&self, scorer: &dyn Scorer) -> Result<Metrics, RankingError> {
        let mut totals = Totals::new(self);
        let mut items = Vec::new();
        self.rank_users(scorer, &self.users, |UserRanking { list, metrics }| {
            items.clear();
            items.extend(list.iter().map(|ranked| ranked.item));
            totals.add(&items, &metrics);
        })?;
        Ok(totals.metrics(self))
    }

    /// Ranks the items for every user and returns the metrics of each of the [users](Self::users), by name. Their means equal the metrics
    /// of [`evaluate`](Self::evaluate). Metrics of all lists together, such as coverage, are not among them.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    ///
    /// # Panics
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_users(&self, scorer: &dyn Scorer) -> Result<BTreeMap<String, Vec<f64>>, RankingError> {
        let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        self.rank_users(scorer, &self.users, |ranking| {
            for (&cutoff, metrics) in self.cutoffs.iter().zip(ranking.metrics) {
                for (name, figure) in names(cutoff).zip(metrics) {
                    all.entry(name).or_default().push(figure);
                }
            }
        })?;
        Ok(all)
    }

    /// Number of cutoffs.
    pub(super) fn num_cutoffs(&self) -> usize {
        self.cutoffs.len()
    }

    /// Ranks the items for some of the [users](Self::users), in their order.
    pub(super) fn rank_users(
        &self,
        scorer: &dyn Scorer,
        users: &[u32],
        mut each: impl FnMut(UserRanking),
    ) -> Result<(), RankingError> {
        let num_items = self.train.num_items();
        assert_eq!(
            scorer.num_items(),
            num_items,
            "scorer and interactions must have the same number of items"
        );
        if self.users.is_empty() {
            return Err(RankingError::NothingHeldOut);
        }
        self.blocks.run(
            scorer,
            users,
            Wanted {
                k: self.cutoffs[self.cutoffs.len() - 1].min(num_items),
                excluded: Some(&self.train),
                order: self.order.as_ref(),
            },
            |user, list| self.measure(user, list),
            |_, ranking| {
                each(ranking);
                Ok(())
            },
        )
    }

    /// Computes the metrics of one user's list.
    fn measure(&self, user: u32, list: Vec<RankedItem>) -> UserRanking {
        let hits: Vec<bool> = list.iter().map(|ranked| self.held_out.contains(user, ranked.item)).collect();
        let num_held_out = self.held_out.items_of(user).len();
        let metrics = self
            .cutoffs
            .iter()
            .map(|&cutoff| self.discounts.user_metrics(&hits, cutoff, num_held_out))
            .collect();
        UserRanking { list, metrics }
    }
}
