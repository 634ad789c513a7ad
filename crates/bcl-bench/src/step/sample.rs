//! Some steps, in a process of their own so that their peak memory is their own.

use super::{Phases, StepConfig};
use crate::memory;
use bcl_core::{Estimator, EstimatorConfig, Reduction, Scores, Similarity};
use bcl_data::Seed;
use bcl_images::{Collection, PlantedImagesConfig, Views, ViewsConfig};
use bcl_models::vision::{ImageEncoder, Mode};
use bcl_train::{
    recipe::ImageOptimizerConfig,
    training::{images::batch::ImageBatch, step::Step},
};
use burn::{
    optim::{GradientsParams, ModuleOptimizer},
    tensor::{Device, Tensor, TensorData},
};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Instant};

/// What one process measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepSample {
    /// The parts of each step, seconds.
    pub steps: Vec<Phases>,
    /// Scores, loss and backward alone, seconds, once a step.
    pub loss_alone: Vec<f64>,
    /// The most memory the process ever held, MiB; absent where the system does not tell.
    pub peak_mib: Option<f64>,
}

impl StepSample {
    /// Trains on planted images with one loss and measures each part of each step, in this process.
    ///
    /// # Panics
    /// When the configuration is out of range, or the loss needs classes.
    pub fn measure(config: &StepConfig, loss: &EstimatorConfig) -> Self {
        let mut bench = Bench::new(config, loss);
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

/// All that a step needs.
struct Bench {
    images: Collection,
    batch_size: usize,
    views: Views,
    estimator: Arc<dyn Estimator>,
    /// Taken out and put back by the optimiser.
    encoder: Option<ImageEncoder>,
    optimizer: ModuleOptimizer,
    learning_rate: f64,
    device: Device,
}

impl Bench {
    fn new(config: &StepConfig, loss: &EstimatorConfig) -> Self {
        let device = Device::flex().autodiff();
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
        let optimizer = ImageOptimizerConfig::default();
        Self {
            images: planted.generate().train,
            batch_size: config.batch_size,
            views: views.init(),
            estimator: Arc::from(loss.init()),
            encoder: Some(config.encoder().init(0, &device)),
            learning_rate: optimizer.learning_rate,
            optimizer: optimizer.init(),
            device,
        }
    }

    /// One step, and the seconds of its loss alone.
    fn step(&mut self, epoch: u64) -> (Phases, f64) {
        let mut clock = Clock(Instant::now());
        let step = self.data(epoch);
        let data = clock.lap();

        let encoder = self.encoder.take().expect("the last step put it back");
        let projections = step.batch.views.clone().map(|view| encoder.projections(view, Mode::Train));
        let forward = clock.lap();

        let loss = self.loss(&step, projections.clone());
        let loss_seconds = clock.lap();

        let gradients = GradientsParams::from_grads(loss.backward(), &encoder);
        let backward = clock.lap();

        self.encoder = Some(self.optimizer.step(self.learning_rate, encoder, gradients));
        let phases = Phases {
            data,
            forward,
            loss: loss_seconds,
            backward,
            optimizer: clock.lap(),
        };
        (phases, self.loss_alone(&step, projections))
    }

    fn data(&self, epoch: u64) -> Step<ImageBatch> {
        let (batch_size, side) = (self.batch_size, self.views.config().side);
        let images: Vec<usize> = (0..batch_size).collect();
        let mut pixels = Vec::new();
        self.views.batch(&self.images, &images, epoch, Seed(0), &mut pixels);
        let pixels = Tensor::<5>::from_data(TensorData::new(pixels, [2, batch_size, 3, side, side]), &self.device);
        let batch = ImageBatch {
            views: [0, 1].map(|which| pixels.clone().narrow(0, which, 1).squeeze_dim::<4>(0)),
            same_class: None,
            mode: Mode::Train,
        };
        Step::new(batch, self.estimator.clone(), 2 * batch_size, Seed(0), epoch, &self.device)
    }

    fn loss(&self, step: &Step<ImageBatch>, [first, second]: [Tensor<2>; 2]) -> Tensor<1> {
        let scores = Scores {
            noise: step.noise.clone(),
            ..Scores::from_views(first, second, Similarity::Dot)
        };
        self.estimator.forward(scores, Reduction::Mean)
    }

    /// The seconds from projections to their gradients.
    fn loss_alone(&self, step: &Step<ImageBatch>, projections: [Tensor<2>; 2]) -> f64 {
        let projections = projections.map(|view| view.detach().require_grad());
        let mut clock = Clock(Instant::now());
        let gradients = self.loss(step, projections.clone()).backward();
        for view in &projections {
            // Reading it waits for a device that computes in the background.
            view.grad(&gradients).expect("a gradient").into_data();
        }
        clock.lap()
    }
}

/// A clock that is read between the parts of a step.
struct Clock(Instant);

impl Clock {
    /// Seconds since the last time.
    fn lap(&mut self) -> f64 {
        let seconds = self.0.elapsed().as_secs_f64();
        self.0 = Instant::now();
        seconds
    }
}
