//! Code that tests of estimators and negatives share.

use bcl_data::negatives::{InBatch, NegativesConfig, Popularity, Uniform, UniformAll};

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
