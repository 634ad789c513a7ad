//! Which encoder, with its parameters: what a recipe's `[encoder]` table holds.

use crate::{Graph, LightGcn, MatrixFactorisation, Recommender, Similarity, Tables};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

/// Configuration of [`MatrixFactorisation`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatrixFactorisationConfig {
    /// Size of an embedding, at least 1.
    pub dim: usize,
    /// Standard deviation of the initial entries, above 0.
    pub init_std: f64,
    /// How a user and an item are compared.
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
    /// Size of an embedding, at least 1.
    pub dim: usize,
    /// Number of propagation layers, at least 1.
    pub layers: usize,
    /// Standard deviation of the initial entries, above 0.
    pub init_std: f64,
    /// How a user and an item are compared.
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

/// Which encoder, with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
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
    /// The kinds, as in recipes.
    pub const KINDS: [&str; 2] = ["mf", "light_gcn"];

    /// The name recipes use for this kind.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mf(_) => Self::KINDS[0],
            Self::LightGcn(_) => Self::KINDS[1],
        }
    }

    /// Checks that every parameter lies in its range.
    ///
    /// # Errors
    /// Names the first parameter that does not, its value and the range.
    pub fn check(&self) -> Result<(), String> {
        let (dim, layers, init_std) = match self {
            Self::Mf(config) => (config.dim, 1, config.init_std),
            Self::LightGcn(config) => (config.dim, config.layers, config.init_std),
        };
        if dim == 0 {
            return Err("dim is 0, but must be at least 1".to_owned());
        }
        if layers == 0 {
            return Err("layers is 0, but must be at least 1; without propagation use kind = \"mf\"".to_owned());
        }
        if !(init_std.is_finite() && init_std > 0.0) {
            return Err(format!("init_std is {init_std}, but must be a finite number above 0"));
        }
        Ok(())
    }

    /// Builds the encoder of a graph; the seed determines its initial values.
    ///
    /// # Panics
    /// When a parameter is out of range; [`check`](Self::check) tells without panicking.
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
