//! Recommenders and encoders of graphs have the gradient of the whole batch on several processes, with every estimator.

mod common;
#[path = "common/deviations.rs"]
mod deviations;
#[path = "common/gradients.rs"]
mod gradients;
#[path = "common/two_views.rs"]
mod two_views;
#[path = "common/wide.rs"]
mod wide;

use bcl_collective::{Alone, Checked, Collective, Threads};
use bcl_core::{EstimatorConfig, Similarity};
use bcl_data::{
    InteractionData, Seed,
    graphs::{GraphBatchLimits, GraphData, PlantedGraphsConfig},
    negatives::{NegativeSampler, NegativesConfig},
};
use bcl_methods::batches::{GraphBatches, LogQ, NodeBatches, ViewBatches};
use bcl_methods::{GraphClConfig, InfoGraphConfig, Method, Recommendation};
use bcl_methods::{LearnedTemperature, step::Step};
use bcl_models::{RecommenderConfig, graphs::GinConfig};
use bcl_train::{
    kinds::{
        graphs::loader::{GraphLoader, LoaderOptions as GraphOptions},
        interactions::loader::{InteractionLoader, LoaderOptions},
    },
    training::{learned::Learned, plan::EpochPlan},
};
use burn::{
    data::dataloader::DataLoader,
    module::Module,
    tensor::{Device, FloatDType},
};
use common::{encoders, graph, interactions, sources};
use deviations::{Deviations, larger};
use gradients::{deviation, gradient, losses_of_single_anchors};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use two_views::{Samples, TwoViews};
use wide::Wide;

fn device() -> Device {
    Device::flex().autodiff()
}

/// A method that learns a temperature, too.
fn model<M: Method>(method: M, dtype: FloatDType) -> Learned<M> {
    let temperature = LearnedTemperature::new(0.4, [0.01, 100.0], &device());
    let model = Learned::new(method, None).with_temperature(Some(temperature));
    if dtype == FloatDType::F64 {
        model.map(&mut Wide)
    } else {
        model
    }
}

/// What a step leads to.
#[derive(Debug, PartialEq)]
struct Outcome {
    estimator: &'static str,
    /// What else distinguishes the step.
    of: String,
    loss: f64,
    gradient: Vec<Vec<f64>>,
}

impl Outcome {
    fn of_step<M: Method>(
        config: &EstimatorConfig,
        of: String,
        model: &Learned<M>,
        mut step: Step<M::Batch>,
        (processes, dtype): (&Arc<dyn Collective>, FloatDType),
    ) -> Self {
        step.noise = step.noise.map(|noise| noise.cast(dtype));
        let output = step.on_processes(processes.clone()).train(model);
        Self {
            estimator: config.name(),
            of,
            loss: output.loss.into_scalar::<f64>(),
            gradient: gradient(model, &output.gradients),
        }
    }

    fn deviation(&self, expected: &Self) -> f64 {
        assert_eq!((self.estimator, &self.of), (expected.estimator, &expected.of));
        let of_loss = (self.loss - expected.loss).abs() / expected.loss.abs().max(0.1);
        larger(deviation(&self.gradient, &expected.gradient), of_loss)
    }
}

/// Compares all outcomes in several processes with the outcomes of one process, and prints the deviations. All processes must have the same bits.
fn assert_equal_on_processes(
    of_what: &str,
    sizes: &[usize],
    outcomes: impl Fn(Arc<dyn Collective>, FloatDType) -> Vec<Outcome> + Sync,
) {
    let mut deviations = Deviations::default();
    for (dtype, name, within) in [(FloatDType::F64, "f64", 1e-12), (FloatDType::F32, "f32", 1e-4)] {
        let expected = outcomes(Arc::new(Alone), dtype);
        for &size in sizes {
            let of_processes = Threads::run(size, |processes| outcomes(Arc::new(Checked::new(processes)), dtype));
            assert!(
                of_processes.iter().all(|of_process| *of_process == of_processes[0]),
                "{size} processes"
            );
            assert_eq!(of_processes[0].len(), expected.len());
            for (found, expected) in of_processes[0].iter().zip(&expected) {
                let deviation = found.deviation(expected);
                deviations.add(found.estimator, &format!("{size} processes, {name}"), deviation);
                let (estimator, of) = (found.estimator, &found.of);
                assert!(
                    deviation < within,
                    "{estimator} on {of}, {size} processes, {name}: {deviation:e}"
                );
            }
        }
    }
    deviations.print(of_what);
}

