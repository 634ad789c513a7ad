//! Masked attributes.

use super::{share::share_of, view::GraphView};
use crate::{Xoshiro256PlusPlus, graphs::Graph};
use rand::seq::index;
use rand_distr::{Distribution, Normal};

/// Mean and standard deviation of the features of masked nodes.
const MASK: (f32, f32) = (0.5, 0.5);

/// Replaces the features of random nodes by normal draws.
pub(super) fn mask_attributes(graph: Graph<'_>, ratio: f64, rng: &mut Xoshiro256PlusPlus) -> GraphView {
    let mut view = GraphView::of(graph);
    let num_nodes = view.num_nodes();
    let normal = Normal::new(MASK.0, MASK.1).expect("a finite deviation");
    for node in index::sample(rng, num_nodes, share_of(num_nodes, ratio)) {
        view.features_mut(node).fill_with(|| normal.sample(rng));
    }
    view
}
