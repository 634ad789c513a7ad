//! Exponential moving averages of modules, for momentum encoders.

use bcl_kernels::{moving_average, together};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId},
    tensor::Tensor,
};
use std::{collections::HashMap, f64::consts::PI};

/// Makes a momentum encoder: the same values on the same device without gradients, and separate running statistics.
///
/// Its parameters have identifiers of their own, so that a method which owns both networks has one parameter for each gradient.
pub fn ema_target<M: Module>(online: &M) -> M {
    online.clone().no_grad().map(&mut OwnIds)
}

struct OwnIds;

impl ModuleMapper for OwnIds {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (_, value, mapper) = param.consume();
        Param::from_mapped_value(ParamId::new(), value, mapper)
    }
}

/// Moves each parameter of the target towards the online module's:
///
/// ```text
/// target <- momentum · target + (1 - momentum) · online
/// ```
///
/// Parameters are matched by their path in the module. Running statistics (fields whose names begin with `running_`) are not averaged:
/// in MoCo the momentum encoder runs in train mode on its own batches, and its forward passes update them. To copy the online module's
/// statistics instead, build a new target with [`ema_target`].
///
/// Source: He et al., [Momentum Contrast](https://arxiv.org/abs/1911.05722), equation 2.
///
/// # Panics
/// Panics if the momentum is outside [0, 1] or the modules do not have the same parameters.
///
/// # Example
/// ```
/// use bcl_models::vision::{ema_target, ema_update, ProjectionHeadConfig};
/// use burn::tensor::Device;
///
/// let online = ProjectionHeadConfig::default().init(3, 0, &Device::flex());
/// let target = ema_update(ema_target(&online), &online, 0.999);
/// ```
pub fn ema_update<M: Module>(target: M, online: &M, momentum: f64) -> M {
    assert_momentum(momentum);
    let mut collect = Collect::default();
    online.visit(&mut collect);
    let mut average = Average {
        online: collect.values,
        momentum,
        path: Vec::new(),
    };
    let target = together(|| target.map(&mut average));
    let left: Vec<&String> = average.online.keys().collect();
    assert!(left.is_empty(), "the target lacks the online module's parameters {left:?}");
    target
}

/// The momentum of a step that rises from `base` to 1 along half a cosine:
///
/// ```text
/// momentum = 1 - (1 - base) (cos(π step / num_steps) + 1) / 2
/// ```
///
/// Steps count from 0, so the last one is a little below 1. From `num_steps` on the momentum is 1.
///
/// Source: Grill et al., [Bootstrap Your Own Latent](https://arxiv.org/abs/2006.07733), section 3.2; DINO has the same schedule.
///
/// # Panics
/// Panics if `base` is outside [0, 1] or there are 0 steps.
///
/// # Example
/// ```
/// use bcl_models::vision::cosine_momentum;
///
/// assert_eq!(cosine_momentum(0.5, 0, 100), 0.5);
/// assert!((cosine_momentum(0.5, 50, 100) - 0.75).abs() < 1e-15);
/// assert_eq!(cosine_momentum(0.5, 100, 100), 1.0);
/// ```
pub fn cosine_momentum(base: f64, step: usize, num_steps: usize) -> f64 {
    assert_momentum(base);
    assert!(num_steps > 0, "the schedule of a momentum needs at least 1 step");
    let progress = step.min(num_steps) as f64 / num_steps as f64;
    1.0 - (1.0 - base) * ((PI * progress).cos() + 1.0) / 2.0
}

fn assert_momentum(momentum: f64) {
    assert!(
        (0.0..=1.0).contains(&momentum),
        "momentum is {momentum}, but must be in [0, 1]"
    );
}

/// The online module's parameters by path, flattened because their processes differ.
#[derive(Default)]
struct Collect {
    values: HashMap<String, Tensor<1>>,
    path: Vec<String>,
}

impl ModuleVisitor for Collect {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if !is_running_statistic(&self.path) {
            let value = param.val().without_autodiff();
            let count = value.shape().num_elements();
            self.values.insert(self.path.join("."), value.reshape([count]));
        }
    }
}

struct Average {
    online: HashMap<String, Tensor<1>>,
    momentum: f64,
    path: Vec<String>,
}

impl ModuleMapper for Average {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if is_running_statistic(&self.path) {
            return param;
        }
        let path = self.path.join(".");
        let online = self
            .online
            .remove(&path)
            .unwrap_or_else(|| panic!("the online module lacks the target's parameter {path}"));
        let momentum = self.momentum;
        param.map(|target| {
            let (autodiff, require_grad) = (target.is_autodiff(), target.is_require_grad());
            let (shape, target) = (target.dims(), target.without_autodiff());
            assert_eq!(
                online.shape().num_elements(),
                target.shape().num_elements(),
                "the target's parameter {path} has shape {shape:?}, which is not the online module's"
            );
            let average = moving_average(target, online.reshape(shape), [momentum, 1.0 - momentum]);
            let average = if autodiff { average.autodiff() } else { average };
            average.set_require_grad(require_grad)
        })
    }
}

fn is_running_statistic(path: &[String]) -> bool {
    path.last().is_some_and(|name| name.starts_with("running_"))
}
