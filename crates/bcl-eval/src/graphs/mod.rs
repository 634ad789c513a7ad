//! Evaluation of graph vectors: how well simple classifiers tell the classes of graphs apart.

mod error;
mod kernel;
mod logistic;
mod newton;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod reference;
mod svm;
mod vectors;

pub use error::GraphError;
pub use kernel::Kernel;
pub use logistic::LogisticRegression;
pub use svm::{LinearSvc, Svc};
pub use vectors::{Scaling, Vectors};
