//! What a step minimises.

use bcl_core::{Estimator, Losses, Scores, SideInformation};

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
    /// The loss of each anchor; the estimator weighs the negatives, if there are any.
    ///
    /// # Panics
    /// Panics if there are scores but no estimator, or if the side information lacks what the estimator needs.
    pub fn losses(self, estimator: Option<&dyn Estimator>, side: &SideInformation) -> Losses {
        match self {
            Self::Scores(scores) => estimator.expect("scores need an estimator").losses(scores, side),
            Self::Losses(losses) => losses,
        }
    }

    /// The scores, if there are any.
    pub fn scores(self) -> Option<Scores> {
        match self {
            Self::Scores(scores) => Some(scores),
            Self::Losses(_) => None,
        }
    }
}
