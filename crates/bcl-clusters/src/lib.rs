//! Finds false negatives without labels, from the clusters of embeddings.
//!
//! The probability that samples i and j have the same class is estimated by how many of two labelings put them into the same cluster:
//!
//! ```text
//! P_ij = (1[a_i = a_j] + 1[b_i = b_j]) / 2          a, b: labels of all samples by clusterings of two random halves
//! ```
//!
//! | step | here |
//! | --- | --- |
//! | average embeddings over epochs | [`Bank`] |
//! | keep their first principal components | [`Points::principal_components`] |
//! | cluster, whitened by the pooled within-cluster covariance (WCC) | [`Clustering`] |
//! | measure how well two halves agree, for each number of clusters | [`Stability`], [`adjusted_rand_index`] |
//! | choose the largest number that is stable enough beside the best | [`ClusterCount`] |
//! | trust the clusters as far as they are stable | [`Gate`] |
//! | all of it | [`Detector`], which returns a [`Detection`] |
//!
//! # The assumption
//!
//! **The dominant cluster structure of the embeddings is the classes**, and clusters differ mostly in their means. Too many clusters cost little, because
//! pairs within a sub-cluster still share a class. Too few clusters are harmful. Without clusters, halves disagree, and the gate is closed.
//!
//! # The failure
//!
//! **A coherent nuisance**: backgrounds, cameras or popularity that form stronger clusters than the classes. These clusters are as stable as classes would be, so the gate
//! opens, and a loss that attracts such pairs unlearns the classes. No statistic here can tell the two apart. A loss that only leaves such pairs out
//! loses little.
//!
//! # Example
//!
//! Three classes along the first axis, beside a direction of large variance that says nothing:
//!
//! ```
//! use bcl_clusters::{Detector, Points};
//! use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
//!
//! let noise = |index: usize| (12.9898 * index as f64).sin() * 43_758.545 % 1.0;
//! let values = (0..600).flat_map(|index| [(index % 3) as f64 + 0.1 * noise(index), 3.0 * noise(index + 600)]);
//! let points = Points::new(values.collect(), 2)?;
//!
//! let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! let found = Detector::default().detect(&points, None, &mut rng)?;
//! assert_eq!(found.gate, 1.0);
//! // Sample 0 is of class 0, as are 3, 6, 9 and so on. Fine clusters find some of them, and nothing else.
//! assert!((1..200).any(|other| found.probability(0, 3 * other) == 1.0));
//! assert!((0..600).all(|other| other % 3 == 0 || found.probability(0, other) == 0.0));
//! # Ok::<(), bcl_clusters::ClusterError>(())
//! ```
//!
//! # Invariants
//!
//! Randomness comes in as an `Rng`. The number of threads changes no bit: sums run in a fixed order.

mod bank;
mod clustering;
mod count;
mod detection;
mod error;
mod lloyd;
mod points;
mod rand_index;
mod seeding;
mod stability;
mod whitening;

pub use bank::Bank;
pub use clustering::Clustering;
pub use count::{ClusterCount, Gate};
pub use detection::{Detection, Detector};
pub use error::ClusterError;
pub use points::Points;
pub use rand_index::{adjusted_rand_index, equal_pairs};
pub use stability::Stability;
