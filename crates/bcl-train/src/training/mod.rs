//! Training: the loop over epochs that all runs share, checkpoints and run folders, and the runs of each kind.

pub mod cached;
pub mod checkpoint;
pub mod data_size;
pub mod diagnostics;
mod environment;
pub mod epoch_loop;
pub mod estimator;
pub mod evaluate;
pub mod folder;
pub mod identity;
pub mod images;
pub mod kept_data;
pub mod learned;
pub mod live_metrics;
pub mod numbered;
pub mod opening;
pub mod phase;
pub mod post_mortem;
pub mod prepared;
pub mod progress;
pub mod recommender;
pub mod renderer;
pub mod step;
pub mod stop;
pub mod stopping;

pub use folder::{Invocation, RunFolder};
pub use identity::DataIdentity;
pub use images::run::ImageRun;
pub use kept_data::KeptData;
pub use prepared::{Prepared, Surroundings};
pub use recommender::run::{Baselines, Run};
pub use stop::Stop;
