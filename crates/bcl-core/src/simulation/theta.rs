//! The estimators of an anchor's mean true-negative score.

use crate::posterior::{Posterior, ecdf};
use serde::{Deserialize, Serialize};

/// An estimator that the experiment compares with the supervised mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theta {
    /// [`biased`]
    Biased,
    /// [`debiased`]
    Debiased,
    /// [`hard`]
    Hard,
    /// [`bayesian`], as the paper defines it.
    Bayesian,
    /// [`bayesian`], divided by the mean weight.
    BayesianNormalised,
}

impl Theta {
    /// All estimators, in the order of tables.
    pub const ALL: [Self; 5] = [
        Self::Biased,
        Self::Debiased,
        Self::Hard,
        Self::Bayesian,
        Self::BayesianNormalised,
    ];

    /// Returns the name in tables and serialised results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Biased => "biased",
            Self::Debiased => "debiased",
            Self::Hard => "hard",
            Self::Bayesian => "bayesian",
            Self::BayesianNormalised => "bayesian_normalised",
        }
    }
}

/// Computes `θ_SUP`, the mean over true negatives; `None` if there is none.
pub fn supervised(scores: &[f64], is_false_negative: &[bool]) -> Option<f64> {
    let true_negatives: Vec<f64> = scores
        .iter()
        .zip(is_false_negative)
        .filter(|(_, is_false)| !**is_false)
        .map(|(score, _)| *score)
        .collect();
    (!true_negatives.is_empty()).then(|| mean(&true_negatives))
}

/// Computes `θ_BIASED = mean x_i`, false negatives included.
pub fn biased(scores: &[f64]) -> f64 {
    mean(scores)
}

/// Computes `θ_DCL = max{ (mean x_i - τ+ mean x+) / τ-, floor }`.
pub fn debiased(scores: &[f64], positives: &[f64], tau_plus: f64, floor: f64) -> f64 {
    without_positives(mean(scores), positives, tau_plus, floor)
}

/// Computes `θ_PU = max{ (1 - αc) / (1 - α) · mean x_i - α(1 - c) / (1 - α) · mean x+, floor }`, with class prior α and label frequency c.
///
/// It is [`debiased`] with the [prior](hidden_prior) of a positive among the unlabelled samples in place of `τ+`.
///
/// Source: Contrastive Learning with Negative Sampling Correction, Eq. 8.
pub fn positive_unlabelled(scores: &[f64], positives: &[f64], class_prior: f64, label_frequency: f64, floor: f64) -> f64 {
    debiased(scores, positives, hidden_prior(class_prior, label_frequency), floor)
}

/// Computes `α(1 - c) / (1 - αc)`: the share of positives among the samples that are left after a share c of the positives was labelled
/// and removed.
pub fn hidden_prior(class_prior: f64, label_frequency: f64) -> f64 {
    class_prior * (1.0 - label_frequency) / (1.0 - class_prior * label_frequency)
}

/// Computes `θ_HCL = max{ (mean(w_i x_i) - τ+ mean x+) / τ-, floor }`, `w_i = x_i^β / mean x_j^β`.
pub fn hard(scores: &[f64], positives: &[f64], tau_plus: f64, floor: f64, hard_beta: f64) -> f64 {
    // Dividing by the largest score leaves the weighted mean unchanged and keeps the powers finite.
    let largest = scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score / largest).powf(hard_beta)).collect();
    without_positives(
        mean_of_products(&weights, scores) / mean(&weights),
        positives,
        tau_plus,
        floor,
    )
}

/// The Bayesian estimate, plain and normalised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BayesianMeans {
    /// `mean(ω_i x_i)`.
    pub plain: f64,
    /// `mean(ω_i x_i) / mean ω_i`: exact for constant scores, unlike the plain form at small N.
    pub normalised: f64,
}

/// Computes `θ_BCL`, the mean weighted by [`Posterior::omega`].
pub fn bayesian(scores: &[f64], posterior: &Posterior) -> BayesianMeans {
    let weights: Vec<f64> = ecdf(scores).into_iter().map(|ecdf| posterior.omega(ecdf)).collect();
    let plain = mean_of_products(&weights, scores);
    BayesianMeans {
        plain,
        normalised: plain / mean(&weights),
    }
}

fn without_positives(mixed: f64, positives: &[f64], tau_plus: f64, floor: f64) -> f64 {
    ((mixed - tau_plus * mean(positives)) / (1.0 - tau_plus)).max(floor)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn mean_of_products(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum::<f64>() / left.len() as f64
}
