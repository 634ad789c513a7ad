//! Contrastive losses on [Burn](https://burn.dev) tensors that weigh each negative: InfoNCE and decoupled, debiased, hard-negative,
//! positive-unlabelled, ring, Bayesian and other losses.
//!
//! Self-supervised contrastive learning treats every other sample as a negative, though some share the anchor's class. The losses of
//! this crate differ in the weight that each negative gets. Any encoder can be trained with them: a loss takes two batches of embeddings.
//!
//! ```toml
//! [dependencies]
//! # Not published yet: this is a clone of the repository; `git = "…"` with its address works, too.
//! bcl-core = { path = "../bcl/crates/bcl-core" }
//! burn = { version = "=0.22.1", default-features = false, features = ["std", "autodiff", "flex"] }
//! ```
//!
//! ```
//! use bcl_core::{BayesianLossConfig, Reduction};
//! use burn::tensor::{Device, Distribution, Tensor};
//!
//! let device = Device::flex().autodiff();
//! // The embeddings of two views of 8 samples, 16 dimensions each.
//! let [first, second] = [0, 1].map(|_| Tensor::<2>::random([8, 16], Distribution::Default, &device).require_grad());
//!
//! let loss = BayesianLossConfig::new().with_tau_plus(0.1).init().forward([first.clone(), second], Reduction::Mean);
//!
//! let gradients = loss.backward();
//! assert_eq!(first.grad(&gradients).unwrap().dims(), [8, 16]);
//! ```
//!
//! The example `custom_loop` of this crate is a complete training loop.
//!
//! # Pairs and estimators
//!
//! [`Pairs`] are anchors with their positives and negatives, from any source: two views of a batch ([`Pairs::from_views`]), a queue or a
//! memory bank ([`Pairs::with_negatives`]), sampled items ([`Pairs::sampled`]), samples with labels ([`Pairs::from_labels`]). Similarities
//! that were computed elsewhere are [`Scores`], which carry masks, several positives per anchor, and log-weights of negatives; they become
//! pairs by `into()`. An [`Estimator`] turns pairs into a loss without knowing their source. From embeddings most losses need no matrix of
//! scores.
//!
//! | loss | configuration | weight of a negative |
//! | --- | --- | --- |
//! | InfoNCE, the loss of SimCLR | [`InfoNceLossConfig`] | 1 |
//! | decoupled | [`DecoupledLossConfig`] | 1, and the positive leaves the denominator |
//! | debiased | [`DebiasedLossConfig`] | corrected for the expected share of false negatives |
//! | hard negatives | [`HardLossConfig`] | the same, and higher for high scores |
//! | Bayesian | [`BayesianLossConfig`] | higher the more probably it is a true and a hard negative, by its rank |
//! | positive-unlabelled | [`PositiveUnlabelledLossConfig`] | corrected for positives without a label |
//! | ring | [`RingLossConfig`] | 1 between two percentiles, else 0 |
//! | adjusted InfoNCE | [`AdnceLossConfig`] | highest around a chosen similarity |
//! | ProGCL | [`ProGclLossConfig`] | the similarity times the probability that the negative is true, from a mixture fitted to the batch |
//! | supervised | [`SupervisedLossConfig`] | 1 for true negatives, else 0; for comparison, as it needs labels |
//! | Bayesian data augmentation | [`AugmentedLossConfig`], [`GeometricLossConfig`] | 1, with a random rate as normaliser |
//!
//! Losses that are not estimators: [`NoiseContrastiveLoss`], the original loss of CMC, takes scores and the size of a memory bank. The losses of
//! BYOL, SimSiam, Barlow Twins, VICReg, SwAV and DINO have no negatives: see [`joint_embedding`].
//!
//! Nearly all estimators minimise `log(1 + Ng / x+)`. [`JensenShannonLoss`], the original objective of InfoGraph, replaces the exponential and the
//! logarithm by softplus and takes the weights of most estimators.
//!
//! [`EstimatorConfig`] is any estimator, for recipes and command lines. The supervised loss reads labels and the augmented ones random
//! draws from [`SideInformation`].
//!
//! # Modules
//!
//! | task | module |
//! | --- | --- |
//! | train on batches that do not fit into memory | [`gradient_cache`] |
//! | train without negatives | [`joint_embedding`] |
//! | inspect the posterior behind the Bayesian weight | [`posterior`] |
//! | measure how well an encoder separates | [`auc`] |
//! | choose the prior τ+ | [`prior`] |
//! | change the temperature, α or any other parameter during training | [`schedule`] |
//! | learn the temperature | [`Scores::scaled`] |
//! | learn from labels | [`Pairs::from_labels`], [`same_class`] |
//! | compare estimators on data with known truth | [`simulation`] |
//!
//! # Features
//!
//! `cuda`, `metal`, `vulkan` and `wgpu` add those backends of Burn, with the kernels of `bcl-kernels`. The CPU needs none.
//!
//! # NaN and infinity
//!
//! NaN ranks above every number, as +∞ does, so every row has ranks and ranking never panics, in [`posterior::ecdf`] and in the kernels
//! behind the weights. The loss of such a row is NaN, and the functions of [`auc`] return `None`. Entries that are masked out may have any
//! value.
//!
//! # Invariants
//!
//! This crate never touches a file, a clock or a random source of its own.

pub mod auc;
mod config;
pub mod estimator;
pub mod gradient_cache;
pub mod joint_embedding;
mod labels;
mod losses;
mod margins;
mod noise_contrastive;
pub mod objective;
mod pairs;
pub mod posterior;
pub mod prior;
pub mod schedule;
mod scores;
mod side_information;
pub mod simulation;

pub use bcl_kernels::{Excluded, Similarity, matmul, unit_rows};
pub use bcl_posterior::parameter;
pub use burn::nn::loss::Reduction;
pub use estimator::*;
pub use labels::{same_class, same_class_across, same_class_in_views, same_class_of_all};
pub use losses::Losses;
pub use noise_contrastive::{NoiseContrastiveLoss, NoiseContrastiveLossConfig};
pub use objective::{ContrastiveObjective, JensenShannonLoss};
pub use pairs::Pairs;
pub use parameter::ParameterError;
pub use scores::Scores;
pub use side_information::SideInformation;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
