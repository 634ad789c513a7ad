//! Fine-tunes the encoder of a finished run on a fraction of the labels, and compares it with its frozen features.

mod record;
mod training;

use super::{super::SavedRun, evaluator, memory, start};
use crate::{
    error::Error,
    training::{Stop, environment::environment, folder::load_model},
};
use bcl_backend::Backend;
use bcl_data::Seed;
use bcl_eval::{
    images::{ImageEvaluator, has_labelled_test},
    probe::TopK,
};
use bcl_files::notice;
use bcl_images::{ImageData, ViewsConfig};
use bcl_methods::batches::ViewSource;
use bcl_models::vision::{ImageClassifier, ImageEncoder, Mode, weights::classifier_to_safetensors};
use bcl_recipe::ImageRecipe;
use bcl_report::result::Metrics;
pub use record::{FineTuning, Measured};
use std::{path::Path, sync::Arc, time::Instant};
use training::Schedule;

/// The version of the layout of `fine-tuning.json`.
const SCHEMA: u32 = 1;

/// The weights that are written.
pub const MODEL: &str = "model.safetensors";

/// The measurements that are written. Not `result.json`, by which the folder would be taken for a run.
pub const RECORD: &str = "fine-tuning.json";

/// How an encoder is fine-tuned.
#[derive(Debug, Clone, PartialEq)]
pub struct FineTuneOptions {
    /// Fraction of the training labels, above 0 and at most 1; each class gives its share, and at least one image.
    pub fraction: f64,
    /// Passes over these images.
    pub epochs: usize,
    /// Images per batch, at least 2.
    pub batch_size: usize,
    /// Peak learning rate; it decays to 0 along half a cosine.
    pub learning_rate: f64,
    /// Seed of the choice of labels, of their order and views, and of random weights; the run's if absent.
    pub seed: Option<u64>,
    /// Whether to train the same network on the same labels from random weights, too.
    pub from_scratch: bool,
}

/// Fine-tunes the encoder of a run on a fraction of the labels, compares it with its frozen features, and writes weights and measurements
/// into a folder.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, there are no labelled test images, training diverges, or a file cannot be written.
pub fn fine_tune(
    run: SavedRun<ImageRecipe>,
    backend: &Backend,
    options: &FineTuneOptions,
    out: &Path,
) -> Result<FineTuning, Error> {
    let data = Arc::new(run.data()?);
    if !has_labelled_test(&data) {
        return Err(Error::Input(format!(
            "fine-tune needs labelled training and test images, but {} has no labelled test images; put some into test/CLASS/ and train \
             again",
            data.name
        )));
    }
    let recipe = ImageRecipe {
        seed: options.seed.unwrap_or(run.recipe.seed),
        ..run.recipe.clone()
    };
    memory::fine_tuning(&recipe, options.batch_size, (&*data).into()).check_on(backend.info())?;
    let load = |device| load_model(start::untrained(&recipe, &device), &run.folder);
    let pretrained = load(backend.device())?;
    bcl_files::create_folder(out)?;

    let evaluator = evaluator(&recipe, &data, backend, Stop::new());
    let tuning = tuning(&recipe, &data, &evaluator, backend, options);
    let mut record = record(&run, &recipe, &tuning, &evaluator, backend, options);
    notice::status(format!(
        "fine-tuning on {} labels: {} epochs of {} steps, learning rate {}",
        record.labels,
        record.epochs,
        tuning.steps_per_epoch(),
        record.learning_rate
    ));
    let (tuned, measured) = trained(&tuning, &evaluator, load(backend.training_device())?, FINE_TUNED)?;
    record.push(measured);
    record.push(frozen(&evaluator, &pretrained, options.fraction)?);
    if options.from_scratch {
        let random = start::untrained(&recipe, &backend.training_device());
        record.push(trained(&tuning, &evaluator, random, FROM_SCRATCH)?.1);
    }
    write(out, &tuned, &record)?;
    Ok(record)
}

const FINE_TUNED: [&str; 2] = ["fine_tuned", "fine-tuned"];
const LINEAR_PROBE: [&str; 2] = ["linear_probe", "linear probe of the frozen features"];
const FROM_SCRATCH: [&str; 2] = ["from_scratch", "the same network from random weights"];

