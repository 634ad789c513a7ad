//! Reads files of reference values, and measures how far a result is from them.
//!
//! Independent implementations (`PyTorch` and numpy) computed the values in f64. Long arrays are in a `.safetensors` file of the same name
//! beside the JSON.
//!
//! | file | content | type | excerpt in this crate |
//! | --- | --- | --- | --- |
//! | losses | losses and gradients on two views of a batch, Bayesian weights of rows of scores | [`LossFile`] | [`LOSSES`] |
//! | frameworks | losses of image frameworks, and traces of what they remember (queues, momentum encoders) | [`FrameworkFile`] | [`FRAMEWORKS`] |
//! | graphs | graph encoders and their gradients, losses of nodes against graphs | [`GraphFile`] | [`GRAPHS`] |
//!
//! All name estimators as their papers do; [`Estimator::table`] translates them into the `[loss]` table of a recipe. Errors name the file,
//! the case and the problem.

mod arrays;
mod deviation;
mod error;
mod estimator;
mod frameworks;
mod gradient;
pub mod graphs;
mod losses;
mod parameters;

pub use arrays::Array;
pub use deviation::Deviation;
pub use error::GoldenError;
pub use estimator::Estimator;
pub use frameworks::{ErrorsInF32, FrameworkCase, FrameworkFile, Item, Output, Trace};
pub use gradient::Gradient;
pub use graphs::GraphFile;
pub use losses::{LossCase, LossFile, Views, WeightRow};
pub use parameters::Parameters;

/// Path of the excerpt of the file of losses.
pub const LOSSES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/losses.json");

/// Path of the excerpt of the file of frameworks: the cases of 4 samples of 8 numbers, and the traces without the largest.
pub const FRAMEWORKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/frameworks.json");

/// Path of the excerpt of the file of graphs: everything that [`GraphFile`] reads, without the losses on one of the shapes.
pub const GRAPHS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/graphs.json");
