//! Evaluation of graph vectors: how well simple classifiers tell the classes of graphs apart.

mod cross_validation;
mod error;
mod folds;
mod kernel;
mod logistic;
mod newton;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod reference;
mod svm;
mod vectors;

pub use cross_validation::{Choice, Classifier, CrossValidation, CrossValidationConfig, CrossValidator, FoldResult};
pub use error::GraphError;
pub use folds::{shuffled_folds, stratified_folds};
pub use kernel::Kernel;
pub use logistic::LogisticRegression;
pub use svm::{LinearSvc, Svc};
pub use vectors::{Scaling, Vectors};
