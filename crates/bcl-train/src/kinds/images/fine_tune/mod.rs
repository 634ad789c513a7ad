//! Fine-tunes the encoder of a finished run on a fraction of the labels, and compares it with its frozen features.

mod record;
mod training;

use super::{super::SavedRun, evaluator, memory, start};
use crate::{
    cli,
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
use bcl_files::printable;
use bcl_images::{ImageData, ViewsConfig};
use bcl_methods::batches::ViewSource;
use bcl_models::vision::{ImageClassifier, ImageEncoder, Mode, weights::classifier_to_safetensors};
use bcl_recipe::ImageRecipe;
use bcl_report::result::Metrics;
use record::{Measured, Record};
use std::{path::Path, sync::Arc, time::Instant};
use training::FineTuning;

/// The version of the layout of `fine-tuning.json`.
const SCHEMA: u32 = 1;

/// The weights that are written.
pub(crate) const MODEL: &str = "model.safetensors";

/// The measurements that are written. Not `result.json`, by which the folder would be taken for a run.
pub(crate) const RECORD: &str = "fine-tuning.json";

/// Fine-tunes, measures, writes both files and prints the table.
pub(super) fn fine_tune(run: SavedRun<ImageRecipe>, backend: &Backend, args: &cli::FineTune) -> Result<(), Error> {
    let out = args.folder();
    let data = Arc::new(run.data()?);
    if !has_labelled_test(&data) {
        return Err(Error::Input(format!(
            "fine-tune needs labelled training and test images, but {} has no labelled test images; put some into test/CLASS/ and train \
             again",
            data.name
        )));
    }
    let recipe = ImageRecipe {
        seed: args.seed.unwrap_or(run.recipe.seed),
        ..run.recipe.clone()
    };
    memory::fine_tuning(&recipe, args.batch_size as usize, (&*data).into()).check_on(backend.info())?;
    let load = |device| load_model(start::untrained(&recipe, &device), &run.folder);
    let pretrained = load(backend.device())?;
    bcl_files::create_folder(&out)?;

    let evaluator = evaluator(&recipe, &data, backend, Stop::new());
    let tuning = tuning(&recipe, &data, &evaluator, backend, args);
    let mut record = record(&run, &recipe, &tuning, &evaluator, backend, args);
    notice::status(format!(
        "fine-tuning on {} labels: {} epochs of {} steps, learning rate {}",
        record.labels,
        record.epochs,
        tuning.steps_per_epoch(),
        record.learning_rate
    ));
    let (tuned, measured) = trained(&tuning, &evaluator, load(backend.training_device())?, FINE_TUNED)?;
    record.push(measured);
    record.push(frozen(&evaluator, &pretrained, args.fraction)?);
    if args.from_scratch {
        let random = start::untrained(&recipe, &backend.training_device());
        record.push(trained(&tuning, &evaluator, random, FROM_SCRATCH)?.1);
    }
    write(&out, &tuned, &record)?;
    if args.output.json {
        print!("{}", record.to_json());
    } else {
        record.print();
    }
    notice::status(printable(out.join(MODEL).display()));
    Ok(())
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
    args: &cli::FineTune,
) -> FineTuning {
    let [(collection, labelled), _] = evaluator.images();
    let images: Arc<[usize]> = evaluator.few_labels(args.fraction).iter().map(|&row| labelled[row]).collect();
    let seed = Seed(recipe.seed).named("fine-tuning");
    FineTuning {
        classes: images.iter().filter_map(|&image| collection.labels()[image]).collect(),
        source: Arc::new(ViewSource {
            data: data.clone(),
            views: crop_and_flip(&recipe.views).init(),
            seed,
        }),
        images,
        num_features: recipe.encoder.config().num_features(),
        num_classes: collection.classes().len(),
        epochs: args.epochs as usize,
        batch_size: args.batch_size as usize,
        learning_rate: args.peak_rate(),
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
    tuning: &FineTuning,
    evaluator: &ImageEvaluator,
    backend: &Backend,
    args: &cli::FineTune,
) -> Record {
    let [_, (_, test)] = evaluator.images();
    Record {
        schema: SCHEMA,
        name: recipe.name.clone(),
        recipe_hash: run.recipe_hash.clone(),
        seed: recipe.seed,
        environment: environment(backend, 1),
        data: tuning.source.data.name.clone(),
        fraction: args.fraction,
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
    tuning: &FineTuning,
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
fn write(out: &Path, classifier: &ImageClassifier, record: &Record) -> Result<(), Error> {
    let weights = classifier_to_safetensors(classifier).map_err(|error| Error::Training(error.to_string()))?;
    bcl_files::write_whole(&out.join(MODEL), &weights)?;
    Ok(bcl_files::write_whole(&out.join(RECORD), record.to_json().as_bytes())?)
}
