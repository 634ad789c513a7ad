//! Negatives from the other positives of the batch.

use serde::{Deserialize, Serialize};

/// The negatives of an anchor are the positives of the other anchors in its batch.
///
/// Nothing is drawn: the training loop scores every user of the batch against every positive of the batch. Positives occur in
/// proportion to popularity, `q_i = c_i / Σ_j c_j`, so without the log-Q correction popular items are pushed away the most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InBatch {
    /// Subtract `log q` from the scores (Yi et al. 2019), so that the batch estimates a softmax over all items.
    pub log_q: bool,
    /// Mask out positives of other anchors that the user has also interacted with.
    pub mask_hits: bool,
}

impl Default for InBatch {
    fn default() -> Self {
        Self {
            log_q: true,
            mask_hits: true,
        }
    }
}
