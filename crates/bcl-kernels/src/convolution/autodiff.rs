//! Convolution as a single node of the autodiff graph.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend};

use super::ConvolutionOps;

impl<B: Backend + ConvolutionOps, C: CheckpointStrategy> ConvolutionOps for Autodiff<B, C> {
    fn convolve(input: FloatTensor<Self>, weight: FloatTensor<Self>, stride: usize, padding: usize) -> FloatTensor<Self> {
        let nodes = [input.node(), weight.node()];
        let (input, weight) = (input.into_primitive(), weight.into_primitive());
        let output = B::convolve(input.clone(), weight.clone(), stride, padding);
        match Convolve.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((input, weight, stride, padding), output),
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }
}

#[derive(Debug)]
struct Convolve;

impl<B: Backend + ConvolutionOps> Backward<B, 2> for Convolve {
    /// Input, weight, stride and padding.
    type State = (FloatTensor<B>, FloatTensor<B>, usize, usize);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (input, weight, stride, padding) = ops.state;
        let [input_node, weight_node] = ops.parents;
        if let Some(node) = input_node {
            let (input, weight, grad) = (input.clone(), weight.clone(), grad.clone());
            grads.register::<B>(node.id, B::convolve_input_backward(input, weight, grad, stride, padding));
        }
        if let Some(node) = weight_node {
            grads.register::<B>(node.id, B::convolve_weight_backward(input, weight, grad, stride, padding));
        }
    }
}
