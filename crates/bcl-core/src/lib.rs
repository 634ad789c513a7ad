//! Losses and weights of Bayesian contrastive learning on Burn tensors.
//!
//! Self-supervised contrastive learning treats every other sample as a negative, though some share the anchor's class. The
//! estimators of this crate differ in how much weight they give each negative; where the scores come from is not their concern.
//! Two lines lead from two batches of embeddings to a loss:
//!
//! ```
//! use bcl_core::{BayesianConfig, Estimator, Reduction, Scores, Similarity};
//! # use burn::tensor::{Device, Distribution, Tensor};
//! # let device = Device::flex();
//! # let first = Tensor::<2>::random([8, 16], Distribution::Default, &device);
//! # let second = Tensor::<2>::random([8, 16], Distribution::Default, &device);
//!
//! let scores = Scores::from_views(first, second, Similarity::Cosine);
//! let loss = BayesianConfig::new().with_tau_plus(0.1).init().forward(scores, Reduction::Mean);
//! # assert_eq!(loss.dims(), [1]);
//! ```
//!
//! | to | see |
//! | --- | --- |
//! | weigh scores of any source | [`Scores`], [`Estimator`], [`EstimatorConfig`] |
//! | train on batches that do not fit into memory | [`gradient_cache`] |
//! | look at the posterior behind the Bayesian weight | [`posterior`] |
//! | measure how well an encoder separates | [`auc`] |
//! | choose the prior τ+ | [`prior`] |
//! | let α follow the training | [`schedule`] |
//! | compare estimators where the truth is known | [`simulation`] |
//!
//! # Scores that are not numbers
//!
//! NaN ranks above every number, as +∞ does, so that every row has ranks and no rank panics: in [`posterior::ecdf`] as in the kernels
//! behind the weights. The loss of such a row is NaN. A measurement on it is no figure: the functions of [`auc`] return `None`. Entries
//! that are masked out may hold anything.
//!
//! # Invariants
//!
//! Nothing here touches a file, a clock or a random source of its own.

pub mod auc;
pub mod estimator;
pub mod gradient_cache;
mod margins;
pub mod parameter;
pub mod posterior;
pub mod prior;
pub mod schedule;
mod scores;
pub mod simulation;

pub use bcl_kernels::{Similarity, unit_rows};
pub use burn::nn::loss::Reduction;
pub use estimator::{
    Augmented, AugmentedConfig, Bayesian, BayesianConfig, Debiased, DebiasedConfig, Decoupled, DecoupledConfig, Estimator,
    EstimatorConfig, Geometric, GeometricConfig, Hard, HardConfig, InfoNce, InfoNceConfig, Losses, PositiveUnlabelled,
    PositiveUnlabelledConfig, Ring, RingConfig, Supervised, SupervisedConfig, Variant,
};
pub use parameter::ParameterError;
pub use scores::Scores;
