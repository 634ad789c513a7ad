//! Every source of negatives: draws for a batch of users, and the mask of accidental hits if the source's default asks for one.

use crate::movielens;
use bcl_data::{
    Interactions, Seed,
    negatives::{InBatch, NegativeSampler, NegativesConfig, Popularity, Uniform, UniformAll},
};
use criterion::{Criterion, Throughput};
use std::hint::black_box;

/// Users per batch.
const NUM_ANCHORS: usize = 1024;

pub(crate) fn bench(criterion: &mut Criterion) {
    let train = movielens::planted().train;
    let (users, positives) = batch(&train);
    let mut group = criterion.benchmark_group("negatives");
    for config in [
        NegativesConfig::Uniform(Uniform::default()),
        NegativesConfig::UniformAll(UniformAll::default()),
        NegativesConfig::Popularity(Popularity::default()),
        NegativesConfig::InBatch(InBatch::default()),
    ] {
        let sampler = NegativeSampler::new(&config, &train, Seed(0)).expect("every user has negatives");
        let negatives_per_anchor = config.count().unwrap_or(NUM_ANCHORS);
        group.throughput(Throughput::Elements((NUM_ANCHORS * negatives_per_anchor) as u64));
        group.bench_function(config.name(), |bencher| {
            let (mut drawn, mut keep, mut step) = (Vec::new(), Vec::new(), 0);
            bencher.iter(|| {
                sampler.sample(step, &users, &mut drawn);
                // In-batch negatives are not drawn: they are the positives of the batch.
                let items = if config.count().is_some() { &drawn } else { &positives };
                step += 1;
                if config.shared() {
                    black_box(sampler.hits(&users, items));
                } else {
                    sampler.mask(&users, items, &mut keep);
                    black_box(&mut keep);
                }
                black_box(&mut drawn);
            });
        });
    }
}

/// Users and their items, from interactions spread over the whole table.
fn batch(train: &Interactions) -> (Vec<u32>, Vec<i32>) {
    let stride = train.len() / NUM_ANCHORS;
    let pairs = train.pairs().step_by(stride).take(NUM_ANCHORS);
    pairs.map(|(user, item)| (user, item as i32)).unzip()
}
