//! What can be wrong with the input.

/// Why points cannot be clustered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// A value is NaN, infinite, or so large that its square is.
    #[error("point {point} has a value that is not finite or is beyond ±1e100")]
    NotFinite {
        /// The first such point.
        point: usize,
    },
    /// The values do not fill whole rows.
    #[error("{values} values are no rows of {dim}")]
    Shape {
        /// Number of values.
        values: usize,
        /// Expected values per point.
        dim: usize,
    },
    /// There are fewer points than clusters.
    #[error("{clusters} clusters need at least {needed} points, but there are {points}")]
    TooFewPoints {
        /// Number of points.
        points: usize,
        /// Requested number of clusters.
        clusters: usize,
        /// The least number of points for them.
        needed: usize,
    },
    /// No clusters were requested.
    #[error("the number of clusters cannot be 0")]
    NoClusters,
    /// A row of a bank does not exist.
    #[error("the bank has {points} rows, so there is no row {row}")]
    NoRow {
        /// The row.
        row: usize,
        /// Number of rows.
        points: usize,
    },
    /// A row of a bank was never updated.
    #[error("row {row} of the bank has no features yet")]
    EmptyRow {
        /// The first such row.
        row: usize,
    },
    /// Eigenvalues of a covariance did not converge.
    #[error("the eigenvalues of a covariance did not converge")]
    Eigenvalues,
}
