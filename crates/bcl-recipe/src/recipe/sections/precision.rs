//! The key `training.precision`: the number format in which an encoder computes.

use super::super::Refusal;
use bcl_methods::Precision;
use burn::tensor::{Device, FloatDType};

/// Checks that a device supports a number format.
///
/// # Errors
/// Returns an error if it does not; a backend may do anything with a type that it does not support.
pub fn check_precision(precision: Precision, device: &Device) -> Result<(), Refusal> {
    check_with(precision, |dtype| device.supports_dtype(dtype))
}

fn check_with(precision: Precision, supports: impl Fn(FloatDType) -> bool) -> Result<(), Refusal> {
    if precision == Precision::F32 || supports(precision.dtype()) {
        return Ok(());
    }
    let problem = format!(
        "is \"{}\", which this device does not support; set it to \"f32\" or choose another --backend",
        precision.name()
    );
    Err(Refusal::new("training.precision", problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_16_bits_is_refused_with_key_value_and_remedy() {
        for precision in [Precision::Bf16, Precision::F16] {
            let refusal = check_with(precision, |dtype| dtype != precision.dtype()).unwrap_err();
            let text = refusal.to_string();
            for words in ["training.precision", precision.name(), "set it to \"f32\""] {
                assert!(text.contains(words), "{words}: {text}");
            }
        }
    }

    #[test]
    fn every_device_computes_in_32_bits_and_the_cpu_in_16_too() {
        assert!(check_with(Precision::F32, |_| false).is_ok());
        assert!(check_precision(Precision::Bf16, &Device::flex()).is_ok());
        assert!(check_precision(Precision::F16, &Device::flex()).is_ok());
    }
}
