//! The number format in which an encoder computes.

use burn::tensor::FloatDType;
use serde::{Deserialize, Serialize};

/// The number format in which an encoder computes. Weights, their gradients, batch statistics, loss and optimizer always have 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 32 bits.
    #[default]
    F32,
    /// bfloat16: convolutions, products and activations have 16 bits, forward and backward. It has the exponents of 32 bits, so the loss
    /// needs no scaling.
    Bf16,
    /// IEEE half precision, for GPUs without bf16: three more bits of mantissa, but fewer exponents, so the loss is
    /// [scaled](Self::gradient_scale) against underflow in the backward pass.
    F16,
}

impl Precision {
    /// The name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }

    /// Loss scale: the loss is multiplied by it before the backward pass, and gradients are divided by it afterwards. f16 has no numbers
    /// between 0 and 6e-8, where gradients of activations of large batches lie. A power of two, so it causes no rounding.
    pub fn gradient_scale(self) -> f64 {
        match self {
            Self::F32 | Self::Bf16 => 1.0,
            Self::F16 => 1024.0,
        }
    }

    /// The type of activations.
    pub fn dtype(self) -> FloatDType {
        match self {
            Self::F32 => FloatDType::F32,
            Self::Bf16 => FloatDType::BF16,
            Self::F16 => FloatDType::F16,
        }
    }
}
