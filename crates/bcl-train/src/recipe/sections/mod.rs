//! The tables of a recipe, one file each. `[encoder]`, `[negatives]` and `[alpha_schedule]` are defined with the parts they configure.

mod data;
mod dataset;
mod evaluation;
mod gradient_cache;
mod image_data;
mod image_optimizer;
mod image_training;
mod loss;
mod optimizer;
mod precision;
mod training;

/// Maximum batch size.
const MOST_BATCH: usize = 10_000_000;

pub use crate::methods::Precision;
pub use bcl_eval::images::{ImageBaselineKind, ImageEvaluationConfig, Protocol};
pub use data::{DataConfig, DataSource};
pub use evaluation::{BaselineKind, EvaluationConfig};
pub use image_data::{ImageDataConfig, ImageDataSource};
pub use image_optimizer::{ImageOptimizerConfig, ImageOptimizerKind, LearningRateSchedule};
pub use image_training::ImageTrainingConfig;
pub use loss::LossConfig;
pub use optimizer::{OptimizerConfig, OptimizerKind};
pub use training::TrainingConfig;
