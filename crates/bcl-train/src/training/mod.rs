//! Training: the loop over epochs that all runs share, checkpoints and run folders, and the runs of each kind.

mod accumulation;
pub mod checkpoint;
pub mod data_record;
pub mod environment;
pub mod estimator;
pub mod evaluate;
pub mod folder;
pub mod identity;
mod interrupt;
pub mod learned;
pub mod live_metrics;
pub mod numbered;
pub mod phase;
pub mod plan;
pub mod post_mortem;
pub mod processes;
pub mod progress;
pub mod recovery;
pub mod renderer;
mod run_log;
pub mod run_summary;
mod step_graph;
pub mod stop;
pub mod stopping_rule;
#[cfg(test)]
mod tests;

pub use data_record::DataRecord;
pub use folder::{Invocation, RunFolder};
pub use identity::DataIdentity;
pub use interrupt::stop_on_signals;
pub use renderer::{Bar, show_bars};
pub use run_log::RunLog;
pub use stop::Stop;
