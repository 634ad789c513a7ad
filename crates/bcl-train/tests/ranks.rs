//! Recommenders and encoders of graphs have the gradient of the whole batch on several ranks, with every estimator.

mod common;
#[path = "common/gradients.rs"]
mod gradients;
#[path = "common/wide.rs"]
mod wide;

use bcl_collective::{Alone, Checked, Collective, Threads};
use bcl_core::{EstimatorConfig, Similarity};
use bcl_data::{
    InteractionData, Seed,
    graphs::{GraphBatchLimits, PlantedGraphsConfig},
    negatives::{NegativeSampler, NegativesConfig},
};
use bcl_models::{RecommenderConfig, graphs::GinConfig};
use bcl_train::{
    batches::LogQ,
    kinds::{
        graphs::loader::{GraphLoader, LoaderOptions as GraphOptions},
        interactions::loader::{InteractionLoader, LoaderOptions},
    },
    methods::{InfoGraphConfig, Method, Recommendation},
    training::{
        learned::Learned,
        step::{EpochPlan, Step},
        temperature::LearnedTemperature,
    },
};
use burn::{
    data::dataloader::DataLoader,
    module::Module,
    tensor::{Device, FloatDType},
};
use common::{encoders, graph, interactions, sources};
use gradients::{deviation, gradient};
use std::sync::Arc;
use wide::Wide;

fn device() -> Device {
    Device::flex().autodiff()
}

/// A method in 64 bits that learns a temperature, too.
fn model<M: Method>(method: M) -> Learned<M> {
    let temperature = LearnedTemperature::new(0.4, [0.01, 100.0], &device());
    Learned::new(method, None).with_temperature(Some(temperature)).map(&mut Wide)
}

/// The loss of a step, the gradients, and what they are of.
type Outcome = (String, f64, Vec<Vec<f64>>);

fn outcome<M: Method>(what: String, model: &Learned<M>, mut step: Step<M::Batch>, ranks: &Arc<dyn Collective>) -> Outcome {
    step.noise = step.noise.map(|noise| noise.cast(FloatDType::F64));
    let output = step.on_ranks(ranks.clone()).train(model).0;
    (what, output.item.loss.into_scalar::<f64>(), gradient(model, &output.grads))
}

/// Compares all outcomes on some numbers of ranks with those of one process. All ranks must have the same bits.
fn assert_equal_on_ranks(sizes: &[usize], outcomes: impl Fn(Arc<dyn Collective>) -> Vec<Outcome> + Sync) {
    let expected = outcomes(Arc::new(Alone));
    for &size in sizes {
        let of_ranks = Threads::run(size, |ranks| outcomes(Arc::new(Checked::new(ranks))));
        assert!(of_ranks.iter().all(|of_rank| *of_rank == of_ranks[0]), "{size} ranks");
        assert_eq!(of_ranks[0].len(), expected.len());
        for (found, expected) in of_ranks[0].iter().zip(&expected) {
            let of_loss = (found.1 - expected.1).abs() / expected.1.abs().max(0.1);
            let deviation = deviation(&found.2, &expected.2).max(of_loss);
            assert!(deviation < 1e-12, "{} on {size} ranks: {deviation:e}", found.0);
        }
    }
}

fn plan(config: &EstimatorConfig) -> EpochPlan {
    EpochPlan {
        epoch: 0,
        first_step: 0,
        estimator: Some(Arc::from(config.init())),
    }
}

fn recommendation(encoder: &RecommenderConfig, data: &InteractionData) -> Learned<Recommendation> {
    model(Recommendation {
        encoder: encoder.init(&graph(data), 1, &device()),
        l2: 0.1,
    })
}

fn first_step(
    data: &InteractionData,
    negatives: &NegativesConfig,
    config: &EstimatorConfig,
    batch_size: usize,
    gradient_cache: Option<usize>,
) -> Step<bcl_train::batches::InteractionBatch> {
    let sampler = NegativeSampler::new(negatives, &data.train, Seed(1)).expect("there is something to draw");
    let options = LoaderOptions {
        batch_size,
        gradient_cache,
        seed: Seed(1),
        device: device(),
    };
    let truth = data.truth.clone().map(Arc::new);
    let loader = InteractionLoader::new(&data.train, Arc::new(sampler), truth, plan(config), options);
    let mut step = loader.iter().next().expect("a step").expect("that needs no reading");
    step.batch.log_q = step.batch.log_q.map(|LogQ { positives, negatives }| LogQ {
        positives: positives.cast(FloatDType::F64),
        negatives: negatives.cast(FloatDType::F64),
    });
    step
}

#[test]
fn recommenders_have_the_gradient_of_the_whole_batch_with_every_source_of_negatives() {
    let data = interactions();
    assert_equal_on_ranks(&[2, 3], |ranks| {
        let mut outcomes = Vec::new();
        for encoder in encoders() {
            let model = recommendation(&encoder, &data);
            for negatives in sources() {
                for (config, gradient_cache) in EstimatorConfig::all().iter().zip([None, Some(3)].into_iter().cycle()) {
                    let step = first_step(&data, &negatives, config, 16, gradient_cache);
                    let what = format!("{} on {} with {}", config.name(), negatives.name(), encoder.name());
                    outcomes.push(outcome(what, &model, step, &ranks));
                }
            }
        }
        outcomes
    });
}

#[test]
fn a_rank_without_an_anchor_takes_part_and_a_single_anchor_counts_once() {
    let data = interactions();
    assert_equal_on_ranks(&[4], |ranks| {
        let of_batch = |batch_size| {
            let model = recommendation(&encoders()[0], &data);
            let step = first_step(&data, &sources()[0], &EstimatorConfig::all()[0], batch_size, None);
            outcome(format!("a batch of {batch_size}"), &model, step, &ranks)
        };
        [1, 2, 3].map(of_batch).to_vec()
    });
}

#[test]
fn encoders_of_graphs_have_the_gradient_of_the_whole_batch() {
    let planted = PlantedGraphsConfig {
        graphs: 20,
        rings: 1,
        background: 3,
        ..PlantedGraphsConfig::default()
    };
    let data = Arc::new(planted.generate());
    let num_features = data.batch(&[0]).num_features;
    let encoder = GinConfig {
        layers: 2,
        hidden: 4,
        ..GinConfig::default()
    };
    assert_equal_on_ranks(&[2, 3, 4], |ranks| {
        let mut outcomes = Vec::new();
        for similarity in [Similarity::Cosine, Similarity::Dot] {
            let model = model(InfoGraphConfig { similarity }.init(&encoder, num_features, Seed(1), &device()));
            for (config, gradient_cache) in EstimatorConfig::all().iter().zip([None, Some(7)].into_iter().cycle()) {
                let options = GraphOptions {
                    limits: GraphBatchLimits::new(5, None),
                    steps_per_epoch: 4,
                    gradient_cache,
                    with_truth: true,
                    seed: Seed(3),
                    device: device(),
                };
                let loader = GraphLoader::new(data.clone(), plan(config), options);
                let mut step = loader.iter().next().expect("a step").expect("that needs no reading");
                step.batch.input.features = step.batch.input.features.cast(FloatDType::F64);
                outcomes.push(outcome(
                    format!("{} with {similarity:?}", config.name()),
                    &model,
                    step,
                    &ranks,
                ));
            }
        }
        outcomes
    });
}
