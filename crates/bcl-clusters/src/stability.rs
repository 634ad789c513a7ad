//! Whether two halves of the points have the same clusters.

use crate::{ClusterError, Clustering, Points, adjusted_rand_index, clustering::check_count};
use rand::{Rng, RngExt, seq::SliceRandom};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

/// The agreement of clusters that were found in two random halves.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// Number of clusters k.
    pub num_clusters: usize,
    /// The adjusted Rand index of both labelings of all points; 0 if all points share one cluster.
    pub agreement: f64,
    /// The labels of all points by the clusters of each half.
    pub labels: [Vec<u32>; 2],
}

impl Stability {
    /// Splits the points at random, finds `num_clusters` clusters in each half, and labels all points with both.
    ///
    /// # Errors
    /// Returns an error without clusters, with fewer points than two per cluster, and if eigenvalues do not converge.
    ///
    /// ```
    /// use bcl_clusters::{Points, Stability};
    /// use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
    ///
    /// let points = Points::new((0..400).map(|index| f64::from(index % 2) + 0.001 * f64::from(index % 97)).collect(), 1)?;
    /// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    /// assert_eq!(Stability::measure(&points, 2, &mut rng)?.agreement, 1.0);
    /// # Ok::<(), bcl_clusters::ClusterError>(())
    /// ```
    pub fn measure(points: &Points, num_clusters: usize, rng: &mut (impl Rng + ?Sized)) -> Result<Self, ClusterError> {
        check_count(points.len(), num_clusters, 2 * num_clusters)?;
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.shuffle(rng);
        let (first, second) = order.split_at(points.len() / 2);
        // Each half has its own stream, so both may run at once.
        let seeds: [u64; 2] = [rng.random(), rng.random()];
        let label = |half: &[usize], seed: u64| {
            let clustering = Clustering::fit(
                &points.select(half),
                num_clusters,
                &mut Xoshiro256PlusPlus::seed_from_u64(seed),
            )?;
            clustering.labels(points)
        };
        let (first, second) = rayon::join(|| label(first, seeds[0]), || label(second, seeds[1]));
        let labels = [first?, second?];
        Ok(Self {
            num_clusters,
            agreement: adjusted_rand_index(&labels[0], &labels[1]).unwrap_or(0.0),
            labels,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rng(seed: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(seed)
    }

    #[test]
    fn halves_of_noise_disagree_even_if_one_direction_is_wide() {
        let mut random = rng(1);
        let mut scales = [1.0; 16];
        scales[0] = 9.0;
        let normal = |rng: &mut Xoshiro256PlusPlus| (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let values = (0..1500 * scales.len()).map(|index| scales[index % scales.len()] * normal(&mut random));
        let points = Points::new(values.collect(), scales.len()).unwrap();
        for num_clusters in [2, 8, 32] {
            let found = Stability::measure(&points, num_clusters, &mut rng(2)).unwrap();
            assert!(found.agreement < 0.15, "{num_clusters}: {}", found.agreement);
        }
    }

    #[test]
    fn identical_points_are_not_stable() {
        let points = Points::new(vec![2.0; 30], 3).unwrap();
        assert_eq!(Stability::measure(&points, 2, &mut rng(1)).unwrap().agreement, 0.0);
        let too_few = ClusterError::TooFewPoints {
            points: 10,
            clusters: 6,
            needed: 12,
        };
        assert_eq!(Stability::measure(&points, 6, &mut rng(1)), Err(too_few));
    }
}
