//! Solarisation: inverts bright levels.

use super::error::{ViewsError, holds, is_probability};
use super::happens;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Configuration of solarisation, which BYOL (Grill et al., 2020, appendix B) and its successors apply to the second view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SolariseConfig {
    /// Levels from here on are inverted; in [0, 255].
    pub threshold: usize,
    /// Probability of solarising a view, in [0, 1].
    pub probability: f64,
}

impl Default for SolariseConfig {
    fn default() -> Self {
        Self {
            threshold: 128,
            probability: 0.0,
        }
    }
}

impl SolariseConfig {
    /// Checks that every field is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first field out of range, its value, and the range.
    pub fn check(&self) -> Result<(), ViewsError> {
        let threshold = self.threshold;
        holds("solarise.threshold", threshold, u8::try_from(threshold).is_ok(), "[0, 255]")?;
        is_probability("solarise.probability", self.probability)
    }

    /// Draws the threshold, or `None` for a view that is not solarised.
    pub fn draw(&self, rng: &mut impl Rng) -> Option<u8> {
        happens(self.probability, rng).then_some(self.threshold as u8)
    }
}

/// Replaces levels from `threshold` on by `255 - level`, as `ImageOps.solarize` of PIL does.
pub fn solarise(planes: &mut [u8], threshold: u8) {
    for level in planes {
        *level = if *level < threshold { *level } else { 255 - *level };
    }
}
