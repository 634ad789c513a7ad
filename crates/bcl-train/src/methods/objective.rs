//! The objective of a training step.

use bcl_core::{Losses, Scores};

/// The objective of some anchors: scores, which an estimator turns into losses, or losses.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per step or block of anchors")]
pub enum Objective {
    /// Similarities with positives and negatives.
    Scores(Scores),
    /// The loss of each anchor, for methods without negatives.
    Losses(Losses),
}

impl Objective {
    /// The scores, if any.
    pub fn scores(self) -> Option<Scores> {
        match self {
            Self::Scores(scores) => Some(scores),
            Self::Losses(_) => None,
        }
    }
}
