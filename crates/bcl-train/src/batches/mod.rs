//! Batches: what is compared in one training step, on the device.

mod ahead;
mod images;
mod interactions;
mod named_tensors;
mod views;

pub use ahead::{Ahead, Panicked, message};
pub use images::ImageBatch;
pub use interactions::{InteractionBatch, LogQ, Negatives};
pub use named_tensors::NamedTensors;
pub use views::{BatchViews, ViewSource, ViewsOnDemand};
