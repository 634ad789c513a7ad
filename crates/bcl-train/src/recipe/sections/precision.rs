//! The key `training.precision`: the number format in which an encoder computes.

use super::super::Refusal;
use burn::tensor::{Device, FloatDType};
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

    /// Checks that a device supports the format.
    ///
    /// # Errors
    /// Returns an error if it does not; a backend may do anything with a type that it does not support.
    pub fn check(self, device: &Device) -> Result<(), Refusal> {
        self.check_with(|dtype| device.supports_dtype(dtype))
    }

    fn check_with(self, supports: impl Fn(FloatDType) -> bool) -> Result<(), Refusal> {
        if self == Self::F32 || supports(self.dtype()) {
            return Ok(());
        }
        let problem = format!(
            "is \"{}\", which this device does not support; set it to \"f32\" or choose another --backend",
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
