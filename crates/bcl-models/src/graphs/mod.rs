//! Graph encoders: graph isomorphism networks and the heads of `InfoGraph` and `GraphCL`.
//!
//! A [`Gin`] turns a [`GraphInput`], the nodes of several graphs, into one vector per node and one per graph. `InfoGraph` compares both after
//! a [`ResidualHead`] each; `GraphCL` compares two views of a graph after a [`TwoLayerHead`]. Evaluation reads the vectors of graphs before the
//! heads. The argument [`Mode`], not the device, decides how batch normalisation behaves. Parameters and features set the precision.
//!
//! ```
//! use bcl_models::graphs::{GinConfig, GraphInput, Mode, ResidualHead};
//! use burn::tensor::{Device, Tensor};
//!
//! let device = Device::flex();
//! let encoder = GinConfig::default().init(1, 0, &device);
//!
//! // The path 0 - 1 - 2 and a single node, with their degrees as features.
//! let features = Tensor::from_floats([[1.0], [2.0], [1.0], [0.0]], &device);
//! let input = GraphInput::new(features, &[0, 3, 4], vec![0, 1, 3, 4, 4], vec![1, 0, 2, 1]);
//! let embeddings = encoder.forward(&input, Mode::Eval);
//!
//! // Three layers of 32 numbers.
//! assert_eq!(embeddings.nodes.dims(), [4, 96]);
//! assert_eq!(embeddings.graphs.dims(), [2, 96]);
//!
//! // What the loss compares.
//! let [local, whole] = [1, 2].map(|seed| ResidualHead::new(96, seed, &device));
//! let scores = local.forward(embeddings.nodes).matmul(whole.forward(embeddings.graphs).transpose());
//! assert_eq!(scores.dims(), [4, 2]);
//! ```

mod config;
mod gin;
mod head;
mod input;
mod two_layer_head;
mod weights;

pub use crate::vision::{Mode, weights::WeightsError};
pub use config::{GinConfig, GinOrder};
pub use gin::{Gin, GinLayer, GraphEmbeddings};
pub use head::ResidualHead;
pub use input::GraphInput;
pub use two_layer_head::TwoLayerHead;
pub use weights::to_safetensors;
