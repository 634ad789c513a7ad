//! Batch normalisation as a single node of the autodiff graph.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, Backend};

use super::NormOps;

impl<B: Backend + NormOps, C: CheckpointStrategy> NormOps for Autodiff<B, C> {
    fn batch_norm_by_batch(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        epsilon: f64,
        relu: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let nodes = [input.node(), weight.node(), bias.node()];
        let (input, weight, bias) = (input.into_primitive(), weight.into_primitive(), bias.into_primitive());
        let run = || B::batch_norm_by_batch(input.clone(), weight.clone(), bias.clone(), epsilon, relu);
        let (output, mean, variance) = match BatchNorm.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let (output, mean, variance) = run();
                let state = Saved {
                    input,
                    weight,
                    bias,
                    mean: mean.clone(),
                    variance: variance.clone(),
                    epsilon,
                    relu,
                };
                (prep.finish(state, output), mean, variance)
            }
            OpsKind::UnTracked(prep) => {
                let (output, mean, variance) = run();
                (prep.finish(output), mean, variance)
            }
        };
        (output, Self::from_inner(mean), Self::from_inner(variance))
    }
}

/// Saved for backward. The output is not: with `relu`, its sign is recomputed.
#[derive(Debug, Clone)]
struct Saved<T> {
    input: T,
    weight: T,
    bias: T,
    mean: T,
    variance: T,
    epsilon: f64,
    relu: bool,
}

#[derive(Debug)]
struct BatchNorm;

impl<B: Backend + NormOps> Backward<B, 3> for BatchNorm {
    type State = Saved<FloatTensor<B>>;

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let saved = ops.state;
        let (input, weight, bias) = B::batch_norm_by_batch_backward(
            saved.input,
            saved.weight,
            saved.bias,
            saved.mean,
            saved.variance,
            grad,
            saved.epsilon,
            saved.relu,
        );
        for (parent, grad) in ops.parents.into_iter().zip([input, weight, bias]) {
            if let Some(node) = parent {
                grads.register::<B>(node.id, grad);
            }
        }
    }
}
