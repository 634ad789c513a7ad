//! The probability that an unlabelled score belongs to a true negative, and the Bayesian weight that follows from it.
//!
//! A row of scores is a mixture of true negatives (share `τ- = 1 - τ+`) and false negatives (`τ+`). The Bayesian model takes both
//! from order statistics of two draws from one unknown base distribution `φ` with distribution function `Φ`:
//!
//! ```text
//! true negative:   φ_TN = α · min + (1 - α) · max        P(TN | Φ) ∝ α (1 - Φ) + (1 - α) Φ
//! false negative:  φ_FN = (1 - α) · min + α · max        P(FN | Φ) ∝ (1 - α)(1 - Φ) + α Φ
//! ```
//!
//! so `α` says how well scores separate the classes: 1/2 not at all, 1 as well as this model can. A row of scores shows its empirical
//! distribution `F`; [`Posterior`] turns `F` into `Φ`, into `P(TN | x)`, and into the weight `ω`. All of them depend on the rank of a
//! score alone, so for a given number of negatives the weights are one vector: [`Posterior::rank_weights`].
//!
//! Source: Bayesian Self-Supervised Contrastive Learning (arXiv 2301.11673), equations 11 to 14.

//! This crate is plain arithmetic without tensors. `bcl-core` applies it to tensors of scores, and a page can run it as WebAssembly.
//!
//! ```
//! use bcl_posterior::{Posterior, ecdf};
//!
//! let posterior = Posterior::new(0.9, 0.9, 0.1)?;
//! let weights: Vec<f64> = ecdf(&[0.7, -0.2, 0.1]).iter().map(|&rank| posterior.omega(rank)).collect();
//! assert!(weights[0] > weights[2] && weights[2] > weights[1]);
//! # Ok::<(), bcl_posterior::parameter::ParameterError>(())
//! ```
//!
//! # Invariants
//!
//! This crate never touches a file, a clock or a random source.

mod ecdf;
mod mixture;
mod official;
pub mod parameter;
mod posterior;

pub use ecdf::ecdf;
pub use mixture::OrderMixture;
pub use official::OfficialCoefficients;
pub use posterior::Posterior;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
