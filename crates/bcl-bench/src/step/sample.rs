//! Measures steps in a separate process, so that the peak memory is its own.

use super::{Phases, StepConfig};
use crate::memory;
use bcl_backend::Backend;
use bcl_core::{Estimator, EstimatorConfig, Reduction};
use bcl_data::Seed;
use bcl_images::{PlantedImagesConfig, ViewsConfig};
use bcl_models::vision::Mode;
use bcl_train::{
    batches::{BatchViews, ImageBatch, ViewSource, ViewsOnDemand},
    methods::{Embeddings, Method, SimClr},
    recipe::OptimizerConfig,
    training::step::Step,
};
use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer},
    tensor::Device,
};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Instant};

/// The measurements of one process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepSample {
    /// Times of the parts of each step in seconds.
    pub steps: Vec<Phases>,
    /// Times of scores, loss and backward alone in seconds, once per step.
    pub loss_alone: Vec<f64>,
    /// Peak memory of the process in MiB; `None` if the system does not report it.
    pub peak_mib: Option<f64>,
}

impl StepSample {
    /// Trains on planted images with one loss in this process, and times each part of each step.
    ///
    /// # Panics
    /// Panics if the configuration is out of range, or the loss needs classes.
    pub fn measure(config: &StepConfig, loss: &EstimatorConfig, backend: &Backend) -> Self {
        let mut bench = Bench::new(config, loss, backend.training_device());
        let mut sample = Self::default();
        for step in 0..=config.steps {
            let (phases, loss_alone) = bench.step(step as u64);
            // The first step allocates and starts threads.
            if step > 0 {
                sample.steps.push(phases);
                sample.loss_alone.push(loss_alone);
            }
        }
        sample.peak_mib = memory::peak();
        sample
    }
}

/// Everything that a step needs.
struct Bench {
    source: Arc<ViewSource>,
    config: StepConfig,
    estimator: Arc<dyn Estimator>,
    /// `None` while the optimizer has it.
    model: Option<SimClr>,
    optimizer: ModuleOptimizer,
    learning_rate: f64,
    device: Device,
}

impl Bench {
    fn new(config: &StepConfig, loss: &EstimatorConfig, device: Device) -> Self {
        let planted = PlantedImagesConfig {
            train: config.batch_size.max(10),
            test: 10,
            side: config.side,
            ..PlantedImagesConfig::default()
        };
        let views = ViewsConfig {
            side: config.side,
            ..ViewsConfig::default()
        };
        let optimizer = OptimizerConfig::default();
        let model = SimClr {
            encoder: config.encoder().init(0, &device),
            precision: config.precision,
        };
        Self {
            source: Arc::new(ViewSource {
                data: Arc::new(planted.generate()),
                views: views.init(),
                seed: Seed(0),
            }),
            config: config.clone(),
            estimator: Arc::from(loss.init()),
            model: Some(model),
            learning_rate: optimizer.learning_rate,
            optimizer: optimizer.init(),
            device,
        }
    }

    /// Runs one step; returns the times of its parts, and that of the loss alone in seconds.
    fn step(&mut self, epoch: u64) -> (Phases, f64) {
        let mut clock = Clock::new(&self.device);
        let step = self.data(epoch);
        let data = clock.lap();

        let model = self.model.take().expect("the last step put it back");
        let mut phases = Phases {
            data,
            ..Phases::default()
        };
        let (gradients, loss_alone) = match self.config.gradient_cache {
            Some(at_most) => cached(&step, &model, at_most, &mut clock, &mut phases),
            None => at_once(&step, &model, &mut clock, &mut phases),
        };

        let mut clock = Clock::new(&self.device);
        self.model = Some(self.optimizer.step(self.learning_rate, model, gradients));
        phases.optimizer = clock.lap();
        (phases, loss_alone)
    }

    fn data(&self, epoch: u64) -> Step<ImageBatch> {
        let batch_size = self.config.batch_size;
        let images: Arc<[usize]> = (0..batch_size).collect();
        let on_demand = BatchViews::OnDemand(ViewsOnDemand {
            source: self.source.clone(),
            images: images.clone(),
            epoch,
            device: self.device.clone(),
        });
        let views = match self.config.gradient_cache {
            Some(_) => on_demand,
            None => BatchViews::Made(on_demand.parts(batch_size).next().expect("the whole")),
        };
        let batch = ImageBatch {
            views,
            images,
            classes: None,
            mode: Mode::Train,
        };
        Step::new(
            batch,
            Some(self.estimator.clone()),
            2 * batch_size,
            Seed(0),
            epoch,
            &self.device,
        )
    }
}

/// Gradients of the whole batch at once, and the time of the loss alone in seconds.
fn at_once(step: &Step<ImageBatch>, model: &SimClr, clock: &mut Clock, phases: &mut Phases) -> (GradientsParams, f64) {
    let num_anchors = model.num_anchors(&step.batch);
    let loss_of = |embeddings: &Embeddings| step.losses(model, embeddings, 0..num_anchors).reduce(Reduction::Mean);
    let embeddings = model.embed_batch(&step.batch, usize::MAX);
    phases.forward = clock.lap();
    let loss = loss_of(&embeddings);
    phases.loss = clock.lap();
    let gradients = GradientsParams::from_grads(loss.backward(), model);
    phases.backward = clock.lap();

    let leaves: Vec<_> = embeddings
        .tables()
        .map(|table| table.into_rows().detach().require_grad())
        .collect();
    clock.lap();
    let of_loss = loss_of(&embeddings.with_rows(&leaves)).backward();
    for leaf in &leaves {
        // Reading waits for devices that compute in the background.
        leaf.grad(&of_loss).expect("a gradient").into_data();
    }
    (gradients, clock.lap())
}

/// The same with gradient caching, which computes the loss alone in any case.
fn cached(
    step: &Step<ImageBatch>,
    model: &SimClr,
    at_most: usize,
    clock: &mut Clock,
    phases: &mut Phases,
) -> (GradientsParams, f64) {
    let embeddings = model.clone().no_grad().embed_batch(&step.batch, at_most);
    phases.forward = clock.lap();
    let cache = step.embedding_gradients(model, &embeddings, at_most);
    phases.loss = clock.lap();
    let gradients = step.parameter_gradients(model, &cache.gradients, at_most);
    phases.backward = clock.lap();
    (gradients, phases.loss)
}

/// A clock that is read after each part of a step.
struct Clock {
    device: Device,
    last: Instant,
}

impl Clock {
    fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            last: Instant::now(),
        }
    }

    /// Seconds since the last lap, including the time until a device that computes in the background is done.
    fn lap(&mut self) -> f64 {
        self.device.sync().expect("the device computes");
        let seconds = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        seconds
    }
}
