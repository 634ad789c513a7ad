//! Recipes: one TOML file per run.
//!
//! A recipe chooses the data, the encoder, the source of negatives and their weights. The four choices are independent, and each has its
//! table. Everything else has a default. Unknown keys, wrong types, values out of range and contradictions are refused when a recipe is read,
//! with the line and a remedy. A recipe with `extends` says only how it differs from another one.
//!
//! ```
//! use bcl_train::recipe::{Recipe, RecommenderRecipe, from_toml};
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
//! # Ok::<(), bcl_train::recipe::RecipeError>(())
//! ```

mod check;
mod hash;
mod images;
mod library;
mod recommender;
mod sections;
mod trained;

pub use bcl_recipe::{Builtin, DroppedKeys, Origin, Origins, Override, RecipeError, RecipeKind, RecipeSource, Refusal};
pub use images::{ImageEncoderKind, ImageRecipe, ResNetEncoderConfig};
pub use library::{built_in, find};
pub use recommender::RecommenderRecipe;
pub use sections::{
    BaselineKind, DataConfig, DataSource, EvaluationConfig, ImageBaselineKind, ImageDataConfig, ImageDataSource,
    ImageEvaluationConfig, ImageOptimizerConfig, ImageOptimizerKind, ImageTrainingConfig, LearningRateSchedule, LossConfig,
    OptimizerConfig, OptimizerKind, Precision, Protocol, TrainingConfig,
};

use bcl_data::SearchPath;
use bcl_recipe::Chain;
use library::LIBRARY;
use serde::Serialize;
use std::{
    path::{Path, PathBuf},
    str::FromStr,
};
use trained::Trained;

/// Everything that determines a run, apart from the device.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Recipe {
    /// Trains an encoder of users and items.
    Recommender(Box<RecommenderRecipe>),
    /// Trains an encoder of images.
    Images(Box<ImageRecipe>),
}

/// Reads a recipe of a known kind from its text; `origin`, the path of its file or its name, stands in errors and for a missing name.
///
/// # Errors
/// As [`Recipe::from_toml`].
pub fn from_toml<R: RecipeKind>(text: &str, origin: &str, overrides: &[Override]) -> Result<R, RecipeError> {
    let (recipe, _) = Chain::parse(text, origin, &LIBRARY)?.read(overrides, &mut Vec::new())?;
    Ok(recipe)
}

impl Recipe {
    /// Reads a recipe that was [found](find); values of flags replace its own.
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
    /// use bcl_train::recipe::{Recipe, find};
    ///
    /// let mut dropped = Vec::new();
    /// let found = &find("quickstart/bayesian")?[0];
    /// Recipe::read_noting(found, &["loss.kind=debiased".parse()?], &mut dropped)?;
    /// assert_eq!(dropped[0].keys(), ["loss.alpha", "loss.beta"]);
    /// # Ok::<(), bcl_train::recipe::RecipeError>(())
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
        Ok(match Trained::by(&chain.document(overrides)?)? {
            Trained::Recommender => {
                let (recipe, origins) = chain.read(overrides, dropped)?;
                (Self::Recommender(Box::new(recipe)), origins)
            }
            Trained::Images => {
                let (recipe, origins) = chain.read(overrides, dropped)?;
                (Self::Images(Box::new(recipe)), origins)
            }
        })
    }

    /// The resolved recipe as TOML, with all defaults. Reading it gives an equal recipe.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a recipe is plain data")
    }

    /// The resolved recipe as TOML, like [`to_toml`](Self::to_toml), with the origin of each value in a comment behind it.
    ///
    /// ```
    /// use bcl_train::recipe::{Recipe, find};
    ///
    /// let found = &find("quickstart/bayesian")?[0];
    /// let (recipe, origins) = Recipe::read_with_origins(found, &["loss.beta=0.7".parse()?], &mut Vec::new())?;
    /// let text = recipe.to_toml_with(&origins);
    /// assert!(text.contains("beta = 0.7                               # --set loss.beta=0.7\n"));
    /// assert_eq!(text.parse::<Recipe>()?, recipe);
    /// # Ok::<(), bcl_train::recipe::RecipeError>(())
    /// ```
    pub fn to_toml_with(&self, origins: &Origins) -> String {
        origins.annotate(&self.to_toml())
    }

    /// SHA-256 of the resolved recipe without its seed, 64 hexadecimal digits: runs with equal hashes differ by seed alone.
    pub fn hash(&self) -> String {
        hash::hash(self)
    }

    /// The recipe of a recommender, if it is one.
    pub fn recommender(&self) -> Option<&RecommenderRecipe> {
        match self {
            Self::Recommender(recipe) => Some(recipe),
            Self::Images(_) => None,
        }
    }

    /// Name of the run's folder.
    pub fn name(&self) -> &str {
        match self {
            Self::Recommender(recipe) => &recipe.name,
            Self::Images(recipe) => &recipe.name,
        }
    }

    /// The seed of all random choices.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Recommender(recipe) => recipe.seed,
            Self::Images(recipe) => recipe.seed,
        }
    }

    /// Folder of the recipe file; a built-in recipe has none.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Recommender(recipe) => recipe.folder.as_deref(),
            Self::Images(recipe) => recipe.folder.as_deref(),
        }
    }

    /// The same recipe, as if read from a file in another folder.
    #[must_use]
    pub fn in_folder(mut self, folder: Option<PathBuf>) -> Self {
        match &mut self {
            Self::Recommender(recipe) => recipe.folder = folder,
            Self::Images(recipe) => recipe.folder = folder,
        }
        self
    }

    /// Where the files named in the recipe are looked for: beside it, then in the data folder.
    pub fn search_path(&self, data_dir: &Path) -> SearchPath {
        SearchPath::new(self.folder(), data_dir)
    }

    /// The same recipe with another seed.
    pub fn with_seed(mut self, seed: u64) -> Self {
        match &mut self {
            Self::Recommender(recipe) => recipe.seed = seed,
            Self::Images(recipe) => recipe.seed = seed,
        }
        self
    }

    /// The folder of the run, `<out>/<name>-<seed>`.
    pub fn run_folder(&self, out: &Path) -> PathBuf {
        out.join(format!("{}-{}", self.name(), self.seed()))
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
