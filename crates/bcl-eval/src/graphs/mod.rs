//! Evaluation of graph vectors: how well simple classifiers tell the classes of graphs apart.

mod error;
mod kernel;
mod vectors;

pub use error::GraphError;
pub use kernel::Kernel;
pub use vectors::{Scaling, Vectors};
