//! LARS: layer-wise adaptive learning rates, for large batches.

use burn::{
    optim::{
        LearningRate, Optimizer,
        momentum::{Momentum, MomentumConfig, MomentumState},
    },
    tensor::{Device, Tensor},
};

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
        let momentum = MomentumConfig::new().with_momentum(self.momentum).with_dampening(0.0);
        Lars {
            trust_coefficient: self.trust_coefficient,
            weight_decay: self.weight_decay,
            momentum: Momentum::new(&momentum),
        }
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
#[derive(Clone)]
#[allow(missing_debug_implementations)] // Burn's momentum has none
pub struct Lars {
    trust_coefficient: f64,
    weight_decay: f64,
    momentum: Momentum,
}

impl Optimizer for Lars {
    type State<const D: usize> = MomentumState<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        weight: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<Self::State<D>>,
    ) -> (Tensor<D>, Option<Self::State<D>>) {
        let update = if D <= 1 {
            gradient * rate
        } else {
            let decayed = gradient + weight.clone() * self.weight_decay;
            let ratio = self.trust_ratio(norm(weight.clone()), norm(decayed.clone()));
            decayed * (ratio * rate).unsqueeze()
        };
        // The learning rate is part of the velocity, so a new rate does not rescale earlier steps.
        let (velocity, state) = self.momentum.transform(update, state);
        (weight - velocity, Some(state))
    }

    fn to_device<const D: usize>(state: Self::State<D>, device: &Device) -> Self::State<D> {
        state.to_device(device)
    }
}

impl Lars {
    /// `r`, `[1]`, computed on the device, so nothing waits for the host.
    fn trust_ratio(&self, weight: Tensor<1>, update: Tensor<1>) -> Tensor<1> {
        let undefined = weight.clone().equal_scalar(0.0).bool_or(update.clone().equal_scalar(0.0));
        (weight / update * self.trust_coefficient).mask_fill(undefined, 1.0)
    }
}

/// Euclidean norm of all entries, `[1]`.
fn norm<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    tensor.square().sum().sqrt()
}

#[cfg(test)]
mod tests;
