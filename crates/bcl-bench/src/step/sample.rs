//! Measures steps in a separate process, so that the peak memory is its own.

use super::{Phases, StepConfig};
use crate::{clock::Clock, matrix_product, memory};
use bcl_backend::Backend;
use bcl_core::{Estimator, EstimatorConfig, Reduction};
use bcl_data::Seed;
use bcl_images::PlantedImagesConfig;
use bcl_methods::batches::{BatchViews, ImageBatch, ViewSource, ViewsOnDemand};
use bcl_methods::{Embeddings, ImageMethod, Method, MethodStart, WithMethod};
use bcl_models::vision::Mode;
use bcl_recipe::ImageRecipe;
use bcl_train::training::{
    learned::Learned,
    step::{Step, gradients},
};
use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer},
    tensor::{Device, Tensor},
    train::TrainStep,
};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Instant};

/// The measurements of one process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepSample {
    /// Time of the first step in seconds, with its loss alone; it compiles kernels on a GPU.
    pub first_seconds: f64,
    /// Times of the parts of each later step in seconds.
    pub steps: Vec<Phases>,
    /// Times of objective, loss and backward alone in seconds, once per step.
    pub loss_alone: Vec<f64>,
    /// Peak memory in MiB, of the process or of the GPU that computes; `None` if the system does not report it.
    pub peak_mib: Option<f64>,
    /// Time of a product of two matrices with 1,024 rows and columns in seconds, the shortest of several.
    pub product: f64,
}

impl StepSample {
    /// Trains on planted images with one recipe in this process, and times each part of each step.
    ///
    /// # Panics
    /// Panics if the recipe would be refused.
    pub fn measure(config: &StepConfig, backend: &Backend) -> Self {
        let (recipe, device) = (&config.recipe, backend.training_device());
        let num_images = config.images.max(recipe.training.batch_size);
        let start = MethodStart {
            encoder: recipe.encoder.config().init(0, &device),
            dim: recipe.encoder.config().dim(),
            num_images,
            classes: Some((0..num_images).map(class_of).collect()),
            steps_per_epoch: config.steps,
            num_steps: config.steps,
            precision: recipe.training.precision,
            norm_ranks: None,
            seed: Seed(0),
            device: device.clone(),
        };
        let mut sample = recipe.method.init(start, Measurement { config, device });
        sample.peak_mib = backend.peak_memory().map(memory::mib);
        sample
    }
}

/// The class of a planted image.
fn class_of(image: usize) -> u32 {
    (image % PlantedImagesConfig::default().classes) as u32
}

/// Measures the steps of any method.
struct Measurement<'a> {
    config: &'a StepConfig,
    device: Device,
}

impl WithMethod for Measurement<'_> {
    type Output = StepSample;

    fn call<M: ImageMethod>(self, method: M) -> StepSample {
        // Before the steps, whose peak memory exceeds the product's.
        let product = matrix_product::seconds(&self.device);
        let mut bench = Bench::new(&self.config.recipe, method, self.device);
        let mut sample = StepSample {
            product,
            ..StepSample::default()
        };
        // The first step allocates, starts threads and compiles kernels.
        let start = Instant::now();
        bench.step(0);
        sample.first_seconds = start.elapsed().as_secs_f64();
        for step in 1..=self.config.steps {
            let (phases, loss_alone) = bench.step(step as u64);
            sample.steps.push(phases);
            sample.loss_alone.push(loss_alone);
        }
        sample
    }
}

/// Everything that a step needs.
struct Bench<'a, M: ImageMethod> {
    source: Arc<ViewSource>,
    recipe: &'a ImageRecipe,
    estimator: Option<Arc<dyn Estimator>>,
    /// `None` while the optimizer has it.
    learned: Option<Learned<M>>,
    optimizer: ModuleOptimizer,
    device: Device,
}

impl<'a, M: ImageMethod> Bench<'a, M> {
    fn new(recipe: &'a ImageRecipe, method: M, device: Device) -> Self {
        let planted = PlantedImagesConfig {
            train: recipe.training.batch_size.max(10),
            test: 10,
            side: recipe.views.side,
            ..PlantedImagesConfig::default()
        };
        Self {
            source: Arc::new(ViewSource {
                data: Arc::new(planted.generate()),
                views: recipe.views.init(),
                seed: Seed(0),
            }),
            estimator: recipe.estimator().map(EstimatorConfig::init).map(Arc::from),
            learned: Some(Learned::new(method, recipe.optimizer.largest_global_norm())),
            optimizer: recipe.optimizer.init(),
            recipe,
            device,
        }
    }

