//! Batches of two views of graphs.

use super::{
    graphs::{GraphBatches, classes, input},
    images::label_tensor,
};
use bcl_data::{
    Seed,
    graphs::{GraphBatch as HostBatch, GraphData, GraphViewsConfig},
};
use bcl_models::graphs::{GraphInput, Mode};
use burn::tensor::{Bool, Device, Tensor};
use std::{ops::Range, sync::Arc};

/// Makes batches of two random views of each graph.
#[derive(Debug, Clone)]
pub struct ViewBatches(pub GraphViewsConfig);

/// Two views of graphs, each view of all graphs as one large graph.
#[derive(Debug, Clone)]
pub struct GraphViewsBatch {
    /// Nodes and edges of all graphs in each view.
    pub views: [GraphInput; GraphViewsConfig::COUNT],
    /// The graphs, by their indices in the collection.
    pub graphs: Arc<[u32]>,
    /// The class of each graph; `None` if neither loss nor schedules read classes.
    pub classes: Option<Arc<[u32]>>,
    /// Statistics that batch normalisation uses.
    pub mode: Mode,
}

impl GraphBatches for ViewBatches {
    type Prepared = [HostBatch; GraphViewsConfig::COUNT];
    type Batch = GraphViewsBatch;

    fn prepare(&self, data: &GraphData, graphs: &[u32], epoch: Seed) -> Self::Prepared {
        self.0.batches(data, graphs, epoch)
    }

    fn batch(prepared: Self::Prepared, with_classes: bool, device: &Device) -> GraphViewsBatch {
        GraphViewsBatch {
            graphs: prepared[0].graphs.as_slice().into(),
            classes: classes(&prepared[0], with_classes),
            views: prepared.map(|view| input(view, device)),
            mode: Mode::Train,
        }
    }

    /// All views are anchors: there are only two per graph.
    fn probe(prepared: Self::Prepared, _: usize, _: Seed, device: &Device) -> GraphViewsBatch {
        GraphViewsBatch {
            mode: Mode::Eval,
            ..Self::batch(prepared, true, device)
        }
    }

    fn num_anchors(batch: &GraphViewsBatch) -> usize {
        batch.num_anchors()
    }
}

impl GraphViewsBatch {
    /// Number of anchors: each view of each graph.
    pub fn num_anchors(&self) -> usize {
        GraphViewsConfig::COUNT * self.graphs.len()
    }

    /// Which negatives of some anchors have the anchor's class, in the order of [`Pairs::from_views_of`](bcl_core::Pairs::from_views_of); `None`
    /// without classes.
    ///
    /// # Shapes
    /// - output: `[anchors.len(), 2 · num_graphs - 2]`
    pub fn same_class(&self, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        let labels = label_tensor(self.classes.as_deref()?, device);
        Some(bcl_core::same_class(&labels, anchors))
    }
}
