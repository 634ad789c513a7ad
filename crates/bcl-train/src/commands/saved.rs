//! Uses the weights of a finished run: evaluates, embeds, recommends, searches, fine-tunes, exports.

use crate::{
    cli::{self, Export, ExportFormat, FineTune},
    error::Error,
    kinds::{
        Kind, SavedRun, Search,
        images::{FINE_TUNED_MODEL, FINE_TUNING_RECORD},
        interactions::ListFormat,
    },
    training::{DataRecord, RunFolder, Stop},
};
use bcl_backend::Backend;
use bcl_files::{
    notice::{self, Working},
    refuse_overwriting,
};
use bcl_recipe::{ImageRecipe, Recipe, RecommenderRecipe, of_kind};
use std::path::{Path, PathBuf};

/// Opens a run. Files are searched for in `data_dir` before the folders where the run found them.
fn open(run: &Path, data_dir: Option<&Path>) -> Result<SavedRun<Recipe>, Error> {
    let (folder, recipe, invocation) = RunFolder::open(run)?;
    invocation.refuse_trial(&folder)?;
    let record = DataRecord::read(folder.path())?;
    Ok(SavedRun {
        folder,
        recipe_hash: recipe.hash(),
        recipe,
        search: match data_dir {
            Some(dir) => invocation.search.with_data_dir(dir),
            None => invocation.search,
        },
        record,
    })
}

/// Calls a method of [`Kind`] with a saved run of the kind.
macro_rules! call {
    ($run:expr, $verb:ident($($argument:expr),*)) => {{
        let SavedRun { folder, recipe, recipe_hash, search, record } = $run;
        of_kind!(recipe, recipe => Kind::$verb(SavedRun { folder, recipe: *recipe, recipe_hash, search, record }, $($argument),*))
    }};
}

/// Evaluates the saved weights of a run on its test data and prints the metrics.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, or a flag has no meaning for runs of its kind.
pub fn evaluate(args: &cli::Evaluate, backend: &Backend) -> Result<(), Error> {
    if let Some(path) = &args.per_user {
        refuse_overwriting("--per-user", path, &["csv"])?;
    }
    let _working = working("evaluating", &args.run);
    let run = open(&args.run, args.compute.data.as_deref())?;
    if let (Some(flag), None) = (args.flag_of_recommenders(), run.recipe.as_kind::<RecommenderRecipe>()) {
        return Err(Error::Input(format!(
            "{flag} has no meaning for {}, which trained no recommender; remove it",
            args.run.display()
        )));
    }
    if args.label_fractions.is_some() && run.recipe.as_kind::<ImageRecipe>().is_none() {
        return Err(Error::Input(format!(
            "--label-fractions has no meaning for {}, which trained no encoder of images; remove it",
            args.run.display()
        )));
    }
    call!(run, evaluate(backend, args))
}

/// Checks the flags of `recommend` before anything is opened.
///
/// # Errors
/// Returns an error if the file of `--out` is of no known format, or must not be overwritten.
pub fn check_recommend(args: &cli::Recommend) -> Result<(), Error> {
    let Some(out) = &args.out else { return Ok(()) };
    ListFormat::of(out)?;
    Ok(refuse_overwriting("--out", out, &["csv", "jsonl"])?)
}

/// Prints or writes the best items for users, for new users, or beside items, by the ids of the data files.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, the run is not one of a recommender, or a user or an item is unknown.
pub fn recommend(args: &cli::Recommend, backend: &Backend, stop: Stop) -> Result<(), Error> {
    let _working = working("ranking the items of", &args.run);
    call!(open(&args.run, args.compute.data.as_deref())?, recommend(backend, args, stop))
}

/// Writes the embeddings of a run into a folder: users and items as CSV, or the features of images as CSV and NumPy arrays.
///
/// # Errors
/// Returns an error if the run cannot be read or the files cannot be written.
pub fn embed(run: &Path, data_dir: Option<&Path>, backend: &Backend, out: &Path) -> Result<(), Error> {
    refuse_overwriting("--out", &out.join("users.csv"), &["csv"])?;
    let _working = working("embedding the data of", run);
    call!(open(run, data_dir)?, embed(backend, out))
}

/// Searches a folder of images with the encoder of a run.
///
/// # Errors
/// Returns an error if the run or the images cannot be read, the run has no encoder of images, or a file cannot be written.
pub fn search(run: &Path, data_dir: Option<&Path>, backend: &Backend, search: &Search<'_>) -> Result<(), Error> {
    search.check_files()?;
    let _working = working("searching images with", run);
    call!(open(run, data_dir)?, search(backend, search))
}

/// Checks the folder of `fine-tune` before anything is opened.
///
/// # Errors
/// Returns an error if a file in it must not be overwritten.
pub fn check_fine_tune(args: &FineTune) -> Result<(), Error> {
    let out = args.folder();
    refuse_overwriting("--out", &out.join(FINE_TUNED_MODEL), &["safetensors"])?;
    Ok(refuse_overwriting("--out", &out.join(FINE_TUNING_RECORD), &["json"])?)
}

/// Fine-tunes the image encoder of a run on a fraction of the labels, writes the weights and prints how they compare.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, it has no encoder of images or no labels, or a file cannot be written.
pub fn fine_tune(args: &FineTune, backend: &Backend) -> Result<(), Error> {
    check_fine_tune(args)?;
    let _working = working("fine-tuning", &args.run);
    call!(open(&args.run, args.compute.data.as_deref())?, fine_tune(backend, args))
}

/// Checks the flags of `export` before a backend is opened.
///
/// # Errors
/// Returns an error that names the flag.
pub fn check_export(args: &Export) -> Result<(), Error> {
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
pub fn export(args: &Export, backend: &Backend) -> Result<(), Error> {
    check_export(args)?;
    let _working = working("exporting", &args.run);
    let run = open(&args.run, args.compute.data.as_deref())?;
    let out = &out_of(args);
    match args.format {
        ExportFormat::Safetensors => call!(run, export(backend, out)),
        ExportFormat::Onnx => call!(run, export_onnx(backend, out, args.projections)),
    }
}

fn out_of(args: &Export) -> PathBuf {
    let default = || args.run.join("model").with_extension(args.format.extension());
    args.out.clone().unwrap_or_else(default)
}

/// Reports every ten seconds that the command on this run is still working.
fn working(what: &str, run: &Path) -> Working {
    notice::working(format!("{what} {}", run.display()))
}
