//! Scales the gradients of a module.

use bcl_kernels::{scale_by, together};
use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::Tensor,
};

/// A factor, on the host or on the device.
#[derive(Debug, Clone)]
pub(super) enum Factor {
    Known(f64),
    /// `[1]`
    OnDevice(Box<Tensor<1>>),
}

/// Multiplies all gradients of a module by a factor.
pub fn scaled<M: Module>(module: &M, gradients: GradientsParams, factor: f64) -> GradientsParams {
    multiplied(module, gradients, Factor::Known(factor))
}

pub(super) fn multiplied<M: Module>(module: &M, gradients: GradientsParams, factor: Factor) -> GradientsParams {
    let mut multiplied = Multiplied { gradients, factor };
    together(|| module.visit(&mut multiplied));
    multiplied.gradients
}

struct Multiplied {
    gradients: GradientsParams,
    factor: Factor,
}

impl ModuleVisitor for Multiplied {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<D>(parameter.id) {
            let gradient = match &self.factor {
                Factor::Known(factor) => gradient * *factor,
                Factor::OnDevice(factor) => scale_by(gradient, Tensor::clone(factor)),
            };
            self.gradients.register(parameter.id, gradient);
        }
    }
}
