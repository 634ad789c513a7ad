//! Estimates the memory of a run of an image encoder.

use crate::memory::{Estimate, F32, product};
use bcl_eval::images::FeatureExtractor;
use bcl_images::{ImageData, ViewsConfig};
use bcl_methods::MethodSizes;
use bcl_recipe::{ImageBaselineKind, ImageDataConfig, ImageDataSource, ImageRecipe, Precision};

/// The sizes of the data that a run's memory depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Number of training images.
    pub train: usize,
    /// Number of labelled images in train and test, on whose features the encoder is evaluated.
    pub evaluated: usize,
}

impl From<&ImageData> for Sizes {
    fn from(data: &ImageData) -> Self {
        let [of_train, of_test] = [&data.train, &data.test].map(|images| images.labels().iter().flatten().count());
        Self {
            train: data.train.len(),
            // Without labelled test images, nothing is evaluated.
            evaluated: if of_test > 0 { of_train + of_test } else { 0 },
        }
    }
}

/// The pixels of generated images.
pub(crate) fn data(config: &ImageDataConfig) -> Estimate {
    let Ok(ImageDataSource::Planted(config)) = config.source() else {
        return Estimate::default();
    };
    let images = config.train as u64 + config.test as u64;
    let side = config.side as u64;
    Estimate::default().with(
        "pixels",
        "data.planted.train, data.planted.test or data.planted.side",
        product([3, images, side, side]),
    )
}

/// All views of images.
pub(crate) fn views(images: usize, config: &ViewsConfig) -> Estimate {
    Estimate::default().with(
        format!("the views of {images} images"),
        "views.side, views.count or views.local",
        product([F32, images as u64, values_per_image(config)]),
    )
}

/// Number of values in all views of an image.
fn values_per_image(config: &ViewsConfig) -> u64 {
    let areas = config.layout().into_iter().map(|side| (side as u64).pow(2));
    3 * areas.sum::<u64>()
}

/// A step of fine-tuning, or the features for evaluation.
pub(crate) fn fine_tuning(recipe: &ImageRecipe, batch_size: usize, images: Sizes) -> Estimate {
    let size = recipe.encoder.config().size(recipe.views.side);
    let batch = batch_size.min(images.train) as u64;
    let step = Estimate::default()
        .with(
            format!("gradients and momentum of {} parameters", size.parameters),
            "encoder.trunk.width",
            product([2, F32, size.parameters]),
        )
        .with(
            format!("the activations of {batch} images, saved for backward"),
            "--batch-size",
            product([F32, batch, size.saved]),
        );
    Estimate::default()
        .with(
            format!("the weights of {} parameters", size.parameters),
            "encoder.trunk.width",
            product([F32, size.parameters]),
        )
        .with_larger(step, evaluation(recipe, images.evaluated as u64))
}

/// The weights, and the larger of a training step and the features for evaluation.
pub(crate) fn training(recipe: &ImageRecipe, images: Sizes) -> Estimate {
    let parameters = recipe.encoder.config().size(recipe.views.side).parameters;
    let weights = Estimate::default().with(
        format!("the weights of {parameters} parameters"),
        "encoder.trunk.width, encoder.head.hidden or encoder.head.out",
        product([F32, parameters]),
    );
    let sizes = MethodSizes {
        dim: recipe.encoder.config().dim() as u64,
        images: images.train as u64,
        parameters,
    };
    let weights = match recipe.recovery {
        // The averages on the device and on the host, the new features, and the points in 64 bits.
        Some(_) => weights.with(
            format!("the features of {} training images", images.train),
            "encoder.trunk.width, or leave out [recovery]",
            product([5 * F32, images.train as u64, recipe.encoder.config().num_features() as u64]),
        ),
        None => weights,
    };
    let evaluation = evaluation(recipe, images.evaluated as u64);
    match recipe.training.epochs {
        0 => weights.with_larger(evaluation, Estimate::default()),
        _ => weights.with_larger(
            step(recipe, parameters, images).with(
                "the memory of the method",
                "method.queue, method.support, method.prototypes, method.hidden or encoder.head.out",
                product([F32, recipe.method.settings().memory(&sizes)]),
            ),
            evaluation,
        ),
    }
}

