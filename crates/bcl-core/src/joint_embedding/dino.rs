//! DINO: predicts the distribution of a teacher over prototypes.

use super::cross_entropy_with_other_views;
use crate::{
    config::configuration,
    margins::over,
    parameter::{in_closed, temperature},
};
use burn::tensor::{Tensor, activation::softmax};

configuration! {
    DinoLossConfig => DinoLoss {
        /// Temperature of the student, in [1e-6, 1e6].
        student_temperature / with_student_temperature: f64 = 0.1,
        /// Temperature of the teacher, in [1e-6, 1e6]; below the student's, so that targets are sharper than predictions.
        teacher_temperature / with_teacher_temperature: f64 = 0.04,
        /// Momentum of the centre, in [0, 1].
        center_momentum / with_center_momentum: f64 = 0.9,
    }

    check(config) {
        let named = |name, value| temperature(value).map_err(|error| error.named(name));
        named("student_temperature", config.student_temperature)?;
        named("teacher_temperature", config.teacher_temperature)?;
        in_closed("center_momentum", config.center_momentum, 0.0, 1.0)
    }

    init(config) {
        DinoLoss { config: config.clone() }
    }
}

/// The loss of DINO. The first views have logits T of a teacher, all views have logits S of a student, and c is the centre:
///
/// ```text
/// L = mean over pairs i ≠ j of  - Σ_k softmax_k((T_i - c) / t_teacher) log softmax_k(S_j / t_student)
/// ```
///
/// The teacher and the centre get no gradient. After the loss, [`new_center`](Self::new_center) moves the centre, so the loss of a step uses
/// the centre of the step before.
///
/// Source: Caron et al., [Emerging Properties in Self-Supervised Vision Transformers](https://arxiv.org/abs/2104.14294), Eq. 1 to 4.
///
/// ```
/// use bcl_core::joint_embedding::DinoLossConfig;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let logits = Tensor::<2>::from_data([[0.9, -0.9, -0.9], [-0.9, 0.9, -0.9]], &device);
/// let views = [logits.clone(), logits];
/// let center = Tensor::<1>::zeros([3], &device);
/// let dino = DinoLossConfig::new().init();
/// let losses = dino.forward_no_reduction(&views, &views, center.clone());
/// assert!(losses.max().into_scalar::<f32>() < 1e-6); // both networks are sure of the same prototype
/// let center: Vec<f32> = dino.new_center(center, &views).into_data().iter().collect();
/// assert!(center[0].abs() < 1e-6 && (center[2] + 0.09).abs() < 1e-6); // a tenth of the mean
/// ```
#[derive(Debug, Clone)]
pub struct DinoLoss {
    config: DinoLossConfig,
}

impl DinoLoss {
    /// Computes the loss of each sample.
    ///
    /// # Shapes
    /// - teacher: `[num_samples, num_prototypes]` for each of the first views
    /// - student: `[num_samples, num_prototypes]` for each view
    /// - center:  `[num_prototypes]`
    /// - output:  `[num_samples]`, nats
    ///
    /// # Panics
    /// Panics if there are fewer than two student views, fewer than teacher views, no teacher view, or if the shapes differ.
    pub fn forward_no_reduction(&self, teacher: &[Tensor<2>], student: &[Tensor<2>], center: Tensor<1>) -> Tensor<1> {
        let DinoLossConfig {
            student_temperature,
            teacher_temperature,
            ..
        } = self.config;
        let center = center.detach().unsqueeze::<2>();
        let target = |logits: &Tensor<2>| softmax(over(logits.clone().detach() - center.clone(), teacher_temperature), 1);
        let targets: Vec<_> = teacher.iter().map(target).collect();
        let logits: Vec<_> = student
            .iter()
            .map(|logits| over(logits.clone(), student_temperature))
            .collect();
        cross_entropy_with_other_views(&targets, &logits)
    }

    /// Computes the centre after a step: `m · center + (1 - m) · mean of all teacher logits of the step`.
    ///
    /// # Shapes
    /// - center, output: `[num_prototypes]`
    /// - teacher:        `[num_samples, num_prototypes]` each
    ///
    /// # Panics
    /// Panics if there is no teacher view.
    pub fn new_center(&self, center: Tensor<1>, teacher: &[Tensor<2>]) -> Tensor<1> {
        let momentum = self.config.center_momentum;
        let logits = Tensor::cat(teacher.to_vec(), 0).detach();
        let [num_rows, _] = logits.dims();
        let mean = logits.sum_dim(0).squeeze_dim::<1>(0) * (num_rows as f64).recip();
        center.detach() * momentum + mean * (1.0 - momentum)
    }
}
