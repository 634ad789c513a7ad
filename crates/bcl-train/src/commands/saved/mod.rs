//! Uses the weights of a finished run: evaluates, embeds, recommends, exports.

mod images;
mod recommendation;
mod recommender;

use crate::{
    error::Error,
    recipe::{ImageRecipe, Recipe, RecommenderRecipe},
    training::{DataIdentity, KeptData, RunFolder, data_size},
};
use bcl_backend::Backend;
use bcl_data::{InteractionData, SearchPath};
use bcl_images::ImageData;
use bcl_report::{
    Column,
    files::refuse_overwriting,
    notice::{self, Working},
    read_run,
    result::{DataSize, Metrics},
};
use std::path::Path;

/// Prints metrics by name.
fn print_metrics(metrics: &Metrics) {
    let rows = metrics.iter().map(|(name, value)| [name.clone(), format!("{value:.4}")]);
    super::print_rows([Column::number(""), Column::number("")], rows);
}

/// A finished run of one kind of recipe.
struct SavedRun<R> {
    folder: RunFolder,
    recipe: R,
    /// The recipe as TOML, and its hash.
    about: [String; 2],
    search: SearchPath,
    /// What the run recorded about its data; `None` if version 0.1 trained it.
    kept: Option<KeptData>,
}

/// A finished run.
enum Saved {
    Recommender(SavedRun<RecommenderRecipe>),
    Images(SavedRun<ImageRecipe>),
}

impl SavedRun<RecommenderRecipe> {
    /// Loads the data of the run, with users and items numbered as in its weights.
    fn data(&self) -> Result<InteractionData, Error> {
        let config = &self.recipe.data;
        let ids = self.kept.as_ref().map(KeptData::known_ids).unwrap_or_default();
        let source = config.described(&self.search)?;
        let data = config.load(&self.search, ids)?;
        let size = data_size::of_interactions(&data);
        self.check(|| DataIdentity::of_interactions(&data), &source, size)?;
        Ok(data)
    }
}

impl SavedRun<ImageRecipe> {
    /// Loads the images of the run.
    fn data(&self) -> Result<ImageData, Error> {
        let config = &self.recipe.data;
        let source = config.described(&self.search)?;
        let data = config.load(&self.search)?;
        let size = data_size::of_images(&data);
        self.check(|| DataIdentity::of_images(&data), &source, size)?;
        Ok(data)
    }
}

impl<R> SavedRun<R> {
    /// Checks that the data is what the run was trained on.
    ///
    /// Version 0.1 recorded only its size, so different data of the same size only leads to a warning.
    fn check(&self, identity: impl FnOnce() -> DataIdentity, source: &str, size: DataSize) -> Result<(), Error> {
        let run = self.folder.path();
        if let Some(kept) = &self.kept {
            return kept.check(&identity(), source, run);
        }
        if self.folder.result_file().is_file() {
            let then = read_run(run)?.0.data.size;
            if then != size {
                return Err(Error::Input(format!(
                    "{} was trained on other data than {source} contains now: {then} then, {size} now; restore the data, or train again",
                    run.display()
                )));
            }
        }
        notice::warn(format_args!(
            "{} has no data.json, because version 0.1 trained it: if rows of {source} have moved or changed since, the output \
             is wrong; train again to be sure",
            run.display()
        ));
        Ok(())
    }
}

/// Opens a run. Files are searched for in `data_dir` before the folders where the run found them.
fn open(run: &Path, data_dir: Option<&Path>) -> Result<Saved, Error> {
    let (folder, recipe, invocation) = RunFolder::open(run)?;
    invocation.refuse_trial(&folder)?;
    let about = [recipe.to_toml(), recipe.hash()];
    let kept = KeptData::read(folder.path())?;
    let search = match data_dir {
        Some(dir) => invocation.search.with_data_dir(dir),
        None => invocation.search,
    };
    Ok(match recipe {
        Recipe::Recommender(recipe) => Saved::Recommender(SavedRun {
            folder,
            recipe: *recipe,
            about,
            search,
            kept,
        }),
        Recipe::Images(recipe) => Saved::Images(SavedRun {
            folder,
            recipe: *recipe,
            about,
            search,
            kept,
        }),
    })
}

