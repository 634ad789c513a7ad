//! Training: batches, the loop over epochs, checkpoints, the folder of a run.

pub mod batch;
pub mod checkpoint;
pub mod diagnostics;
pub mod epoch_loop;
pub mod estimator;
pub mod evaluate;
pub mod figures;
pub mod files;
pub mod folder;
pub mod model;
pub mod progress;
pub mod renderer;
pub mod run;
pub mod stopping;

pub use epoch_loop::Stop;
pub use folder::{Invocation, RunFolder};
pub use run::{Baselines, Run};
