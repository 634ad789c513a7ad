//! The step of an image encoder.

use super::{Timing, Training};
use crate::timing::{Case, Turn};
use bcl_core::{Estimator, EstimatorConfig};
use bcl_data::Seed;
use bcl_images::PlantedImagesConfig;
use bcl_methods::step::Step;
use bcl_methods::{
    ImageMethod, Method, MethodStart, WithMethod,
    batches::{BatchViews, ImageBatch, ViewSource, ViewsOnDemand},
};
use bcl_models::vision::{ImageEncoderConfig, Mode, Stem};
use bcl_recipe::{ImageRecipe, Precision};
use bcl_train::training::learned::Learned;
use burn::tensor::Device;
use std::sync::Arc;

/// Steps until a step is recorded, which are not timed.
const PREPARING: usize = 4;

/// Trains on planted images with a recipe, on a device that tracks gradients. Some methods keep an embedding of each of `num_images` images of the data
/// set. `steps` is the length of an epoch, for schedules.
///
/// If every view is encoded once per step, its operations are counted: two for each multiplication of convolutions and linear layers with its addition,
/// and twice as many backward as forward.
///
/// # Panics
/// Panics on its first turn if the recipe would be refused.
pub fn image_step(recipe: &ImageRecipe, num_images: usize, steps: usize, timing: Timing, device: &Device) -> Case<'static> {
    let mut turn: Option<Box<dyn FnMut() -> Turn>> = None;
    let (own, device) = (recipe.clone(), device.clone());
    let case = Case::in_parts(&recipe.name, move || {
        turn.get_or_insert_with(|| start(&own, num_images, steps, timing, &device))()
    });
    match operations(recipe) {
        Some(operations) => case.with_operations(operations),
        None => case,
    }
}

/// Floating-point operations of a step.
fn operations(recipe: &ImageRecipe) -> Option<f64> {
    // Other methods encode views with a second network, too, or with heads of their own; caching encodes them twice.
    if recipe.method.name() != "simclr" || recipe.training.gradient_cache.is_some() {
        return None;
    }
    let encoder = recipe.encoder.config();
    let sides = recipe.views.layout();
    let per_image: u64 = sides.iter().map(|&side| encoder.size(side).multiply_adds).sum();
    Some(3.0 * 2.0 * per_image as f64 * recipe.training.batch_size as f64)
}

/// The encoder of a step, and what it encodes.
pub fn describe(recipe: &ImageRecipe) -> String {
    let ImageEncoderConfig { trunk, .. } = recipe.encoder.config();
    let stem = match trunk.stem {
        Stem::Cifar => "CIFAR",
        Stem::Imagenet => "ImageNet",
    };
    let bits = match recipe.training.precision {
        Precision::F32 => String::new(),
        fewer => format!(" in {fewer:?}").to_lowercase(),
    };
    let cache = recipe.training.gradient_cache;
    let at_a_time = cache.map_or_else(String::new, |images| format!(", encoded {images} at a time"));
    let sides = recipe.views.layout();
    let views = if sides.len() == 1 { "view" } else { "views" };
    format!(
        "ResNet-{} of width {}, {stem} stem{bits}, {side} x {side} pixels, {} images with {} {views} each{at_a_time}.",
        u64::from(trunk.depth),
        trunk.width,
        recipe.training.batch_size,
        sides.len(),
        side = recipe.views.side,
    )
}

/// Makes the network and the data; the result trains a step.
fn start(recipe: &ImageRecipe, num_images: usize, steps: usize, timing: Timing, device: &Device) -> Box<dyn FnMut() -> Turn> {
    let num_images = num_images.max(recipe.training.batch_size);
    let start = MethodStart {
        encoder: recipe.encoder.config().init(0, device),
        dim: recipe.encoder.config().dim(),
        num_images,
        classes: Some((0..num_images).map(class_of).collect()),
        steps_per_epoch: steps,
        num_steps: steps,
        precision: recipe.training.precision,
        norm_processes: None,
        seed: Seed(0),
        device: device.clone(),
    };
    recipe.method.init(start, Start { recipe, timing, device })
}

