//! Which source the keys of `[data]` name, and which keys belong to it.

use super::{
    super::{
        super::Refusal,
        dataset::{PLANTED, check_name},
    },
    DataConfig,
};
use bcl_data::{CoreOptions, DataError, Manifest, NamedOptions, PlantedConfig, ReadOptions, Source, manifest::Contents};
use std::path::PathBuf;

/// Where the interactions of a [`DataConfig`] come from.
#[derive(Debug, Clone, PartialEq)]
pub enum DataSource {
    /// Generated data.
    Planted(PlantedConfig),
    /// A data set with a manifest, by name.
    Named(String, NamedOptions),
    /// Files, with paths as in the recipe.
    Files(Source, ReadOptions),
}

/// Keys that say how to read files.
const OF_FILES: &[&str] = &["format", "columns"];
/// Keys that planted data lack.
const OF_RATINGS: &[&str] = &["min_rating"];
/// Keys that say what to do with interactions before training.
const OF_WHOLE: &[&str] = &["split", "min_user_interactions", "min_item_interactions"];

impl DataConfig {
    /// The data source that the keys name.
    ///
    /// # Errors
    /// Returns an error if they name none or several, or if a key does not belong to the source.
    pub fn source(&self) -> Result<DataSource, Refusal> {
        self.one_source()?;
        if self.dataset.as_deref() != Some(PLANTED) {
            self.only_with("dataset = \"planted\"", &["planted"])?;
        }
        match self {
            Self { dataset: Some(name), .. } => {
                self.only_with("a file", OF_FILES)?;
                if name == PLANTED {
                    self.only_with("a file or a data set that is read", &[OF_WHOLE, OF_RATINGS].concat())?;
                    return Ok(DataSource::Planted(self.planted.clone().unwrap_or_default()));
                }
                Ok(DataSource::Named(name.clone(), self.named_options()))
            }
            Self {
                train: Some(train),
                test: Some(test),
                ..
            } => {
                self.only_with(
                    "data.file, data.files or data.dataset: train and test are split already",
                    OF_WHOLE,
                )?;
                let (train, test) = (train.clone(), test.clone());
                Ok(DataSource::Files(Source::Split { train, test }, self.read_options()))
            }
            Self { file: Some(file), .. } => Ok(self.whole(vec![file.clone()])),
            Self { files: Some(files), .. } => Ok(self.whole(files.clone())),
            Self {
                train: None, test: None, ..
            } => Err(Refusal::new(
                "data",
                "names no data; set data.dataset (such as \"planted\"), data.train and data.test, data.file, or data.files",
            )),
            Self { train, .. } => {
                let (there, missing) = if train.is_some() {
                    ("train", "test")
                } else {
                    ("test", "train")
                };
                Err(Refusal::new(
                    format!("data.{there}"),
                    format!("needs data.{missing} beside it; to split a single file, use data.file"),
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
        self.check_items()?;
        let checked = match self.source()? {
            DataSource::Planted(config) => config.check(),
            DataSource::Named(name, options) => {
                check_name(&name, |layout| layout.contents() == Contents::Interactions)?;
                Manifest::find(&name).and_then(|manifest| options.check(manifest))
            }
            DataSource::Files(source, options) => {
                self.check_files()?;
                let split = match source {
                    Source::Whole { split, .. } => split.check(),
                    Source::Split { .. } => Ok(()),
                };
                split.and(options.columns.check()).and(options.core.check())
            }
        };
        checked.map_err(refusal)
    }

    /// Refuses titles for items that have none, and columns without a file.
    fn check_items(&self) -> Result<(), Refusal> {
        if self.item_columns.is_some() && self.items.is_none() {
            return Err(Refusal::new("data.item_columns", "only works with data.items; remove it"));
        }
        if self.items.is_some() && self.dataset.as_deref() == Some(PLANTED) {
            return Err(Refusal::new(
                "data.items",
                "only works with items of files, which have titles; remove it",
            ));
        }
        Ok(())
    }

    /// Refuses an empty list of files, and a file that is in it twice.
    fn check_files(&self) -> Result<(), Refusal> {
        let Some(files) = &self.files else { return Ok(()) };
        if files.is_empty() {
            return Err(Refusal::new("data.files", "is empty; name at least one file"));
        }
        let twice = files.iter().enumerate().find(|(index, file)| files[..*index].contains(file));
        twice.map_or(Ok(()), |(_, file)| {
            Err(Refusal::new(
                "data.files",
                format!("names {} twice; remove it once", file.display()),
            ))
        })
    }

    /// Refuses two sources.
    fn one_source(&self) -> Result<(), Refusal> {
        let given = [
            ("data.dataset", self.dataset.is_some()),
            ("data.train", self.train.is_some() || self.test.is_some()),
            ("data.file", self.file.is_some()),
            ("data.files", self.files.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
        match given[..] {
            [first, second, ..] => Err(Refusal::new(
                second,
                format!("cannot be combined with {first}; remove one of them"),
            )),
            _ => Ok(()),
        }
    }

    fn whole(&self, files: Vec<PathBuf>) -> DataSource {
        let split = self.split.unwrap_or_default();
        DataSource::Files(Source::Whole { files, split }, self.read_options())
    }

    fn named_options(&self) -> NamedOptions {
        NamedOptions {
            split: self.split,
            min_rating: self.min_rating,
            core: self.core(),
        }
    }

    fn read_options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.unwrap_or_default(),
            columns: self.columns.clone().unwrap_or_default(),
            min_rating: self.min_rating,
            core: self.core(),
        }
    }

    fn core(&self) -> CoreOptions {
        CoreOptions {
            min_user_interactions: self.min_user_interactions,
            min_item_interactions: self.min_item_interactions,
        }
    }

    /// Refuses keys that only mean something with `partner`.
    fn only_with(&self, partner: &str, keys: &[&str]) -> Result<(), Refusal> {
        let given = |key: &str| match key {
            "split" => self.split.is_some(),
            "planted" => self.planted.is_some(),
            "format" => self.format.is_some(),
            "columns" => self.columns.is_some(),
            "min_user_interactions" => self.min_user_interactions.is_some(),
            "min_item_interactions" => self.min_item_interactions.is_some(),
            _ => self.min_rating.is_some(),
        };
        match keys.iter().find(|key| given(key)) {
            Some(key) => Err(Refusal::new(
                format!("data.{key}"),
                format!("only works with {partner}; remove it"),
            )),
            None => Ok(()),
        }
    }
}

fn refusal(error: DataError) -> Refusal {
    match error {
        DataError::Setting { name, problem, .. } => Refusal::new(name, problem),
        error => Refusal::new("data", format!("cannot be used: {error}")),
    }
}
