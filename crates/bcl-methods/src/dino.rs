//! DINO: a student predicts the class probabilities of a momentum teacher from other views.

use super::{
    Counter, Embeddings, ImageMethod, ImageMethodConfig, ImagePart, MethodSettings, MethodSizes, MethodStart, Momentum,
    MomentumSchedule, Needs, Objective, Precision,
    image::{raw_projections_of_views, wide},
    momentum, rows_of,
};
use crate::batches::ImageBatch;
use bcl_core::{
    Losses, ParameterError,
    joint_embedding::{DinoLoss, DinoLossConfig},
    parameter::{count_in, in_closed, temperature},
};
use bcl_models::vision::{ImageEncoder, Prototypes, PrototypesConfig, ema_target};
use burn::{
    module::{Module, Param},
    optim::GradientsParams,
    tensor::Tensor,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parameters of [`Dino`], as in recipes. The defaults are lightly's for CIFAR-10.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DinoConfig {
    /// Number of outputs, which DINO treats as classes.
    pub prototypes: usize,
    /// Temperature of the student.
    pub student_temperature: f64,
    /// Temperature of the teacher after the warm-up.
    pub teacher_temperature: f64,
    /// Temperature of the teacher in the first epoch; rises linearly.
    pub teacher_temperature_start: f64,
    /// Number of epochs in which the temperature of the teacher rises.
    pub teacher_warmup_epochs: usize,
    /// Momentum of the centre that is subtracted from the outputs of the teacher.
    pub center_momentum: f64,
    /// Momentum of the teacher, in [0, 1]; of the first step if it has a schedule.
    pub momentum: f64,
    /// How the momentum of the teacher changes.
    pub momentum_schedule: MomentumSchedule,
    /// Number of epochs in which the last layer does not change.
    pub frozen_epochs: usize,
}

impl Default for DinoConfig {
    fn default() -> Self {
        Self {
            prototypes: 2048,
            student_temperature: 0.1,
            teacher_temperature: 0.04,
            teacher_temperature_start: 0.04,
            teacher_warmup_epochs: 0,
            center_momentum: 0.9,
            momentum: 0.99,
            momentum_schedule: MomentumSchedule::Constant,
            frozen_epochs: 0,
        }
    }
}

impl DinoConfig {
    const MOST_PROTOTYPES: usize = 1 << 18;
    /// Largest number of epochs.
    const MOST: usize = 1 << 24;

    /// Temperature of the teacher in an epoch. The warm-up has both of its ends among its epochs, as in the authors' code.
    #[must_use]
    pub fn teacher_temperature_at(&self, epoch: usize) -> f64 {
        let last = self.teacher_warmup_epochs.saturating_sub(1).max(1);
        let progress = (epoch as f64 / last as f64).min(1.0);
        let [from, to] = match self.teacher_warmup_epochs {
            0 => [self.teacher_temperature; 2],
            _ => [self.teacher_temperature_start, self.teacher_temperature],
        };
        from + (to - from) * progress
    }

    fn loss(&self, epoch: usize) -> DinoLossConfig {
        DinoLossConfig::new()
            .with_student_temperature(self.student_temperature)
            .with_teacher_temperature(self.teacher_temperature_at(epoch))
            .with_center_momentum(self.center_momentum)
    }
}

impl MethodSettings for DinoConfig {
    fn check(&self) -> Result<(), ParameterError> {
        count_in("prototypes", self.prototypes, 2, Self::MOST_PROTOTYPES)?;
        let temperatures = [
            ("student_temperature", self.student_temperature),
            ("teacher_temperature", self.teacher_temperature),
            ("teacher_temperature_start", self.teacher_temperature_start),
        ];
        for (name, value) in temperatures {
            temperature(value).map_err(|error| ParameterError::new(name, error.value, error.requirement))?;
        }
        count_in("teacher_warmup_epochs", self.teacher_warmup_epochs, 0, Self::MOST)?;
        in_closed("center_momentum", self.center_momentum, 0.0, 1.0)?;
        momentum::check(self.momentum)?;
        count_in("frozen_epochs", self.frozen_epochs, 0, Self::MOST)
    }

    fn spread_over_epochs(&self) -> Option<&'static str> {
        self.momentum_schedule.spread_over_epochs()
    }

    fn memory(&self, sizes: &MethodSizes) -> u64 {
        sizes.parameters + 2 * self.prototypes as u64 * sizes.dim
    }

    fn needs(&self) -> Needs {
        Needs {
            local_views: true,
            ..Needs::default()
        }
    }
}

impl ImageMethodConfig for DinoConfig {
    type Method = Dino;

