//! The commands on a run of an image encoder: evaluate, embed, export.

use super::{
    super::{
        SavedRun,
        saved::{print_metrics, vectors_as_csv},
    },
    evaluator,
    start::untrained,
};
use crate::{
    cli::{self, LabelFractions},
    error::Error,
    training::{Stop, folder::load_model},
};
use bcl_backend::Backend;
use bcl_files::notice;
use bcl_files::printable;
use bcl_images::{Collection, ColourSpace, ImageData};
use bcl_models::vision::{
    ImageEncoder,
    onnx::{OnnxOptions, to_onnx},
    weights::trunks_to_safetensors,
};
use bcl_recipe::ImageRecipe;
use bcl_report::{collapse::collapse, npy};
use serde_json::json;
use std::{path::Path, sync::Arc};

/// Loads the saved weights of a run.
pub(super) fn encoder(run: &SavedRun<ImageRecipe>, backend: &Backend) -> Result<ImageEncoder, Error> {
    let encoder = untrained(&run.recipe, &backend.device());
    load_model(encoder, &run.folder)
}

pub(super) fn evaluate(mut run: SavedRun<ImageRecipe>, backend: &Backend, args: &cli::Evaluate) -> Result<(), Error> {
    let encoder = encoder(&run, backend)?;
    let data = Arc::new(run.data()?);
    if let Some(LabelFractions(fractions)) = &args.label_fractions {
        run.recipe.evaluation.label_fractions.clone_from(fractions);
    }
    let evaluator = evaluator(&run.recipe, &data, backend, Stop::new());
    if args.label_fractions.is_some() && !evaluator.has_probes() {
        return Err(Error::Input(format!(
            "--label-fractions needs labelled test images, but {} has none; remove it",
            data.name
        )));
    }
    let metrics = evaluator.encoder(&encoder)?;
    if args.output.json {
        println!("{:#}", json!({ "run": run.folder.path(), "metrics": metrics }));
    } else {
        let [_, (images, _)] = evaluator.images();
        let part = if evaluator.uses_train_as_test() { "training" } else { "test" };
        println!(
            "{} on {} {part} images of {}",
            run.recipe.name,
            images.len(),
            printable(&data.name)
        );
        print_metrics(&metrics);
    }
    if let Some(text) = collapse(&metrics) {
        notice::warn(format_args!("the features {text}"));
    }
    Ok(())
}

/// Writes the features and labels of `train` and, if present, `test` as NumPy arrays, and as CSV `file,label,class,0,1,…`. All
/// three have their rows in the same order.
pub(super) fn embed(run: SavedRun<ImageRecipe>, backend: &Backend, out: &Path) -> Result<(), Error> {
    let encoder = encoder(&run, backend)?;
    let data = Arc::new(run.data()?);
    bcl_files::create_folder(out)?;
    let ImageData { train, test, .. } = &*data;
    let extractor = evaluator(&run.recipe, &data, backend, Stop::new()).extractor;
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
        for (file, bytes) in written {
            bcl_files::write_whole(&out.join(&file), &bytes)?;
            println!("{}", printable(out.join(file).display()));
        }
    }
    Ok(())
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

/// Writes the residual network without its head, or both of them, under torchvision's names.
pub(super) fn export(run: SavedRun<ImageRecipe>, backend: &Backend, out: &Path) -> Result<(), Error> {
    let encoder = encoder(&run, backend)?;
    let bytes = trunks_to_safetensors(&encoder).map_err(|error| Error::Training(error.to_string()))?;
    bcl_files::write_whole(out, &bytes)?;
    println!("{}", printable(out.display()));
    Ok(())
}

/// Writes the residual network, and its head if asked for, as an ONNX model that says how to prepare images.
pub(super) fn export_onnx(run: SavedRun<ImageRecipe>, backend: &Backend, out: &Path, projections: bool) -> Result<(), Error> {
    let encoder = encoder(&run, backend)?;
    let options = OnnxOptions {
        projections,
        metadata: metadata(&run),
    };
    let bytes = to_onnx(&encoder, &options).map_err(|error| Error::Input(format!("--format onnx: {error}")))?;
    bcl_files::write_whole(out, &bytes)?;
    println!("{}", printable(out.display()));
    Ok(())
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
