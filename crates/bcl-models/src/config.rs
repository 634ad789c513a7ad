//! Kind and parameters of an encoder of users and items: the `[encoder]` table of a recipe.

use crate::{Graph, LightGcn, MatrixFactorisation, Recommender, Similarity, Tables};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The maximum size of an embedding.
const MOST_DIM: usize = 65_536;
/// The maximum number of propagation layers.
const MOST_LAYERS: usize = 100;
/// Standard deviations whose squares, and sums of them, are normal 32-bit numbers.
const STD_RANGE: RangeInclusive<f64> = 1e-6..=1e3;

/// Configuration of [`MatrixFactorisation`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatrixFactorisationConfig {
    /// Size of an embedding, 1 to 65,536.
    pub dim: usize,
    /// Standard deviation of the initial entries, in [1e-6, 1e3].
    pub init_std: f64,
    /// The similarity of a user and an item.
    pub similarity: Similarity,
}

impl Default for MatrixFactorisationConfig {
    fn default() -> Self {
        Self {
            dim: 64,
            init_std: 0.1,
            similarity: Similarity::Cosine,
        }
    }
}

/// Configuration of [`LightGcn`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LightGcnConfig {
    /// Size of an embedding, 1 to 65,536.
    pub dim: usize,
    /// Number of propagation layers, 1 to 100.
    pub layers: usize,
    /// Standard deviation of the initial entries, in [1e-6, 1e3].
    pub init_std: f64,
    /// The similarity of a user and an item.
    pub similarity: Similarity,
}

impl Default for LightGcnConfig {
    fn default() -> Self {
        Self {
            dim: 64,
            layers: 3,
            init_std: 0.1,
            similarity: Similarity::Cosine,
        }
    }
}

/// Kind and parameters of an encoder of users and items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecommenderConfig {
    /// Matrix factorisation.
    Mf(MatrixFactorisationConfig),
    /// LightGCN.
    LightGcn(LightGcnConfig),
}

impl Default for RecommenderConfig {
    fn default() -> Self {
        Self::Mf(MatrixFactorisationConfig::default())
    }
}

impl RecommenderConfig {
    /// The kinds, as recipes name them.
    pub const KINDS: [&str; 2] = ["mf", "light_gcn"];

    /// The name of this kind in recipes.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mf(_) => Self::KINDS[0],
            Self::LightGcn(_) => Self::KINDS[1],
        }
    }

    /// The size of an embedding.
    pub fn dim(&self) -> usize {
        match self {
            Self::Mf(config) => config.dim,
            Self::LightGcn(config) => config.dim,
        }
    }

    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), String> {
        let dim = self.dim();
        let (layers, init_std) = match self {
            Self::Mf(config) => (1, config.init_std),
            Self::LightGcn(config) => (config.layers, config.init_std),
        };
        if !(1..=MOST_DIM).contains(&dim) {
            return Err(format!("dim is {dim}, but must be in [1, {MOST_DIM}]"));
        }
        if !(1..=MOST_LAYERS).contains(&layers) {
            return Err(format!(
                "layers is {layers}, but must be in [1, {MOST_LAYERS}]; for no propagation use kind = \"mf\""
            ));
        }
        if !STD_RANGE.contains(&init_std) {
            return Err(format!("init_std is {init_std:?}, but must be in [1e-6, 1000]"));
        }
        Ok(())
    }

    /// Builds the encoder for a graph, with initial values determined by the seed.
    ///
    /// # Panics
    /// Panics if a parameter is out of range; use [`check`](Self::check) to test.
    pub fn init(&self, graph: &Graph, seed: u64, device: &Device) -> Recommender {
        if let Err(message) = self.check() {
            panic!("{message}");
        }
        let tables = |dim, init_std| Tables::new(graph.num_users, graph.num_items, dim, init_std, seed, device);
        match self {
            Self::Mf(config) => {
                let tables = tables(config.dim, config.init_std);
                Recommender::Mf(MatrixFactorisation {
                    tables,
                    similarity: config.similarity,
                })
            }
            Self::LightGcn(config) => Recommender::LightGcn(LightGcn {
                tables: tables(config.dim, config.init_std),
                interactions: graph.normalised(),
                layers: config.layers,
                similarity: config.similarity,
            }),
        }
    }
}
