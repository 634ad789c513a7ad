//! Every estimator trains on every source of negatives with every encoder.

mod common;

use bcl_core::{EstimatorConfig, Reduction};
use bcl_data::{
    PlantedConfig, Seed,
    negatives::{InBatch, NegativeSampler, NegativesConfig},
};
use bcl_methods::{Method, Objective, Recommendation};
use bcl_train::{
    kinds::interactions::loader::{InteractionLoader, LoaderOptions},
    training::plan::EpochPlan,
};
use burn::{data::dataloader::DataLoader, tensor::Device};
use common::{encoders, graph, interactions, sources};
use std::sync::Arc;

#[test]
fn every_estimator_works_with_every_source_and_encoder() {
    let data = interactions();
    let train = &data.train;
    let graph = graph(&data);
    let device = Device::flex().autodiff();
    for negatives in sources() {
        let sampler = Arc::new(NegativeSampler::new(&negatives, train, Seed(1)).expect("there is something to draw"));
        for config in EstimatorConfig::all() {
            let plan = EpochPlan {
                epoch: 0,
                first_step: 0,
                estimator: Some(Arc::from(config.init())),
                detected: None,
            };
            let options = LoaderOptions {
                batch_size: 16,
                gradient_cache: None,
                seed: Seed(1),
                device: device.clone(),
            };
            let truth = data.truth.clone().map(Arc::new);
            let loader = InteractionLoader::new(train, sampler.clone(), truth, plan, options);
            let step = loader.iter().next().expect("a step").expect("that needs no reading");
            for encoder in &encoders() {
                let what = format!("{} on {} with {}", config.name(), negatives.name(), encoder.name());
                let model = Recommendation {
                    encoder: encoder.init(&graph, 1, &device),
                    l2: 0.0,
                };
                assert_eq!(model.num_anchors(&step.batch), 16, "{what}");
                let embeddings = model.embed_batch(&step.batch, usize::MAX);
                let loss = step.losses(&model, &embeddings, 0..16).reduce(Reduction::Mean);
                let gradients = loss.clone().backward();
                assert!(loss.into_scalar::<f32>().is_finite(), "{what}");
                for table in [&model.encoder.tables().users, &model.encoder.tables().items] {
                    let gradient = table.val().grad(&gradients).unwrap_or_else(|| panic!("{what}: no gradient"));
                    let values: Vec<f32> = gradient.into_data().iter::<f32>().collect();
                    assert!(values.iter().all(|value| value.is_finite()), "{what}");
                    assert!(values.iter().any(|&value| value != 0.0), "{what}: the gradient is zero");
                }
            }
        }
    }
}

#[test]
fn an_anchor_is_never_scored_against_its_own_positive() {
    let data = PlantedConfig {
        num_users: 40,
        num_items: 60,
        num_communities: 4,
        interactions_per_user: 5,
        ..PlantedConfig::default()
    }
    .generate();
    let config = NegativesConfig::InBatch(InBatch {
        log_q: false,
        mask_hits: false,
    });
    let sampler = Arc::new(NegativeSampler::new(&config, &data.train, Seed(1)).expect("a batch is enough"));
    let plan = EpochPlan {
        epoch: 0,
        first_step: 0,
        estimator: Some(Arc::from(EstimatorConfig::all()[0].init())),
        detected: None,
    };
    let options = LoaderOptions {
        batch_size: 16,
        gradient_cache: None,
        seed: Seed(1),
        device: Device::flex(),
    };
    let loader = InteractionLoader::new(&data.train, sampler, None, plan, options);
    let step = loader.iter().next().expect("a step").expect("that needs no reading");
    let method = Recommendation {
        encoder: encoders()[0].init(&graph(&data), 1, &Device::flex()),
        l2: 0.0,
    };
    let Objective::Pairs(pairs) = step.objective(&method) else {
        panic!("shared negatives need no scores")
    };
    let mask = pairs.into_scores().mask.expect("in-batch negatives are masked").into_data();
    let keep: Vec<bool> = mask.iter::<bool>().collect();
    assert!((0..16).all(|i| (0..16).all(|j| keep[i * 16 + j] == (i != j))));
}
