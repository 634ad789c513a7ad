//! LightGCN on generated interactions, for a number of steps: `cargo run -p bcl-methods --example lightgcn -- 300`
//!
//! Users and items are nodes of a graph, and an interaction is an edge. The positive of a user is an item of theirs, the negatives are items
//! that they have not interacted with. The recall says how many of the interactions that were held out are among the best 20 items.

use bcl_core::{BayesianLossConfig, Reduction, SideInformation};
use bcl_data::{
    InteractionData, PlantedConfig, Seed,
    negatives::{NegativeSampler, NegativesConfig, Uniform},
};
use bcl_methods::{
    Method, Recommendation,
    batches::{InteractionBatch, Negatives},
};
use bcl_models::{Graph, LightGcnConfig, Recommender, RecommenderConfig};
use burn::{
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Int, Tensor, TensorData},
};
use rand::RngExt;
use std::{env, error::Error};

const BATCH: usize = 256;
const NEGATIVES: usize = 64;
const CUTOFF: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let num_steps = env::args().nth(1).map_or(Ok(300), |steps| steps.parse())?;
    train(num_steps)
}

fn train(num_steps: u64) -> Result<(), Box<dyn Error>> {
    let device = Device::flex().autodiff();
    let data = PlantedConfig::default().generate();
    let edges: Vec<(u32, u32)> = data.train.pairs().collect();
    let sampler = NegativeSampler::new(&NegativesConfig::Uniform(Uniform { count: NEGATIVES }), &data.train, Seed(0))?;

    let graph = Graph {
        num_users: data.train.num_users(),
        num_items: data.train.num_items(),
        edges: edges.clone(),
    };
    let encoder = RecommenderConfig::LightGcn(LightGcnConfig::default());
    let mut method = Recommendation {
        encoder: encoder.init(&graph, 0, &device),
        l2: 0.0,
    };
    // The weight of a negative grows with the probability that it is a true and a hard one.
    let loss = BayesianLossConfig::new()
        .with_temperature(0.2)
        .with_tau_plus(data.train.density())
        .init();
    let mut optimizer = AdamConfig::new().init();

    let before = recall(&method.encoder, &data);
    for step in 0..num_steps {
        let batch = batch(&edges, &sampler, step, &device);
        let embeddings = method.embed_batch(&batch, usize::MAX);
        let objective = method.objective(&batch, &embeddings, 0..method.num_anchors(&batch));
        let value = objective.losses(&loss, &SideInformation::none()).reduce(Reduction::Mean);
        if step % 50 == 0 {
            println!("step {step:3}: loss {:.3}", value.clone().into_scalar::<f32>());
        }
        let gradients = GradientsParams::from_grads(value.backward(), &method);
        method = optimizer.step(1e-2, method, gradients);
    }
    let after = recall(&method.encoder, &data);
    println!("recall@{CUTOFF}: {before:.3} before training, {after:.3} after");
    Ok(())
}

/// Interactions that are drawn at random, with negatives of their users.
fn batch(edges: &[(u32, u32)], sampler: &NegativeSampler, step: u64, device: &Device) -> InteractionBatch {
    let mut rng = Seed(0).named("batch").index(step).rng();
    let (users, positives): (Vec<u32>, Vec<i32>) = (0..BATCH)
        .map(|_| edges[rng.random_range(0..edges.len())])
        .map(|(user, item)| (user, item as i32))
        .unzip();
    let mut negatives = Vec::new();
    sampler.sample(step, &users, &mut negatives);
    let users: Vec<i32> = users.into_iter().map(|user| user as i32).collect();
    let items = Tensor::<2, Int>::from_data(TensorData::new(negatives, [BATCH, NEGATIVES]), device);
    InteractionBatch {
        users: Tensor::from_data(users.as_slice(), device),
        positives: Tensor::from_data(positives.as_slice(), device),
        negatives: Negatives::PerAnchor { items, mask: None },
        same_class: None,
        log_q: None,
    }
}

/// The mean over users of the share of their test items that are among the best items, training items apart.
fn recall(encoder: &Recommender, data: &InteractionData) -> f64 {
    let embeddings = encoder.embeddings();
    let scores = embeddings.users.matmul(embeddings.items.transpose()).into_data();
    let scores: Vec<f32> = scores.iter().collect();
    let of_user = |(user, scores): (u32, &[f32])| {
        let mut items: Vec<u32> = (0..)
            .take(scores.len())
            .filter(|&item| !data.train.contains(user, item))
            .collect();
        items.sort_by(|&one, &other| scores[other as usize].total_cmp(&scores[one as usize]));
        let expected = data.test.items_of(user);
        let found = items.iter().take(CUTOFF).filter(|item| expected.contains(item)).count();
        (!expected.is_empty()).then(|| found as f64 / expected.len() as f64)
    };
    let recalls: Vec<f64> = (0..).zip(scores.chunks(data.train.num_items())).filter_map(of_user).collect();
    recalls.iter().sum::<f64>() / recalls.len() as f64
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_steps_run() {
        super::train(2).unwrap();
    }
}
