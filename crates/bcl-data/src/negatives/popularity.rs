//! Negatives in proportion to a power of their popularity.

use super::{NegativeSource, NegativesError, alias::AliasTable, item_set::ItemSet, stream::Stream};
use crate::Interactions;
use serde::{Deserialize, Serialize};

/// Draws item `i` with probability `c_i^exponent / Σ_j c_j^exponent`, where `c_i` is the number of training interactions of
/// `i`.
///
/// Items without interactions are never drawn. word2vec uses the exponent 0.75 (Mikolov et al. 2013).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Popularity {
    /// Draws per anchor, or per batch if shared.
    pub count: usize,
    /// Exponent of the popularity: 0 is uniform over the items that occur, 1 is proportional.
    pub exponent: f64,
    /// Use one set of draws for the whole batch instead of one per anchor.
    pub shared: bool,
    /// Mask out draws that the user has interacted with.
    pub mask_hits: bool,
    /// Subtract `log q` from the scores, so that the draws estimate a softmax over all items.
    pub log_q: bool,
}

impl Default for Popularity {
    fn default() -> Self {
        Self {
            count: 128,
            exponent: 0.75,
            shared: false,
            mask_hits: true,
            log_q: false,
        }
    }
}

#[derive(Debug)]
struct Source {
    table: AliasTable,
}

pub(crate) fn source(config: &Popularity, train: &Interactions) -> Result<Box<dyn NegativeSource>, NegativesError> {
    if train.is_empty() {
        return Err(NegativesError::NoInteractions);
    }
    Ok(Box::new(Source {
        table: AliasTable::new(&weights(train, config.exponent)),
    }))
}

impl NegativeSource for Source {
    fn draw(&self, _user: u32, stream: &mut Stream, _excluded: &mut ItemSet, out: &mut [i32]) {
        out.fill_with(|| self.table.draw(stream) as i32);
    }
}

/// Natural logarithm of the probability of each item.
pub(crate) fn log_probabilities(train: &Interactions, exponent: f64) -> Vec<f32> {
    let weights = weights(train, exponent);
    let log_total = weights.iter().sum::<f64>().ln();
    weights.iter().map(|weight| (weight.ln() - log_total) as f32).collect()
}

fn weights(train: &Interactions, exponent: f64) -> Vec<f64> {
    let weight = |count| if count == 0 { 0.0 } else { f64::from(count).powf(exponent) };
    train.item_counts().into_iter().map(weight).collect()
}
