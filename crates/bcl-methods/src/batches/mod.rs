//! Batches: the input of one training step, on the device.

mod graph_views;
mod graphs;
mod images;
mod interactions;
mod named_tensors;
mod prefetch;
mod views;

pub use graph_views::{GraphViewsBatch, ViewBatches};
pub use graphs::{GraphBatch, GraphBatches, NodeBatches};
pub use images::ImageBatch;
pub use images::index_tensor;
pub use interactions::{InteractionBatch, LogQ, Negatives};
pub use named_tensors::NamedTensors;
pub use prefetch::{Panicked, Prefetch, message};
pub use views::{BatchViews, ViewSource, ViewsOnDemand};