    /// Runs one step; returns the times of its parts, and the seconds that the loss takes without the encoder.
    fn step(&mut self, epoch: u64) -> (Phases, f64) {
        let learned = self.learned.take().expect("the last step put it back");
        let mut clock = Clock::new(&self.device);
        let step = self.data(&learned, epoch);
        let mut phases = Phases {
            data: clock.lap(),
            ..Phases::default()
        };
        let Gradients {
            of_parameters,
            embeddings,
            loss_alone,
        } = match self.recipe.training.gradient_cache {
            Some(at_most) => cached(&step, &learned, at_most, &mut clock, &mut phases),
            None => at_once(&step, &learned, &mut clock, &mut phases),
        };

        let mut clock = Clock::new(&self.device);
        learned.finish(step, embeddings);
        let rate = self.recipe.optimizer.learning_rate;
        self.learned = Some(learned.optimize(&mut self.optimizer, rate.into(), of_parameters));
        phases.optimizer = clock.lap();
        (phases, loss_alone)
    }

    fn data(&self, learned: &Learned<M>, epoch: u64) -> Step<ImageBatch> {
        let batch_size = self.recipe.training.batch_size;
        let images: Arc<[usize]> = (0..batch_size).collect();
        let on_demand = BatchViews::OnDemand(ViewsOnDemand {
            source: self.source.clone(),
            images: images.clone(),
            epochs: vec![epoch; batch_size].into(),
            device: self.device.clone(),
        });
        let cache = self.recipe.training.gradient_cache;
        let views = match cache {
            Some(_) => on_demand,
            None => BatchViews::Made(on_demand.parts(batch_size).next().expect("the whole")),
        };
        let needs_classes = self
            .estimator
            .as_ref()
            .is_some_and(|estimator| estimator.requirements().truth);
        let batch = ImageBatch {
            views,
            classes: needs_classes.then(|| (0..batch_size).map(class_of).collect()),
            images,
            mode: Mode::Train,
        };
        let num_anchors = learned.num_anchors(&batch);
        Step::new(batch, self.estimator.clone(), num_anchors, Seed(0), epoch, &self.device).with_gradient_cache(cache)
    }
}

/// What a step computes before the optimizer.
struct Gradients {
    of_parameters: GradientsParams,
    /// The embeddings of the batch, detached.
    embeddings: Embeddings,
    /// Time of objective, loss and backward alone in seconds.
    loss_alone: f64,
}

/// Computes the gradients of the whole batch at once.
fn at_once<M: ImageMethod>(step: &Step<ImageBatch>, learned: &Learned<M>, clock: &mut Clock, phases: &mut Phases) -> Gradients {
    let num_anchors = learned.num_anchors(&step.batch);
    let loss_of = |embeddings: &Embeddings| step.losses(learned, embeddings, 0..num_anchors).reduce(Reduction::Mean);
    let embeddings = learned.embed_batch(&step.batch, usize::MAX);
    phases.forward = clock.lap();
    let loss = loss_of(&embeddings);
    phases.loss = clock.lap();
    let of_parameters = gradients(learned, loss);
    phases.backward = clock.lap();

    let leaves: Vec<Tensor<2>> = embeddings
        .tables()
        .map(|table| table.into_rows().detach().require_grad())
        .collect();
    clock.lap();
    let of_loss = loss_of(&embeddings.with_rows(&leaves)).backward();
    // Not all rows have a gradient: the rows of momentum encoders have none.
    for gradient in leaves.iter().filter_map(|leaf| leaf.grad(&of_loss)) {
        // Reading waits for devices that compute in the background.
        gradient.into_data();
    }
    Gradients {
        of_parameters,
        embeddings: embeddings.detached(),
        loss_alone: clock.lap(),
    }
}

/// The same with gradient caching, which computes the loss alone in any case.
fn cached<M: ImageMethod>(
    step: &Step<ImageBatch>,
    learned: &Learned<M>,
    at_most: usize,
    clock: &mut Clock,
    phases: &mut Phases,
) -> Gradients {
    let embeddings = learned.clone().no_grad().embed_batch(&step.batch, at_most);
    phases.forward = clock.lap();
    let cache = step.embedding_gradients(learned, &embeddings, at_most);
    phases.loss = clock.lap();
    let of_parameters = step.parameter_gradients(learned, &cache.gradients, at_most);
    phases.backward = clock.lap();
    Gradients {
        of_parameters,
        embeddings: embeddings.detached(),
        loss_alone: phases.loss,
    }
}
