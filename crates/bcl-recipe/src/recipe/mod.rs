//! Recipes: one TOML file per run.
//!
//! A recipe chooses the data, the encoder, the source of negatives and their weights. The four choices are independent, and each has its
//! table. Everything else has a default. Unknown keys, wrong types, values out of range and contradictions are refused when a recipe is read,
//! with the line and a remedy. A recipe with `extends` says only how it differs from another one.
//!
//! ```
//! use bcl_recipe::{Recipe, RecommenderRecipe, from_toml};
//!
//! let text = r#"
//!     name = "example"
//!     data.dataset = "planted"
//!     [loss]
//!     kind = "bayesian"
//!     temperature = 0.25
//!     tau_plus = "density"
//! "#;
//! let recipe: RecommenderRecipe = from_toml(text, "example", &[])?;
//! assert_eq!(recipe.training.batch_size, 1024);
//!
//! let error = "data.dataset = 'planted'\nloss.kind = 'bayesian'\nloss.betta = 0.9".parse::<Recipe>().unwrap_err();
//! assert!(error.to_string().contains("did you mean loss.beta?"));
//! # Ok::<(), bcl_recipe::RecipeError>(())
//! ```

mod check;
mod difference;
mod from_data;
mod graphs;
mod hash;
mod images;
mod library;
mod reader;
mod recommender;
mod sections;

use crate::{DroppedKeys, Origins, Override, RecipeError, RecipeKind, RecipeSource, Refusal};
pub use difference::Difference;
pub use graphs::{GraphEncoderKind, GraphRecipe};
pub use images::{ImageEncoderKind, ImageRecipe, ResNetEncoderConfig};
pub use library::{built_in, find};
pub use recommender::RecommenderRecipe;

pub use sections::{
    BaselineKind, ClusterRule, DataConfig, DataFacts, DataSource, GraphBaselineKind, GraphDataConfig, GraphDataSource,
    GraphEvaluationConfig, ImageBaselineKind, ImageDataConfig, ImageDataSource, ImageEvaluationConfig, LearningRateSchedule,
    LoggingConfig, LossConfig, OptimizerConfig, OptimizerKind, Precision, Protocol, RankingEvaluationConfig, RecoveryConfig,
    Sampling, SelectionConfig, TrainingConfig, check_precision, say_notes,
};

use crate::Chain;
use bcl_core::schedule::AlphaSchedule;
use bcl_data::{SearchPath, manifest::Layout};
use library::LIBRARY;
use reader::Reader;
use serde::{Serialize, Serializer};
use std::{
    any::Any,
    path::{Path, PathBuf},
    str::FromStr,
};
use toml::{Table, Value};

/// Everything that determines a run, apart from the device.
#[derive(Debug, Clone, PartialEq)]
pub enum Recipe {
    /// Trains an encoder of users and items.
    Recommender(Box<RecommenderRecipe>),
    /// Trains an encoder of images.
    Images(Box<ImageRecipe>),
    /// Trains an encoder of graphs.
    Graphs(Box<GraphRecipe>),
}

/// Evaluates an expression with the recipe inside a [`Recipe`], or with whatever else is generic over the kinds. Together with the enum
/// and the list of readers, this is all that lists them.
#[macro_export]
macro_rules! of_kind {
    ($recipe:expr, $inner:ident => $body:expr) => {
        match $recipe {
            $crate::Recipe::Recommender($inner) => $body,
            $crate::Recipe::Images($inner) => $body,
            $crate::Recipe::Graphs($inner) => $body,
        }
    };
}
use of_kind;

const KINDS: [Reader; 3] = [
    Reader::of::<RecommenderRecipe>(|chain, overrides, dropped| {
        let (recipe, origins) = chain.read(overrides, dropped)?;
        Ok((Recipe::Recommender(Box::new(recipe)), origins))
    }),
    Reader::of::<ImageRecipe>(|chain, overrides, dropped| {
        let (recipe, origins) = chain.read(overrides, dropped)?;
        Ok((Recipe::Images(Box::new(recipe)), origins))
    }),
    Reader::of::<GraphRecipe>(|chain, overrides, dropped| {
        let (recipe, origins) = chain.read(overrides, dropped)?;
        Ok((Recipe::Graphs(Box::new(recipe)), origins))
    }),
];

