//! The `[method]` table of recipes for encoders of graphs.

use super::{
    GraphClConfig, InfoGraphConfig,
    graph::{ENCODER, GraphMethodSettings, WithGraphMethod},
};
use crate::batches::{NodeBatches, ViewBatches};
use bcl_data::Seed;
use bcl_models::graphs::GinConfig;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

/// A method that trains encoders of graphs: the `[method]` table of a recipe, where `kind` names the method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum GraphMethodConfig {
    /// `infograph`: [`InfoGraphConfig`].
    #[serde(rename = "infograph")]
    InfoGraph(InfoGraphConfig),
    /// `graphcl`: [`GraphClConfig`].
    #[serde(rename = "graphcl")]
    GraphCl(GraphClConfig),
}

impl Default for GraphMethodConfig {
    fn default() -> Self {
        Self::InfoGraph(InfoGraphConfig::default())
    }
}

impl GraphMethodConfig {
    /// Name of the seed of the encoder's weights, so that they are the same with every method and without one.
    pub const ENCODER: &'static str = ENCODER;

    /// The name that recipes use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::InfoGraph(_) => "infograph",
            Self::GraphCl(_) => "graphcl",
        }
    }

    /// The parameters.
    pub fn settings(&self) -> &dyn GraphMethodSettings {
        match self {
            Self::InfoGraph(config) => config,
            Self::GraphCl(config) => config,
        }
    }

    /// Builds the method with random weights and passes it to `user`.
    pub fn init<U>(&self, encoder: &GinConfig, num_features: usize, seed: Seed, device: &Device, user: U) -> U::Output
    where
        U: WithGraphMethod,
    {
        match self {
            Self::InfoGraph(config) => user.call(config.init(encoder, num_features, seed, device), NodeBatches),
            Self::GraphCl(config) => {
                let batches = ViewBatches(config.views.clone());
                user.call(config.init(encoder, num_features, seed, device), batches)
            }
        }
    }
}
