//! Batches of graphs.

use bcl_models::graphs::{GraphInput, Mode};
use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use std::{ops::Range, sync::Arc};

/// Graphs as one large graph, and the nodes that are anchors.
#[derive(Debug, Clone)]
pub struct GraphBatch {
    /// Nodes and edges of all graphs.
    pub input: GraphInput,
    /// The nodes that are anchors, ascending; `None` if all are.
    pub anchors: Option<Tensor<1, Int>>,
    /// The position in the batch of each anchor's graph, `[num_anchors]`.
    pub anchor_graphs: Arc<[u32]>,
    /// The graphs, by their indices in the collection.
    pub graphs: Arc<[u32]>,
    /// The class of each graph; `None` if neither loss nor schedules read classes.
    pub classes: Option<Arc<[u32]>>,
    /// Statistics that batch normalisation uses.
    pub mode: Mode,
}

impl GraphBatch {
    /// Number of graphs.
    pub fn num_graphs(&self) -> usize {
        self.graphs.len()
    }

    /// Number of anchors.
    pub fn num_anchors(&self) -> usize {
        self.anchor_graphs.len()
    }

    /// The positions of the graphs of some anchors.
    ///
    /// # Shapes
    /// - output: `[anchors.len(), 1]`
    pub fn own_graphs(&self, anchors: Range<usize>, device: &Device) -> Tensor<2, Int> {
        let own: Vec<i32> = self.anchor_graphs[anchors].iter().map(|&graph| graph as i32).collect();
        let shape = [own.len(), 1];
        Tensor::from_data(TensorData::new(own, shape), device)
    }

    /// Which negatives of some anchors have the anchor's class, in the order of [`negative`](Self::negative); `None` without classes.
    ///
    /// # Shapes
    /// - output: `[anchors.len(), num_graphs - 1]`
    pub fn same_class(&self, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        let classes = self.classes.as_ref()?;
        let num_negatives = self.num_graphs() - 1;
        let shape = [anchors.len(), num_negatives];
        let same = anchors.flat_map(|anchor| {
            let own = self.anchor_graphs[anchor] as usize;
            (0..num_negatives).map(move |column| classes[self.negative(own, column)] == classes[own])
        });
        Some(Tensor::from_data(TensorData::new(same.collect::<Vec<bool>>(), shape), device))
    }

    /// The graph in a column of the negatives of a node of graph `own`: the graph with the column's number, except that the last graph
    /// replaces `own`.
    pub fn negative(&self, own: usize, column: usize) -> usize {
        if column == own { self.num_graphs() - 1 } else { column }
    }
}
