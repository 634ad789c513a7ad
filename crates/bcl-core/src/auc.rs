//! The area under the ROC curve (AUC), which measures how well scores separate, and the Bayesian model's `α` estimated from it.
//!
//! | to | with | needs |
//! | --- | --- | --- |
//! | compare two samples of scores | [`auc`] | nothing |
//! | follow an encoder without labels | [`auc_unlabelled`], then [`label_free_alpha`] | the prior `τ+` |
//! | follow it with labels | [`auc_of_positives`], [`auc_of_classes`] | which negatives share the anchor's class |
//!
//! # α and the AUC
//!
//! In the Bayesian model `α` is the probability that in *one pair* of draws the lower one is the true negative. The AUC of independent
//! draws from the classes of that model is [`auc_of_alpha`]:
//!
//! ```text
//! AUC = (1 + 4α) / 6        α = (6 · AUC - 1) / 4
//! ```
//!
//! so it is between 1/2 and 5/6. The papers use a measured AUC as α. Below an AUC of 5/6 that α is too small: scores drawn at α = 0.9
//! have an AUC of 0.767. [`AlphaReading`](crate::schedule::AlphaReading) offers both readings; an AUC above 5/6 is outside the model.
//!
//! Augmented positives are easier than true class mates, so the label-free `α` is biased upwards: if labels exist, report it beside the
//! label-based one.

mod pairs;
mod rows;

pub use pairs::auc;
pub use rows::{auc_of_classes, auc_of_positives, auc_unlabelled};

use crate::parameter::in_half_open;

/// The largest `α` that an estimate may return. At 1 the Bayesian weight is 0/0 for `β = 1`; f32 still resolves this distance. For a
/// given row length [`BayesianLossConfig::away_from_the_pole`](crate::BayesianLossConfig::away_from_the_pole) limits it further.
pub const ALPHA_CEILING: f64 = 1.0 - 1e-6;

/// Estimates the AUC of positives against true negatives from the AUC against unlabelled scores, limited to `[0.5, ALPHA_CEILING]`. The
/// papers use it as `α`.
///
/// ```text
/// AUC_PU = τ- AUC + τ+ / 2     ⇒     AUC = (AUC_PU - τ+ / 2) / (1 - τ+)
/// ```
///
/// # Panics
/// Panics if `tau_plus` is outside `[0, 1)`.
///
/// ```
/// use bcl_core::auc::{label_free_alpha, unlimited_label_free_alpha};
///
/// assert!((label_free_alpha(0.86, 0.1) - 0.9).abs() < 1e-12);
/// // Positives above all unlabelled scores contradict a prior above zero; the excess shows in the unlimited value.
/// assert!(label_free_alpha(1.0, 0.1) < 1.0);
/// assert!(unlimited_label_free_alpha(1.0, 0.1) > 1.05);
/// ```
pub fn label_free_alpha(auc_unlabelled: f64, tau_plus: f64) -> f64 {
    limited_alpha(unlimited_label_free_alpha(auc_unlabelled, tau_plus))
}

/// Estimates as [`label_free_alpha`] does, without its limits. Far above 1, the assumed `τ+` is too large or positives are too easy;
/// below 1/2, the encoder orders scores the wrong way round.
///
/// # Panics
/// Panics if `tau_plus` is outside `[0, 1)`.
pub fn unlimited_label_free_alpha(auc_unlabelled: f64, tau_plus: f64) -> f64 {
    if let Err(error) = in_half_open("tau_plus", tau_plus, 0.0, 1.0) {
        panic!("{error}");
    }
    (auc_unlabelled - tau_plus / 2.0) / (1.0 - tau_plus)
}

/// Returns the AUC of independent draws from the classes of the Bayesian model: `(1 + 4α) / 6`, from 1/2 to 5/6.
///
/// ```
/// use bcl_core::auc::{alpha_of_auc, auc_of_alpha};
///
/// assert!((auc_of_alpha(0.9) - 0.7667).abs() < 1e-4);
/// assert!((alpha_of_auc(auc_of_alpha(0.9)) - 0.9).abs() < 1e-12);
/// ```
pub fn auc_of_alpha(alpha: f64) -> f64 {
    (1.0 + 4.0 * alpha) / 6.0
}

/// Returns the `α` at which the classes of the Bayesian model have this AUC, `(6 · AUC - 1) / 4`, [limited](limited_alpha) to values that
/// every `β` accepts. An AUC above 5/6 is outside the model and gives the largest.
pub fn alpha_of_auc(auc: f64) -> f64 {
    limited_alpha((6.0 * auc - 1.0) / 4.0)
}

/// Returns the nearest `α` that the Bayesian weight accepts for every `β`. For NaN, returns 1/2, the α of an uninformed encoder.
pub fn limited_alpha(estimate: f64) -> f64 {
    if estimate.is_nan() {
        0.5
    } else {
        estimate.clamp(0.5, ALPHA_CEILING)
    }
}
