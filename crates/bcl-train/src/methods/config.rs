//! The `[method]` table of recipes, which names a method for encoders of images.

use super::{ImageMethod, MoCoConfig, Precision, SimClr, SimSiamConfig};
use bcl_core::ParameterError;
use bcl_data::Seed;
use bcl_models::vision::ImageEncoder;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

/// Code that is generic over the method. [`MethodConfig::init`] calls it with the method of the recipe.
pub trait WithMethod {
    /// The return type.
    type Output;

    /// Runs the code with a method.
    fn call<M: ImageMethod>(self, method: M) -> Self::Output;
}

/// A method with its parameters: the `[method]` table of a recipe, where `kind` names the method.
///
/// To add a method, add a variant here, a line to each function below, and a file beside this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum MethodConfig {
    /// `simclr`: [`SimClr`].
    #[serde(rename = "simclr")]
    SimClr(SimClrConfig),
    /// `moco`: [`MoCo`](super::MoCo).
    #[serde(rename = "moco")]
    MoCo(MoCoConfig),
    /// `simsiam`: [`SimSiam`](super::SimSiam).
    #[serde(rename = "simsiam")]
    SimSiam(SimSiamConfig),
}

/// SimCLR has no parameters of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimClrConfig {}

impl Default for MethodConfig {
    fn default() -> Self {
        Self::SimClr(SimClrConfig {})
    }
}

impl MethodConfig {
    /// The default kind.
    pub const DEFAULT: &'static str = "simclr";

    /// The name that recipes use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SimClr(_) => Self::DEFAULT,
            Self::MoCo(_) => "moco",
            Self::SimSiam(_) => "simsiam",
        }
    }

    /// Whether this is SimCLR, which recipes need not name.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// Returns an error that names the parameter that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        match self {
            Self::SimClr(_) => Ok(()),
            Self::MoCo(config) => config.check(),
            Self::SimSiam(config) => config.check(),
        }
    }

    /// The number of negatives per anchor in batches of `batch_size` images; `None` if the method has a loss of its own.
    pub fn num_negatives(&self, batch_size: usize) -> Option<usize> {
        match self {
            Self::SimClr(_) => Some(2 * batch_size - 2),
            Self::MoCo(config) => Some(config.queue),
            Self::SimSiam(_) => None,
        }
    }

    /// Lower bound on the number of values that the method keeps beside its encoders, given the embedding size `dim`.
    pub fn memory(&self, dim: u64) -> u64 {
        match self {
            Self::SimClr(_) => 0,
            Self::MoCo(config) => config.queue as u64 * dim,
            Self::SimSiam(config) => 2 * config.hidden as u64 * dim,
        }
    }

    /// Builds the method around an encoder with embedding size `dim`, and passes it to `user`.
    pub fn init<U: WithMethod>(&self, encoder: ImageEncoder, dim: usize, precision: Precision, seed: Seed, user: U) -> U::Output {
        let device = device_of(&encoder);
        match self {
            Self::SimClr(_) => user.call(SimClr { encoder, precision }),
            Self::MoCo(config) => user.call(config.init(encoder, dim, precision, &device)),
            Self::SimSiam(config) => user.call(config.init(encoder, dim, precision, seed.named("predictor").0, &device)),
        }
    }
}

fn device_of(encoder: &ImageEncoder) -> Device {
    encoder.head.out.weight.val().device()
}
