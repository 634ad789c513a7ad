//! The numerical experiment of the paper: estimators of the mean true-negative score, compared with the truth.
//!
//! A contrastive loss needs `θ_SUP`, the mean of `x = exp(s / t)` over an anchor's true negatives, but sees unlabelled scores.
//! Here labels are drawn with the scores, so each [`Theta`] can be compared with `θ_SUP`, anchor by anchor:
//!
//! | estimator | per anchor |
//! | --- | --- |
//! | [`Theta::Biased`] | `mean x_i`, what `InfoNCE` uses |
//! | [`Theta::Debiased`] | `max{ (mean x_i - τ+ mean x+) / τ-, smallest possible x }` |
//! | [`Theta::Hard`] | the same with `mean(w_i x_i)`, `w_i = x_i^β / mean x_j^β` (that paper's `β`, [`SimulationConfig::hard_beta`]) |
//! | [`Theta::Bayesian`] | `mean(ω_i x_i)`, the paper's estimator |
//! | [`Theta::BayesianNormalised`] | `mean(ω_i x_i) / mean ω_i`, what the released experiment computes |
//!
//! # How scores are drawn
//!
//! ```text
//! anchor m:   a_m = -(1 - γ u) / t²,  b_m = (1 - γ v) / t²,   u, v ~ U(0, 1)          the interval of its scores
//! base:       φ_m = U(a_m, b_m)
//! label:      false negative with probability τ+
//! score:      true negative: the smaller of two draws from φ_m with probability α, else the larger;
//!             false negative and positive: the reverse
//! x = exp(s / t)
//! ```
//!
//! So similarities fill `[-1/t², 1/t²]`, as inner products of embeddings on a sphere of radius `1/t` do, and each end of an anchor's
//! interval is shorter by a random share of at most `γ`. Class-conditional scores come from the inverse of their distribution functions
//! ([`ClassSampler`]); rejection sampling, which the paper describes, draws from the same distributions and serves as a comparison.
//!
//! The classes of the model overlap even at `α = 1`: independent draws have an AUC of `(1 + 4α) / 6`, at most 5/6. The paper's `α` is
//! the probability that the larger draw is the false negative's, not that AUC.
//!
//! # Figures
//!
//! With the defaults (M = 1000 anchors, N = 64 negatives, K = 10 positives, α 0.9, β 0.5, γ 0.1, τ+ 0.1, t 0.5) the mean squared
//! errors are about 719 for biased, 601 for debiased and 259 for Bayesian, normalised; the last falls as 1/N. `θ_SUP` is the mean over
//! the true negatives **of the same sample**, so the error that remains at `α = 1/2` comes from averaging other scores, not from bias. A
//! `β` other than 1/2 estimates another mean than `θ_SUP`, and its error is large: about 1060 at 0.7.
//!
//! ```
//! use bcl_core::simulation::{SimulationConfig, Theta, simulate};
//! use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
//!
//! let config = SimulationConfig { num_anchors: 200, repetitions: 2, ..SimulationConfig::default() };
//! let result = simulate(&config, &mut Xoshiro256PlusPlus::seed_from_u64(7));
//! let error = |theta| result.of(theta).mean_squared_error;
//! assert!(error(Theta::BayesianNormalised) < error(Theta::Biased));
//! ```
//!
//! Source: Bayesian Self-Supervised Contrastive Learning (arXiv 2301.11673), section 4.1 and appendix B.

mod config;
mod experiment;
mod sample;
mod theta;

pub use config::SimulationConfig;
pub use experiment::{Repetition, SimulationResult, ThetaSummary, simulate};
pub use sample::{Anchor, ClassSampler, Proposal};
pub use theta::{BayesianMeans, Theta, bayesian, biased, debiased, hard, hidden_prior, positive_unlabelled, supervised};
