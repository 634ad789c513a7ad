//! The `[negatives]` table of a recipe.

use super::{InBatch, NegativesError, Popularity, Uniform, UniformAll};
use serde::{Deserialize, Serialize};

/// The most draws per anchor, or per batch if shared.
const MOST_NEGATIVES: f64 = 1e6;

/// The source of negatives, with its parameters.
///
/// ```
/// use bcl_data::negatives::NegativesConfig;
///
/// let config: NegativesConfig = toml::from_str("kind = 'popularity'\nexponent = 0.5").unwrap();
/// assert_eq!(config.count(), Some(128));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs)] // each variant is documented at its configuration
#[non_exhaustive]
pub enum NegativesConfig {
    Uniform(Uniform),
    UniformAll(UniformAll),
    Popularity(Popularity),
    InBatch(InBatch),
}

impl Default for NegativesConfig {
    fn default() -> Self {
        Self::Uniform(Uniform::default())
    }
}

impl NegativesConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), NegativesError> {
        if let Some(count) = self.count() {
            in_range("count", count as f64, 1.0, MOST_NEGATIVES)?;
        }
        match self {
            Self::Popularity(config) => in_range("exponent", config.exponent, 0.0, 2.0),
            _ => Ok(()),
        }
    }

    /// Draws per anchor, or per batch if shared; `None` for `in_batch`, where the batch size decides.
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::Uniform(config) => Some(config.count),
            Self::UniformAll(config) => Some(config.count),
            Self::Popularity(config) => Some(config.count),
            Self::InBatch(_) => None,
        }
    }

    /// Whether all anchors of a batch share their negatives. True for `in_batch`, where they are the positives of the batch.
    pub fn shared(&self) -> bool {
        match self {
            Self::Uniform(_) => false,
            Self::UniformAll(config) => config.shared,
            Self::Popularity(config) => config.shared,
            Self::InBatch(_) => true,
        }
    }

    /// Whether draws that the user has interacted with are masked out. False for [`Uniform`], which never draws one.
    pub fn mask_hits(&self) -> bool {
        match self {
            Self::Uniform(_) => false,
            Self::UniformAll(config) => config.mask_hits,
            Self::Popularity(config) => config.mask_hits,
            Self::InBatch(config) => config.mask_hits,
        }
    }

    /// The name of this kind in recipes.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Uniform(_) => "uniform",
            Self::UniformAll(_) => "uniform_all",
            Self::Popularity(_) => "popularity",
            Self::InBatch(_) => "in_batch",
        }
    }
}

fn in_range(name: &'static str, value: f64, low: f64, high: f64) -> Result<(), NegativesError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let range = format!("[{low}, {high}]");
    Err(NegativesError::OutOfRange { name, value, range })
}