/// The recipe of one kind of run.
pub trait RunRecipe: RecipeKind + 'static {
    /// The training samples as a plural noun, such as "images".
    const SAMPLES: &'static str;

    /// The values of `encoder.kind` that belong to it.
    const ENCODERS: &'static [&'static str];

    /// Keys that no other kind has.
    const OWN_KEYS: &'static [&'static str];

    /// Whether a data set is of this kind.
    fn has_layout(layout: &Layout) -> bool;

    /// The name of the recipe.
    fn name(&self) -> &str;

    /// The seed of all random choices.
    fn seed(&self) -> u64;

    /// Sets the seed.
    fn set_seed(&mut self, seed: u64);

    /// Folder of the recipe file; a built-in recipe has none.
    fn folder(&self) -> Option<&Path>;

    /// Sets the folder of the recipe file.
    fn set_folder(&mut self, folder: Option<PathBuf>);

    /// The name of the data set, if the recipe names one.
    fn dataset(&self) -> Option<&str>;

    /// How negatives are weighted; `None` if the method has a loss of its own.
    fn loss(&self) -> Option<&LossConfig>;

    /// Schedule of the loss's α.
    fn alpha_schedule(&self) -> AlphaSchedule;

    /// The metric for tuning and for comparing runs: the one that selects an epoch, or else the linear probe of images or the first
    /// classifier of graphs.
    fn comparison_metric(&self) -> &str;

    /// The optimizer.
    fn optimizer(&self) -> &OptimizerConfig;

    /// Batch size and number of epochs.
    fn training(&self) -> &TrainingConfig;

    /// How the number of epochs is chosen.
    fn selection(&self) -> &SelectionConfig;

    /// What is logged beside `metrics.jsonl`.
    fn logging(&self) -> &LoggingConfig;

    /// The setting, if any, that spreads training over the number of epochs: a longer run then differs from its first step on.
    fn spread_over_epochs(&self) -> Option<&'static str> {
        self.optimizer().spread_over_epochs()
    }

    /// The resolved recipe as TOML, with all defaults that mean something for this kind, in the order of the types.
    fn to_toml(&self) -> String {
        let mut table = String::new();
        let mut text = String::new();
        for line in toml::to_string(self).expect("a recipe is plain data").lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                name.clone_into(&mut table);
            }
            let key = line.split_once(" = ").map(|(key, _)| format!("{table}.{key}"));
            if !Self::MEANINGLESS
                .iter()
                .any(|(meaningless, _)| key.as_deref() == Some(*meaningless))
            {
                text += line;
                text.push('\n');
            }
        }
        text
    }

    /// As [`to_toml`](Self::to_toml), as a table.
    fn to_table(&self) -> Table {
        let mut recipe = Table::try_from(self).expect("a recipe is plain data");
        for (key, _) in Self::MEANINGLESS {
            let (table, key) = key.split_once('.').expect("the keys of all kinds are in tables");
            if let Some(Value::Table(table)) = recipe.get_mut(table) {
                table.remove(key);
            }
        }
        recipe
    }
}

/// The methods of [`RunRecipe`] that return what every recipe has under the same name.
macro_rules! shared_tables {
    () => {
        fn name(&self) -> &str {
            &self.name
        }

        fn seed(&self) -> u64 {
            self.seed
        }

        fn set_seed(&mut self, seed: u64) {
            self.seed = seed;
        }

        fn folder(&self) -> Option<&Path> {
            self.folder.as_deref()
        }

        fn set_folder(&mut self, folder: Option<PathBuf>) {
            self.folder = folder;
        }

        fn dataset(&self) -> Option<&str> {
            self.data.dataset.as_deref()
        }

        fn alpha_schedule(&self) -> AlphaSchedule {
            self.alpha_schedule
        }

        fn optimizer(&self) -> &OptimizerConfig {
            &self.optimizer
        }

        fn training(&self) -> &TrainingConfig {
            &self.training
        }

        fn selection(&self) -> &SelectionConfig {
            &self.selection
        }

        fn logging(&self) -> &LoggingConfig {
            &self.logging
        }
    };
}
use shared_tables;

/// Reads a recipe of a known kind from its text. `origin` is its path or name, for errors and as the default name.
///
/// # Errors
/// As [`Recipe::from_toml`].
pub fn from_toml<R: RecipeKind>(text: &str, origin: &str, overrides: &[Override]) -> Result<R, RecipeError> {
    let (recipe, _) = Chain::parse(text, origin, &LIBRARY)?.read(overrides, &mut Vec::new())?;
    Ok(recipe)
}

