//! Batches of graphs: how they are made, and the batches of nodes and their graphs.

use bcl_data::{
    Seed,
    graphs::{GraphBatch as HostBatch, GraphData},
};
use bcl_models::graphs::{GraphInput, Mode};
use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use rand::seq::index;
use std::{fmt::Debug, ops::Range, sync::Arc};

/// Makes the batches of a method from graphs: prepares them on any thread, and then moves them to the device.
pub trait GraphBatches: Debug + Send + Sync + 'static {
    /// A batch on the host.
    type Prepared: Send + 'static;

    /// The input of one step.
    type Batch: Debug + Clone + Send + Sync + 'static;

    /// Prepares a batch. Random views of a graph depend only on its index and the seed, which is the epoch's.
    fn prepare(&self, data: &GraphData, graphs: &[u32], epoch: Seed) -> Self::Prepared;

    /// Moves a batch to the device, for training; with the classes of its graphs if requested, and if they have classes.
    fn batch(prepared: Self::Prepared, with_classes: bool, device: &Device) -> Self::Batch;

    /// Moves a batch to the device, for diagnostics: with classes, in evaluation mode, and with at most `at_most` random nodes as anchors if nodes
    /// are anchors.
    fn probe(prepared: Self::Prepared, at_most: usize, seed: Seed, device: &Device) -> Self::Batch;

    /// Number of anchors of a batch.
    fn num_anchors(batch: &Self::Batch) -> usize;
}

/// Makes batches in which all nodes are anchors.
#[derive(Debug, Clone, Copy)]
pub struct NodeBatches;

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

impl GraphBatches for NodeBatches {
    type Prepared = HostBatch;
    type Batch = GraphBatch;

    fn prepare(&self, data: &GraphData, graphs: &[u32], _: Seed) -> HostBatch {
        data.batch(graphs)
    }

    fn batch(prepared: HostBatch, with_classes: bool, device: &Device) -> GraphBatch {
        GraphBatch {
            anchors: None,
            anchor_graphs: prepared.node_graph.as_slice().into(),
            graphs: prepared.graphs.as_slice().into(),
            classes: classes(&prepared, with_classes),
            input: input(prepared, device),
            mode: Mode::Train,
        }
    }

    fn probe(prepared: HostBatch, at_most: usize, seed: Seed, device: &Device) -> GraphBatch {
        let num_nodes = prepared.num_nodes();
        let mut anchors = index::sample(&mut seed.named("anchors").rng(), num_nodes, num_nodes.min(at_most)).into_vec();
        anchors.sort_unstable();
        let mut batch = Self::batch(prepared, true, device);
        batch.mode = Mode::Eval;
        batch.anchor_graphs = anchors.iter().map(|&node| batch.anchor_graphs[node]).collect();
        let nodes: Vec<i32> = anchors.into_iter().map(|node| node as i32).collect();
        let shape = [nodes.len()];
        batch.anchors = Some(Tensor::from_data(TensorData::new(nodes, shape), device));
        batch
    }

    fn num_anchors(batch: &GraphBatch) -> usize {
        batch.num_anchors()
    }
}

/// The nodes and edges of a batch on a device.
pub(super) fn input(prepared: HostBatch, device: &Device) -> GraphInput {
    let shape = [prepared.num_nodes(), prepared.num_features];
    let features = Tensor::from_data(TensorData::new(prepared.features, shape), device);
    GraphInput::new(features, &prepared.node_offsets, prepared.edge_offsets, prepared.neighbours)
}

/// The class of each graph, if requested and known.
pub(super) fn classes(prepared: &HostBatch, with_classes: bool) -> Option<Arc<[u32]>> {
    (with_classes && !prepared.labels.is_empty()).then(|| prepared.labels.as_slice().into())
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
