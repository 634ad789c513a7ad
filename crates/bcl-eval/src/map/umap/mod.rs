//! UMAP: places samples so that the graph of their nearest neighbours can be read off the distances in the plane.
//!
//! Steps and defaults follow umap-learn, except for the start: principal components exist for graphs of any number of components, and
//! preserve the global structure better than a random start (Kobak and Linderman, Nature Biotechnology 2021).
//!
//! | step | file |
//! | --- | --- |
//! | a probability for each pair of samples to be neighbours | `graph.rs` |
//! | principal components as initial points | `start.rs` |
//! | the probability to be neighbours as a function of the distance in the plane | `curve.rs` |
//! | stochastic gradient descent on the cross-entropy of both probabilities | `layout.rs` |

mod curve;
mod graph;
mod layout;
mod start;

use super::{Cosines, on_one_thread};
use bcl_data::Seed;
use curve::Curve;

/// Number of neighbours per sample, which includes the sample.
const NEIGHBOURS: usize = 15;

/// Distance in the plane within which points count as neighbours for certain.
const MIN_DIST: f64 = 0.1;

/// Distance in the plane over which that probability decays by a factor of e.
const SPREAD: f64 = 1.0;

/// Maps samples to the plane by UMAP on unit features; `None` if the result is not finite.
///
/// The same features and seed always give the same map.
///
/// Source: UMAP: Uniform Manifold Approximation and Projection for Dimension Reduction (arXiv:1802.03426, 2018).
pub(crate) fn umap(cosines: &Cosines, seed: Seed) -> Option<Vec<[f64; 2]>> {
    let edges = graph::edges(&cosines.neighbours(NEIGHBOURS - 1));
    let mut rng = seed.rng();
    let mut points = on_one_thread(|| start::principal_components(cosines))??;
    start::rescale(&mut points, &mut rng);
    layout::optimise(&mut points, &edges, Curve::fit(MIN_DIST, SPREAD), &mut rng);
    points.iter().flatten().all(|value| value.is_finite()).then_some(points)
}
