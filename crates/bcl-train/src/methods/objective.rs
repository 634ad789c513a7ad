//! What a step minimises.

use bcl_core::{Losses, Scores};

/// What a step minimises for some anchors: scores, which an estimator turns into losses, or losses.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per step or block of anchors")]
pub enum Objective {
    /// Similarities with positives and negatives.
    Scores(Scores),
    /// The loss of each anchor, of a method that has no negatives to weigh.
    Losses(Losses),
}

impl Objective {
    /// The scores, if there are any.
    pub fn scores(self) -> Option<Scores> {
        match self {
            Self::Scores(scores) => Some(scores),
            Self::Losses(_) => None,
        }
    }
}
