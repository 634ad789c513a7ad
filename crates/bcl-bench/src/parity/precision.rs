//! Precisions and devices of a comparison, with the tolerance of each.

use bcl_core::{BayesianVariant, EstimatorConfig};
use burn::tensor::{DType, Device};
use serde::{Deserialize, Serialize};

/// The precision of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
}

/// The hard estimator counts as sharp up to this temperature: its masses are sums of `exp((1 + β) s / t)`, which magnify the
/// rounding of `s` by 6e-8 by a factor of `(1 + β) / t`.
const SMALL_TEMPERATURE: f64 = 0.1;

impl Precision {
    /// The name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
        }
    }

    fn dtype(self) -> DType {
        match self {
            Self::F64 => DType::F64,
            Self::F32 => DType::F32,
        }
    }

    /// The relative error allowed for a loss or a gradient.
    ///
    /// In f32, the Bayesian estimators get room for their ranks: similarities closer to each other than their rounding swap
    /// ranks, and a weight then jumps by a step of its table. The released arithmetic adds the cancellation in its quadratic.
    pub(crate) fn tolerance(self, config: &EstimatorConfig) -> f64 {
        match (self, config) {
            (Self::F64, _) => 1e-9,
            (Self::F32, EstimatorConfig::Hard(hard)) if hard.temperature <= SMALL_TEMPERATURE => 3e-5,
            (Self::F32, EstimatorConfig::Bayesian(bayesian)) => match bayesian.variant {
                BayesianVariant::Exact => 3e-4,
                BayesianVariant::Official => 1.5e-3,
            },
            (Self::F32, _) => 1e-6,
        }
    }

    /// The relative error allowed for a weight of a row. Ranks are exact there, so only the weight itself is rounded.
    pub(crate) fn weight_tolerance(self) -> f64 {
        match self {
            Self::F64 => 1e-9,
            Self::F32 => 1e-6,
        }
    }
}

/// A precision on a device, with which a case is computed.
#[derive(Debug, Clone)]
pub(crate) struct Arithmetic {
    pub(crate) precision: Precision,
    pub(crate) device: Device,
}

impl Arithmetic {
    /// Double precision on the CPU, the reference for everything else.
    pub(crate) fn reference() -> Self {
        Self {
            precision: Precision::F64,
            device: Device::flex(),
        }
    }

    /// The same on a device that tracks gradients.
    pub(crate) fn with_gradients(&self) -> Self {
        Self {
            device: self.device.clone().autodiff(),
            ..*self
        }
    }

    /// The options of a tensor in Burn.
    pub(crate) fn options(&self) -> (&Device, DType) {
        (&self.device, self.precision.dtype())
    }
}
