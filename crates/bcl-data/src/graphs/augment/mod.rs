//! Views of graphs: changed copies, whose graph vectors a method compares.

mod batch;
mod config;
mod drop_nodes;
mod mask_attributes;
mod operation;
mod perturb_edges;
mod share;
mod subgraph;
#[cfg(test)]
mod tests;
mod view;

pub use config::GraphViewsConfig;
pub use operation::GraphAugmentation;
pub use view::GraphView;
