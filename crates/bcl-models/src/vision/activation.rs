//! Activations of projection heads.

use super::{BatchNorm, Pass};
use burn::tensor::{Tensor, activation::relu};
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_1_SQRT_2;

/// The activation after each hidden layer of a head.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HeadActivation {
    /// `max(0, x)`
    #[default]
    Relu,
    /// `x Φ(x)` with the exact normal distribution function Φ, as in DINO.
    ///
    /// Source: Hendrycks and Gimpel, [Gaussian Error Linear Units](https://arxiv.org/abs/1606.08415).
    Gelu,
}

impl HeadActivation {
    /// Normalises, if there is a norm, and applies the activation.
    pub(super) fn after(self, norm: Option<&BatchNorm>, input: Tensor<2>, pass: Pass) -> Tensor<2> {
        match (self, norm) {
            (Self::Relu, Some(norm)) => norm.forward_relu(input, pass),
            (Self::Relu, None) => relu(input),
            (Self::Gelu, Some(norm)) => gelu(norm.forward(input, pass)),
            (Self::Gelu, None) => gelu(input),
        }
    }
}

/// `x Φ(x) = x / 2 (1 + erf(x / √2))`.
///
/// Burn's own function has the gradient of the approximation by tanh on backends without a kernel for it.
fn gelu(input: Tensor<2>) -> Tensor<2> {
    let twice_phi = (input.clone() * FRAC_1_SQRT_2).erf() + 1.0;
    input * twice_phi * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{DType, Device};

    fn host(tensor: Tensor<2>) -> Vec<f64> {
        tensor.into_data().iter::<f64>().collect()
    }

    #[test]
    fn gelu_and_its_gradient_are_exact() {
        let device = Device::flex().autodiff();
        let input = Tensor::<2>::from_data([[-3.0, -1.0, 0.0, 0.5, 2.0]], (&device, DType::F64)).require_grad();
        let output = gelu(input.clone());
        // Python: x * NormalDist().cdf(x), and cdf(x) + x * pdf(x).
        let expected = [
            -0.004_049_694_094_890_287,
            -0.158_655_253_931_457_07,
            0.0,
            0.345_731_230_637_006_56,
            1.954_499_736_103_641_6,
        ];
        let slopes = [
            -0.011_945_647_204_183_927,
            -0.083_315_470_587_686_29,
            0.5,
            0.867_495_124_656_162_9,
            1.085_231_801_078_197,
        ];
        for (found, expected) in host(output.clone()).into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14, "{found} is not {expected}");
        }
        let gradients = output.sum().backward();
        for (found, expected) in host(input.grad(&gradients).expect("a gradient")).into_iter().zip(slopes) {
            assert!((found - expected).abs() < 1e-14, "{found} is not {expected}");
        }
    }
}
