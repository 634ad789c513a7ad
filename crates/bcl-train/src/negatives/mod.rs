//! Where the negatives of an anchor come from, when they are items drawn for a user.
//!
//! A sampler knows nothing of how its draws are weighed: that is the estimator's part. One file a member.
//!
//! Draws are counter-based: row `r` of step `s` depends on the seed, `s`, `r` and that row's user alone, so neither the number of
//! threads nor an interruption changes them.

mod alias;
mod config;
mod in_batch;
mod marks;
mod popularity;
mod stream;
mod uniform;
mod uniform_all;

pub use config::NegativesConfig;
pub use in_batch::InBatch;
pub use popularity::Popularity;
pub use uniform::Uniform;
pub use uniform_all::UniformAll;

use bcl_data::{Interactions, Seed};
use marks::Marks;
use rayon::prelude::*;
use std::fmt::Debug;
use stream::Stream;

/// Rows a thread takes at a time: enough to pay for its set of marks, few enough to share a batch of 128 between two threads.
const ROWS_PER_JOB: usize = 32;

/// A distribution over items from which the negatives of one user are drawn.
pub(crate) trait NegativeSource: Debug + Send + Sync {
    /// Fills `out` with items for `user`. `marks` is empty on entry and on return.
    fn draw(&self, user: u32, stream: &mut Stream, marks: &mut Marks, out: &mut [i32]);
}

/// Draws negative items for batches of users.
///
/// ```
/// use bcl_data::{Interactions, Seed};
/// use bcl_train::negatives::{NegativeSampler, NegativesConfig, Uniform};
///
/// let train = Interactions::from_pairs(2, 4, [(0, 1), (0, 2), (1, 3)]);
/// let config = NegativesConfig::Uniform(Uniform { count: 5 });
/// let sampler = NegativeSampler::new(&config, &train, Seed(0))?;
///
/// let mut items = Vec::new();
/// sampler.sample(0, &[0, 1], &mut items); // [num_users = 2, count = 5]
/// assert!(items[..5].iter().all(|item| [0, 3].contains(item)));
/// assert!(items[5..].iter().all(|item| [0, 1, 2].contains(item)));
/// # Ok::<(), bcl_train::negatives::NegativesError>(())
/// ```
#[derive(Debug)]
pub struct NegativeSampler {
    config: NegativesConfig,
    source: Option<Box<dyn NegativeSource>>,
    train: Interactions,
    seed: Seed,
}

impl NegativeSampler {
    /// Prepares the tables of a sampler. The seed is the run's: the sampler derives its own from it.
    ///
    /// # Errors
    /// When there is nothing to draw: no items, no interactions to take popularity from, or, for [`Uniform`], a user who has
    /// interacted with every item.
    ///
    /// # Panics
    /// When a parameter is out of range; [`NegativesConfig::check`] tells without panicking.
    pub fn new(config: &NegativesConfig, train: &Interactions, seed: Seed) -> Result<Self, NegativesError> {
        if let Err(error) = config.check() {
            panic!("{error}");
        }
        if train.num_items() == 0 {
            return Err(NegativesError::NoItems);
        }
        let source = match config {
            NegativesConfig::Uniform(_) => Some(uniform::source(train)?),
            NegativesConfig::UniformAll(_) => Some(uniform_all::source(train)),
            NegativesConfig::Popularity(config) => Some(popularity::source(config, train)?),
            NegativesConfig::InBatch(_) => None,
        };
        Ok(Self {
            config: config.clone(),
            source,
            train: train.clone(),
            seed: seed.named("negatives"),
        })
    }

