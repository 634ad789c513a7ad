//! Interactions with planted communities, so that false negatives are known.

use crate::{DataError, InteractionData};
use serde::{Deserialize, Serialize};

/// Describes planted interactions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlantedConfig {
    /// Number of users.
    pub num_users: usize,
    /// Number of items.
    pub num_items: usize,
    /// Number of communities, at least 2.
    pub num_communities: usize,
    /// Mean number of interactions a user, train and test together.
    pub interactions_per_user: usize,
    /// Exponent of the items' popularity, in [0, 2]: the r-th item of a community is drawn in proportion to r^-skew.
    pub skew: f64,
    /// Share of interactions with items of other communities, in [0, 1).
    pub noise: f64,
    /// Share of each user's interactions that is held out for test, in (0, 1).
    pub test_ratio: f64,
    /// Which data it is.
    pub seed: u64,
}

impl Default for PlantedConfig {
    fn default() -> Self {
        Self {
            num_users: 600,
            num_items: 800,
            num_communities: 8,
            interactions_per_user: 30,
            skew: 0.8,
            noise: 0.1,
            test_ratio: 0.2,
            seed: 0,
        }
    }
}

impl PlantedConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the first field that is out of range.
    pub fn check(&self) -> Result<(), DataError> {
        Ok(())
    }

    /// Draws the data.
    ///
    /// # Panics
    /// If [`check`](Self::check) fails.
    pub fn generate(&self) -> InteractionData {
        todo!()
    }
}
