//! Training: the loop over epochs that all runs share, checkpoints and run folders, and the runs of each kind.

mod accumulation;
pub mod cached;
pub mod checkpoint;
pub mod data_record;
pub mod environment;
pub mod epoch_loop;
pub mod estimator;
pub mod evaluate;
#[cfg(test)]
mod every_method;
pub mod folder;
pub mod identity;
#[cfg(test)]
mod info_graph_steps;
mod interrupt;
pub mod learned;
pub mod live_metrics;
pub mod numbered;
pub mod phase;
pub mod post_mortem;
pub mod progress;
pub mod ranks;
pub mod renderer;
mod run_log;
pub mod run_summary;
pub mod running_rates;
pub mod step;
pub mod stop;
pub mod stopping_rule;
pub mod temperature;

pub use data_record::DataRecord;
pub use folder::{Invocation, RunFolder};
pub use identity::DataIdentity;
pub use interrupt::stop_on_signals;
pub use renderer::{Bar, show_bars};
pub use run_log::RunLog;
pub use stop::Stop;
