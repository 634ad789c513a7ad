//! Planted interactions as many as in `MovieLens`-100K.

use bcl_data::{InteractionData, PlantedConfig};

/// 943 users and 1,682 items with about 100,000 interactions, a fifth of them held out.
pub(crate) fn planted() -> InteractionData {
    let config = PlantedConfig {
        num_users: 943,
        num_items: 1682,
        num_communities: 5,
        interactions_per_user: 106,
        ..PlantedConfig::default()
    };
    config.generate()
}
