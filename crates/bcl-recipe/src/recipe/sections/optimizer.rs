//! The `[optimizer]` table.

use super::super::Refusal;
use bcl_core::{
    ParameterError,
    parameter::{in_closed, in_half_open, shown},
};
use bcl_optim::{AdamConfig, AdamDecay, Decay, LarsConfig, RateSchedule};
use burn::{
    grad_clipping::GradientClippingConfig,
    lr_scheduler::{constant::ConstantLr, module_lr_scheduler::ModuleLrScheduler},
    module::ParamGroup,
    optim::{ModuleOptimizer, Optimizer, SgdConfig, decay::WeightDecayConfig, momentum::MomentumConfig},
};
use serde::{Deserialize, Serialize};
use std::ops::Not;

/// Learning rates at which a step is finite in 32 bits. Training may still diverge, and then says so.
const LEAST_RATE: f64 = 1e-30;
const MOST_RATE: f64 = 1e38;

/// The path of the temperature in a [`Learned`](crate::training::learned::Learned) method.
const LEARNED_TEMPERATURE: &str = "temperature.log_rate";

/// The optimizer, its learning rate schedule, gradient clipping and L2 regularisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OptimizerConfig {
    /// The rule.
    pub kind: OptimizerKind,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Weight decay: added to the gradient, or with `adamw` decoupled from it.
    pub weight_decay: f64,
    /// Momentum, for `sgd` and `lars`.
    pub momentum: f64,
    /// Trust coefficient of `lars`: the size of a step relative to the norm of the weight tensor; in [1e-9, 1e3].
    pub trust_coefficient: f64,
    /// How the learning rate decays after the warm-up.
    pub schedule: LearningRateSchedule,
    /// Epochs of linear warm-up to the peak learning rate.
    pub warmup_epochs: usize,
    /// Maximum gradient norm of each parameter tensor; in [1e-6, 1e6], or 0 for no clipping.
    pub clip_norm: f64,
    /// Maximum gradient norm over all parameters; in [1e-6, 1e6], or 0 for no clipping.
    pub clip_global_norm: f64,
    /// L2 regularisation of embedding tables: λ/2 times the squared norms of the rows of the batch's users and positives, averaged over
    /// the batch, is added to the loss; in [0, 1e6]. BPR and `LightGCN` add the rows of negatives.
    pub l2: f64,
    /// With `adam` and `adamw`: rows of the tables that a batch does not read keep their values and moments, as with PyTorch's `SparseAdam`. Dense Adam moves all
    /// rows in every step, which takes most of the time if tables are large and batches small. Rows are known for the users of matrix factorisation, and
    /// for its items with dot products; otherwise the gradient is searched for them. No effect on `LightGCN`, whose gradients reach all rows.
    #[serde(skip_serializing_if = "Not::not")]
    pub lazy: bool,
}

/// The rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptimizerKind {
    /// Adam (Kingma and Ba 2015), β 0.9 and 0.999.
    #[default]
    Adam,
    /// Adam with decoupled weight decay (Loshchilov and Hutter 2019).
    #[serde(rename = "adamw")]
    AdamW,
    /// Stochastic gradient descent with momentum.
    Sgd,
    /// LARS: learning rates adapted to each weight tensor (You, Gitman and Ginsburg 2017), for large batches. SimCLR uses
    /// 0.3 · batch size / 256.
    Lars,
}

impl OptimizerKind {
    /// Largest learning rate of networks.
    fn largest_rate(self) -> f64 {
        match self {
            Self::Adam | Self::AdamW => 1.0,
            Self::Sgd | Self::Lars => 100.0,
        }
    }
}

/// How the learning rate decays after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningRateSchedule {
    /// No decay.
    #[default]
    Constant,
    /// Half a cosine, down to 0 at the end, one step after the last (Loshchilov and Hutter 2017).
    Cosine,
}

impl Default for OptimizerConfig {
    fn default() -> Self {
        Self {
            kind: OptimizerKind::Adam,
            learning_rate: 1e-3,
            weight_decay: 1e-6,
            momentum: 0.9,
            trust_coefficient: 0.001,
            schedule: LearningRateSchedule::Constant,
            warmup_epochs: 0,
            clip_norm: 0.0,
            clip_global_norm: 0.0,
            l2: 0.0,
            lazy: false,
        }
    }
}

