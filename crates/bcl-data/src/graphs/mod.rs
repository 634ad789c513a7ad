//! Collections of graphs: reading, node features, batches, random views, synthetic graphs.
//!
//! ```
//! use bcl_data::graphs::{GraphBatchLimits, PlantedGraphsConfig};
//! use bcl_data::Seed;
//!
//! let graphs = PlantedGraphsConfig { graphs: 20, ..PlantedGraphsConfig::default() }.generate();
//!
//! // At most 8 graphs and 300 nodes per batch, in a new order each epoch.
//! let order = graphs.shuffled(Seed(0).named("order").index(3));
//! for part in GraphBatchLimits::new(8, Some(300)).for_training(&graphs, &order) {
//!     let batch = graphs.batch(&order[part]);
//!     assert_eq!(batch.features.len(), batch.num_nodes() * batch.num_features);
//!     assert_eq!(batch.node_graph.len(), batch.num_nodes());
//! }
//! ```

mod augment;
mod batch;
mod data;
mod features;
mod limits;
mod planted;
mod read;

pub use augment::{GraphAugmentation, GraphView, GraphViewsConfig};
pub use batch::GraphBatch;
pub use data::{Graph, GraphData, LabelledGraph};
pub use features::NodeFeatures;
pub use limits::GraphBatchLimits;
pub use planted::PlantedGraphsConfig;
pub use read::{GraphOptions, GraphReport, load_graphs, load_graphs_with_report};
