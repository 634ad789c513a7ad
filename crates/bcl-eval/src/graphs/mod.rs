//! Evaluation of graph vectors: how well simple classifiers tell the classes of graphs apart.
//!
//! | to | use |
//! | --- | --- |
//! | measure the accuracy of graph vectors by nested cross-validation | [`CrossValidator::vectors`] |
//! | compare with the Weisfeiler-Lehman subtree kernel | [`weisfeiler_lehman()`], [`CrossValidator::kernels`] |
//! | compare with vectors that need no encoder | [`sizes`], [`label_counts`] |
//! | compare with the most frequent class | [`CrossValidator::majority`] |
//! | do all of this as a recipe says, with maps of the graphs | [`GraphEvaluator`] |
//! | train one classifier | [`Svc`], [`LinearSvc`], [`LogisticRegression`] |
//!
//! # Protocol
//! Papers on graph vectors report the mean accuracy of a support vector machine over 10 folds, with C from {1e-3, …, 1e3} by
//! inner folds. [`CrossValidator`] does this, with everything fitted on training graphs alone. Two details differ between papers,
//! so the caller chooses them:
//!
//! - the classifier: [`Classifier::RbfSvm`] is the usual one
//! - the scaling: [`Scaling::None`] is what released code does. Sums over nodes grow with the graph, so the RBF kernel then sees
//!   little but the scale of the largest graphs. [`Scaling::ZScores`] removes it; linear classifiers need it.
//!
//! [`CrossValidation::nested`] chooses an epoch by inner folds. Nothing here chooses by test accuracy.
//!
//! # Invariants
//! - A test graph decides neither C nor a kernel, a scale or a threshold. An encoder may have seen it, without its class.
//! - Ties go to the lower class, the smaller C and the earlier kernel.
//! - A value that is not finite is an error; it never enters an accuracy.
//! - Results do not depend on the number of threads.

mod baselines;
mod config;
mod cross_validation;
mod error;
mod evaluator;
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
mod weisfeiler_lehman;

pub use baselines::{label_counts, sizes};
pub use config::{GraphBaselineKind, GraphClassifier, GraphEvaluationConfig};
pub use cross_validation::{Choice, Classifier, CrossValidation, CrossValidationConfig, CrossValidator, FoldResult};
pub use error::GraphError;
pub use evaluator::{GraphEvaluation, GraphEvaluator, why_classifiers_are_off};
pub use folds::{shuffled_folds, stratified_folds};
pub use kernel::Kernel;
pub use logistic::LogisticRegression;
pub use svm::{LinearSvc, Svc};
pub use vectors::{Scaling, Vectors};
pub use weisfeiler_lehman::{LabelledGraph, weisfeiler_lehman};
