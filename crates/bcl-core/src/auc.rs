//! How well scores separate: the area under the ROC curve, and the Bayesian model's `α` estimated from it.
//!
//! | to | with | needs |
//! | --- | --- | --- |
//! | compare two samples of scores | [`auc`] | nothing |
//! | follow an encoder without labels | [`auc_unlabelled`], then [`label_free_alpha`] | the prior `τ+` |
//! | follow it with labels | [`auc_of_positives`], [`auc_of_classes`] | [`Scores::same_class`](crate::Scores::same_class) |
//!
//! Augmented positives are easier than true class mates, so the label-free `α` is biased upwards: report it beside the label-based
//! one wherever labels exist.

mod pairs;
mod rows;

pub use pairs::auc;
pub use rows::{auc_of_classes, auc_of_positives, auc_unlabelled};

use crate::parameter::in_half_open;

/// The largest `α` that an estimate may lead to. At 1 the Bayesian weight is 0/0 for `β = 1`; this distance still resolves in f32.
pub const ALPHA_CEILING: f64 = 1.0 - 1e-6;

/// `α` from the AUC of positives against unlabelled scores, limited to `[0.5, ALPHA_CEILING]`.
///
/// ```text
/// AUC_PU = τ- α + τ+ / 2     ⇒     α = (AUC_PU - τ+ / 2) / (1 - τ+)
/// ```
///
/// # Panics
/// When `tau_plus` lies outside `[0, 1)`.
///
/// ```
/// use bcl_core::auc::{label_free_alpha, unlimited_label_free_alpha};
///
/// assert!((label_free_alpha(0.86, 0.1) - 0.9).abs() < 1e-12);
/// // Positives that beat all unlabelled scores contradict a prior above zero; the excess shows in the unlimited value.
/// assert!(label_free_alpha(1.0, 0.1) < 1.0);
/// assert!(unlimited_label_free_alpha(1.0, 0.1) > 1.05);
/// ```
pub fn label_free_alpha(auc_unlabelled: f64, tau_plus: f64) -> f64 {
    limited_alpha(unlimited_label_free_alpha(auc_unlabelled, tau_plus))
}

/// [`label_free_alpha`] before it is limited. Far above 1, the assumed `τ+` is too large or positives are too easy; below 1/2, the
/// encoder orders scores the wrong way round.
///
/// # Panics
/// When `tau_plus` lies outside `[0, 1)`.
pub fn unlimited_label_free_alpha(auc_unlabelled: f64, tau_plus: f64) -> f64 {
    if let Err(error) = in_half_open("tau_plus", tau_plus, 0.0, 1.0) {
        panic!("{error}");
    }
    (auc_unlabelled - tau_plus / 2.0) / (1.0 - tau_plus)
}

/// The nearest `α` that the Bayesian weight accepts for every `β`. What is not a number becomes 1/2, the uninformed encoder.
pub fn limited_alpha(estimate: f64) -> f64 {
    if estimate.is_nan() {
        0.5
    } else {
        estimate.clamp(0.5, ALPHA_CEILING)
    }
}
