//! The operations that make views.

use super::{
    drop_nodes::drop_nodes, mask_attributes::mask_attributes, perturb_edges::perturb_edges, subgraph::subgraph, view::GraphView,
};
use crate::{Xoshiro256PlusPlus, graphs::Graph};
use serde::{Deserialize, Serialize};

/// An operation that changes a graph at random, by a ratio in [0, 1). Counts are rounded to the nearest integer.
///
/// Source: You et al., [Graph Contrastive Learning with Augmentations](https://arxiv.org/abs/2010.13902), Table 1.
///
/// ```
/// use bcl_data::graphs::{GraphAugmentation, PlantedGraphsConfig};
/// use bcl_data::Seed;
///
/// let graphs = PlantedGraphsConfig { graphs: 6, ..PlantedGraphsConfig::default() }.generate();
/// let graph = graphs.graph(0);
/// let view = GraphAugmentation::PerturbEdges.apply(graph, 0.2, &mut Seed(1).rng());
/// assert_eq!((view.num_nodes(), view.num_edges()), (graph.num_nodes(), graph.num_edges()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphAugmentation {
    /// Leaves the graph as it is.
    Identity,
    /// Removes the ratio of the nodes, with their edges. At least one node remains.
    DropNodes,
    /// Removes the ratio of the edges, and joins as many random pairs of distinct nodes that the graph does not join; fewer if it has fewer
    /// such pairs.
    PerturbEdges,
    /// Replaces the features of the ratio of the nodes by draws from a normal distribution with mean and standard deviation 1/2, as the
    /// released code of You et al. does. In place of a one-hot label, a node then has a random mixture of all labels.
    MaskAttributes,
    /// Keeps a connected part with all but the ratio of the nodes, and the edges between them. It grows from a random node by one random
    /// neighbour at a time, and is smaller if the connected component of that node is.
    Subgraph,
}

impl GraphAugmentation {
    /// All operations.
    pub const ALL: [Self; 5] = [
        Self::Identity,
        Self::DropNodes,
        Self::PerturbEdges,
        Self::MaskAttributes,
        Self::Subgraph,
    ];

    /// Makes a view of a graph.
    pub fn apply(self, graph: Graph<'_>, ratio: f64, rng: &mut Xoshiro256PlusPlus) -> GraphView {
        match self {
            Self::Identity => GraphView::of(graph),
            Self::DropNodes => drop_nodes(graph, ratio, rng),
            Self::PerturbEdges => perturb_edges(graph, ratio, rng),
            Self::MaskAttributes => mask_attributes(graph, ratio, rng),
            Self::Subgraph => subgraph(graph, ratio, rng),
        }
    }
}