/// The labels that the evaluator draws, and how to train on them.
fn tuning(
    recipe: &ImageRecipe,
    data: &Arc<ImageData>,
    evaluator: &ImageEvaluator,
    backend: &Backend,
    options: &FineTuneOptions,
) -> Schedule {
    let [(collection, labelled), _] = evaluator.images();
    let images: Arc<[usize]> = evaluator
        .few_labels(options.fraction)
        .iter()
        .map(|&row| labelled[row])
        .collect();
    let seed = Seed(recipe.seed).named("fine-tuning");
    Schedule {
        classes: images.iter().filter_map(|&image| collection.labels()[image]).collect(),
        source: Arc::new(ViewSource {
            data: data.clone(),
            views: crop_and_flip(&recipe.views).init(),
            seed,
        }),
        images,
        num_features: recipe.encoder.config().num_features(),
        num_classes: collection.classes().len(),
        epochs: options.epochs,
        batch_size: options.batch_size,
        learning_rate: options.learning_rate,
        seed,
        device: backend.training_device(),
    }
}

/// One view per image, cropped and flipped as in the run's training, and not changed otherwise.
fn crop_and_flip(views: &ViewsConfig) -> ViewsConfig {
    ViewsConfig {
        count: 1,
        crop: views.crop.clone(),
        flip: views.flip,
        colour: views.colour,
        mean: views.mean,
        std: views.std,
        ..ViewsConfig::plain(views.side)
    }
}

fn record(
    run: &SavedRun<ImageRecipe>,
    recipe: &ImageRecipe,
    tuning: &Schedule,
    evaluator: &ImageEvaluator,
    backend: &Backend,
    options: &FineTuneOptions,
) -> FineTuning {
    let [_, (_, test)] = evaluator.images();
    FineTuning {
        schema: SCHEMA,
        name: recipe.name.clone(),
        recipe_hash: run.recipe_hash.clone(),
        seed: recipe.seed,
        environment: environment(backend, 1),
        data: tuning.source.data.name.clone(),
        fraction: options.fraction,
        labels: tuning.images.len(),
        test_images: test.len(),
        epochs: tuning.epochs,
        batch_size: tuning.batch_size,
        learning_rate: tuning.learning_rate,
        metrics: Metrics::new(),
        seconds: Metrics::new(),
        rows: Vec::new(),
    }
}

/// Trains a network and measures it on the test images.
fn trained(
    tuning: &Schedule,
    evaluator: &ImageEvaluator,
    encoder: ImageEncoder,
    [name, about]: [&'static str; 2],
) -> Result<(ImageClassifier, Measured), Error> {
    let started = Instant::now();
    let classifier = tuning.train(encoder)?;
    let seconds = started.elapsed().as_secs_f64();
    let measured = Measured {
        name,
        about,
        accuracy: accuracy(evaluator, &classifier)?,
        seconds,
    };
    Ok((classifier, measured))
}

/// Top-1 and top-5 accuracy on whole test images, in evaluation mode.
fn accuracy(evaluator: &ImageEvaluator, classifier: &ImageClassifier) -> Result<TopK, Error> {
    let [_, (images, test)] = evaluator.images();
    let logits = evaluator
        .extractor
        .rows(images, Some(test), |block| classifier.forward(block, Mode::Eval))?;
    let labels: Vec<u32> = test.iter().filter_map(|&image| images.labels()[image]).collect();
    let diverged = || {
        Error::Training(
            "the outputs of the network after fine-tuning are not finite numbers; lower --learning-rate, or use more labels or larger batches"
                .to_owned(),
        )
    };
    TopK::of_scores(logits, &labels).ok_or_else(diverged)
}

/// The linear probe of the frozen features on the same labels.
fn frozen(evaluator: &ImageEvaluator, encoder: &ImageEncoder, fraction: f64) -> Result<Measured, Error> {
    let started = Instant::now();
    let [train, test] = evaluator.features(encoder)?;
    let [name, about] = LINEAR_PROBE;
    Ok(Measured {
        name,
        about,
        accuracy: evaluator.few_labels_probe(&train, &test, fraction)?,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Writes the weights, and then what they reach.
fn write(out: &Path, classifier: &ImageClassifier, record: &FineTuning) -> Result<(), Error> {
    let weights = classifier_to_safetensors(classifier).map_err(|error| Error::Training(error.to_string()))?;
    bcl_files::write_whole(&out.join(MODEL), &weights)?;
    Ok(bcl_files::write_whole(&out.join(RECORD), record.to_json().as_bytes())?)
}
