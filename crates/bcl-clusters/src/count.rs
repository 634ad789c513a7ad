//! How many clusters there are, and how far to trust them.

use serde::{Deserialize, Serialize};

/// The rule that chooses the number of clusters: the largest k whose stability is at least a share of the best.
///
/// ```text
/// k* = max { k : s_k >= fraction · max s },    k in 2, 4, 8, ... and largest
/// ```
///
/// Larger k are finer, and too many clusters cost less than too few.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClusterCount {
    /// Share of the best stability, in [0, 1].
    pub fraction: f64,
    /// Largest number of clusters, at least 2.
    pub largest: usize,
}

impl ClusterCount {
    /// Half of the best stability, at most 128 clusters: the finest clusters that halves still agree on.
    pub const FINER: Self = Self {
        fraction: 0.5,
        largest: 128,
    };

    /// Three quarters of the best stability, at most 64 clusters.
    pub const COARSER: Self = Self {
        fraction: 0.75,
        largest: 64,
    };

    /// The rule with another largest number of clusters.
    pub fn at_most(self, largest: usize) -> Self {
        Self { largest, ..self }
    }

    /// All candidates for so many points: the powers of two below the largest, and the largest, with at least two points per cluster.
    pub fn grid(&self, num_points: usize) -> Vec<usize> {
        let powers = (1..usize::BITS).map(|power| 1_usize << power);
        let candidates = powers.take_while(|&k| k < self.largest).chain([self.largest]);
        candidates.take_while(|&k| 2 * k <= num_points).collect()
    }

    /// The candidates beside a number chosen earlier: half of it, itself, and twice as many.
    pub fn near(&self, num_clusters: usize, num_points: usize) -> Vec<usize> {
        let is_near = |k: &usize| 2 * k >= num_clusters && *k <= 2 * num_clusters;
        self.grid(num_points).into_iter().filter(is_near).collect()
    }

    /// Chooses among pairs of k and stability. Without a positive stability, the k with the largest. `None` without pairs.
    ///
    /// ```
    /// use bcl_clusters::ClusterCount;
    ///
    /// let stabilities = [(2, 0.2), (4, 0.6), (8, 0.9), (16, 0.7), (32, 0.46), (64, 0.1)];
    /// assert_eq!(ClusterCount::FINER.choose(&stabilities), Some(32));
    /// assert_eq!(ClusterCount::COARSER.choose(&stabilities), Some(16));
    /// ```
    pub fn choose(&self, stabilities: &[(usize, f64)]) -> Option<usize> {
        let best = stabilities.iter().copied().max_by(|left, right| left.1.total_cmp(&right.1))?;
        if best.1 <= 0.0 {
            return Some(best.0);
        }
        let enough = stabilities
            .iter()
            .filter(|(_, stability)| *stability >= self.fraction * best.1);
        enough.map(|(k, _)| *k).max()
    }
}

/// How far clusters of some stability are trusted.
///
/// ```text
/// g = clip((s - closed) / (open - closed), 0, 1)
/// ```
///
/// Stability is a valid gate only for clusters whitened within: plain k-means also splits noise reproducibly, along its principal axes. Read it before pairs
/// are attracted: attraction makes any clusters stable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Stability up to which nothing is trusted.
    pub closed: f64,
    /// Stability from which everything is.
    pub open: f64,
}

impl Default for Gate {
    fn default() -> Self {
        Self { closed: 0.15, open: 0.3 }
    }
}

impl Gate {
    /// The trust in clusters of this stability, in [0, 1]; 0 for NaN.
    ///
    /// ```
    /// use bcl_clusters::Gate;
    ///
    /// let gate = Gate::default();
    /// assert_eq!([0.1, 0.5].map(|stability| gate.trust(stability)), [0.0, 1.0]);
    /// assert!((gate.trust(0.225) - 0.5).abs() < 1e-12);
    /// ```
    pub fn trust(&self, stability: f64) -> f64 {
        if stability >= self.open {
            1.0
        } else if stability > self.closed {
            (stability - self.closed) / (self.open - self.closed)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_powers_of_two_for_which_there_are_points() {
        assert_eq!(ClusterCount::FINER.grid(50_000), [2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(ClusterCount::COARSER.grid(50_000), [2, 4, 8, 16, 32, 64]);
        assert_eq!(ClusterCount::FINER.grid(17), [2, 4, 8]);
        assert!(ClusterCount::FINER.grid(3).is_empty());
        assert_eq!(ClusterCount::FINER.near(8, 1000), [4, 8, 16]);
        assert_eq!(ClusterCount::FINER.near(2, 1000), [2, 4]);
        assert_eq!(ClusterCount::COARSER.near(64, 1000), [32, 64]);
        assert_eq!(ClusterCount::COARSER.at_most(10).grid(1000), [2, 4, 8, 10]);
        assert_eq!(ClusterCount::COARSER.at_most(2).grid(1000), [2]);
    }

    #[test]
    fn without_stable_clusters_the_least_bad_number_is_chosen() {
        assert_eq!(ClusterCount::FINER.choose(&[(2, -0.1), (4, 0.0), (8, -0.2)]), Some(4));
        assert_eq!(ClusterCount::FINER.choose(&[]), None);
    }

    #[test]
    fn a_gate_of_one_point_is_a_step() {
        let step = Gate { closed: 0.2, open: 0.2 };
        assert_eq!([0.1, 0.2, f64::NAN].map(|stability| step.trust(stability)), [0.0, 1.0, 0.0]);
    }
}