fn step(recipe: &ImageRecipe, parameters: u64, images: Sizes) -> Estimate {
    let batch = recipe.training.batch_size.min(images.train) as u64;
    let at_a_time = recipe
        .training
        .gradient_cache
        .map_or(batch, |at_most| batch.min(at_most as u64));
    let num_negatives = recipe.method.settings().num_negatives(batch as usize).unwrap_or_default();
    let number = match recipe.training.precision {
        Precision::F32 | Precision::Tf32 => F32,
        Precision::Bf16 | Precision::F16 => F32 / 2,
        Precision::F64 => 2 * F32,
    };
    let views = values_per_image(&recipe.views);
    let encoder = recipe.encoder.config();
    let saved = recipe.views.layout().into_iter().map(|side| encoder.size(side).saved).sum();
    // The first convolution already saves the views of the current step. The next batch is prepared meanwhile, unless views are
    // made part by part.
    let ahead = if recipe.training.gradient_cache.is_none() && images.train as u64 >= 2 * batch {
        batch
    } else {
        0
    };
    Estimate::default()
        .with(
            format!("gradients and optimizer state of {parameters} parameters"),
            "encoder.trunk.width, encoder.head.hidden or encoder.head.out",
            product([F32, 1 + recipe.optimizer.num_moments(), parameters]),
        )
        .with(
            format!("the activations of {at_a_time} images, saved for backward"),
            "training.batch_size, training.gradient_cache, views.side or encoder.trunk.width",
            product([number, at_a_time, saved]),
        )
        .with_in_main(
            format!("the views of the next {ahead} images"),
            "training.batch_size, training.gradient_cache, views.side, views.count or views.local",
            product([F32, ahead, views]),
        )
        .with(
            "the scores of a batch and their gradient",
            "training.batch_size, training.gradient_cache or method.queue",
            product([2, F32, at_a_time, num_negatives as u64]),
        )
        .with(
            "mixtures of negatives",
            "training.batch_size, training.gradient_cache, method.synthetic or encoder.head.out",
            product([
                F32,
                at_a_time,
                recipe.method.settings().values_per_anchor(encoder.dim() as u64),
            ]),
        )
}

/// The features of all images, and the pixels of those being encoded.
fn evaluation(recipe: &ImageRecipe, evaluated: u64) -> Estimate {
    let side = recipe.evaluation.side.unwrap_or(recipe.views.side) as u64;
    let features = recipe.encoder.config().num_features() as u64;
    let with_pixels = recipe.evaluation.baselines.contains(&ImageBaselineKind::RawPixels);
    let raw_pixels = if with_pixels { product([3, side, side]) } else { 0 };
    let at_a_time = (FeatureExtractor::BLOCK as u64).min(evaluated / 2);
    Estimate::default()
        .with(
            format!("the features of {evaluated} images"),
            "encoder.trunk.width, evaluation.side or views.side, or leave raw_pixels out of evaluation.baselines",
            product([F32, evaluated, features.max(raw_pixels)]),
        )
        .with(
            format!("{at_a_time} images being evaluated"),
            "evaluation.side or views.side",
            product([F32, 3, at_a_time, side, side]),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_recipe::from_toml;

    fn estimate(more: &str) -> Estimate {
        let text = format!("data.dataset = 'planted'\nloss.kind = 'info_nce'\nencoder.kind = 'resnet'\n{more}");
        training(
            &from_toml(&text, "a", &[]).unwrap(),
            Sizes {
                train: 4000,
                evaluated: 5000,
            },
        )
    }

    #[test]
    fn huge_views_are_refused_and_parts_of_a_batch_need_less() {
        let message = |more| estimate(more).check_with(64 << 30).unwrap_err().to_string();
        assert!(message("views.side = 4096").contains("views.side"));
        assert!(message("encoder.trunk.width = 4096").contains("encoder.trunk.width"));
        assert!(estimate("training.gradient_cache = 8").bytes() < estimate("").bytes() / 8);
        assert!(estimate("training.precision = 'bf16'").bytes() < estimate("").bytes() * 2 / 3);
        assert!(estimate("training.epochs = 0").bytes() < estimate("").bytes() / 8);
    }

    #[test]
    fn scores_are_counted_against_the_negatives_of_the_method() {
        let of_queue = |queue: u64| {
            estimate(&format!(
                "method = {{ kind = 'moco', queue = {queue} }}\nencoder.head.out = 4"
            ))
            .bytes()
        };
        // Each key has 4 numbers, and a score and its gradient for each of 256 images.
        assert_eq!(of_queue(6000) - of_queue(5000), 1000 * (4 + 2 * 256) * 4);
    }

    #[test]
    fn pixels_are_counted_before_they_are_drawn() {
        let text = "data.dataset = 'planted'\ndata.planted = { train = 6000, test = 1000, side = 256 }\nloss.kind = 'info_nce'\nencoder.kind = 'resnet'";
        let recipe: ImageRecipe = from_toml(text, "a", &[]).unwrap();
        assert_eq!(data(&recipe.data).bytes(), 7000 * 256 * 256 * 3);
    }
}
