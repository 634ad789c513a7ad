//! The verbs `embed` and `export`, and what all verbs that use a finished run have in common.

use crate::cli::{Export, ExportFormat};
use bcl_backend::Backend;
use bcl_files::{
    notice::{self, Working},
    printable, refuse_input, refuse_overwriting,
};
use bcl_report::{Column, Table, TextStyle, result::Metrics};
use bcl_train::{
    error::Error,
    kinds::{Saved, SavedRun, graphs::TrainedGraphEncoder, images, interactions::TrainedRecommender},
};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    slice,
};

/// Writes the embeddings of a run into a folder: users and items as CSV, or the features of images and graphs as CSV and NumPy arrays.
///
/// # Errors
/// Returns an error if the run cannot be read or the files cannot be written.
pub(crate) fn embed(run: &Path, data_dir: Option<&Path>, backend: &Backend, out: &Path, json: bool) -> Result<(), Error> {
    let _working = working("embedding the data of", run);
    let saved = Saved::open(run, data_dir)?;
    for file in saved.embeddings().iter().map(|name| out.join(name)) {
        refuse_overwriting("--out", &file, &[])?;
        keep_inputs("--out", &file, &saved, [])?;
    }
    let files = match saved {
        Saved::Recommender(run) => TrainedRecommender::open(*run, backend)?.embed(out)?,
        Saved::Images(run) => images::embed(&run, backend, out)?,
        Saved::Graphs(run) => TrainedGraphEncoder::open(*run, backend)?.embed(out)?,
    };
    print_files(&files, json);
    Ok(())
}

/// Prints the files that were written.
fn print_files(files: &[PathBuf], json: bool) {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    if json {
        println!("{:#}", json!({ "files": names }));
    } else {
        for name in names {
            println!("{}", printable(name));
        }
    }
}

/// Checks that the file of a flag is none that the run or the command reads.
///
/// # Errors
/// Returns an error that names the flag and the file.
pub(super) fn keep_inputs<const N: usize>(
    flag: &'static str,
    file: &Path,
    saved: &Saved,
    given: [Option<&PathBuf>; N],
) -> Result<(), Error> {
    let of_run = saved.inputs()?;
    let inputs = of_run.iter().chain(given.into_iter().flatten()).map(PathBuf::as_path);
    Ok(refuse_input(flag, file, inputs)?)
}

/// Checks the flags of `export` before a backend is opened.
///
/// # Errors
/// Returns an error that names the flag.
pub(crate) fn check_export(args: &Export) -> Result<(), Error> {
    if args.projections && args.format != ExportFormat::Onnx {
        return Err(Error::Input(
            "--projections: only --format onnx exports the projection head; add it, or remove --projections".to_owned(),
        ));
    }
    refuse_overwriting("--out", &out_of(args), &[args.format.extension()])?;
    Ok(())
}

/// Writes the trained weights of a run as a safetensors file, under the names that `PyTorch` code uses, or its encoder as an ONNX model.
///
/// # Errors
/// Returns an error if the run cannot be read, has no encoder of images in case of ONNX, or the file cannot be written.
pub(crate) fn export(args: &Export, backend: &Backend) -> Result<(), Error> {
    check_export(args)?;
    let _working = working("exporting", &args.run);
    let out = &out_of(args);
    let saved = Saved::open(&args.run, args.compute.data.as_deref())?;
    keep_inputs("--out", out, &saved, [])?;
    match (saved, args.format) {
        (Saved::Recommender(run), ExportFormat::Safetensors) => TrainedRecommender::open(*run, backend)?.export(out)?,
        (Saved::Images(run), ExportFormat::Safetensors) => images::export(&run, backend, out)?,
        (Saved::Graphs(run), ExportFormat::Safetensors) => TrainedGraphEncoder::open(*run, backend)?.export(out)?,
        (Saved::Images(run), ExportFormat::Onnx) => {
            images::export_onnx(&run, backend, out, args.projections).map_err(|error| match error {
                Error::Onnx(error) => Error::Input(format!("--format onnx: {error}")),
                other => other,
            })?;
        }
        (other, ExportFormat::Onnx) => {
            return Err(Error::Input(format!(
                "--format onnx: {} trained an encoder of {}, and only encoders of images (encoder.kind = \"resnet\") can be exported as ONNX; use \
                 --format safetensors, or `embed` for its vectors",
                other.path().display(),
                other.samples()
            )));
        }
    }
    print_files(slice::from_ref(out), args.output.json);
    Ok(())
}

fn out_of(args: &Export) -> PathBuf {
    let default = || args.run.join("model").with_extension(args.format.extension());
    args.out.clone().unwrap_or_else(default)
}

/// The run, if it trained an encoder of images, for a verb that needs one.
pub(super) fn of_images(saved: Saved, verb: &str) -> Result<SavedRun<bcl_recipe::ImageRecipe>, Error> {
    match saved {
        Saved::Images(run) => Ok(*run),
        other => Err(Error::Input(format!(
            "{} trained an encoder of {}, and `{verb}` needs one of images; name the run of a recipe on images, such as quickstart-images/bayesian",
            other.path().display(),
            other.samples()
        ))),
    }
}

/// Reports every ten seconds that the command on this run is still working.
pub(super) fn working(what: &str, run: &Path) -> Working {
    notice::working(format!("{what} {}", run.display()))
}

/// Prints metrics by name.
pub(super) fn print_metrics(metrics: &Metrics) {
    let rows = metrics.iter().map(|(name, value)| [name.clone(), format!("{value:.4}")]);
    let table = Table::new([Column::number(""), Column::number("")], rows);
    print!("{}", table.render(&TextStyle::of_stdout()));
}
