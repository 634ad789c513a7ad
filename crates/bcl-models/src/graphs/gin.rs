//! The graph isomorphism network.

use super::{GinConfig, GinOrder, GraphInput, Mode};
use crate::vision::precision::linear;
use crate::{check::panic_if_bad, draws::Draws, vision::BatchNorm};
use bcl_kernels::{SparseMatrix, sparse_matmul, sparse_matmul_add, together};
use burn::{
    module::{Module, Param},
    nn::Linear,
    tensor::{Device, Tensor, activation::relu},
};

/// A graph isomorphism network (GIN) with the embeddings of all layers side by side, as in `InfoGraph`:
///
/// ```text
/// x_i^(k) = MLP^(k)( (1 + ε_k) x_i^(k-1) + Σ_{j neighbour of i} x_j^(k-1) ),   x^(0) = features
/// node i  = (x_i^(1), …, x_i^(L)),   graph = Σ_{nodes i of the graph} node i
/// ```
///
/// The embedding of a graph is a sum, so it grows with the size of the graph. [`GinOrder`] says what the MLP is.
///
/// Source: Xu et al., [How Powerful are Graph Neural Networks?](https://arxiv.org/abs/1810.00826), Eq. 4.1; Sun et al.,
/// [InfoGraph](https://arxiv.org/abs/1908.01000), Eq. 2 and 3.
#[derive(Module, Debug)]
pub struct Gin {
    /// From the features on.
    pub layers: Vec<GinLayer>,
}

/// A layer of [`Gin`].
#[derive(Module, Debug)]
pub struct GinLayer {
    /// ε, the additional weight of the node itself, `[1]`; always 0 if absent.
    pub epsilon: Option<Param<Tensor<1>>>,
    /// First linear layer, `[size_in, hidden]`.
    pub first: Linear,
    /// Batch normalisation after the first linear layer, in the order [`GinOrder::Xu2019`].
    pub inner: Option<BatchNorm>,
    /// Second linear layer, `[hidden, hidden]`.
    pub second: Linear,
    /// Batch normalisation of the embeddings.
    pub norm: BatchNorm,
}

/// The output of [`Gin`].
#[derive(Debug, Clone)]
pub struct GraphEmbeddings {
    /// Embeddings of nodes, `[num_nodes, num_layers · hidden]`.
    pub nodes: Tensor<2>,
    /// Embeddings of graphs, `[num_graphs, num_layers · hidden]`.
    pub graphs: Tensor<2>,
}

impl GinConfig {
    /// Builds the encoder for features of the given number. Weights are Xavier uniform and determined by the seed, biases are 0.
    ///
    /// Source: Glorot and Bengio, [Understanding the difficulty of training deep feedforward neural
    /// networks](https://proceedings.mlr.press/v9/glorot10a.html), Eq. 16.
    ///
    /// # Panics
    /// Panics if a parameter is out of range; use [`check`](Self::check) to test. Panics if there are no features.
    pub fn init(&self, num_features: usize, seed: u64, device: &Device) -> Gin {
        panic_if_bad(self.check());
        assert!(
            num_features > 0,
            "nodes without features cannot be encoded: give them a constant"
        );
        let mut draws = Draws::new(seed, "gin");
        let layers = self.sizes_in(num_features);
        let layers = layers.map(|size_in| GinLayer::new([size_in, self.hidden], self, &mut draws, device));
        Gin {
            layers: layers.collect(),
        }
    }
}

impl Gin {
    /// Embeds nodes and graphs.
    ///
    /// # Panics
    /// Panics if the encoder takes another number of features, or if `mode` uses the statistics of the batch and there is a single node.
    pub fn forward(&self, input: &GraphInput, mode: Mode) -> GraphEmbeddings {
        let mut nodes = input.features.clone();
        let mut next = |layer: &GinLayer| {
            nodes = layer.forward(nodes.clone(), &input.adjacency, mode);
            nodes.clone()
        };
        // Running statistics are updated together, because nothing else in a forward pass by the batch reads them.
        let embeddings = together(|| self.layers.iter().map(&mut next).collect());
        let nodes = Tensor::cat(embeddings, 1);
        GraphEmbeddings {
            graphs: sparse_matmul(&input.readout, nodes.clone()),
            nodes,
        }
    }
}

impl GinLayer {
    pub(super) fn new(sizes: [usize; 2], config: &GinConfig, draws: &mut Draws, device: &Device) -> Self {
        let [_, hidden] = sizes;
        let norm = || BatchNorm::new(hidden, device);
        Self {
            epsilon: config.learn_epsilon.then(|| Param::from_tensor(Tensor::zeros([1], device))),
            first: draws.xavier_linear(sizes, device),
            inner: (config.order == GinOrder::Xu2019).then(norm),
            second: draws.xavier_linear([hidden, hidden], device),
            norm: norm(),
        }
    }

    /// Embeds nodes by their neighbours.
    ///
    /// # Shapes
    /// - nodes:     `[num_nodes, size_in]`
    /// - adjacency: `[num_nodes, num_nodes]`
    /// - output:    `[num_nodes, hidden]`
    ///
    /// # Panics
    /// Panics in the same cases as [`Gin::forward`].
    pub fn forward(&self, nodes: Tensor<2>, adjacency: &SparseMatrix, mode: Mode) -> Tensor<2> {
        let own = match &self.epsilon {
            Some(epsilon) => nodes.clone() * (epsilon.val() + 1.0).unsqueeze(),
            None => nodes.clone(),
        };
        let hidden = linear(&self.first, sparse_matmul_add(adjacency, nodes, own));
        match &self.inner {
            None => self.norm.forward(relu(linear(&self.second, relu(hidden))), mode),
            Some(inner) => {
                let hidden = inner.forward_relu(hidden, mode);
                self.norm.forward_relu(linear(&self.second, hidden), mode)
            }
        }
    }
}
