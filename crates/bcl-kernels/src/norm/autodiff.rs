//! Batch normalisation as a single node of the autodiff graph.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, Backend};

use super::{BatchNormOptions, NormOps};

impl<B: Backend + NormOps, C: CheckpointStrategy> NormOps for Autodiff<B, C> {
    fn batch_norm_by_batch(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: BatchNormOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let nodes = [input.node(), weight.node(), bias.node()];
        let (input, weight, bias) = (input.into_primitive(), weight.into_primitive(), bias.into_primitive());
        let run = || B::batch_norm_by_batch(input.clone(), weight.clone(), bias.clone(), options);
        let (output, mean, variance) = match BatchNorm.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let (output, mean, variance) = run();
                let state = Saved {
                    input,
                    weight,
                    bias,
                    mean: mean.clone(),
                    variance: variance.clone(),
                    options,
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

    fn batch_norm_add_relu(
        input: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        options: BatchNormOptions,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let nodes = [input.node(), residual.node(), weight.node(), bias.node()];
        let (input, residual, weight, bias) = (
            input.into_primitive(),
            residual.into_primitive(),
            weight.into_primitive(),
            bias.into_primitive(),
        );
        let (output, mean, variance) = B::batch_norm_add_relu(input.clone(), residual, weight.clone(), bias.clone(), options);
        let output = match BatchNormAddRelu.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let norm = Saved {
                    input,
                    weight,
                    bias,
                    mean: mean.clone(),
                    variance: variance.clone(),
                    // The gradient that it gets is already the sum's.
                    options: BatchNormOptions { relu: false, ..options },
                };
                prep.finish((norm, output.clone()), output)
            }
            OpsKind::UnTracked(prep) => prep.finish(output),
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
    options: BatchNormOptions,
}

#[derive(Debug)]
struct BatchNorm;

/// The gradients of input, weight and bias.
fn gradients<B: Backend + NormOps>(saved: Saved<FloatTensor<B>>, grad: FloatTensor<B>) -> [FloatTensor<B>; 3] {
    let (input, weight, bias) = B::batch_norm_by_batch_backward(
        saved.input,
        saved.weight,
        saved.bias,
        saved.mean,
        saved.variance,
        grad,
        saved.options,
    );
    [input, weight, bias]
}

impl<B: Backend + NormOps> Backward<B, 3> for BatchNorm {
    type State = Saved<FloatTensor<B>>;

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        for (parent, grad) in ops.parents.into_iter().zip(gradients::<B>(ops.state, grad)) {
            if let Some(node) = parent {
                grads.register::<B>(node.id, grad);
            }
        }
    }
}

/// The state has the output, by whose sign the gradient of the sum is known.
#[derive(Debug)]
struct BatchNormAddRelu;

impl<B: Backend + NormOps> Backward<B, 4> for BatchNormAddRelu {
    type State = (Saved<FloatTensor<B>>, FloatTensor<B>);

    fn backward(self, ops: Ops<Self::State, 4>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (norm, output) = ops.state;
        let of_sum = B::relu_gradient(output, grad);
        let [input, weight, bias] = gradients::<B>(norm, of_sum.clone());
        for (parent, grad) in ops.parents.into_iter().zip([input, of_sum, weight, bias]) {
            if let Some(node) = parent {
                grads.register::<B>(node.id, grad);
            }
        }
    }
}
