//! Sources of negative items for the anchors of a batch.
//!
//! A sampler does not know how its draws are weighted; that is up to the estimator. There is one file per source.
//!
//! Draws are counter-based: row `r` of step `s` depends only on the seed, `s`, `r` and the user of the row. Neither the number
//! of threads nor an interruption changes them.

mod alias;
mod config;
mod in_batch;
mod item_set;
mod popularity;
mod stream;
mod uniform;
mod uniform_all;

pub use config::NegativesConfig;
pub use in_batch::InBatch;
pub use popularity::Popularity;
pub use uniform::Uniform;
pub use uniform_all::UniformAll;

use crate::{Interactions, Seed, error::shown};
use item_set::ItemSet;
use rayon::prelude::*;
use std::fmt::Debug;
use stream::Stream;

/// Rows per job: enough to pay for an `ItemSet`, few enough to split a batch of 128 between two threads.
const ROWS_PER_JOB: usize = 32;

/// A distribution over items, from which the negatives of a user are drawn.
pub(crate) trait NegativeSource: Debug + Send + Sync {
    /// Fills `out` with items for `user`. `excluded` is empty on entry and must be empty on return.
    fn draw(&self, user: u32, stream: &mut Stream, excluded: &mut ItemSet, out: &mut [i32]);
}

/// Draws negative items for batches of users.
///
/// ```
/// use bcl_data::{
///     Interactions, Seed,
///     negatives::{NegativeSampler, NegativesConfig, Uniform},
/// };
///
/// let train = Interactions::from_pairs(2, 4, [(0, 1), (0, 2), (1, 3)]);
/// let config = NegativesConfig::Uniform(Uniform { count: 5 });
/// let sampler = NegativeSampler::new(&config, &train, Seed(0))?;
///
/// let mut items = Vec::new();
/// sampler.sample(0, &[0, 1], &mut items); // [num_users = 2, count = 5]
/// assert!(items[..5].iter().all(|item| [0, 3].contains(item)));
/// assert!(items[5..].iter().all(|item| [0, 1, 2].contains(item)));
/// # Ok::<(), bcl_data::negatives::NegativesError>(())
/// ```
#[derive(Debug)]
pub struct NegativeSampler {
    config: NegativesConfig,
    source: Option<Box<dyn NegativeSource>>,
    train: Interactions,
    seed: Seed,
}

impl NegativeSampler {
    /// Builds a sampler. `seed` is the seed of the run, from which the sampler derives its own.
    ///
    /// # Errors
    /// Returns an error if there is nothing to draw: no items, no interactions to derive popularity from, or, for [`Uniform`],
    /// a user who has interacted with every item.
    ///
    /// # Panics
    /// Panics if a parameter is out of range; [`NegativesConfig::check`] returns an error instead.
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

    /// Draws the negatives of a batch into `out`, replacing its content.
    ///
    /// # Shapes
    /// - users: `[num_anchors]`
    /// - out:   `[num_anchors, count]`; `[1, count]` when [`shared`](NegativesConfig::shared); empty for `in_batch`, whose negatives
    ///   are in the batch already
    ///
    /// # Panics
    /// Panics if a user is not in the interactions.
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
                || ItemSet::new(self.train.num_items()),
                |excluded, (row, (out, &user))| source.draw(user, &mut Stream::new(step.index(row as u64)), excluded, out),
            );
    }

    /// Separates draws that count (`true`) from accidental hits: items that the user has interacted with.
    ///
    /// `keep` stays empty if no mask is needed, because the sampler avoids hits or [`mask_hits`](NegativesConfig::mask_hits) is
    /// off.
    ///
    /// # Shapes
    /// - users: `[num_anchors]`
    /// - items: `[num_anchors, count]`
    /// - keep:  `[num_anchors, count]`
    ///
    /// # Panics
    /// Panics if the shapes do not match, all anchors [share](NegativesConfig::shared) the items, or a user or an item is not in the interactions.
    pub fn mask(&self, users: &[u32], items: &[i32], keep: &mut Vec<bool>) {
        keep.clear();
        assert!(!self.config.shared(), "shared items have lists of hits, not a mask");
        if !self.config.mask_hits() || users.is_empty() || items.is_empty() {
            return;
        }
        let count = items.len() / users.len();
        assert!(
            items.len() == users.len() * count,
            "{} items do not make rows for {} users",
            items.len(),
            users.len()
        );
        keep.resize(users.len() * count, true);
        keep.par_chunks_mut(count)
            .zip(items.par_chunks(count))
            .zip(users)
            .with_min_len(ROWS_PER_JOB)
            .for_each_init(
                || ItemSet::new(self.train.num_items()),
                |excluded, ((keep, items), &user)| {
                    let known = self.train.items_of(user);
                    excluded.insert(known);
                    for (keep, &item) in keep.iter_mut().zip(items) {
                        *keep = !excluded.contains(item as u32);
                    }
                    excluded.remove(known);
                },
            );
    }

    /// Lists the accidental hits among items that all anchors [share](NegativesConfig::shared): for each user the positions of items that they have
    /// interacted with. Empty if [`mask_hits`](NegativesConfig::mask_hits) is off.
    ///
    /// For `in_batch`, `items` are the positives of the batch, and an anchor's own positive is a hit as well.
    ///
    /// # Panics
    /// Panics if a user or an item is not in the interactions.
    pub fn hits(&self, users: &[u32], items: &[i32]) -> Vec<Vec<u32>> {
        if !self.config.mask_hits() {
            return Vec::new();
        }
        let positions = positions_by_item(items, self.train.num_items());
        users
            .par_iter()
            .with_min_len(ROWS_PER_JOB)
            .map(|&user| {
                let known = self.train.items_of(user).iter();
                known.flat_map(|&item| positions.of(item)).copied().collect()
            })
            .collect()
    }

    /// Log-probability of each item per draw, if the configuration asks for the log-Q correction.
    ///
    /// For any `q`, a sampled softmax over scores `s_i / t - log q_i` estimates the softmax over all items (Bengio and Senécal
    /// 2003; Yi et al. 2019). Items that are never drawn have `-∞`.
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

/// Where each item stands in a list.
struct Positions {
    /// Where the positions of each item begin; then, where the last item's positions end.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl Positions {
    fn of(&self, item: u32) -> &[u32] {
        let [start, end] = [0, 1].map(|next| self.starts[item as usize + next] as usize);
        &self.positions[start..end]
    }
}

/// Sorts the positions of a list by item.
fn positions_by_item(items: &[i32], num_items: usize) -> Positions {
    let mut starts = vec![0; num_items + 1];
    for &item in items {
        starts[item as usize + 1] += 1;
    }
    for item in 0..num_items {
        starts[item + 1] += starts[item];
    }
    let (mut next, mut positions) = (starts.clone(), vec![0; items.len()]);
    for (position, &item) in items.iter().enumerate() {
        let place = &mut next[item as usize];
        positions[*place as usize] = position as u32;
        *place += 1;
    }
    Positions { starts, positions }
}

/// Why no sampler can be built from a configuration or from the interactions.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NegativesError {
    /// A parameter is out of range.
    #[error("{name} is {}, but must be in {range}", shown(*value))]
    OutOfRange {
        /// The parameter, as in recipes.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its range.
        range: String,
    },
    /// There are no items.
    #[error("there are no items to draw negatives from")]
    NoItems,
    /// There are no interactions to derive popularity from.
    #[error("there are no training interactions to derive the popularity of items from; use negatives.kind = \"uniform_all\"")]
    NoInteractions,
    /// A user has interacted with every item.
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
