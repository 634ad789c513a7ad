//! `training.sampling`: which images an epoch draws.

use serde::{Deserialize, Serialize};

/// How often an epoch draws each training image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Each image once.
    #[default]
    Uniform,
    /// Each class equally often: images of small classes are drawn more than once, and images of large classes not in every epoch.
    /// This needs the label of every training image.
    ClassBalanced,
}

impl Sampling {
    /// Whether each image is drawn once.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(super) fn is_uniform(&self) -> bool {
        *self == Self::Uniform
    }
}
