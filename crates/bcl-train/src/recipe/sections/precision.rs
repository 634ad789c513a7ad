//! The key `training.precision`: the number format in which an encoder computes.

use super::super::Refusal;
use crate::methods::Precision;
use burn::tensor::{Device, FloatDType};

impl Precision {
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
