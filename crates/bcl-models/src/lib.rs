//! Encoders for contrastive learning on [Burn](https://burn.dev): matrix factorisation and LightGCN for recommendation, ResNets with a
//! projection head for images.
//!
//! An encoder turns each user, item or image into one vector. It knows nothing of losses or data sets. Encoders of users and items
//! share the type [`Recommender`], built from a [`RecommenderConfig`]:
//!
//! ```
//! use bcl_models::{Graph, RecommenderConfig};
//! use burn::tensor::Device;
//!
//! let graph = Graph { num_users: 2, num_items: 3, edges: vec![(0, 0), (0, 1), (1, 2)] };
//! let config: RecommenderConfig = serde_json::from_str(r#"{ "kind": "light_gcn", "dim": 8, "layers": 2 }"#).unwrap();
//! let encoder = config.init(&graph, 0, &Device::flex());
//! assert_eq!(encoder.embeddings().items.dims(), [3, 8]);
//! ```
//!
//! | to | see |
//! | --- | --- |
//! | build an encoder of users and items | [`RecommenderConfig`], [`Graph`] |
//! | embed users and items, or score them directly | [`Recommender`] |
//! | score anchors against sampled or shared negatives | [`compare_sampled`], [`compare_shared`] |
//! | use one kind of encoder by itself | [`MatrixFactorisation`], [`LightGcn`], [`Tables`] |
//! | encode images with a ResNet and a projection head | [`vision`] |
//! | load torchvision's weights, or save your own | [`vision::weights`] |
//! | keep a momentum encoder | [`vision::ema_target`], [`vision::ema_update`] |
//!
//! Initial values depend only on the configuration and a seed, never on Burn's global random source.

mod compare;
mod config;
mod graph;
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
