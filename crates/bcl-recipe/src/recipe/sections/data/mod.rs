//! The `[data]` table.

mod files;
mod source;

pub use source::DataSource;

use super::dataset::PLANTED;
use bcl_data::{
    DataError, Format, IdMap, InteractionColumns, InteractionData, ItemColumns, ItemNames, KnownIds, PlantedConfig, SearchPath,
    SplitOptions, load_named_with_ids, load_with_ids,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Which interactions to learn from: a data set by name, planted data, or your own files.
///
/// ```toml
/// [data]
/// dataset = "ml-100k"          # by name; its files are looked for in --data DIR
/// split.kind = "leave_one_out" # in place of its usual split
///
/// [data]
/// dataset = "planted"          # generated, with known truth
/// planted.noise = 0.2
///
/// [data]
/// train = "train.txt"          # files with a given split
/// test = "test.txt"
///
/// [data]
/// file = "ratings.csv"         # one file, split here; or several: files = ["a.csv", "b.csv"]
/// columns.item = "movie"
/// min_rating = 4
/// min_user_interactions = 5
/// split.kind = "leave_one_out"
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataConfig {
    /// Name of a data set, or `planted` for generated data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// File of the training interactions, beside the recipe or in `--data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train: Option<PathBuf>,
    /// File of the test interactions, beside the recipe or in `--data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<PathBuf>,
    /// File of all interactions, to be split; beside the recipe or in `--data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Files that together have all interactions, to be split; beside the recipe or in `--data`. A `*` in a file name stands for any text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<PathBuf>>,
    /// Format of the files; detected if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Columns of the files; found by their usual names or order if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<InteractionColumns>,
    /// Minimum rating: interactions with a lower one are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rating: Option<f64>,
    /// Minimum number of items of a user; users with fewer are left out before splitting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_user_interactions: Option<usize>,
    /// Minimum number of users of an item; items with fewer are left out before splitting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_item_interactions: Option<usize>,
    /// How to split files into train and test, or a data set with a name in place of its usual split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitOptions>,
    /// How to generate planted data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planted: Option<PlantedConfig>,
    /// File with the titles of items, beside the recipe or in `--data`; for display only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<PathBuf>,
    /// The columns of the file of items; found by their usual names if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_columns: Option<ItemColumns>,
}

impl DataConfig {
    /// Planted data.
    pub fn planted(config: PlantedConfig) -> Self {
        Self {
            dataset: Some(PLANTED.to_owned()),
            planted: Some(config),
            ..Self::default()
        }
    }

    /// Fills in defaults, so that a resolved recipe shows them.
    pub(crate) fn resolve(&mut self) {
        match self.source() {
            Ok(DataSource::Planted(config)) => self.planted = Some(config),
            Ok(DataSource::Files(source, options)) => {
                self.format = Some(options.format);
                if let bcl_data::Source::Whole { split, .. } = source {
                    self.split = Some(split.completed());
                }
            }
            // A recipe without a split uses the manifest's.
            Ok(DataSource::Named(..)) => self.split = self.split.map(SplitOptions::completed),
            Err(_) => {}
        }
    }

    /// Generates or reads the data. Users and items with known ids keep their numbers.
    ///
    /// # Errors
    /// Returns an error if a file is missing or broken.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn load(&self, search: &SearchPath, ids: KnownIds) -> Result<InteractionData, DataError> {
        match self.located(search)? {
            DataSource::Planted(config) => Ok(config.generate()),
            DataSource::Named(name, options) => load_named_with_ids(&name, search.data_dir(), &options, ids),
            DataSource::Files(source, options) => load_with_ids(&stem(source.files()[0]), &source, &options, ids),
        }
    }

    /// Reads the titles of `items` from the file that `data.items` names; `None` without one.
    ///
    /// # Errors
    /// Returns an error if the file is missing, broken, or of other items.
    pub fn load_item_names(&self, search: &SearchPath, items: &IdMap) -> Result<Option<ItemNames>, DataError> {
        let Some(file) = &self.items else { return Ok(None) };
        let path = search.find("data.items", file)?;
        let columns = self.item_columns.clone().unwrap_or_default();
        ItemNames::read(&path, &columns, items).map(Some)
    }

    /// Describes the source for messages. Equal configurations with equal descriptions load the same files.
    ///
    /// # Errors
    /// Returns an error if a file is missing.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn described(&self, search: &SearchPath) -> Result<String, DataError> {
        Ok(match self.located(search)? {
            DataSource::Planted(_) => "the generator of planted data".to_owned(),
            DataSource::Named(name, _) => format!("{name} in {}", search.data_dir().display()),
            DataSource::Files(source, _) => {
                let files: Vec<String> = source.files().iter().map(|file| file.display().to_string()).collect();
                files.join(" with ")
            }
        })
    }
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .map_or_else(|| "data".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
