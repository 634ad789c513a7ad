//! Errors of classifying graphs.

use thiserror::Error;

/// Why graphs could not be classified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A value of a graph vector or of a kernel is NaN, infinite, or too large to be squared.
    #[error(
        "a value of the vector or kernel of graph {graph} (counted from 0) is not a finite number below 1e50: training has \
         diverged; lower optimizer.learning_rate"
    )]
    NotFinite {
        /// The first such graph.
        graph: usize,
    },
    /// All graphs have the same class.
    #[error(
        "all {num_graphs} graphs have the same class, so there is nothing to classify: the data set needs two classes or more"
    )]
    OneClass {
        /// Number of graphs.
        num_graphs: usize,
    },
    /// No class has enough graphs for the folds.
    #[error(
        "{folds} folds, with {inner_folds} inner folds in each, need at least {needed} graphs of one class, but the largest \
         class has {largest}: lower the numbers of folds, or use more graphs"
    )]
    TooFewGraphs {
        /// Number of outer folds.
        folds: usize,
        /// Number of inner folds.
        inner_folds: usize,
        /// Least size of the largest class.
        needed: usize,
        /// Size of the largest class.
        largest: usize,
    },
    /// An [`Interrupt`](crate::Interrupt) asked to stop.
    #[error("interrupted while graphs were classified")]
    Interrupted,
}
