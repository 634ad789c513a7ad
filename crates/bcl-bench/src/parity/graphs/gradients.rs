//! The gradients of our modules by the names of the file, weights as `[out, in]`.

use super::super::compute::values;
use bcl_models::graphs::{Gin, ResidualHead};
use burn::{
    module::Param,
    nn::Linear,
    tensor::{Gradients, Tensor},
};
use std::collections::BTreeMap;

/// Gradients by name.
pub(super) struct Named<'a> {
    gradients: &'a Gradients,
    by_name: BTreeMap<String, Vec<f64>>,
}

impl<'a> Named<'a> {
    pub(super) fn new(gradients: &'a Gradients) -> Self {
        Self {
            gradients,
            by_name: BTreeMap::new(),
        }
    }

    /// The gradient of a name, empty if no module has it.
    pub(super) fn get(&self, name: &str) -> &[f64] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn add(&mut self, name: impl Into<String>, tensor: &Tensor<2>) {
        let gradient = self.of(tensor);
        self.by_name.insert(name.into(), values(gradient));
    }

    pub(super) fn add_encoder(&mut self, encoder: &Gin) {
        for (index, layer) in encoder.layers.iter().enumerate() {
            let name = |part: &str| format!("layers.{index}.{part}");
            self.add_linear([name("w1"), name("b1")], &layer.first);
            self.add_linear([name("w2"), name("b2")], &layer.second);
            for (part, norm) in [("norm", Some(&layer.norm)), ("inner", layer.inner.as_ref())] {
                let Some(norm) = norm else { continue };
                let scale_and_shift = [("gamma", &norm.weight), ("beta", &norm.bias)];
                for (field, param) in scale_and_shift {
                    self.add_row(name(&format!("{part}.{field}")), param.as_ref());
                }
            }
            self.add_row(name("eps"), layer.epsilon.as_ref());
        }
    }

    pub(super) fn add_head(&mut self, head: &ResidualHead, name: &str) {
        for (index, layer) in head.hidden.iter().enumerate() {
            self.add_linear(["weights", "biases"].map(|part| format!("{name}.{part}.{index}")), layer);
        }
        let shortcut = ["shortcut_weight", "shortcut_bias"].map(|part| format!("{name}.{part}"));
        self.add_linear(shortcut, &head.shortcut);
    }

    fn add_linear(&mut self, [weight, bias]: [String; 2], linear: &Linear) {
        let gradient = self.of(&linear.weight.val()).transpose();
        self.by_name.insert(weight, values(gradient));
        self.add_row(bias, linear.bias.as_ref());
    }

    fn add_row(&mut self, name: String, param: Option<&Param<Tensor<1>>>) {
        if let Some(param) = param {
            let gradient = self.of(&param.val());
            self.by_name.insert(name, values(gradient));
        }
    }

    fn of<const D: usize>(&self, tensor: &Tensor<D>) -> Tensor<D> {
        tensor.grad(self.gradients).expect("everything takes part in the loss")
    }
}
