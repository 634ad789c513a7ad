//! Graphs: what was captured on a stream, to be launched as one.

use crate::{
    copy::{Copy, Fill},
    launch::Launch,
};
use std::{collections::HashMap, sync::Arc};

/// A node of a graph.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Kernel(Launch),
    Copy(Copy),
    Fill(Fill),
    /// A stream-ordered allocation.
    Allocate,
    /// The free of a stream-ordered allocation.
    Free,
}

/// A graph, or a graph that is ready to be launched.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    nodes: Arc<[Node]>,
    has_run: bool,
}

/// Graphs and executable graphs, by handle. The handles of their nodes follow the graph's.
#[derive(Default)]
pub(crate) struct Graphs {
    graphs: HashMap<u64, Graph>,
    executables: HashMap<u64, Graph>,
}

impl Node {
    /// Its number in `CUgraphNodeType`.
    pub(crate) fn kind(&self) -> i32 {
        match self {
            Self::Kernel(_) => 0,
            Self::Copy(_) => 1,
            Self::Fill(_) => 2,
            Self::Allocate => 10,
            Self::Free => 11,
        }
    }
}

impl Graph {
    pub(crate) fn new(nodes: Vec<Node>) -> Self {
        Self {
            nodes: nodes.into(),
            has_run: false,
        }
    }

    pub(crate) fn nodes(&self) -> Arc<[Node]> {
        Arc::clone(&self.nodes)
    }

    /// Whether it can be launched now. A graph that allocates and does not free can be launched once.
    pub(crate) fn can_run(&self) -> bool {
        let count = |kind: fn(&Node) -> bool| self.nodes.iter().filter(|node| kind(node)).count();
        let frees_all = count(|node| matches!(node, Node::Allocate)) <= count(|node| matches!(node, Node::Free));
        !self.has_run || frees_all
    }

    /// Notes that it was launched.
    pub(crate) fn set_run(&mut self) {
        self.has_run = true;
    }
}

impl Graphs {
    /// Handles of graphs are this far apart.
    const STRIDE: u64 = 1 << 32;

    /// Keeps a captured graph.
    pub(crate) fn insert(&mut self, number: u64, graph: Graph) -> u64 {
        let handle = number * Self::STRIDE;
        self.graphs.insert(handle, graph);
        handle
    }

    pub(crate) fn get(&self, handle: u64) -> Option<&Graph> {
        self.graphs.get(&handle)
    }

    /// The handle of a node of a graph.
    pub(crate) fn node_handle(graph: u64, index: usize) -> u64 {
        graph + 1 + index as u64
    }

    /// The node of a handle.
    pub(crate) fn node(&self, handle: u64) -> Option<&Node> {
        let index = (handle % Self::STRIDE).checked_sub(1)?;
        self.get(handle - handle % Self::STRIDE)?.nodes.get(index as usize)
    }

    /// Forgets a graph, if there is one.
    pub(crate) fn remove(&mut self, handle: u64) -> Option<()> {
        self.graphs.remove(&handle).map(|_| ())
    }

    /// Keeps an executable graph.
    pub(crate) fn insert_executable(&mut self, handle: u64, graph: Graph) {
        self.executables.insert(handle, graph);
    }

    pub(crate) fn executable(&mut self, handle: u64) -> Option<&mut Graph> {
        self.executables.get_mut(&handle)
    }

    /// Forgets an executable graph, if there is one.
    pub(crate) fn remove_executable(&mut self, handle: u64) -> Option<()> {
        self.executables.remove(&handle).map(|_| ())
    }
}
