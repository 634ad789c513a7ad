//! The tables of a recipe, one file each. `[encoder]`, `[negatives]` and `[alpha_schedule]` are defined with the parts they configure.

mod data;
mod dataset;
mod gradient_cache;
mod graph_data;
mod image_data;
mod logging;
mod loss;
mod optimizer;
mod precision;
mod recovery;
mod sampling;
mod selection;
mod training;

/// Maximum batch size.
const MOST_BATCH: usize = 10_000_000;

pub use bcl_eval::{
    graphs::{GraphBaselineKind, GraphEvaluationConfig},
    images::{ImageBaselineKind, ImageEvaluationConfig, Protocol},
    ranking::{BaselineKind, RankingEvaluationConfig},
};
pub use bcl_methods::Precision;
pub use data::{DataConfig, DataSource};
pub use graph_data::{GraphDataConfig, GraphDataSource};
pub use image_data::{ImageDataConfig, ImageDataSource, say_notes};
pub use logging::LoggingConfig;
pub use loss::{DataFacts, LossConfig};
pub use optimizer::{LearningRateSchedule, OptimizerConfig, OptimizerKind};
pub use precision::check_precision;
pub use recovery::{ClusterRule, RecoveryConfig};
pub use sampling::Sampling;
pub use selection::SelectionConfig;
pub use training::TrainingConfig;
