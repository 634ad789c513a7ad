//! The `[selection]` table.

use bcl_core::{ParameterError, parameter::in_closed};
use serde::{Deserialize, Serialize};

/// How the number of epochs is chosen.
///
/// A run that holds out a share of train has two phases. The first trains on the rest until the metric on the held-out part stops
/// improving. The second trains again on all of train, for the best number of epochs. Without a held-out part, a run trains once, for all
/// epochs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelectionConfig {
    /// Share of train that is held out, of each user's interactions or of each class's images, in [0.001, 0.5]. Runs on images accept 0,
    /// which holds out nothing.
    pub held_out: f64,
    /// The metric that selects an epoch. Runs on images use the online probe's metric by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Also reports the epoch that is best on test. That is not a fair figure, but many papers print it.
    pub oracle: bool,
}

impl SelectionConfig {
    /// Checks the share that is held out, if any is.
    ///
    /// # Errors
    /// Returns an error with the share and the range.
    pub fn check(&self) -> Result<(), ParameterError> {
        // Below a thousandth, not even a user with hundreds of items has one left to validate on.
        in_closed("held_out", self.held_out, 0.001, 0.5)
    }
}