impl Recipe {
    /// Reads a recipe that [`find`] returned; values of flags replace its own.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    pub fn read(found: &RecipeSource, overrides: &[Override]) -> Result<Self, RecipeError> {
        Self::read_noting(found, overrides, &mut Vec::new())
    }

    /// As [`read`](Self::read). A flag that changes the kind of a table, such as `loss.kind`, keeps the keys that the new kind has too.
    /// The others are added to `dropped`, so that the caller can name them.
    ///
    /// ```
    /// use bcl_recipe::{Recipe, find};
    ///
    /// let mut dropped = Vec::new();
    /// let found = &find("quickstart/bayesian")?[0];
    /// Recipe::read_noting(found, &["loss.kind=debiased".parse()?], &mut dropped)?;
    /// assert_eq!(dropped[0].keys(), ["loss.alpha", "loss.beta"]);
    /// # Ok::<(), bcl_recipe::RecipeError>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    pub fn read_noting(
        found: &RecipeSource,
        overrides: &[Override],
        dropped: &mut Vec<DroppedKeys>,
    ) -> Result<Self, RecipeError> {
        Self::read_with_origins(found, overrides, dropped).map(|(recipe, _)| recipe)
    }

    /// As [`read_noting`](Self::read_noting), with the line or flag that each value comes from.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    pub fn read_with_origins(
        found: &RecipeSource,
        overrides: &[Override],
        dropped: &mut Vec<DroppedKeys>,
    ) -> Result<(Self, Origins), RecipeError> {
        let (recipe, origins) = Self::from_chain(&Chain::open(found, &LIBRARY)?, overrides, dropped)?;
        Ok((recipe.in_folder(found.folder().map(Path::to_path_buf)), origins))
    }

    /// Reads a recipe from a file. Without a `name`, it is called after the file.
    ///
    /// # Errors
    /// Returns an error if the file, or one that it extends, cannot be read, is not TOML, or has a key or value that a recipe cannot
    /// have; the error names the line, the key and the remedy.
    pub fn from_file(path: impl AsRef<Path>, overrides: &[Override]) -> Result<Self, RecipeError> {
        Self::read(&RecipeSource::File(path.as_ref().to_owned()), overrides)
    }

    /// Reads a recipe from its text; `encoder.kind` says what it trains. `origin`, the path of its file or its name, stands in errors and
    /// for a missing name. The text has no folder, so it can extend built-in recipes only.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    pub fn from_toml(text: &str, origin: &str, overrides: &[Override]) -> Result<Self, RecipeError> {
        let chain = Chain::parse(text, origin, &LIBRARY)?;
        Self::from_chain(&chain, overrides, &mut Vec::new()).map(|(recipe, _)| recipe)
    }

    fn from_chain(chain: &Chain, overrides: &[Override], dropped: &mut Vec<DroppedKeys>) -> Result<(Self, Origins), RecipeError> {
        (Reader::for_document(&chain.document(overrides)?)?.read)(chain, overrides, dropped)
    }

    /// The resolved recipe as TOML, with all defaults. Reading it gives an equal recipe.
    pub fn to_toml(&self) -> String {
        of_kind!(self, recipe => recipe.to_toml())
    }

    /// The resolved recipe as TOML, like [`to_toml`](Self::to_toml), with the origin of each value in a comment behind it.
    ///
    /// ```
    /// use bcl_recipe::{Recipe, find};
    ///
    /// let found = &find("quickstart/bayesian")?[0];
    /// let (recipe, origins) = Recipe::read_with_origins(found, &["loss.beta=0.7".parse()?], &mut Vec::new())?;
    /// let text = recipe.to_toml_with(&origins);
    /// assert!(text.contains("beta = 0.7                               # --set loss.beta=0.7\n"));
    /// assert_eq!(text.parse::<Recipe>()?, recipe);
    /// # Ok::<(), bcl_recipe::RecipeError>(())
    /// ```
    pub fn to_toml_with(&self, origins: &Origins) -> String {
        origins.annotate(&self.to_toml())
    }

    /// SHA-256 of the resolved recipe without its seed and `[logging]`, 64 hexadecimal digits: runs with equal hashes differ by seed alone.
    pub fn hash(&self) -> String {
        of_kind!(self, recipe => hash::hash(recipe.to_table()))
    }

    /// The recipe, if it is of this kind.
    pub fn as_kind<R: RunRecipe>(&self) -> Option<&R> {
        of_kind!(self, recipe => (&**recipe as &dyn Any).downcast_ref())
    }

    /// Name of the run's folder.
    pub fn name(&self) -> &str {
        of_kind!(self, recipe => &recipe.name)
    }

    /// The seed of all random choices.
    pub fn seed(&self) -> u64 {
        of_kind!(self, recipe => recipe.seed)
    }

    /// The name of the data set, if the recipe names one.
    pub fn dataset(&self) -> Option<&str> {
        of_kind!(self, recipe => recipe.dataset())
    }

    /// The metric for tuning and for comparing runs.
    pub fn comparison_metric(&self) -> &str {
        of_kind!(self, recipe => recipe.comparison_metric())
    }

    /// Folder of the recipe file; a built-in recipe has none.
    pub fn folder(&self) -> Option<&Path> {
        of_kind!(self, recipe => recipe.folder())
    }

    /// The same recipe, as if read from a file in another folder.
    #[must_use]
    pub fn in_folder(mut self, folder: Option<PathBuf>) -> Self {
        of_kind!(&mut self, recipe => recipe.set_folder(folder));
        self
    }

    /// Where the files named in the recipe are looked for: beside it, then in the data folder.
    pub fn search_path(&self, data_dir: &Path) -> SearchPath {
        SearchPath::new(self.folder(), data_dir)
    }

    /// The same recipe with another seed.
    pub fn with_seed(mut self, seed: u64) -> Self {
        of_kind!(&mut self, recipe => recipe.set_seed(seed));
        self
    }

    /// The folder of the run, `<out>/<name>-<seed>`.
    pub fn run_folder(&self, out: &Path) -> PathBuf {
        out.join(format!("{}-{}", self.name(), self.seed()))
    }
}

impl Serialize for Recipe {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        of_kind!(self, recipe => recipe.to_table()).serialize(serializer)
    }
}

impl FromStr for Recipe {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Self, RecipeError> {
        Self::from_toml(text, "recipe", &[])
    }
}

#[cfg(test)]
mod tests;