impl OptimizerConfig {
    /// Checks that all parameters are in range, for a training of so many epochs.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self, epochs: usize) -> Result<(), Refusal> {
        let parameter = |error| Refusal::of_parameter("optimizer", &error);
        in_closed("learning_rate", self.learning_rate, LEAST_RATE, MOST_RATE).map_err(parameter)?;
        in_half_open("weight_decay", self.weight_decay, 0.0, 1.0).map_err(parameter)?;
        in_half_open("momentum", self.momentum, 0.0, 1.0).map_err(parameter)?;
        in_closed("trust_coefficient", self.trust_coefficient, 1e-9, 1e3).map_err(parameter)?;
        in_closed("l2", self.l2, 0.0, 1e6).map_err(parameter)?;
        is_norm("clip_norm", self.clip_norm).map_err(parameter)?;
        is_norm("clip_global_norm", self.clip_global_norm).map_err(parameter)?;
        if self.lazy && !matches!(self.kind, OptimizerKind::Adam | OptimizerKind::AdamW) {
            return Err(Refusal::new(
                "optimizer.lazy",
                "is true, but only optimizer.kind \"adam\" and \"adamw\" can be lazy; remove it, or choose one of them",
            ));
        }
        if self.clip_norm > 0.0 && self.clip_global_norm > 0.0 {
            return Err(Refusal::new(
                "optimizer.clip_global_norm",
                "cannot be combined with optimizer.clip_norm; set one of them to 0",
            ));
        }
        if self.warmup_epochs >= epochs && self.warmup_epochs > 0 {
            return Err(Refusal::new(
                "optimizer.warmup_epochs",
                format!("is {}, but must be below training.epochs, {epochs}", self.warmup_epochs),
            ));
        }
        Ok(())
    }

    /// Refuses learning rates that are a typing error for networks. Embedding tables have learnt with larger ones.
    ///
    /// # Errors
    /// Returns an error with the largest rate.
    pub fn check_rate_of_networks(&self) -> Result<(), Refusal> {
        let largest = self.kind.largest_rate();
        if self.learning_rate > 0.0 && self.learning_rate <= largest {
            return Ok(());
        }
        Err(Refusal::new(
            "optimizer.learning_rate",
            format!("is {}, but must be above 0 and at most {largest}", shown(self.learning_rate)),
        ))
    }

    /// Builds the optimizer, with the clipping that Burn does itself.
    pub fn init(&self) -> ModuleOptimizer {
        let adam = |decay| {
            let config = AdamConfig {
                decay,
                lazy: self.lazy,
                ..AdamConfig::default()
            };
            config.init()
        };
        let coupled = |decay: f64| (decay > 0.0).then(|| WeightDecayConfig::new(decay as f32));
        match self.kind {
            OptimizerKind::Adam => self.of(|decay| adam(AdamDecay::Coupled(decay as f32))),
            OptimizerKind::AdamW => self.of(|decay| adam(AdamDecay::Decoupled(decay as f32))),
            OptimizerKind::Sgd => {
                let momentum = MomentumConfig::new().with_momentum(self.momentum).with_dampening(0.0);
                let sgd = SgdConfig::new().with_momentum((self.momentum > 0.0).then_some(momentum));
                self.of(|decay| sgd.clone().with_weight_decay(coupled(decay)).build())
            }
            OptimizerKind::Lars => self.of(|weight_decay| {
                let lars = LarsConfig {
                    trust_coefficient: self.trust_coefficient,
                    momentum: self.momentum,
                    weight_decay,
                };
                lars.init()
            }),
        }
    }

    /// The optimizer of a rule, given for each weight decay. A learned temperature, which is no weight, does not decay.
    fn of<O: Optimizer>(&self, rule: impl Fn(f64) -> O) -> ModuleOptimizer {
        let clipping = (self.clip_norm > 0.0).then(|| GradientClippingConfig::Norm(self.clip_norm as f32).init());
        let optimizer = ModuleOptimizer::from(rule(self.weight_decay));
        let optimizer = match &clipping {
            Some(clipping) => optimizer.with_grad_clipping(clipping.clone()),
            None => optimizer,
        };
        optimizer.with_group(ParamGroup::from_path(LEARNED_TEMPERATURE), rule(0.0), clipping)
    }

    /// The number of values that the optimizer keeps per parameter.
    pub fn num_moments(&self) -> u64 {
        match self.kind {
            OptimizerKind::Adam | OptimizerKind::AdamW => 2,
            OptimizerKind::Sgd | OptimizerKind::Lars => u64::from(self.momentum > 0.0),
        }
    }

    /// The maximum gradient norm over all parameters, if set; the training step clips to it.
    pub fn largest_global_norm(&self) -> Option<f64> {
        (self.clip_global_norm > 0.0).then_some(self.clip_global_norm)
    }

    /// The setting, if any, that spreads the learning rate over the number of epochs.
    pub fn spread_over_epochs(&self) -> Option<&'static str> {
        (self.schedule == LearningRateSchedule::Cosine).then_some("optimizer.schedule = \"cosine\"")
    }

    /// The learning rate schedule for this many epochs.
    pub fn schedule(&self, epochs: usize, steps_per_epoch: usize) -> ModuleLrScheduler {
        let steps = |epochs: usize| epochs * steps_per_epoch;
        let decay = match self.schedule {
            LearningRateSchedule::Constant if self.warmup_epochs == 0 => return ConstantLr::new(self.learning_rate).into(),
            LearningRateSchedule::Constant => Decay::Constant,
            LearningRateSchedule::Cosine => Decay::Cosine,
        };
        RateSchedule::new(self.learning_rate, steps(self.warmup_epochs), steps(epochs), decay).into()
    }
}

/// Checks a maximum norm; 0 means no clipping.
fn is_norm(name: &'static str, value: f64) -> Result<(), ParameterError> {
    if value == 0.0 || (1e-6..=1e6).contains(&value) {
        return Ok(());
    }
    Err(ParameterError::new(name, value, "be 0 or in [1e-6, 1000000]"))
}

#[cfg(test)]
mod tests;
