//! LARS: layer-wise adaptive learning rates, for large batches.

use bcl_kernels::{LarsAdaptation, LarsInput, LarsStep, LarsUpdated, lars};
use burn::{
    optim::{LearningRate, Optimizer, RecordState, StateSink, StateSource},
    tensor::{Device, Tensor},
};

/// Name of the velocity in records, as of Burn's momentum.
const VELOCITY: &str = "velocity";

/// Configuration of [`Lars`]. The defaults follow SimCLR, except for the weight decay, which SimCLR sets to 1e-6.
#[derive(Debug, Clone, PartialEq)]
pub struct LarsConfig {
    /// Trust coefficient η, above 0: length of a step relative to the norm of the weight tensor.
    pub trust_coefficient: f64,
    /// Momentum m, in [0, 1).
    pub momentum: f64,
    /// Weight decay λ, at least 0.
    pub weight_decay: f64,
}

impl Default for LarsConfig {
    fn default() -> Self {
        Self {
            trust_coefficient: 0.001,
            momentum: 0.9,
            weight_decay: 0.0,
        }
    }
}

impl LarsConfig {
    /// Builds the update rule; `ModuleOptimizer::from` turns it into an optimizer.
    pub fn init(&self) -> Lars {
        Lars { config: self.clone() }
    }
}

/// LARS: SGD with momentum, with a learning rate that adapts to each weight tensor,
///
/// ```text
/// u = g + λ w
/// r = η ‖w‖ / ‖u‖                   (1 if either norm is 0)
/// v <- m v + γ r u
/// w <- w - v
/// ```
///
/// where γ is the learning rate of the schedule. Parameters of one dimension (biases, and scale and shift of batch normalisation) get neither
/// weight decay nor adaptation: `u = g`, `r = 1`.
///
/// Source: You, Gitman, Ginsburg, [Large Batch Training of Convolutional Networks](https://arxiv.org/abs/1708.03888). As in SimCLR's
/// released code, the denominator is the norm of `u`; the paper has its upper bound `‖g‖ + λ ‖w‖`.
///
/// ```
/// use bcl_optim::LarsConfig;
/// use burn::optim::ModuleOptimizer;
///
/// let optimizer = ModuleOptimizer::from(LarsConfig { weight_decay: 1e-6, ..LarsConfig::default() }.init());
/// ```
#[derive(Debug, Clone)]
pub struct Lars {
    config: LarsConfig,
}

/// The state of [`Lars`] for one parameter.
#[derive(Debug, Clone)]
pub struct LarsMemory<const D: usize> {
    velocity: Tensor<D>,
}

impl<const D: usize> RecordState for LarsMemory<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        out.push_tensor(prefix, VELOCITY, self.velocity.to_data());
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let velocity = source.take_tensor(prefix, VELOCITY)?;
        Some(Self {
            velocity: Tensor::from_data(velocity, device),
        })
    }
}

impl Optimizer for Lars {
    type State<const D: usize> = LarsMemory<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        weight: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<Self::State<D>>,
    ) -> (Tensor<D>, Option<Self::State<D>>) {
        let adaptation = LarsAdaptation {
            trust_coefficient: self.config.trust_coefficient,
            weight_decay: self.config.weight_decay,
        };
        let step = LarsStep {
            rate,
            momentum: self.config.momentum as f32,
            adaptation: (D > 1).then_some(adaptation),
        };
        let input = LarsInput {
            weight,
            gradient,
            velocity: state.map(|memory| memory.velocity),
        };
        let LarsUpdated { weight, velocity } = lars(input, step);
        (weight, Some(LarsMemory { velocity }))
    }

    fn to_device<const D: usize>(state: Self::State<D>, device: &Device) -> Self::State<D> {
        LarsMemory {
            velocity: state.velocity.to_device(device),
        }
    }
}

#[cfg(test)]
mod tests;
