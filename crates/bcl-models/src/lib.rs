//! Encoders of users and items, matrix factorisation and LightGCN, and [of images](vision), residual networks.
//!
//! An encoder turns what it was given into one vector per user and per item, or per image; it knows nothing of losses or data sets. Those
//! of users and items come as one [`Recommender`], built from a [`RecommenderConfig`]:
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
