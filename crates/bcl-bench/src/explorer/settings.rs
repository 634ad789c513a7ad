//! The parameters that the page begins with.

use bcl_core::{
    ParameterError,
    parameter::{count_in, in_closed},
    posterior::Posterior,
};
use serde::Serialize;

/// The most negatives of the explorer; beyond that its curves no longer change visibly.
pub const MOST_NEGATIVES: usize = 4096;
/// The range of temperatures of the explorer.
pub const SMALLEST_TEMPERATURE: f64 = 0.05;
/// The range of temperatures of the explorer.
pub const LARGEST_TEMPERATURE: f64 = 2.0;

/// The parameters that the page begins with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, clap::Args)]
pub struct Settings {
    /// Separation α that the page begins with, from 0.5 to 1.
    #[arg(long, default_value_t = Self::default().alpha)]
    pub alpha: f64,
    /// Hardness β, from 0 to 1.
    #[arg(long, default_value_t = Self::default().beta)]
    pub beta: f64,
    /// Prior τ+ of a false negative, from 0 to below 1.
    #[arg(long, default_value_t = Self::default().tau_plus)]
    pub tau_plus: f64,
    /// Number of negatives N, from 1 to 4096.
    #[arg(long = "negatives", value_name = "NEGATIVES", default_value_t = Self::default().num_negatives)]
    pub num_negatives: usize,
    /// Temperature t, from 0.05 to 2.
    #[arg(long, default_value_t = Self::default().temperature)]
    pub temperature: f64,
}

impl Default for Settings {
    /// The defaults of the Bayesian loss, with the 510 negatives of SimCLR at a batch of 256, and a temperature at which a single
    /// negative matters.
    fn default() -> Self {
        Self {
            alpha: 0.9,
            beta: 0.9,
            tau_plus: 0.1,
            num_negatives: 510,
            temperature: 0.1,
        }
    }
}

impl Settings {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Returns an error that names the parameter that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("negatives", self.num_negatives, 1, MOST_NEGATIVES)?;
        in_closed("temperature", self.temperature, SMALLEST_TEMPERATURE, LARGEST_TEMPERATURE)?;
        Posterior::new(self.alpha, self.beta, self.tau_plus).map(drop)
    }
}
