//! Perturbed edges.

use super::{share::share_of, view::GraphView};
use crate::{Xoshiro256PlusPlus, graphs::Graph};
use rand::seq::index;

/// Removes random edges, and joins as many random pairs of nodes that were not joined.
pub(super) fn perturb_edges(graph: Graph<'_>, ratio: f64, rng: &mut Xoshiro256PlusPlus) -> GraphView {
    let num_nodes = graph.num_nodes();
    let joined = joined_pairs(graph);
    let num_free = num_nodes * (num_nodes - 1) / 2 - joined.len();
    let num_changed = share_of(joined.len(), ratio);

    let kept = index::sample(rng, joined.len(), joined.len() - num_changed);
    let mut added = index::sample(rng, num_free, num_changed.min(num_free)).into_vec();
    added.sort_unstable();
    let kept = kept.into_iter().map(|edge| joined[edge]);
    let pairs = kept.chain(free_pairs(&joined, &added));
    GraphView::of(graph).with_edges(pairs.map(nodes_of_pair))
}

/// The pairs that an edge joins, ascending. The pair of nodes `a < b` has the number `b (b - 1) / 2 + a`.
fn joined_pairs(graph: Graph<'_>) -> Vec<usize> {
    let nodes = 0..graph.num_nodes();
    let of_node = |b: usize| {
        let others = graph.neighbours(b as u32).iter().map(|&a| a as usize);
        others.take_while(move |&a| a < b).map(move |a| b * (b.max(1) - 1) / 2 + a)
    };
    nodes.flat_map(of_node).collect()
}

/// The nodes of a pair.
fn nodes_of_pair(pair: usize) -> (u32, u32) {
    let b = usize::midpoint(1, (1 + 8 * pair).isqrt());
    ((pair - b * (b - 1) / 2) as u32, b as u32)
}

/// The pairs that are not joined, by their ranks among all such pairs. Both arguments are ascending.
fn free_pairs(joined: &[usize], ranks: &[usize]) -> impl Iterator<Item = usize> {
    let mut num_before = 0;
    ranks.iter().map(move |rank| {
        while joined.get(num_before).is_some_and(|&pair| pair <= rank + num_before) {
            num_before += 1;
        }
        rank + num_before
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_a_number_of_its_own() {
        let pairs = (0..300u32).flat_map(|b| (0..b).map(move |a| (a, b)));
        for (number, pair) in pairs.enumerate() {
            assert_eq!(nodes_of_pair(number), pair);
        }
    }

    #[test]
    fn ranks_count_only_pairs_that_are_not_joined() {
        let free = |joined: &[usize], ranks: &[usize]| free_pairs(joined, ranks).collect::<Vec<_>>();
        assert_eq!(free(&[0, 1, 4], &[0, 1, 2]), [2, 3, 5]);
        assert_eq!(free(&[2, 3, 4], &[0, 2]), [0, 5]);
        assert_eq!(free(&[], &[7]), [7]);
    }
}