/// Evaluates the saved weights of a run on its test data and prints the metrics.
///
/// # Errors
/// Returns an error if the run or its data cannot be read.
pub fn evaluate(run: &Path, data_dir: Option<&Path>, backend: &Backend, json: bool) -> Result<(), Error> {
    let _working = working("evaluating", run);
    match open(run, data_dir)? {
        Saved::Recommender(run) => recommender::evaluate(run, backend, json),
        Saved::Images(run) => images::evaluate(run, backend, json),
    }
}

/// Prints the best items for a user, by the ids of the data files, without the items of the user's training data.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, the run is not one of a recommender, or the user is unknown.
pub fn recommend(
    run: &Path,
    data_dir: Option<&Path>,
    backend: &Backend,
    user: &str,
    top: usize,
    json: bool,
) -> Result<(), Error> {
    let _working = working("ranking the items of", run);
    match open(run, data_dir)? {
        Saved::Recommender(run) => recommender::recommend(run, backend, user, top, json),
        Saved::Images(run) => Err(Error::Input(format!(
            "{} trained an encoder of images, which cannot recommend; use `embed` for its features",
            run.folder.path().display()
        ))),
    }
}

/// Writes the embeddings of a run into a folder: users and items as CSV, or the features of images as CSV and NumPy arrays.
///
/// # Errors
/// Returns an error if the run cannot be read or the files cannot be written.
pub fn embed(run: &Path, data_dir: Option<&Path>, backend: &Backend, out: &Path) -> Result<(), Error> {
    refuse_overwriting("--out", &out.join("users.csv"), &["csv"])?;
    let _working = working("embedding the data of", run);
    match open(run, data_dir)? {
        Saved::Recommender(run) => recommender::embed(run, backend, out),
        Saved::Images(run) => images::embed(run, backend, out),
    }
}

/// Writes the trained weights of a run as a safetensors file, under the names that `PyTorch` code uses.
///
/// # Errors
/// Returns an error if the run cannot be read or the file cannot be written.
pub fn export(run: &Path, data_dir: Option<&Path>, backend: &Backend, out: &Path) -> Result<(), Error> {
    refuse_overwriting("--out", out, &["safetensors"])?;
    let _working = working("exporting", run);
    match open(run, data_dir)? {
        Saved::Recommender(run) => recommender::export(run, backend, out),
        Saved::Images(run) => images::export(run, backend, out),
    }
}

/// Reports every ten seconds that the command on this run is still working.
fn working(what: &str, run: &Path) -> Working {
    notice::working(format!("{what} {}", run.display()))
}

/// Formats vectors as CSV: a header with `names` and the column numbers, then one row per vector. Texts that contain commas,
/// quotes or line breaks are quoted.
fn vectors_as_csv<'a, const N: usize>(
    names: [&str; N],
    rows: impl Iterator<Item = ([String; N], &'a [f32])>,
    dim: usize,
) -> Vec<u8> {
    const IN_MEMORY: &str = "writing to memory cannot fail";
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = names
        .map(str::to_owned)
        .into_iter()
        .chain((0..dim).map(|column| column.to_string()));
    writer.write_record(header).expect(IN_MEMORY);
    for (texts, values) in rows {
        let row = texts.into_iter().chain(values.iter().map(f32::to_string));
        writer.write_record(row).expect(IN_MEMORY);
    }
    writer.into_inner().expect(IN_MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_commas_and_quotes_stays_one_column() {
        let rows = [
            (["Cars, \"fast\"".to_owned()], &[0.5_f32, -2.0][..]),
            (["plain".to_owned()], &[1.0, 3.25]),
        ];
        let text = String::from_utf8(vectors_as_csv(["id"], rows.into_iter(), 2)).unwrap();
        assert_eq!(text, "id,0,1\n\"Cars, \"\"fast\"\"\",0.5,-2\nplain,1,3.25\n");
    }
}