fn plan(config: &EstimatorConfig) -> EpochPlan {
    EpochPlan {
        epoch: 0,
        first_step: 0,
        estimator: Some(Arc::from(config.init())),
        detected: None,
    }
}

fn recommendation(encoder: &RecommenderConfig, data: &InteractionData, dtype: FloatDType) -> Learned<Recommendation> {
    let method = Recommendation {
        encoder: encoder.init(&graph(data), 1, &device()),
        l2: 0.1,
    };
    model(method, dtype)
}

fn first_step(
    data: &InteractionData,
    negatives: &NegativesConfig,
    config: &EstimatorConfig,
    batch_size: usize,
    gradient_cache: Option<usize>,
    dtype: FloatDType,
) -> Step<bcl_methods::batches::InteractionBatch> {
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
        positives: positives.cast(dtype),
        negatives: negatives.cast(dtype),
    });
    step
}

#[test]
fn recommenders_have_the_gradient_of_the_whole_batch_with_every_source_of_negatives() {
    let data = interactions();
    assert_equal_on_processes("interactions", &[2, 3, 4], |processes, dtype| {
        let mut outcomes = Vec::new();
        for encoder in encoders() {
            let model = recommendation(&encoder, &data, dtype);
            for negatives in sources() {
                for (config, gradient_cache) in losses_of_single_anchors().iter().zip([None, Some(3)].into_iter().cycle()) {
                    let step = first_step(&data, &negatives, config, 16, gradient_cache, dtype);
                    let of = format!("{} with {}", negatives.name(), encoder.name());
                    outcomes.push(Outcome::of_step(config, of, &model, step, (&processes, dtype)));
                }
            }
        }
        outcomes
    });
}

