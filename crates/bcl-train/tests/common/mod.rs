//! Code that tests of estimators and negatives share.

use bcl_data::{
    InteractionData, PlantedConfig,
    negatives::{InBatch, NegativesConfig, Popularity, Uniform, UniformAll},
};
use bcl_models::{Graph, LightGcnConfig, MatrixFactorisationConfig, RecommenderConfig};

/// Interactions of 40 users with 60 items.
pub(crate) fn interactions() -> InteractionData {
    let planted = PlantedConfig {
        num_users: 40,
        num_items: 60,
        num_communities: 4,
        interactions_per_user: 5,
        ..PlantedConfig::default()
    };
    planted.generate()
}

/// The graph of the training interactions.
pub(crate) fn graph(data: &InteractionData) -> Graph {
    Graph {
        num_users: 40,
        num_items: 60,
        edges: data.train.pairs().collect(),
    }
}

/// Every encoder of users and items.
pub(crate) fn encoders() -> [RecommenderConfig; 2] {
    [
        RecommenderConfig::Mf(MatrixFactorisationConfig {
            dim: 4,
            ..MatrixFactorisationConfig::default()
        }),
        RecommenderConfig::LightGcn(LightGcnConfig {
            dim: 4,
            layers: 2,
            ..LightGcnConfig::default()
        }),
    ]
}

/// Every source of negatives, in all its configurations.
pub(crate) fn sources() -> Vec<NegativesConfig> {
    let both_ways = |shared| {
        [
            NegativesConfig::UniformAll(UniformAll {
                count: 9,
                shared,
                ..UniformAll::default()
            }),
            NegativesConfig::Popularity(Popularity {
                count: 9,
                shared,
                ..Popularity::default()
            }),
        ]
    };
    let in_batch = |log_q, mask_hits| NegativesConfig::InBatch(InBatch { log_q, mask_hits });
    let mut sources = vec![
        NegativesConfig::Uniform(Uniform { count: 9 }),
        in_batch(true, true),
        in_batch(false, false),
    ];
    sources.extend(both_ways(false));
    sources.extend(both_ways(true));
    sources
}
