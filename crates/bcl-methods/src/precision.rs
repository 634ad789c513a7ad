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
    /// 32 bits, but NVIDIA's tensor cores [round the inputs of convolutions](bcl_kernels::with_tf32) to 10 bits after the point, as in PyTorch. Elsewhere, the same as
    /// `f32`.
    Tf32,
    /// bfloat16: convolutions, matrix products and activations have 16 bits, forward and backward. It has the range of f32, so the loss
    /// needs no scaling.
    Bf16,
    /// IEEE half precision, for GPUs without bf16: three more bits of mantissa, but a smaller range, so the loss is
    /// [scaled](Self::gradient_scale) to prevent underflow in the backward pass.
    F16,
    /// 64 bits, for comparisons of gradients; recipes cannot name it.
    #[serde(skip)]
    F64,
}

impl Precision {
    /// The name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Tf32 => "tf32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::F64 => "f64",
        }
    }

    /// Loss scale: the loss is multiplied by it before the backward pass, and gradients are divided by it afterwards. Gradients of
    /// activations of large batches may be below 6e-8, the smallest positive f16. A power of two causes no rounding.
    pub fn gradient_scale(self) -> f64 {
        match self {
            Self::F32 | Self::Tf32 | Self::Bf16 | Self::F64 => 1.0,
            Self::F16 => 1024.0,
        }
    }

    /// The type of activations.
    pub fn dtype(self) -> FloatDType {
        match self {
            Self::F32 | Self::Tf32 => FloatDType::F32,
            Self::Bf16 => FloatDType::BF16,
            Self::F16 => FloatDType::F16,
            Self::F64 => FloatDType::F64,
        }
    }
}