#[test]
fn a_process_without_an_anchor_takes_part_and_a_single_anchor_counts_once() {
    let data = interactions();
    let config = &EstimatorConfig::all()[0];
    assert_equal_on_processes("fewer anchors than processes", &[4], |processes, dtype| {
        let of_batch = |batch_size| {
            let model = recommendation(&encoders()[0], &data, dtype);
            let step = first_step(&data, &sources()[0], config, batch_size, None, dtype);
            Outcome::of_step(config, format!("a batch of {batch_size}"), &model, step, (&processes, dtype))
        };
        [1, 2, 3].map(of_batch).into()
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
    let encoder = GinConfig {
        layers: 2,
        hidden: 4,
        ..GinConfig::default()
    };
    assert_equal_on_processes("graphs", &[2, 3, 4], |processes, dtype| {
        let on = (&processes, dtype);
        let mut outcomes = Vec::new();
        for similarity in [Similarity::Cosine, Similarity::Dot] {
            let method = InfoGraphConfig { similarity }.init(&encoder, data.num_features(), Seed(1), &device());
            let name = format!("{similarity:?}");
            outcomes.extend(outcomes_on_graphs(&data, name, method, NodeBatches, on, |batch| {
                batch.input.features = batch.input.features.clone().cast(dtype);
            }));
        }
        let config = GraphClConfig::default();
        let method = config.init(&encoder, data.num_features(), Seed(1), &device());
        let batches = ViewBatches(config.views);
        outcomes.extend(outcomes_on_graphs(&data, "views".to_owned(), method, batches, on, |batch| {
            for view in &mut batch.views {
                view.features = view.features.clone().cast(dtype);
            }
        }));
        outcomes
    });
}

/// The outcome of the first step with each estimator, in blocks with every second one. `cast` gives a batch the precision of the method.
fn outcomes_on_graphs<M, B>(
    data: &Arc<GraphData>,
    name: String,
    method: M,
    batches: B,
    on: (&Arc<dyn Collective>, FloatDType),
    cast: impl Fn(&mut B::Batch),
) -> Vec<Outcome>
where
    M: Method<Batch = B::Batch>,
    B: GraphBatches + Clone,
{
    let model = model(method, on.1);
    let estimators = losses_of_single_anchors();
    let blocks = [None, Some(7)].into_iter().cycle();
    let outcome = |(config, gradient_cache): (&EstimatorConfig, Option<usize>)| {
        let options = GraphOptions {
            limits: GraphBatchLimits::new(5, None),
            steps_per_epoch: 4,
            gradient_cache,
            with_truth: true,
            seed: Seed(3),
            device: device(),
        };
        let loader = GraphLoader::new(batches.clone(), data.clone(), plan(config), options);
        let mut step = loader.iter().next().expect("a step").expect("that needs no reading");
        cast(&mut step.batch);
        Outcome::of_step(config, name.clone(), &model, step, on)
    };
    estimators.iter().zip(blocks).map(outcome).collect()
}

/// A batch of 4,097 samples: each view of each is compared with 8,192 negatives.
#[test]
fn gradient_caching_on_several_processes_has_the_gradient_of_8192_negatives() {
    const BATCH_SIZE: usize = 4097;
    let info_nce = EstimatorConfig::all().swap_remove(0);
    assert_eq!(info_nce.name(), "info_nce");
    let outcome = |processes: Arc<dyn Collective>, dtype, gradient_cache| {
        let model = model(TwoViews::new(&device()), dtype);
        let samples = Samples::of_process(BATCH_SIZE, processes.index(), processes.size(), dtype, &device());
        let estimator = Some(Arc::from(info_nce.init()));
        let step = Step::new(samples, estimator, 2 * BATCH_SIZE, Seed(1), 0, &device()).with_gradient_cache(gradient_cache);
        Outcome::of_step(&info_nce, "two views".to_owned(), &model, step, (&processes, dtype))
    };
    let mut deviations = Deviations::default();
    // In 32 bits, one process computes all scores at once. In 64 bits, which takes more memory, it has other parts than the processes.
    for (dtype, name, parts, within) in [
        (FloatDType::F64, "f64", Some(1000), 1e-12),
        (FloatDType::F32, "f32", None, 1e-4),
    ] {
        let expected = outcome(Arc::new(Alone), dtype, parts);
        for size in [2, 3] {
            let of_processes = Threads::run(size, |processes| outcome(Arc::new(Checked::new(processes)), dtype, Some(600)));
            assert!(
                of_processes.iter().all(|of_process| *of_process == of_processes[0]),
                "{size} processes"
            );
            let deviation = of_processes[0].deviation(&expected);
            deviations.add(info_nce.name(), &format!("{size} processes, {name}"), deviation);
            assert!(deviation < within, "{name} on {size} processes: {deviation:e}");
        }
    }
    deviations.print("8,192 negatives, cached");
}

/// Counts the bytes that a process sends to others, as a ring would: each byte once to each of them.
#[derive(Debug)]
struct Counted {
    processes: Arc<dyn Collective>,
    sent: AtomicUsize,
}

impl Counted {
    fn to_others(&self, bytes: usize) {
        self.sent.fetch_add(bytes * (self.processes.size() - 1), Ordering::Relaxed);
    }
}

impl Collective for Counted {
    fn index(&self) -> usize {
        self.processes.index()
    }

    fn size(&self) -> usize {
        self.processes.size()
    }

    fn all_gather(&self, mine: Vec<u8>) -> Vec<u8> {
        self.to_others(mine.len());
        self.processes.all_gather(mine)
    }

    fn all_to_all(&self, mine: Vec<u8>, lengths: &[usize]) -> Vec<u8> {
        self.sent.fetch_add(mine.len() - lengths[self.index()], Ordering::Relaxed);
        self.processes.all_to_all(mine, lengths)
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.index() == 0 {
            self.to_others(bytes.len());
        }
        self.processes.broadcast(bytes)
    }

    fn barrier(&self) {
        self.processes.barrier();
    }

    fn abort(&self, code: i32) -> ! {
        self.processes.abort(code)
    }
}

/// (R - 1) / R · (4 · B · d + 2 · P) floats, as the guide says, and less than a hundredth more for the loss.
#[test]
fn a_step_sends_the_bytes_of_the_model_of_its_cost() {
    const BATCH_SIZE: usize = 1200;
    let config = EstimatorConfig::all().swap_remove(0);
    println!("| processes | bytes sent per process | by the formula |");
    for size in [2, 3, 4] {
        let sent = Threads::run(size, |processes| {
            let counted = Arc::new(Counted {
                processes: processes.clone(),
                sent: AtomicUsize::new(0),
            });
            let model = Learned::new(TwoViews::new(&device()), None);
            let samples = Samples::of_process(BATCH_SIZE, processes.index(), size, FloatDType::F32, &device());
            let estimator = Some(Arc::from(config.init()));
            let step = Step::new(samples, estimator, 2 * BATCH_SIZE, Seed(1), 0, &device());
            step.on_processes(counted.clone()).train(&model);
            counted.sent.load(Ordering::Relaxed)
        });
        let floats = 4 * BATCH_SIZE * two_views::DIM + 2 * two_views::NUM_PARAMETERS;
        let expected = 4.0 * floats as f64 * (size - 1) as f64 / size as f64;
        for sent in sent {
            println!("| {size} | {sent} | {expected} |");
            let ratio = sent as f64 / expected;
            assert!((1.0..1.01).contains(&ratio), "{size} processes: {ratio}");
        }
    }
}
