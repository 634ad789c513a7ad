//! The `[data]` table.

use super::{
    super::Refusal,
    dataset::{PLANTED, check_name},
};
use bcl_data::{
    DataError, Format, IdMap, InteractionData, ItemColumns, ItemNames, KnownIds, PlantedConfig, ReadOptions, SearchPath, Source,
    SplitOptions, load_named_with_ids, load_with_ids, manifest::Contents,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Which interactions to learn from: a data set by name, planted data, or your own files.
///
/// ```toml
/// [data]
/// dataset = "ml-100k"          # by name; its files are looked for in --data DIR
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
/// file = "ratings.csv"         # one file, split here
/// min_rating = 4
/// split.test_ratio = 0.2
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
    /// Format of the files; detected if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Minimum rating: interactions with a lower one are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rating: Option<f64>,
    /// How to split a single file.
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

/// Where the interactions of a [`DataConfig`] come from.
#[derive(Debug, Clone, PartialEq)]
pub enum DataSource {
    /// Generated data.
    Planted(PlantedConfig),
    /// A data set with a manifest, by name.
    Named(String),
    /// Files, with paths as in the recipe.
    Files(Source, ReadOptions),
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

    /// The data source that the keys name.
    ///
    /// # Errors
    /// Returns an error if they name none or several, or if a key does not belong to the source.
    pub fn source(&self) -> Result<DataSource, Refusal> {
        let given = [
            ("data.dataset", self.dataset.is_some()),
            ("data.train", self.train.is_some() || self.test.is_some()),
            ("data.file", self.file.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
        if let [first, second, ..] = given[..] {
            return Err(Refusal::new(
                second,
                format!("cannot be combined with {first}; remove one of them"),
            ));
        }
        match self {
            Self { dataset: Some(name), .. } if name == PLANTED => {
                self.only_with("a file", &["split", "format", "min_rating"])?;
                Ok(DataSource::Planted(self.planted.clone().unwrap_or_default()))
            }
            Self { dataset: Some(name), .. } => {
                self.only_with("dataset = \"planted\"", &["planted"])?;
                self.only_with("a file", &["split", "format", "min_rating"])?;
                Ok(DataSource::Named(name.clone()))
            }
            Self {
                train: Some(train),
                test: Some(test),
                ..
            } => {
                self.only_with("dataset = \"planted\"", &["planted"])?;
                self.only_with("data.file, which is not split yet", &["split"])?;
                let (train, test) = (train.clone(), test.clone());
                Ok(DataSource::Files(Source::Split { train, test }, self.read_options()))
            }
            Self { file: Some(file), .. } => {
                self.only_with("dataset = \"planted\"", &["planted"])?;
                let (file, split) = (file.clone(), self.split.unwrap_or_default());
                Ok(DataSource::Files(Source::Whole { file, split }, self.read_options()))
            }
            Self {
                train: None, test: None, ..
            } => Err(Refusal::new(
                "data",
                "names no data; set data.dataset (such as \"planted\"), data.train and data.test, or data.file",
            )),
            Self { train, .. } => {
                let (there, missing) = if train.is_some() {
                    ("train", "test")
                } else {
                    ("test", "train")
                };
                Err(Refusal::new(
                    format!("data.{there}"),
                    format!("needs data.{missing} beside it; a single file to be split is data.file"),
                ))
            }
        }
    }

    /// Checks that the keys name one source, and that its parameters are in range.
    ///
    /// # Errors
    /// Returns an error that names the first key that does not fit, and the remedy.
    pub fn check(&self) -> Result<(), Refusal> {
        if let Some(rating) = self.min_rating
            && !rating.is_finite()
        {
            return Err(Refusal::new(
                "data.min_rating",
                format!("is {rating}, but must be a finite number"),
            ));
        }
        if self.item_columns.is_some() && self.items.is_none() {
            return Err(Refusal::new(
                "data.item_columns",
                "only has a meaning with data.items; remove it",
            ));
        }
        let checked = match self.source()? {
            DataSource::Planted(_) if self.items.is_some() => {
                return Err(Refusal::new(
                    "data.items",
                    "only has a meaning with items of files, which have titles; remove it",
                ));
            }
            DataSource::Planted(config) => config.check(),
            DataSource::Named(name) => return check_name(&name, |layout| layout.contents() == Contents::Interactions),
            DataSource::Files(Source::Whole { split, .. }, _) => split.check(),
            DataSource::Files(..) => Ok(()),
        };
        checked.map_err(refusal)
    }

    /// Fills in defaults, so that a resolved recipe shows them.
    pub(crate) fn resolve(&mut self) {
        match self.source() {
            Ok(DataSource::Planted(config)) => self.planted = Some(config),
            Ok(DataSource::Files(source, options)) => {
                self.format = Some(options.format);
                if let Source::Whole { split, .. } = source {
                    self.split = Some(split);
                }
            }
            Ok(DataSource::Named(_)) | Err(_) => {}
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
            DataSource::Named(name) => load_named_with_ids(&name, search.data_dir(), ids),
            DataSource::Files(source, options) => {
                let (Source::Split { train: file, .. } | Source::Whole { file, .. }) = &source;
                load_with_ids(&stem(file), &source, &options, ids)
            }
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
            DataSource::Named(name) => format!("{name} in {}", search.data_dir().display()),
            DataSource::Files(Source::Split { train, test }, _) => format!("{} with {}", train.display(), test.display()),
            DataSource::Files(Source::Whole { file, .. }, _) => file.display().to_string(),
        })
    }

    /// The source, with the paths at which its files were found.
    fn located(&self, search: &SearchPath) -> Result<DataSource, DataError> {
        let source = match self.source().unwrap_or_else(|refusal| panic!("{refusal}")) {
            DataSource::Files(Source::Split { train, test }, options) => {
                let train = search.find("data.train", &train)?;
                let test = search.find("data.test", &test)?;
                DataSource::Files(Source::Split { train, test }, options)
            }
            DataSource::Files(Source::Whole { file, split }, options) => {
                let file = search.find("data.file", &file)?;
                DataSource::Files(Source::Whole { file, split }, options)
            }
            other => other,
        };
        Ok(source)
    }

    fn read_options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.unwrap_or_default(),
            min_rating: self.min_rating,
        }
    }

    /// Refuses keys that only mean something with `partner`.
    fn only_with(&self, partner: &str, keys: &[&str]) -> Result<(), Refusal> {
        let given = |key: &str| match key {
            "split" => self.split.is_some(),
            "planted" => self.planted.is_some(),
            "format" => self.format.is_some(),
            _ => self.min_rating.is_some(),
        };
        match keys.iter().find(|key| given(key)) {
            Some(key) => Err(Refusal::new(
                format!("data.{key}"),
                format!("only has a meaning with {partner}; remove it"),
            )),
            None => Ok(()),
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .map_or_else(|| "data".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn refusal(error: DataError) -> Refusal {
    match error {
        DataError::OutOfRange { name, value, range } => Refusal::new(name, format!("is {value}, but must be in {range}")),
        error => Refusal::new("data", format!("cannot be used: {error}")),
    }
}
