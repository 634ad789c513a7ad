//! Splitting interactions, user by user.

use crate::{Interactions, Seed};
use serde::{Deserialize, Serialize};

/// How to split one file into train and test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SplitOptions {
    /// Share of each user's interactions that is held out for test, in (0, 1).
    pub test_ratio: f64,
    /// Which interactions those are.
    pub seed: u64,
}

impl Default for SplitOptions {
    fn default() -> Self {
        Self {
            test_ratio: 0.2,
            seed: 0,
        }
    }
}

/// Holds out a share of each user's interactions: (kept, held out).
pub fn split_per_user(data: &Interactions, ratio: f64, seed: Seed) -> (Interactions, Interactions) {
    let _ = (data, ratio, seed);
    todo!()
}

/// Holds out the validation part of train: (fit, validation).
pub fn hold_out(train: &Interactions, ratio: f64, seed: Seed) -> (Interactions, Interactions) {
    split_per_user(train, ratio, seed.named("hold_out"))
}
