//! Gradient clipping by the global norm. Burn's clips each parameter tensor by its own norm.

use crate::scale::{Factor, multiplied};
use bcl_kernels::{add_squares, together};
use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::Tensor,
};

/// Keeps the quotient finite if all gradients are 0; as in PyTorch.
const EPSILON: f64 = 1e-6;

/// Scales the gradients of a module so that their global norm is at most `limit`,
///
/// ```text
/// g <- g · min(1, limit / (‖g‖ + 1e-6))
/// ```
///
/// where `‖g‖` is the Euclidean norm over all parameters, as in PyTorch's `clip_grad_norm_`. The norm stays on the device, so nothing
/// waits for the host.
///
/// Source: Pascanu, Mikolov, Bengio, [On the difficulty of training recurrent neural networks](https://arxiv.org/abs/1211.5063).
///
/// # Panics
/// Panics if the limit is not positive.
pub fn clip_global_norm<M: Module>(module: &M, gradients: GradientsParams, limit: f64) -> GradientsParams {
    assert!(limit > 0.0, "the largest norm is {limit}, but must be above 0");
    let mut squares = SumOfSquares {
        gradients: &gradients,
        sum: None,
    };
    together(|| module.visit(&mut squares));
    let Some(sum) = squares.sum else { return gradients };
    let factor = ((sum.sqrt() + EPSILON).recip() * limit).clamp_max(1.0);
    multiplied(module, gradients, Factor::OnDevice(factor.into()))
}

struct SumOfSquares<'a> {
    gradients: &'a GradientsParams,
    sum: Option<Tensor<1>>,
}

impl ModuleVisitor for SumOfSquares<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(parameter.id) {
            let zero = || Tensor::zeros([1], (&gradient.device(), gradient.dtype()));
            let sum = self.sum.take().unwrap_or_else(zero);
            self.sum = Some(add_squares(sum, gradient));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::{
        nn::Linear,
        tensor::{Device, TensorData},
    };

    /// Gradients 3 (weight) and 4 (bias), whose norm is 5.
    fn gradients(layer: &Linear) -> GradientsParams {
        let device = Device::flex();
        let mut gradients = GradientsParams::new();
        gradients.register(layer.weight.id, Tensor::<2>::from_data([[3.0f32]], &device));
        let bias = layer.bias.as_ref().expect("there is one");
        gradients.register(bias.id, Tensor::<1>::from_data([4.0f32], &device));
        gradients
    }

    fn clipped(limit: f64) -> [f32; 2] {
        let device = Device::flex().autodiff();
        let layer = Linear {
            weight: Param::from_data(TensorData::from([[1.0f32]]), &device),
            bias: Some(Param::from_data(TensorData::from([1.0f32]), &device)),
        };
        let clipped = clip_global_norm(&layer, gradients(&layer), limit);
        let bias = layer.bias.as_ref().expect("there is one");
        [
            clipped.get::<2>(layer.weight.id).expect("kept").into_scalar::<f32>(),
            clipped.get::<1>(bias.id).expect("kept").into_scalar::<f32>(),
        ]
    }

    #[test]
    fn a_long_gradient_is_shortened_as_a_whole() {
        let [weight, bias] = clipped(1.0);
        // Clipped tensor by tensor, both would be 1.
        assert!((weight - 0.6).abs() < 1e-6 && (bias - 0.8).abs() < 1e-6, "{weight} {bias}");
    }

    #[test]
    fn a_short_gradient_keeps_its_bits() {
        assert_eq!(clipped(5.1), [3.0, 4.0]);
    }

    #[test]
    fn without_gradients_there_is_nothing_to_clip() {
        let device = Device::flex().autodiff();
        let layer = Linear {
            weight: Param::from_data(TensorData::from([[1.0f32]]), &device),
            bias: None,
        };
        assert!(clip_global_norm(&layer, GradientsParams::new(), 1.0).is_empty());
    }
}