    fn init(&self, start: MethodStart) -> Dino {
        let last_layer = PrototypesConfig {
            count: self.prototypes,
            dim: start.dim,
        };
        let last_layer = last_layer.init(start.seed.named("prototypes").0, &start.device);
        Dino {
            teacher: ema_target(&start.encoder),
            teacher_last_layer: ema_target(&last_layer),
            center: Param::from_tensor(Tensor::zeros([self.prototypes], &start.device)).set_require_grad(false),
            steps: Counter::new(&start.device),
            momentum: Momentum::new(self.momentum, self.momentum_schedule, &start),
            steps_per_epoch: start.steps_per_epoch,
            config: self.clone(),
            precision: start.precision,
            encoder: start.encoder,
            last_layer,
        }
    }
}

/// A student sees all views and a teacher the two global ones. For each global view i and each other view v,
///
/// ```text
/// loss = -Σ_k softmax((teacher_i - center) / t_teacher)[k] · log_softmax(student_v / t_student)[k]
/// teacher <- momentum · teacher + (1 - momentum) · student
/// center <- center_momentum · center + (1 - center_momentum) · mean of the teacher's outputs
/// ```
///
/// Outputs are cosines of the projection and the directions of the last layer. Centring alone would spread the teacher's outputs evenly,
/// and its low temperature alone would make one of them dominate; together they prevent collapse.
///
/// Source: Caron et al., [Emerging Properties in Self-Supervised Vision Transformers](https://arxiv.org/abs/2104.14294).
#[derive(Module, Debug)]
pub struct Dino {
    /// The encoder of the student.
    pub encoder: ImageEncoder,
    /// The last layer of the student.
    pub last_layer: Prototypes,
    /// The encoder of the teacher.
    pub teacher: ImageEncoder,
    /// The last layer of the teacher.
    pub teacher_last_layer: Prototypes,
    /// The running mean of the teacher's outputs, `[prototypes]`.
    center: Param<Tensor<1>>,
    /// Number of optimizer steps so far.
    steps: Counter,
    #[module(skip)]
    momentum: Momentum,
    #[module(skip)]
    steps_per_epoch: usize,
    #[module(skip)]
    config: DinoConfig,
    #[module(skip)]
    precision: Precision,
}

/// Names of the tables with the outputs of the teacher.
const TEACHER: [&str; 2] = ["teacher_0", "teacher_1"];

/// Name of the table with the outputs of the student for a view.
fn student_of(view: usize) -> String {
    format!("student_{view}")
}

impl Dino {
    /// The loss of this epoch.
    fn loss(&self) -> DinoLoss {
        self.config.loss(self.epoch()).init()
    }

    fn epoch(&self) -> usize {
        self.steps.value() / self.steps_per_epoch.max(1)
    }
}

impl ImageMethod for Dino {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn num_anchors(&self, batch_size: usize) -> usize {
        batch_size
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        let outputs = |encoder: &ImageEncoder, last_layer: &Prototypes, views| -> Vec<Tensor<2>> {
            let projections = raw_projections_of_views(encoder, part, views, self.precision).into_iter();
            projections.map(|rows| last_layer.cosines(wide(rows))).collect()
        };
        let of_student = outputs(&self.encoder, &self.last_layer, 0..part.views.len());
        let student = (0..).zip(of_student).fold(Embeddings::new(), |embeddings, (view, rows)| {
            embeddings.with(student_of(view), rows)
        });
        let of_teacher = outputs(&self.teacher, &self.teacher_last_layer, 0..TEACHER.len());
        TEACHER
            .into_iter()
            .zip(of_teacher)
            .fold(student, |embeddings, (name, rows)| embeddings.with_constant(name, rows))
    }

    fn objective(&self, batch: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let of_anchors = |name: &str| rows_of(embeddings.rows(name), anchors.clone());
        let teacher = TEACHER.map(of_anchors);
        let student: Vec<_> = (0..batch.views.num_views())
            .map(|view| of_anchors(&student_of(view)))
            .collect();
        let losses = self.loss().forward_no_reduction(&teacher, &student, self.center.val());
        Objective::Losses(Losses::new(losses, None))
    }

    fn before_update(&self, mut gradients: GradientsParams) -> GradientsParams {
        if self.epoch() < self.config.frozen_epochs {
            gradients.remove::<2>(self.last_layer.weight.id);
        }
        gradients
    }

    fn remember(self, _: &ImageBatch, embeddings: &Embeddings) -> Self {
        let outputs = TEACHER.map(|name| embeddings.rows(name));
        let loss = self.loss();
        Self {
            center: self
                .center
                .map(|center| loss.new_center(center, &outputs).set_require_grad(false)),
            ..self
        }
    }

    fn after_update(self) -> Self {
        Self {
            teacher: self.momentum.update(self.teacher, &self.encoder, &self.steps),
            teacher_last_layer: self.momentum.update(self.teacher_last_layer, &self.last_layer, &self.steps),
            steps: self.steps.plus(1),
            ..self
        }
    }
}
