//! Clusters, whitened by the pooled covariance within them.

use crate::{
    ClusterError, Points,
    lloyd::{Assignment, assign, centres},
    seeding::seed,
    whitening::{product, whitening},
};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Lloyd's steps after the first whitening.
const FIRST_STEPS: usize = 6;
/// Rounds of whitening by the covariance within clusters, and Lloyd's steps in each.
const ROUNDS: usize = 6;
const STEPS: usize = 3;
/// A round that changes less than this share of labels is the last.
const CHANGED: f64 = 0.002;

/// Clusters of points, whitened by the pooled within-cluster covariance (WCC). It can label other points of the same space.
///
/// k-means finds round clusters of equal size, so it splits along directions of large variance even if nothing separates there. Here distances are measured in a space in
/// which the covariance *within* clusters is the identity:
///
/// ```text
/// X₀ = (X - mean) U diag(e^-½)               of the covariance of X; eigenvalues e at least 1 % of their mean
/// greedy k-means++ with 3 candidates, at most 6 Lloyd steps
/// at most 6 rounds:
///     S_w = Σ_c Σ_(i in c) (x_i - m_c)(x_i - m_c)ᵀ / n
///     at most 3 Lloyd steps on X₀ W, W = U diag(e^-½) of S_w, from the current means
///     end if less than 0.2 % of labels changed
/// ```
///
/// An empty cluster starts again at the point that is farthest from its mean. So linear transformations of the points change little: clusters depend on the scale of a
/// direction only through the floor of the eigenvalues. The assumption is one covariance for all clusters.
///
/// ```
/// use bcl_clusters::{Clustering, Points};
/// use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
///
/// let points = Points::new(vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.2], 1)?;
/// let clustering = Clustering::fit(&points, 2, &mut Xoshiro256PlusPlus::seed_from_u64(1))?;
/// let labels = clustering.labels(&points)?;
/// assert_eq!(labels[0], labels[2]);
/// assert_ne!(labels[0], labels[3]);
/// # Ok::<(), bcl_clusters::ClusterError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clustering {
    dim: usize,
    shift: Vec<f64>,
    /// `[dim, dim]`, applied after the shift.
    transformation: Vec<f64>,
    /// `[num_clusters, dim]`, after shift and transformation.
    means: Vec<f64>,
}

impl Clustering {
    /// Finds `num_clusters` clusters. Some are empty if there are fewer distinct points.
    ///
    /// # Errors
    /// Returns an error without clusters, with fewer points than clusters, and if eigenvalues do not converge.
    pub fn fit(points: &Points, num_clusters: usize, rng: &mut (impl Rng + ?Sized)) -> Result<Self, ClusterError> {
        check_count(points.len(), num_clusters, num_clusters)?;
        let dim = points.dim();
        let shift = points.mean();
        let centred = points.minus(&shift);
        let whitener = whitening(&centred.covariance())?;
        let base = centred.times(&whitener, dim);

        let seeds = base.select(&seed(&base, num_clusters, rng));
        let (mut assignment, mut means) = steps(&base, &base, None, seeds, FIRST_STEPS);
        let mut within = identity(dim);
        for _ in 0..ROUNDS {
            let own_centres = centres(&base, &assignment, num_clusters);
            within = whitening(&residuals(&base, &own_centres, &assignment.labels).covariance())?;
            // No spread within clusters: they cannot get better.
            if within.iter().all(|&value| value == 0.0) {
                within = identity(dim);
                break;
            }
            let before = assignment.labels.clone();
            let whitened = base.times(&within, dim);
            (assignment, means) = steps(&base, &whitened, Some(&within), means, STEPS);
            if (num_changed(&before, &assignment.labels) as f64) < CHANGED * points.len() as f64 {
                break;
            }
        }
        Ok(Self {
            dim,
            shift,
            transformation: product(&whitener, &within, dim),
            means: means.times(&within, dim).values().to_vec(),
        })
    }

    /// Number of clusters, empty ones included.
    pub fn num_clusters(&self) -> usize {
        self.means.len() / self.dim
    }

    /// The nearest cluster of each point.
    ///
    /// # Errors
    /// Returns an error if the points have another dimension.
    pub fn labels(&self, points: &Points) -> Result<Vec<u32>, ClusterError> {
        if points.dim() != self.dim {
            let values = points.values().len();
            return Err(ClusterError::Shape { values, dim: self.dim });
        }
        let whitened = points.minus(&self.shift).times(&self.transformation, self.dim);
        Ok(assign(&whitened, &Points::of_rows(self.means.clone(), self.dim)).labels)
    }
}

/// Checks that there are clusters, and points enough for them.
pub(crate) fn check_count(points: usize, clusters: usize, needed: usize) -> Result<(), ClusterError> {
    if clusters == 0 {
        return Err(ClusterError::NoClusters);
    }
    if points < needed {
        return Err(ClusterError::TooFewPoints {
            points,
            clusters,
            needed,
        });
    }
    Ok(())
}

/// At most `limit` of Lloyd's steps on the whitened points. Means are taken in the base space, so that the next whitening can start from them.
fn steps(base: &Points, whitened: &Points, within: Option<&[f64]>, mut means: Points, limit: usize) -> (Assignment, Points) {
    let num_clusters = means.len();
    let assigned = |means: &Points| match within {
        Some(within) => assign(whitened, &means.times(within, base.dim())),
        None => assign(whitened, means),
    };
    let mut assignment = assigned(&means);
    for _ in 0..limit {
        means = centres(base, &assignment, num_clusters);
        let next = assigned(&means);
        let is_last = num_changed(&assignment.labels, &next.labels) == 0;
        assignment = next;
        if is_last {
            break;
        }
    }
    (assignment, means)
}

fn num_changed(before: &[u32], after: &[u32]) -> usize {
    before.iter().zip(after).filter(|(before, after)| before != after).count()
}

/// Each point less the centre of its cluster.
fn residuals(points: &Points, means: &Points, labels: &[u32]) -> Points {
    let rows = points.values().chunks_exact(points.dim()).zip(labels);
    let values = rows.flat_map(|(row, &label)| row.iter().zip(means.row(label as usize)).map(|(value, mean)| value - mean));
    Points::of_rows(values.collect(), points.dim())
}

fn identity(dim: usize) -> Vec<f64> {
    (0..dim * dim)
        .map(|index| f64::from(u8::from(index % (dim + 1) == 0)))
        .collect()
}

#[cfg(test)]
mod tests;
