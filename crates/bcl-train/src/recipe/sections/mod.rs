//! The tables of a recipe, one file each. `[encoder]`, `[negatives]` and `[alpha_schedule]` belong to the parts they configure.

mod data;
mod evaluation;
mod loss;
mod optimizer;
mod training;

pub use data::{DataConfig, DataSource};
pub use evaluation::{BaselineKind, EvaluationConfig};
pub use loss::LossConfig;
pub use optimizer::{OptimizerConfig, OptimizerKind};
pub use training::TrainingConfig;
