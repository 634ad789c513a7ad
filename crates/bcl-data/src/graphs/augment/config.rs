//! Configuration of the views of graphs.

use super::{batch::batch_of_views, operation::GraphAugmentation, view::GraphView};
use crate::{
    DataError, Seed,
    error::shown,
    graphs::{GraphBatch, GraphData},
};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// Configuration of two random views of each graph: the operations of each view, of which a graph gets one at random, and the share that they
/// change. An operation that is listed twice is drawn twice as often.
///
/// ```
/// use bcl_data::graphs::{GraphAugmentation, GraphViewsConfig};
///
/// let config = GraphViewsConfig { first: vec![GraphAugmentation::Identity], ratio: 1.5, ..GraphViewsConfig::default() };
/// assert_eq!(
///     config.check().unwrap_err().to_string(),
///     "method.views.ratio is 1.5, but must be in [0, 1). Change it in the recipe or with `--set method.views.ratio=…`."
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphViewsConfig {
    /// Operations of the first view, at least one.
    pub first: Vec<GraphAugmentation>,
    /// Operations of the second view, at least one.
    pub second: Vec<GraphAugmentation>,
    /// Share of the nodes or edges that an operation changes, in [0, 1).
    pub ratio: f64,
}

impl Default for GraphViewsConfig {
    fn default() -> Self {
        let operations = GraphAugmentation::ALL.into_iter();
        let changes: Vec<_> = operations
            .filter(|&operation| operation != GraphAugmentation::Identity)
            .collect();
        Self {
            first: changes.clone(),
            second: changes,
            ratio: 0.2,
        }
    }
}

impl GraphViewsConfig {
    /// Number of views of a graph.
    pub const COUNT: usize = 2;

    /// Checks that each view has an operation, and that the ratio is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first key with a problem.
    pub fn check(&self) -> Result<(), DataError> {
        for (name, operations) in [("first", &self.first), ("second", &self.second)] {
            if operations.is_empty() {
                let problem = "is empty, but a view needs an operation; write [\"identity\"] to leave graphs as they are";
                return Err(DataError::setting(format!("method.views.{name}"), problem));
            }
        }
        if (0.0..1.0).contains(&self.ratio) {
            return Ok(());
        }
        Err(DataError::out_of_range("method.views.ratio", shown(self.ratio), "[0, 1)"))
    }

    /// The views of a batch: the first view of all graphs, then the second one, each as [`GraphData::batch`] returns graphs.
    ///
    /// A view depends only on the configuration, the seed, the index of its graph, and whether it is the first or the second one.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails, or as [`GraphData::batch`] does.
    ///
    /// ```
    /// use bcl_data::graphs::{GraphViewsConfig, PlantedGraphsConfig};
    /// use bcl_data::Seed;
    ///
    /// let graphs = PlantedGraphsConfig { graphs: 20, ..PlantedGraphsConfig::default() }.generate();
    /// let epoch = Seed(0).named("views").index(3);
    /// let [first, second] = GraphViewsConfig::default().batches(&graphs, &[4, 17, 9], epoch);
    /// assert_eq!((first.num_graphs(), second.num_graphs()), (3, 3));
    /// assert_ne!(first.features, second.features);
    /// ```
    pub fn batches(&self, data: &GraphData, graphs: &[u32], seed: Seed) -> [GraphBatch; Self::COUNT] {
        [0, 1].map(|which| {
            let views = graphs.iter().map(|&graph| self.view(data, graph, which, seed)).collect();
            batch_of_views(data, graphs, views)
        })
    }

    /// View `which` of a graph, 0 or 1.
    pub(super) fn view(&self, data: &GraphData, graph: u32, which: usize, seed: Seed) -> GraphView {
        let mut rng = seed.index(graph.into()).index(which as u64).rng();
        let operations = [&self.first, &self.second][which];
        let operation = operations[rng.random_range(0..operations.len())];
        operation.apply(data.graph(graph), self.ratio, &mut rng)
    }
}
