//! A finished run, for what uses its weights.

use super::Kind;
use crate::{
    error::Error,
    training::{DataRecord, RunFolder},
};
use bcl_data::SearchPath;
use bcl_recipe::{GraphRecipe, ImageRecipe, Recipe, RecommenderRecipe, RunRecipe};
use std::path::{Path, PathBuf};

/// A finished run of one kind.
#[derive(Debug)]
pub struct SavedRun<K> {
    /// Its folder.
    pub folder: RunFolder,
    /// Its recipe.
    pub recipe: K,
    /// Hash of the recipe.
    pub recipe_hash: String,
    /// Where files that the recipe names are searched for.
    pub search: SearchPath,
    /// What the run recorded about its data.
    pub record: DataRecord,
}

/// A finished run.
#[derive(Debug)]
pub enum Saved {
    /// It trained a recommender.
    Recommender(Box<SavedRun<RecommenderRecipe>>),
    /// It trained an encoder of images.
    Images(Box<SavedRun<ImageRecipe>>),
    /// It trained an encoder of graphs.
    Graphs(Box<SavedRun<GraphRecipe>>),
}

impl Saved {
    /// Opens a run. Files are searched for in `data_dir`, if given, before the folders where the run found them.
    ///
    /// # Errors
    /// Returns an error if there is no run in the folder, or it cannot be read.
    pub fn open(run: &Path, data_dir: Option<&Path>) -> Result<Self, Error> {
        let (folder, recipe, invocation) = RunFolder::open(run)?;
        invocation.refuse_trial(&folder)?;
        let record = folder.data_to_resume()?;
        let recipe_hash = recipe.hash();
        let search = match data_dir {
            Some(dir) => invocation.search.with_data_dir(dir),
            None => invocation.search,
        };
        macro_rules! of {
            ($recipe:expr) => {
                Box::new(SavedRun {
                    folder,
                    recipe: *$recipe,
                    recipe_hash,
                    search,
                    record,
                })
            };
        }
        Ok(match recipe {
            Recipe::Recommender(recipe) => Self::Recommender(of!(recipe)),
            Recipe::Images(recipe) => Self::Images(of!(recipe)),
            Recipe::Graphs(recipe) => Self::Graphs(of!(recipe)),
        })
    }

    /// The files that its recipe names, which no flag may overwrite. Titles and initial weights may be missing: a finished run does not need them.
    ///
    /// # Errors
    /// Returns an error if a file of interactions is missing.
    pub fn inputs(&self) -> Result<Vec<PathBuf>, Error> {
        match self {
            Self::Recommender(run) => {
                let mut data = run.recipe.data.clone();
                let titles = data.items.take().and_then(|file| run.search.find("data.items", &file).ok());
                Ok(data.files(&run.search)?.into_iter().chain(titles).collect())
            }
            Self::Images(run) => {
                let weights = run.recipe.encoder.weights().into_iter();
                Ok(weights
                    .filter_map(|file| run.search.find("encoder.weights", file).ok())
                    .collect())
            }
            Self::Graphs(_) => Ok(Vec::new()),
        }
    }

    /// Names of the files with the embeddings of its data, as its kind writes them; a run without test images writes fewer.
    pub fn embeddings(&self) -> &'static [&'static str] {
        match self {
            Self::Recommender(_) => &["users.csv", "users.npy", "items.csv", "items.npy"],
            Self::Images(_) => &[
                "train.csv",
                "train.npy",
                "train_labels.npy",
                "test.csv",
                "test.npy",
                "test_labels.npy",
            ],
            Self::Graphs(_) => &["graphs.csv", "graphs.npy", "graphs_labels.npy"],
        }
    }

    /// The folder of the run.
    pub fn path(&self) -> &Path {
        match self {
            Self::Recommender(run) => run.folder.path(),
            Self::Images(run) => run.folder.path(),
            Self::Graphs(run) => run.folder.path(),
        }
    }

    /// What the run trained on, as a plural noun such as "images".
    pub fn samples(&self) -> &'static str {
        match self {
            Self::Recommender(_) => RecommenderRecipe::SAMPLES,
            Self::Images(_) => ImageRecipe::SAMPLES,
            Self::Graphs(_) => GraphRecipe::SAMPLES,
        }
    }
}

impl<K: Kind> SavedRun<K> {
    /// Loads the data of the run, with ids numbered as in its weights.
    ///
    /// # Errors
    /// Returns an error if the data cannot be read, or is not what the run was trained on.
    pub fn data(&self) -> Result<K::Data, Error> {
        let source = self.recipe.source(&self.search)?;
        let data = self.recipe.load(&self.search, self.record.known_ids())?;
        self.record
            .check(&K::data_record(&data).identity, &source, self.folder.path())?;
        Ok(data)
    }
}

/// Writes files into a folder and returns their paths.
pub(super) fn write_files(folder: &Path, files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<Vec<PathBuf>, Error> {
    let write = |(name, bytes): (String, Vec<u8>)| {
        let path = folder.join(name);
        bcl_files::write_whole(&path, &bytes)?;
        Ok(path)
    };
    files.into_iter().map(write).collect()
}

/// Formats vectors as CSV: a header with `names` and the column numbers, then one row per vector. Texts that contain commas,
/// quotes or line breaks are quoted.
pub(super) fn vectors_as_csv<'a, const N: usize>(
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
