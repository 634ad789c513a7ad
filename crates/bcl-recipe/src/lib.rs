//! Layered TOML recipes: one file per run, which contains only its differences from the file that it extends.
//!
//! A recipe is a serde type with `#[serde(deny_unknown_fields)]` that implements [`RecipeKind`]. This crate reads it from a file, the files
//! that it [extends](Chain), and flags such as `--set loss.beta=0.8`, and records where each value was set. For that it only
//! needs to know the keys `name`, `seed`, `extends`, and `kind`, which selects the variant of a table. [`Recipe`] is such a type, with all
//! keys of this project.
//!
//! ```
//! use bcl_recipe::{Chain, Library, RecipeKind, Refusal};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Walk {
//!     #[serde(default)]
//!     name: String,
//!     steps: usize,
//! }
//!
//! impl RecipeKind for Walk {
//!     fn name_mut(&mut self) -> &mut String {
//!         &mut self.name
//!     }
//!
//!     fn check(&self) -> Result<(), Refusal> {
//!         match self.steps {
//!             0 => Err(Refusal::new("steps", "is 0, but must be at least 1")),
//!             _ => Ok(()),
//!         }
//!     }
//! }
//!
//! let library = Library::default();
//! let read = |text| Chain::parse(text, "walk.toml", &library)?.read::<Walk>(&[], &mut Vec::new());
//! let (walk, origins) = read("# A short one.\nsteps = 3")?;
//! assert_eq!((&*walk.name, walk.steps), ("walk", 3));
//! assert_eq!(origins.get("steps").unwrap().to_string(), "walk.toml:2");
//!
//! let error = |text| read(text).err().unwrap().to_string();
//! assert_eq!(error("step = 3"), "walk.toml:1: unknown key step; did you mean steps?; a recipe has name, steps, extends");
//! assert_eq!(error("\nsteps = 0"), "walk.toml:2: steps is 0, but must be at least 1");
//! # Ok::<(), bcl_recipe::RecipeError>(())
//! ```
//!
//! | to | see |
//! | --- | --- |
//! | find a recipe: a file or a built-in one | [`Library`] |
//! | read a recipe and all that it extends | [`Chain`] |
//! | look at its keys to decide which kind of recipe it is | [`Document`] |
//! | set a key from the command line | [`Override`] |
//! | print a recipe with the origin of every value | [`Origins::annotate`] |
//! | refuse a value | [`Refusal`] |
//!

mod document;
mod dropped;
mod error;
mod explain;
mod extends;
mod header;
mod kind;
mod library;
mod lines;
mod origin;
mod origins;
mod overrides;
mod read_error;
mod recipe;
mod refusal;
#[cfg(test)]
mod sample;
mod suggest;
mod value;

pub use document::Document;
pub use dropped::DroppedKeys;
pub use error::RecipeError;
pub use extends::Chain;
pub use header::check_header;
pub use kind::RecipeKind;
pub use library::{Builtin, Library, RecipeSource, Rules};
pub use origin::Origin;
pub use origins::Origins;
pub use overrides::Override;
pub use recipe::{
    BaselineKind, ClusterRule, DataConfig, DataFacts, DataSource, Difference, GraphBaselineKind, GraphDataConfig,
    GraphDataSource, GraphEncoderKind, GraphEvaluationConfig, GraphRecipe, ImageBaselineKind, ImageDataConfig, ImageDataSource,
    ImageEncoderKind, ImageEvaluationConfig, ImageRecipe, LearningRateSchedule, LoggingConfig, LossConfig, OptimizerConfig,
    OptimizerKind, Precision, Protocol, RankingEvaluationConfig, Recipe, RecommenderRecipe, RecoveryConfig, ResNetEncoderConfig,
    RunRecipe, Sampling, SelectionConfig, TrainingConfig, built_in, check_precision, find, from_toml, say_notes,
};
pub use refusal::Refusal;
pub use suggest::nearest;
