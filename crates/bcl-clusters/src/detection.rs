//! Which pairs share a class, as far as clusters tell.

use crate::{ClusterCount, ClusterError, Gate, Points, Stability};
use rand::{Rng, RngExt};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Finds pairs that share a class. The default is the finer rule with the default gate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Detector {
    /// How many clusters.
    pub count: ClusterCount,
    /// How far to trust them.
    pub gate: Gate,
}

impl Default for Detector {
    fn default() -> Self {
        Self {
            count: ClusterCount::FINER,
            gate: Gate::default(),
        }
    }
}

/// Pairs that share a class, as far as clusters tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// The cluster of each sample, by the clusters of two halves.
    pub labels: [Vec<u32>; 2],
    /// Number of clusters.
    pub num_clusters: usize,
    /// Adjusted Rand index of the two labelings.
    pub stability: f64,
    /// How far the labels can be trusted, in [0, 1]. Probabilities do not include it.
    pub gate: f64,
    /// Number of clusters and stability of every candidate.
    pub candidates: Vec<(usize, f64)>,
}

impl Detector {
    /// Clusters the points, such as the first 20 [principal components](Points::principal_components) of a [`Bank`](crate::Bank).
    ///
    /// `near` limits the candidates to half, once and twice a number that was chosen earlier, which takes a fraction of the time.
    ///
    /// # Errors
    /// Returns an error with fewer than four points, and if eigenvalues do not converge.
    pub fn detect(&self, points: &Points, near: Option<usize>, rng: &mut (impl Rng + ?Sized)) -> Result<Detection, ClusterError> {
        let mut grid = near.map_or_else(Vec::new, |near| self.count.near(near, points.len()));
        if grid.is_empty() {
            grid = self.count.grid(points.len());
        }
        let measured: Vec<Stability> = grid
            .into_iter()
            .map(|k| (k, rng.random::<u64>()))
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|(k, seed)| Stability::measure(points, k, &mut Xoshiro256PlusPlus::seed_from_u64(seed)))
            .collect::<Result<_, _>>()?;
        let candidates: Vec<(usize, f64)> = measured.iter().map(|found| (found.num_clusters, found.agreement)).collect();
        let chosen = self.count.choose(&candidates);
        let found = measured.into_iter().find(|found| Some(found.num_clusters) == chosen);
        let Some(Stability {
            num_clusters,
            agreement: stability,
            labels,
        }) = found
        else {
            return Err(ClusterError::TooFewPoints {
                points: points.len(),
                clusters: 2,
                needed: 4,
            });
        };
        Ok(Detection {
            labels,
            num_clusters,
            stability,
            gate: self.gate.trust(stability),
            candidates,
        })
    }
}

impl Detection {
    /// The probability that two samples share a class: 0, 1/2 or 1, the share of labelings in which they share a cluster.
    ///
    /// # Panics
    /// Panics if there is no such sample.
    pub fn probability(&self, first: usize, second: usize) -> f64 {
        let share = |labels: &Vec<u32>| f64::from(u8::from(labels[first] == labels[second]));
        self.labels.iter().map(share).sum::<f64>() / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rng() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(3)
    }

    /// Five groups on a line.
    fn groups(count: u32) -> Points {
        let value = |index: u32| 10.0 * f64::from(index % 5) + (1.7 * f64::from(index)).sin();
        Points::new((0..count).map(value).collect(), 1).unwrap()
    }

    #[test]
    fn groups_are_found_and_threads_change_nothing() {
        let points = groups(400);
        let detected = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Detector::default().detect(&points, None, &mut rng()).unwrap())
        };
        let found = detected(1);
        assert_eq!(found, detected(3));
        assert_eq!(found.candidates.len(), 7);
        assert!(found.num_clusters >= 8 && found.gate == 1.0, "{:?}", found.candidates);
        let false_alarms = (0..400).flat_map(|first| (0..first).map(move |second| (first, second)));
        let wrong = false_alarms.filter(|&(first, second)| first % 5 != second % 5 && found.probability(first, second) > 0.0);
        assert_eq!(wrong.count(), 0);
    }

    #[test]
    fn a_number_of_earlier_limits_the_candidates() {
        let found = Detector::default().detect(&groups(200), Some(8), &mut rng()).unwrap();
        let candidates: Vec<usize> = found.candidates.iter().map(|(k, _)| *k).collect();
        assert_eq!(candidates, [4, 8, 16]);
    }

    #[test]
    fn too_few_points_are_refused() {
        let points = Points::new(vec![1.0, 2.0, 3.0], 1).unwrap();
        let found = Detector::default().detect(&points, Some(2), &mut rng());
        let too_few = ClusterError::TooFewPoints {
            points: 3,
            clusters: 2,
            needed: 4,
        };
        assert_eq!(found, Err(too_few));
    }

    #[test]
    fn a_detection_survives_a_file() {
        let found = Detector::default().detect(&groups(60), None, &mut rng()).unwrap();
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Detection>(&text).unwrap(), found);
    }

    #[test]
    fn labelings_that_differ_give_one_half() {
        let found = Detection {
            labels: [vec![0, 0, 1], vec![4, 5, 5]],
            num_clusters: 2,
            stability: 0.0,
            gate: 0.0,
            candidates: Vec::new(),
        };
        assert_eq!(
            [(0, 0), (0, 1), (1, 2), (0, 2)].map(|(i, j)| found.probability(i, j)),
            [1.0, 0.5, 0.5, 0.0]
        );
    }
}