    /// Draws the negatives of a batch into `out`, whose former content is dropped.
    ///
    /// # Shapes
    /// - users: `[num_anchors]`
    /// - out:   `[num_anchors, count]`; `[1, count]` when [`shared`](NegativesConfig::shared); empty for `in_batch`, whose negatives
    ///   are in the batch already
    ///
    /// # Panics
    /// When a user is not in the interactions.
    pub fn sample(&self, step: u64, users: &[u32], out: &mut Vec<i32>) {
        out.clear();
        let (Some(source), Some(count)) = (&self.source, self.config.count()) else {
            return;
        };
        let shared = [0];
        let users = if self.config.shared() { &shared } else { users };
        out.resize(users.len() * count, 0);

        let step = self.seed.index(step);
        out.par_chunks_mut(count)
            .zip(users)
            .enumerate()
            .with_min_len(ROWS_PER_JOB)
            .for_each_init(
                || Marks::new(self.train.num_items()),
                |marks, (row, (out, &user))| source.draw(user, &mut Stream::new(step.index(row as u64)), marks, out),
            );
    }

    /// Tells the draws that count (`true`) from the accidental hits: items their user has interacted with.
    ///
    /// `keep` is left empty when no mask is wanted, because the sampler avoids hits or [`mask_hits`](NegativesConfig::mask_hits) is
    /// off. For `in_batch`, `items` are the positives of the batch; an anchor's own positive is a hit as well.
    ///
    /// # Shapes
    /// - users: `[num_anchors]`
    /// - items: `[num_anchors, count]`, or `[1, count]` when every user shares them
    /// - keep:  `[num_anchors, count]`
    ///
    /// # Panics
    /// When the shapes do not fit, or a user or an item is not in the interactions.
    pub fn mask(&self, users: &[u32], items: &[i32], keep: &mut Vec<bool>) {
        keep.clear();
        if !self.config.mask_hits() || users.is_empty() || items.is_empty() {
            return;
        }
        let shared = self.config.shared();
        let count = if shared { items.len() } else { items.len() / users.len() };
        assert!(
            shared || items.len() == users.len() * count,
            "{} items do not make rows for {} users",
            items.len(),
            users.len()
        );
        keep.resize(users.len() * count, true);
        keep.par_chunks_mut(count)
            .zip(users)
            .enumerate()
            .with_min_len(ROWS_PER_JOB)
            .for_each_init(
                || Marks::new(self.train.num_items()),
                |marks, (row, (keep, &user))| {
                    let first = if shared { 0 } else { row * count };
                    let known = self.train.items_of(user);
                    marks.set(known);
                    for (keep, &item) in keep.iter_mut().zip(&items[first..]) {
                        *keep = !marks.contains(item as u32);
                    }
                    marks.clear(known);
                },
            );
    }

    /// Log probability that one draw is each item, where the configuration asks for the log-Q correction.
    ///
    /// A sampled softmax over scores `s_i / t - log q_i` estimates the softmax over all items (Bengio and Senécal 2003; Yi et al.
    /// 2019), whatever `q` is. Items that are never drawn have `-∞`.
    ///
    /// # Shapes
    /// - output: `[num_items]`, nats
    pub fn log_q(&self) -> Option<Vec<f32>> {
        match &self.config {
            NegativesConfig::Popularity(config) if config.log_q => {
                Some(popularity::log_probabilities(&self.train, config.exponent))
            }
            NegativesConfig::InBatch(config) if config.log_q => Some(popularity::log_probabilities(&self.train, 1.0)),
            _ => None,
        }
    }

    /// The configuration.
    pub fn config(&self) -> &NegativesConfig {
        &self.config
    }
}

/// Why a sampler cannot be made from these interactions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NegativesError {
    /// The item table is empty.
    #[error("there are no items to draw negatives from")]
    NoItems,
    /// Popularity needs at least one interaction.
    #[error("there are no training interactions to take the popularity of items from; use negatives.kind = \"uniform_all\"")]
    NoInteractions,
    /// A user has no negative.
    #[error(
        "user {user} has interacted with all {num_items} items, so `uniform` has nothing to draw; use negatives.kind = \"uniform_all\""
    )]
    NothingLeft {
        /// Index of the user.
        user: u32,
        /// Size of the item table.
        num_items: usize,
    },
}

#[cfg(test)]
mod tests;
