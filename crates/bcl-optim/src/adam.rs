//! Adam and `AdamW` in one pass over memory.

use bcl_kernels::{AdamDecay, AdamInput, AdamStep, AdamUpdated, LazyMemory, LazyUpdated, Replays, adam, lazy_adam, replays};
use burn::{
    optim::{AdamState, AdaptiveMomentumState, LearningRate, Optimizer, RecordState, StateSink, StateSource},
    tensor::{Device, Tensor},
};

/// Configuration of [`Adam`]. The defaults follow the paper; Burn's ε is a thousand times larger.
#[derive(Debug, Clone, PartialEq)]
pub struct AdamConfig {
    /// β₁, the decay of the mean of the gradients, in [0, 1).
    pub beta_1: f32,
    /// β₂, the decay of the mean of their squares, in [0, 1).
    pub beta_2: f32,
    /// ε, above 0.
    pub epsilon: f32,
    /// Weight decay λ, coupled for Adam and decoupled for `AdamW`.
    pub decay: AdamDecay,
    /// Whether rows of tables, which are parameters of two dimensions, stay as they are in steps in which their gradient is zero: see
    /// [`bcl_kernels::lazy_adam()`].
    pub lazy: bool,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self {
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            decay: AdamDecay::Coupled(0.0),
            lazy: false,
        }
    }
}

impl AdamConfig {
    /// Builds the update rule; `ModuleOptimizer::from` turns it into an optimizer.
    pub fn init(&self) -> Adam {
        Adam { config: self.clone() }
    }
}

/// Adam or `AdamW`, with the bits of Burn's optimizers and in a fraction of their time: see [`bcl_kernels::adam()`]. Their records are
/// interchangeable.
///
/// On the CPU the state keeps the parameter as it was before the last step, because the next one writes into its memory. Records do not contain it.
///
/// Source: Kingma and Ba, [Adam: A Method for Stochastic Optimization](https://arxiv.org/abs/1412.6980); Loshchilov and Hutter,
/// [Decoupled Weight Decay Regularization](https://arxiv.org/abs/1711.05101).
///
/// ```
/// use bcl_optim::AdamConfig;
/// use burn::optim::ModuleOptimizer;
///
/// let optimizer = ModuleOptimizer::from(AdamConfig::default().init());
/// ```
#[derive(Debug, Clone)]
pub struct Adam {
    config: AdamConfig,
}

/// The state of [`Adam`] for one parameter.
#[derive(Clone)]
#[allow(missing_debug_implementations)] // Burn's state has none
pub struct AdamMemory<const D: usize> {
    momentum: AdaptiveMomentumState<D>,
    reused: Reused<D>,
    /// How often the last step has run, if it was [recorded](bcl_kernels::StepGraph).
    replays: Option<Replays>,
}

impl<const D: usize> AdamMemory<D> {
    /// Number of steps so far.
    fn time(&self) -> usize {
        match &self.replays {
            Some(replays) => self.momentum.time - 1 + replays.count(),
            None => self.momentum.time,
        }
    }
}

/// What a step keeps for the next one.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per parameter")]
enum Reused<const D: usize> {
    Nothing,
    /// The parameter before the last step.
    Spare(Tensor<D>),
    Lazy(LazyMemory),
}

impl<const D: usize> RecordState for AdamMemory<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        let momentum = AdaptiveMomentumState {
            time: self.time(),
            ..self.momentum.clone()
        };
        AdamState::new(momentum).state_flatten(prefix, out);
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let state = AdamState::state_unflatten(prefix, source, device)?;
        Some(Self {
            momentum: state.momentum,
            reused: Reused::Nothing,
            replays: None,
        })
    }
}

impl Optimizer for Adam {
    type State<const D: usize> = AdamMemory<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        weight: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<Self::State<D>>,
    ) -> (Tensor<D>, Option<Self::State<D>>) {
        let time = 1 + state.as_ref().map_or(0, AdamMemory::time);
        let (moments, reused) = match state {
            Some(AdamMemory { momentum, reused, .. }) => (Some([momentum.moment_1, momentum.moment_2]), reused),
            None => (None, Reused::Nothing),
        };
        let step = AdamStep {
            rate,
            beta_1: self.config.beta_1,
            beta_2: self.config.beta_2,
            epsilon: self.config.epsilon,
            decay: self.config.decay,
            time,
        };
        let (weight, [moment_1, moment_2], reused) = if self.config.lazy && D == 2 {
            lazily(weight, gradient, moments, reused, step)
        } else {
            densely(weight, gradient, moments, reused, step)
        };
        let momentum = AdaptiveMomentumState::new(time, moment_1, moment_2);
        let memory = AdamMemory {
            momentum,
            reused,
            replays: replays(),
        };
        (weight, Some(memory))
    }

    fn to_device<const D: usize>(state: Self::State<D>, device: &Device) -> Self::State<D> {
        let is_there = state.momentum.moment_1.device() == *device;
        AdamMemory {
            momentum: state.momentum.to_device(device),
            reused: if is_there { state.reused } else { Reused::Nothing },
            replays: state.replays,
        }
    }
}

fn densely<const D: usize>(
    weight: Tensor<D>,
    gradient: Tensor<D>,
    moments: Option<[Tensor<D>; 2]>,
    reused: Reused<D>,
    step: AdamStep,
) -> (Tensor<D>, [Tensor<D>; 2], Reused<D>) {
    let input = AdamInput {
        weight,
        gradient,
        moments,
        spare: match reused {
            Reused::Spare(spare) => Some(spare),
            _ => None,
        },
    };
    let AdamUpdated { weight, moments, spare } = adam(input, step);
    (weight, moments, spare.map_or(Reused::Nothing, Reused::Spare))
}

/// Takes a step of [`lazy_adam`] for a tensor that has two dimensions, which the compiler does not know.
fn lazily<const D: usize>(
    weight: Tensor<D>,
    gradient: Tensor<D>,
    moments: Option<[Tensor<D>; 2]>,
    reused: Reused<D>,
    step: AdamStep,
) -> (Tensor<D>, [Tensor<D>; 2], Reused<D>) {
    let shape = weight.dims();
    let table = |tensor: Tensor<D>| tensor.reshape([shape[0], shape[1]]);
    let back = |tensor: Tensor<2>| tensor.reshape(shape);
    let input = AdamInput {
        weight: table(weight),
        gradient: table(gradient),
        moments: moments.map(|moments| moments.map(table)),
        spare: None,
    };
    let memory = match reused {
        Reused::Lazy(memory) => Some(memory),
        _ => None,
    };
    let LazyUpdated { weight, moments, memory } = lazy_adam(input, memory, step);
    (back(weight), moments.map(back), Reused::Lazy(memory))
}

#[cfg(test)]
mod tests;
