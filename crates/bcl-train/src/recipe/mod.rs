//! Recipes: one TOML file a run.
//!
//! A recipe says which data, which encoder, where negatives come from and how they are weighed; those four choices are independent,
//! and so are their tables. What it does not say has a default. Unknown keys, wrong types, values out of range and tables that
//! contradict each other are refused when it is read, with the line and a remedy.
//!
//! ```
//! use bcl_train::recipe::Recipe;
//!
//! let recipe: Recipe = r#"
//!     name = "example"
//!     data.dataset = "planted"
//!     [loss]
//!     kind = "bayesian"
//!     temperature = 0.25
//!     tau_plus = "density"
//! "#.parse()?;
//! assert_eq!(recipe.training.batch_size, 1024);
//!
//! let error = "data.dataset = 'planted'\nloss.kind = 'bayesian'\nloss.betta = 0.9".parse::<Recipe>().unwrap_err();
//! assert!(error.to_string().contains("did you mean loss.beta?"));
//! # Ok::<(), bcl_train::recipe::RecipeError>(())
//! ```

mod builtin;
mod check;
mod document;
mod error;
mod fault;
mod hash;
mod overrides;
mod sections;
mod suggest;
mod value;

pub use builtin::{Builtin, Found, find};
pub use document::Place;
pub use error::{RecipeError, Refusal};
pub use overrides::Override;
pub use sections::{
    BaselineKind, DataConfig, DataSource, EvaluationConfig, LossConfig, OptimizerConfig, OptimizerKind, TrainingConfig,
};

use crate::negatives::NegativesConfig;
use bcl_core::schedule::AlphaSchedule;
use bcl_models::RecommenderConfig;
use document::Document;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

/// Everything that determines a run, apart from where it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Name of the run's folder; by default that of the file.
    #[serde(default)]
    pub name: String,
    /// The seed from which every random choice derives.
    #[serde(default)]
    pub seed: u64,
    /// Which interactions.
    pub data: DataConfig,
    /// How users and items become vectors.
    #[serde(default)]
    pub encoder: RecommenderConfig,
    /// Where negatives come from.
    #[serde(default)]
    pub negatives: NegativesConfig,
    /// How negatives are weighed.
    pub loss: LossConfig,
    /// How the loss's α moves.
    #[serde(default)]
    pub alpha_schedule: AlphaSchedule,
    /// How the gradient moves the vectors.
    #[serde(default)]
    pub optimizer: OptimizerConfig,
    /// How long to train.
    #[serde(default)]
    pub training: TrainingConfig,
    /// What is measured.
    #[serde(default)]
    pub evaluation: EvaluationConfig,
}

impl Recipe {
    /// Reads a recipe that was [found](find), with values that flags put in the place of its own.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    pub fn read(found: &Found, overrides: &[Override]) -> Result<Self, RecipeError> {
        match found {
            Found::File(path) => Self::from_file(path, overrides),
            Found::Builtin(recipe) => Self::from_toml(recipe.text, recipe.name, overrides),
        }
    }

    /// Reads a recipe from a file. Its name is that of the file where it does not say another.
    ///
    /// # Errors
    /// When the file cannot be read, is not TOML, or holds what a recipe must not; the error names the line, the key and the remedy.
    pub fn from_file(path: impl AsRef<Path>, overrides: &[Override]) -> Result<Self, RecipeError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|source| RecipeError::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::from_toml(&text, &path.display().to_string(), overrides)
    }

    /// Reads a recipe from its text; `origin`, the path of its file or its name, stands in errors, and for a missing name.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    pub fn from_toml(text: &str, origin: &str, overrides: &[Override]) -> Result<Self, RecipeError> {
        let mut document = Document::parse(text, origin)?;
        for change in overrides {
            document.set(change)?;
        }
        document.default_kind("encoder", RecommenderConfig::default().name());
        document.default_kind("negatives", NegativesConfig::default().name());
        let mut recipe: Self = value::read(&document.table).map_err(|fault| document.explain(fault))?;
        if !document.table.contains_key("name") {
            recipe.name = name_from(origin);
        }
        recipe.check().map_err(|refusal| document.refuse(refusal))?;
        recipe.data.resolve();
        Ok(recipe)
    }

    /// The resolved recipe as TOML, defaults written out. Reading it gives an equal recipe.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a recipe is plain data")
    }

    /// The same recipe with another seed.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The folder of the run, `<out>/<name>-<seed>`.
    pub fn run_folder(&self, out: &Path) -> PathBuf {
        out.join(format!("{}-{}", self.name, self.seed))
    }
}

impl FromStr for Recipe {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Self, RecipeError> {
        Self::from_toml(text, "recipe", &[])
    }
}

/// The name of a recipe that does not say one: its file's, without what folders do not like.
fn name_from(origin: &str) -> String {
    let origin = origin.strip_suffix(".toml").unwrap_or(origin);
    let stem = Path::new(origin)
        .file_name()
        .map_or("recipe".into(), |name| name.to_string_lossy());
    stem.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
