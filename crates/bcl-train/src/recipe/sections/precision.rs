//! The key `training.precision`: in how many bits an encoder computes.

use super::super::Refusal;
use burn::tensor::{Device, FloatDType};
use serde::{Deserialize, Serialize};

/// In how many bits an encoder computes. Its weights, their gradients, batch statistics, loss and optimizer have 32 whatever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 32 bits.
    #[default]
    F32,
    /// 16 bits with the exponents of 32: convolutions, products and activations are in bf16, forward and backward. No loss scaling, since
    /// nothing underflows that would not in 32.
    Bf16,
    /// 16 bits with three digits more and few exponents, for GPUs that have no bf16. What would underflow on the way back is computed at
    /// [a multiple](Self::gradient_scale) of the loss.
    F16,
}

impl Precision {
    /// The recipe's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }

    /// By what the objective is multiplied before the backward pass, and gradients are divided after it: f16 has no numbers between 0 and
    /// 6e-8, where gradients of activations of large batches lie. A power of two, which rounds nothing.
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

    /// Checks that a device can compute so.
    ///
    /// # Errors
    /// When it cannot: what it makes of an unsupported type depends on the backend.
    pub fn check(self, device: &Device) -> Result<(), Refusal> {
        self.check_with(|dtype| device.supports_dtype(dtype))
    }

    fn check_with(self, supports: impl Fn(FloatDType) -> bool) -> Result<(), Refusal> {
        if self == Self::F32 || supports(self.dtype()) {
            return Ok(());
        }
        let problem = format!(
            "is \"{}\", which this device does not compute in; set it to \"f32\" or choose another --backend",
            self.name()
        );
        Err(Refusal::new("training.precision", problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_16_bits_is_refused_with_key_value_and_remedy() {
        for precision in [Precision::Bf16, Precision::F16] {
            let refusal = precision.check_with(|dtype| dtype != precision.dtype()).unwrap_err();
            let text = refusal.to_string();
            for words in ["training.precision", precision.name(), "set it to \"f32\""] {
                assert!(text.contains(words), "{words}: {text}");
            }
        }
    }

    #[test]
    fn every_device_computes_in_32_bits_and_the_cpu_in_16_too() {
        assert!(Precision::F32.check_with(|_| false).is_ok());
        assert!(Precision::Bf16.check(&Device::flex()).is_ok());
        assert!(Precision::F16.check(&Device::flex()).is_ok());
    }
}
