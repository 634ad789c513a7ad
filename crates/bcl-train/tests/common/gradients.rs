//! Gradients of modules as numbers.

use bcl_core::EstimatorConfig;
use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::Tensor,
};

/// The losses that can be computed for some anchors at a time, because the loss of an anchor does not depend on the others.
pub(crate) fn losses_of_single_anchors() -> Vec<EstimatorConfig> {
    let all = EstimatorConfig::all().into_iter();
    all.filter(|config| !config.init().requirements().whole_batch).collect()
}

/// The gradient of a module, with one row of numbers per parameter.
struct Gradient<'a> {
    of: &'a GradientsParams,
    rows: Vec<Vec<f64>>,
}

impl ModuleVisitor for Gradient<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = self.of.get::<D>(param.id);
        self.rows
            .extend(gradient.map(|gradient| gradient.into_data().iter::<f64>().collect()));
    }
}

pub(crate) fn gradient<M: Module>(model: &M, of: &GradientsParams) -> Vec<Vec<f64>> {
    let mut gradient = Gradient { of, rows: Vec::new() };
    model.visit(&mut gradient);
    assert!(!gradient.rows.is_empty());
    gradient.rows
}

/// The norm of the difference over the norm of the expected gradient, across all parameters.
pub(crate) fn deviation(found: &[Vec<f64>], expected: &[Vec<f64>]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let [mut squares, mut of_difference] = [0.0; 2];
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        squares += expected * expected;
        of_difference += (found - expected).powi(2);
    }
    (of_difference / squares).sqrt()
}
