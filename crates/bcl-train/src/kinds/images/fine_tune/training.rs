//! Trains an encoder with a linear classifier on few labelled images.

use crate::error::Error;
use bcl_data::Seed;
use bcl_images::ImageError;
use bcl_methods::batches::{Prefetch, ViewSource, index_tensor};
use bcl_models::vision::{ImageClassifier, ImageEncoder, Mode};
use bcl_optim::{Decay, RateSchedule};
use burn::{
    module::Module,
    nn::loss::CrossEntropyLossConfig,
    optim::{GradientsParams, ModuleOptimizer, SgdConfig, momentum::MomentumConfig},
    tensor::Device,
};
use rand::seq::SliceRandom;
use std::sync::Arc;

/// Momentum of SGD, with Nesterov's rule.
const MOMENTUM: f64 = 0.9;

/// Number of batches that wait for the training step.
const READY: usize = 1;

/// Fine-tuning of SimCLR: all layers and a new linear classifier learn together, from cross-entropy.
///
/// SGD with Nesterov momentum 0.9 and without weight decay; a rate that decays to 0 along half a cosine; batch normalisation by the
/// statistics of the batch.
///
/// Source: Chen et al., [A Simple Framework for Contrastive Learning of Visual Representations](https://arxiv.org/abs/2002.05709),
/// Appendix B. The schedule is ours.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Makes a random view of each image.
    pub(super) source: Arc<ViewSource>,
    /// The labelled images that are used.
    pub(super) images: Arc<[usize]>,
    /// The class of each of them.
    pub(super) classes: Vec<u32>,
    pub(super) num_features: usize,
    pub(super) num_classes: usize,
    pub(super) epochs: usize,
    pub(super) batch_size: usize,
    pub(super) learning_rate: f64,
    /// Seed of the order of images.
    pub(super) seed: Seed,
    /// The device, with gradients.
    pub(super) device: Device,
}

/// The positions of a batch in [`Schedule::images`], and the pixels of its views.
type Batch = (Vec<usize>, Result<Vec<f32>, ImageError>);

impl Schedule {
    /// Number of batches per epoch. None has a single image, which batch normalisation could not normalise.
    pub(super) fn steps_per_epoch(&self) -> usize {
        num_batches(self.images.len(), self.batch_size)
    }

    /// Trains an encoder with a new classifier, both on the training device, and returns them for evaluation.
    ///
    /// # Errors
    /// Returns an error if an image cannot be read, or the loss is no longer finite.
    pub(super) fn train(&self, encoder: ImageEncoder) -> Result<ImageClassifier, Error> {
        let mut model = ImageClassifier::new(encoder, self.num_features, self.num_classes, &self.device);
        let mut optimizer = optimizer();
        let steps = self.steps_per_epoch();
        let rates = RateSchedule::new(self.learning_rate, 0, self.epochs * steps, Decay::Cosine);
        for (step, batch) in self.batches().enumerate() {
            let (rows, pixels) = batch.map_err(|panicked| Error::Training(panicked.to_string()))?;
            let pixels = pixels.map_err(|unreadable| Error::Input(unreadable.to_string()))?;
            let gradients = self
                .gradients(&model, &rows, pixels)
                .ok_or_else(|| self.diverged(step / steps))?;
            model = optimizer.step(rates.rate(step), model, gradients);
        }
        Ok(model.valid())
    }

    /// The gradients of the cross-entropy of a batch, unless it is not finite.
    fn gradients(&self, model: &ImageClassifier, rows: &[usize], pixels: Vec<f32>) -> Option<GradientsParams> {
        let views = self.source.on_device(pixels, rows.len(), &self.device).swap_remove(0);
        let classes: Vec<usize> = rows.iter().map(|&row| self.classes[row] as usize).collect();
        let logits = model.forward(views, Mode::Train);
        let loss = CrossEntropyLossConfig::new()
            .init(&self.device)
            .forward(logits, index_tensor(&classes, &self.device));
        let is_finite = loss.clone().into_scalar::<f64>().is_finite();
        is_finite.then(|| GradientsParams::from_grads(loss.backward(), model))
    }

    fn diverged(&self, epoch: usize) -> Error {
        Error::Training(format!(
            "the loss is no longer a number in epoch {} of fine-tuning; lower --learning-rate, which was {}",
            epoch + 1,
            self.learning_rate
        ))
    }

    /// All batches of all epochs, prepared in a thread of their own.
    fn batches(&self) -> Prefetch<Batch> {
        let (source, images) = (self.source.clone(), self.images.clone());
        let (steps, seed, epochs) = (self.steps_per_epoch(), self.seed, self.epochs);
        let batches = (0..epochs).flat_map(move |epoch| {
            let order = order(images.len(), seed, epoch);
            let (source, images) = (source.clone(), images.clone());
            (0..steps).map(move |step| {
                let rows = order[step * order.len() / steps..(step + 1) * order.len() / steps].to_vec();
                let chosen: Vec<usize> = rows.iter().map(|&row| images[row]).collect();
                let pixels = source.make(&chosen, &vec![epoch as u64; chosen.len()]);
                (rows, pixels)
            })
        });
        Prefetch::new(READY, batches)
    }
}

/// Number of batches of about equal size.
fn num_batches(num_images: usize, batch_size: usize) -> usize {
    num_images.div_ceil(batch_size).min(num_images / 2).max(1)
}

/// The order of the images in an epoch.
fn order(num_images: usize, seed: Seed, epoch: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..num_images).collect();
    order.shuffle(&mut seed.named("order").index(epoch as u64).rng());
    order
}

fn optimizer() -> ModuleOptimizer {
    let momentum = MomentumConfig::new()
        .with_momentum(MOMENTUM)
        .with_dampening(0.0)
        .with_nesterov(true);
    SgdConfig::new().with_momentum(Some(momentum)).init()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_about_the_size_asked_for_and_never_a_single_image() {
        for (images, batch, expected) in [
            (100, 64, 2),
            (128, 64, 2),
            (129, 64, 3),
            (5, 64, 1),
            (3, 2, 1),
            (5, 2, 2),
            (2, 2, 1),
        ] {
            let found = num_batches(images, batch);
            assert_eq!(found, expected, "{images} images in batches of {batch}");
            assert!(images / found >= 2);
        }
    }
}
