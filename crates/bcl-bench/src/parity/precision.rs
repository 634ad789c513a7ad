//! Precisions and where they are computed, and how close each has to come.

use bcl_core::{EstimatorConfig, Variant};
use burn::tensor::{DType, Device};
use serde::Serialize;

/// The arithmetic of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
}

/// Up to this temperature the hard estimator counts as sharp: its masses are sums of `exp((1 + β) s / t)`, so that a rounding of
/// `s` by 6e-8 shows magnified by `(1 + β) / t`.
const SMALL_TEMPERATURE: f64 = 0.1;

impl Precision {
    /// As programmers write it.
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

    /// The relative error that a loss or a gradient may have.
    ///
    /// In f32 the Bayesian estimators get room for ranks: similarities closer to each other than their rounding swap places, and a
    /// weight jumps by a step of its table. The released arithmetic adds the cancellation in its quadratic.
    pub(crate) fn tolerance(self, config: &EstimatorConfig) -> f64 {
        match (self, config) {
            (Self::F64, _) => 1e-9,
            (Self::F32, EstimatorConfig::Hard(hard)) if hard.temperature <= SMALL_TEMPERATURE => 3e-5,
            (Self::F32, EstimatorConfig::Bayesian(bayesian)) => match bayesian.variant {
                Variant::Exact => 3e-4,
                Variant::Official => 1.5e-3,
            },
            (Self::F32, _) => 1e-6,
        }
    }

    /// The relative error that a weight of a row may have: its rank is certain, so only the rounding of the weight itself remains.
    pub(crate) fn weight_tolerance(self) -> f64 {
        match self {
            Self::F64 => 1e-9,
            Self::F32 => 1e-6,
        }
    }
}

/// A precision on a device: where a case is computed.
#[derive(Debug, Clone)]
pub(crate) struct Arithmetic {
    pub(crate) precision: Precision,
    pub(crate) device: Device,
}

impl Arithmetic {
    /// Double precision on the processor: what anything else is judged by.
    pub(crate) fn reference() -> Self {
        Self {
            precision: Precision::F64,
            device: Device::flex(),
        }
    }

    /// How Burn is told of it.
    pub(crate) fn options(&self) -> (&Device, DType) {
        (&self.device, self.precision.dtype())
    }
}
