//! Encoders for contrastive learning on [Burn](https://burn.dev): matrix factorisation and LightGCN for recommendation, ResNets with a
//! projection head for images, graph isomorphism networks for graphs.
//!
//! An encoder turns each user, item, image, node or graph into one vector. It knows nothing of losses or data sets. Encoders of users and items
//! share the type [`Recommender`], built from a [`RecommenderConfig`].
//!
//! ```toml
//! [dependencies]
//! # Not published yet: this is a clone of the repository; `git = "…"` with its address works, too.
//! bcl-models = { path = "../bcl/crates/bcl-models" }
//! burn = { version = "=0.22.1", default-features = false, features = ["std", "autodiff", "flex"] }
//! ```
//!
//! From interactions to the gradient of a loss:
//!
//! ```
//! use bcl_models::{Graph, LightGcnConfig, RecommenderConfig};
//! use burn::tensor::{Device, Tensor, activation::log_sigmoid};
//!
//! let device = Device::flex().autodiff();
//! let graph = Graph { num_users: 2, num_items: 4, edges: vec![(0, 0), (0, 1), (1, 2)] };
//! let config = RecommenderConfig::LightGcn(LightGcnConfig { dim: 8, layers: 2, ..LightGcnConfig::default() });
//! let encoder = config.init(&graph, 0, &device);
//!
//! // Both users, one positive item each and two sampled negatives each.
//! let users = Tensor::from_ints([0, 1], &device);
//! let positives = Tensor::from_ints([1, 2], &device);
//! let negatives = Tensor::from_ints([[2, 3], [0, 3]], &device);
//! let (positives, negatives) = encoder.score_batch(users, positives, negatives);
//!
//! // The BPR loss; the losses of `bcl-core` take the same scores.
//! let loss = -log_sigmoid(positives.unsqueeze_dim::<2>(1) - negatives).mean();
//! let gradients = loss.backward();
//! assert_eq!(encoder.tables().items.val().grad(&gradients).unwrap().dims(), [4, 8]);
//!
//! // After training: the vectors of all users and items, whose dot product is the score.
//! assert_eq!(encoder.embeddings().items.dims(), [4, 8]);
//! ```
//!
//! Configurations are also read by serde, as the `[encoder]` table of a recipe.
//!
//! | to | see |
//! | --- | --- |
//! | build an encoder of users and items | [`RecommenderConfig`], [`Graph`] |
//! | embed users and items, or score them directly | [`Recommender`] |
//! | score anchors against sampled or shared negatives | [`compare_sampled`], [`compare_shared`] |
//! | embed a new user without training | [`Recommender::fold_in`] |
//! | use one kind of encoder by itself | [`MatrixFactorisation`], [`LightGcn`], [`Tables`] |
//! | encode images with a ResNet and a projection head | [`vision`] |
//! | compare two parts of the channels, as in CMC | [`vision::ImageEncoderConfig::split_channels`] |
//! | score projections against learned prototypes | [`vision::Prototypes`] |
//! | load torchvision's weights, or save your own | [`vision::weights`] |
//! | encode graphs and their nodes, as in InfoGraph | [`graphs`] |
//! | keep a momentum encoder | [`vision::ema_target`], [`vision::ema_update`], [`vision::cosine_momentum`] |
//!
//! Initial values depend only on the configuration and a seed, never on Burn's global random source.
//!
//! # Features
//!
//! `cuda`, `metal`, `vulkan` and `wgpu` add those backends of Burn, with the kernels of `bcl-kernels`. The CPU needs none.

mod check;
mod compare;
mod config;
mod draws;
mod fold_in;
mod graph;
pub mod graphs;
mod light_gcn;
mod matrix_factorisation;
mod recommender;
mod tables;
pub mod vision;

pub use bcl_kernels::Similarity;
pub use compare::{compare_sampled, compare_shared};
pub use config::{LightGcnConfig, MatrixFactorisationConfig, RecommenderConfig};
pub use graph::Graph;
pub use light_gcn::LightGcn;
pub use matrix_factorisation::MatrixFactorisation;
pub use recommender::{Embeddings, Recommender};
pub use tables::Tables;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
