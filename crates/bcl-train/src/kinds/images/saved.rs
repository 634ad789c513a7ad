//! A trained encoder of images.

use super::{
    super::{
        SavedRun,
        saved::{vectors_as_csv, write_files},
    },
    evaluator,
    start::untrained,
};
use crate::{
    error::Error,
    training::{Stop, folder::load_model},
};
use bcl_backend::Backend;
use bcl_images::{Collection, ColourSpace, ImageData};
use bcl_models::vision::{
    ImageEncoder,
    onnx::{OnnxOptions, to_onnx},
    weights::trunks_to_safetensors,
};
use bcl_recipe::ImageRecipe;
use bcl_report::{npy, result::Metrics};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Loads the saved weights of a run.
pub(super) fn encoder(run: &SavedRun<ImageRecipe>, backend: &Backend) -> Result<ImageEncoder, Error> {
    let encoder = untrained(&run.recipe, &backend.device());
    load_model(encoder, &run.folder)
}

/// The evaluation of a trained encoder of images.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageMetrics {
    /// Name of the data set.
    pub data: String,
    /// Number of images that were evaluated.
    pub images: usize,
    /// Whether they are training images, because the data have no test images.
    pub are_training_images: bool,
    /// The metrics.
    pub metrics: Metrics,
}

/// Evaluates the encoder of a run, with probes on fractions of the labels in place of the recipe's, if given.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, or there are fractions but no labelled test images.
pub fn evaluate(
    mut run: SavedRun<ImageRecipe>,
    backend: &Backend,
    label_fractions: Option<&[f64]>,
) -> Result<ImageMetrics, Error> {
    let encoder = encoder(&run, backend)?;
    let data = Arc::new(run.data()?);
    if let Some(fractions) = label_fractions {
        run.recipe.evaluation.label_fractions = fractions.to_vec();
    }
    let evaluator = evaluator(&run.recipe, &data, backend, Stop::new());
    if label_fractions.is_some() && !evaluator.has_probes() {
        return Err(Error::Unlabelled { data: data.name.clone() });
    }
    let [_, (images, _)] = evaluator.images();
    Ok(ImageMetrics {
        metrics: evaluator.encoder(&encoder)?,
        images: images.len(),
        are_training_images: evaluator.uses_train_as_test(),
        data: data.name.clone(),
    })
}

/// Writes the features and labels of `train` and, if present, `test` as NumPy arrays, and as CSV `file,label,class,0,1,…`. All
/// three have their rows in the same order. Returns the files.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, or the files cannot be written.
pub fn embed(run: &SavedRun<ImageRecipe>, backend: &Backend, out: &Path) -> Result<Vec<PathBuf>, Error> {
    let encoder = encoder(run, backend)?;
    let data = Arc::new(run.data()?);
    bcl_files::create_folder(out)?;
    let ImageData { train, test, .. } = &*data;
    let extractor = evaluator(&run.recipe, &data, backend, Stop::new()).extractor;
    let mut files = Vec::new();
    for (name, images) in [("train", train), ("test", test)] {
        if images.is_empty() {
            continue;
        }
        let features = extractor.encoded(images, None, &encoder)?;
        let [rows, dim] = features.dims();
        let values: Vec<f32> = features.into_data().iter::<f32>().collect();
        let labels: Vec<i64> = images.labels().iter().map(|label| label.map_or(-1, i64::from)).collect();
        let written = [
            (format!("{name}.npy"), npy::of_floats(&values, [rows, dim])),
            (format!("{name}_labels.npy"), npy::of_integers(&labels)),
            (format!("{name}.csv"), csv(images, &values, dim)),
        ];
        files.extend(write_files(out, written)?);
    }
    Ok(files)
}

/// One row per image; an image without a class has the label -1 and an empty class.
fn csv(images: &Collection, values: &[f32], dim: usize) -> Vec<u8> {
    let rows = values
        .chunks(dim)
        .zip(images.labels())
        .enumerate()
        .map(|(index, (values, label))| {
            let [label, class] = match label {
                Some(label) => [label.to_string(), images.classes()[*label as usize].clone()],
                None => ["-1".to_owned(), String::new()],
            };
            ([images.name(index).to_owned(), label, class], values)
        });
    vectors_as_csv(["file", "label", "class"], rows, dim)
}

/// Writes the weights of the residual network without its head, or of both of them, under torchvision's names, as a safetensors file.
///
/// # Errors
/// Returns an error if the run cannot be read or the file cannot be written.
pub fn export(run: &SavedRun<ImageRecipe>, backend: &Backend, out: &Path) -> Result<(), Error> {
    let bytes = trunks_to_safetensors(&encoder(run, backend)?).map_err(|error| Error::Training(error.to_string()))?;
    Ok(bcl_files::write_whole(out, &bytes)?)
}

/// Writes the residual network, and its head if requested, as an ONNX model that says how to prepare images.
///
/// # Errors
/// Returns an error if the run cannot be read, its encoder has no ONNX model, or the file cannot be written.
pub fn export_onnx(run: &SavedRun<ImageRecipe>, backend: &Backend, out: &Path, projections: bool) -> Result<(), Error> {
    let options = OnnxOptions {
        projections,
        metadata: metadata(run),
    };
    let bytes = to_onnx(&encoder(run, backend)?, &options)?;
    Ok(bcl_files::write_whole(out, &bytes)?)
}

/// What a reader of the model needs to prepare images, and where the weights come from.
fn metadata(run: &SavedRun<ImageRecipe>) -> Vec<(String, String)> {
    let recipe = &run.recipe;
    let views = recipe.views.init();
    let views = views.config();
    let side = recipe.evaluation.side.unwrap_or(views.side);
    let is_rgb = views.colour == ColourSpace::Rgb;
    let prepared = if is_rgb {
        "red, green and blue in [0, 1], minus `mean`, divided by `std`"
    } else {
        "`colour`, normalised as bcl_images::Conversion does"
    };
    let constants = |of_rgb: [f64; 3]| is_rgb.then(|| json!(of_rgb).to_string());
    let texts = [
        ("pixels", Some(format!("float32, NCHW: {prepared}"))),
        ("colour", Some(views.colour.name().to_owned())),
        ("mean", constants(views.mean)),
        ("std", constants(views.std)),
        ("side", Some(side.to_string())),
        ("name", Some(recipe.name.clone())),
        ("seed", Some(recipe.seed.to_string())),
        ("recipe_hash", Some(run.recipe_hash.clone())),
    ];
    texts
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), text?)))
        .collect()
}