/// The class of a planted image.
fn class_of(image: usize) -> u32 {
    (image % PlantedImagesConfig::default().classes) as u32
}

/// Starts training with any method.
struct Start<'a> {
    recipe: &'a ImageRecipe,
    timing: Timing,
    device: &'a Device,
}

impl WithMethod for Start<'_> {
    type Output = Box<dyn FnMut() -> Turn>;

    fn call<M: ImageMethod>(self, method: M) -> Self::Output {
        let Self { recipe, timing, device } = self;
        let planted = PlantedImagesConfig {
            train: recipe.training.batch_size.max(10),
            test: 10,
            side: recipe.views.side,
            ..PlantedImagesConfig::default()
        };
        let batches = Batches {
            source: Arc::new(ViewSource {
                data: Arc::new(planted.generate()),
                views: recipe.views.init(),
                seed: Seed(0),
            }),
            estimator: recipe.estimator().map(EstimatorConfig::init).map(Arc::from),
            batch_size: recipe.training.batch_size,
            cache: recipe.training.gradient_cache,
            device: device.clone(),
        };
        // The parts of a recorded step cannot be told apart.
        let is_recorded = recipe.training.step_graph && timing == Timing::Whole;
        let learned = Learned::new(method, recipe.optimizer.largest_global_norm()).with_step_graph(is_recorded);
        let mut training = Training {
            learned: Some(learned),
            optimizer: recipe.optimizer.init(),
            rate: recipe.optimizer.learning_rate,
            device: device.clone(),
            timing,
        };
        let mut epoch = 0;
        let mut turn = move || {
            let turn = training.turn(|learned| batches.step(learned, epoch));
            epoch += 1;
            turn
        };
        if is_recorded {
            for _ in 0..PREPARING {
                turn();
            }
        }
        Box::new(turn)
    }
}

/// Makes the batches.
struct Batches {
    source: Arc<ViewSource>,
    estimator: Option<Arc<dyn Estimator>>,
    batch_size: usize,
    cache: Option<usize>,
    device: Device,
}

impl Batches {
    fn step<M: ImageMethod>(&self, learned: &Learned<M>, epoch: u64) -> Step<ImageBatch> {
        let images: Arc<[usize]> = (0..self.batch_size).collect();
        let on_demand = BatchViews::OnDemand(ViewsOnDemand {
            source: self.source.clone(),
            images: images.clone(),
            epochs: vec![epoch; self.batch_size].into(),
            device: self.device.clone(),
        });
        let views = match self.cache {
            Some(_) => on_demand,
            None => BatchViews::Made(on_demand.parts(self.batch_size).next().expect("the whole")),
        };
        let needs_classes = self
            .estimator
            .as_ref()
            .is_some_and(|estimator| estimator.requirements().truth)
            || learned.method.remembers_classes();
        let batch = ImageBatch {
            views,
            classes: needs_classes.then(|| (0..self.batch_size).map(class_of).collect()),
            images,
            mode: Mode::Train,
        };
        let num_anchors = learned.num_anchors(&batch);
        Step::new(batch, self.estimator.clone(), num_anchors, Seed(0), epoch, &self.device).with_gradient_cache(self.cache)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_recipe::from_toml;

    #[test]
    fn operations_are_counted_only_where_each_view_is_encoded_once() {
        let with = |more: &str| -> ImageRecipe {
            let text = format!(
                "data.dataset = 'planted'\nencoder.kind = 'resnet'\nloss.kind = 'info_nce'\ntraining.batch_size = 16\n{more}"
            );
            from_toml(&text, "test", &[]).expect("it is whole")
        };
        let recipe = with("");
        let per_view = recipe.encoder.config().size(recipe.views.side).multiply_adds as f64;
        // Two views, forward and twice as much backward, a multiplication and an addition.
        assert_eq!(operations(&recipe), Some(16.0 * 2.0 * 3.0 * 2.0 * per_view));
        assert_eq!(operations(&with("training.gradient_cache = 8")), None);
        assert_eq!(operations(&with("method.kind = 'moco'")), None);
    }
}
