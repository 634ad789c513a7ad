//! The `[recovery]` table.

use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in, in_half_open},
};
use serde::{Deserialize, Serialize};

/// Detects images of one class by clusters of their features, and takes such pairs out of the negatives.
///
/// From two epochs before `warmup` on, features of all training images are averaged over epochs. From then on they are clustered every `every`
/// epochs, and pairs in one cluster count less as negatives, the less the longer `ramp` has lasted and the more stable the clusters are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecoveryConfig {
    /// Epochs before the first detection, 1 to 1,000,000.
    pub warmup: usize,
    /// Epochs until the detection has its full strength, 1 to 1,000,000.
    pub ramp: usize,
    /// Epochs from one detection to the next, 1 to 1,000,000.
    pub every: usize,
    /// Principal components of the features that are clustered, 2 to 4096.
    pub components: usize,
    /// How many clusters there are.
    pub clusters: ClusterRule,
    /// Most clusters, 2 to 4096; by default 128, and 64 with the coarser rule. Fewer find more pairs, but halves agree less on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_clusters: Option<usize>,
    /// Largest share of the positives' weight that detected pairs get, in [0, 1); 0 attracts none.
    pub attract: f64,
}

/// Which of the numbers of clusters is taken that two halves of the images agree on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClusterRule {
    /// The largest with half of the best agreement.
    #[default]
    Finer,
    /// The largest with three quarters of the best agreement.
    Coarser,
}

impl Default for RecoveryConfig {
    fn default() -> Self {
        Self {
            warmup: 4,
            ramp: 4,
            every: 2,
            components: 20,
            clusters: ClusterRule::Finer,
            max_clusters: None,
            attract: 0.0,
        }
    }
}

impl RecoveryConfig {
    /// What becomes of detected pairs, in a word: `eliminate` or `attract`.
    pub fn name(&self) -> &'static str {
        if self.attract > 0.0 { "attract" } else { "eliminate" }
    }

    /// Checks that every number is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first number that is not, with its value and range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("warmup", self.warmup, 1, MOST_EPOCHS)?;
        count_in("ramp", self.ramp, 1, MOST_EPOCHS)?;
        count_in("every", self.every, 1, MOST_EPOCHS)?;
        count_in("components", self.components, 2, 4096)?;
        if let Some(clusters) = self.max_clusters {
            count_in("max_clusters", clusters, 2, 4096)?;
        }
        in_half_open("attract", self.attract, 0.0, 1.0)
    }

    /// Whether features are averaged after so many epochs.
    pub fn averages_after(&self, epochs: usize) -> bool {
        epochs + 2 >= self.warmup
    }

    /// Whether clusters are detected after so many epochs.
    pub fn detects_after(&self, epochs: usize) -> bool {
        epochs >= self.warmup && (epochs - self.warmup).is_multiple_of(self.every)
    }

    /// How far the detection has come after so many epochs, in [0, 1].
    pub fn progress_after(&self, epochs: usize) -> f64 {
        match epochs.checked_sub(self.warmup) {
            Some(since) => ((since + 1) as f64 / self.ramp as f64).min(1.0),
            None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detection_begins_after_the_warm_up_and_grows() {
        let config = RecoveryConfig::default();
        let of = |epochs: usize| {
            (
                config.averages_after(epochs),
                config.detects_after(epochs),
                config.progress_after(epochs),
            )
        };
        assert_eq!(of(1), (false, false, 0.0));
        assert_eq!(of(2), (true, false, 0.0));
        assert_eq!(of(4), (true, true, 0.25));
        assert_eq!(of(5), (true, false, 0.5));
        assert_eq!(of(9), (true, false, 1.0));
    }
}
