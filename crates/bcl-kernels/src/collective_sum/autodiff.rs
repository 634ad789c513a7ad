//! A sum over processes as a node of the autodiff graph. Its gradient is a sum over processes, too.

use super::CollectiveOps;
use bcl_collective::Collective;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend};
use std::sync::Arc;

impl<B: Backend + CollectiveOps, C: CheckpointStrategy> CollectiveOps for Autodiff<B, C> {
    fn sum_over_processes(values: FloatTensor<Self>, processes: Arc<dyn Collective>) -> FloatTensor<Self> {
        let (values, node) = values.into_parts();
        let sums = B::sum_over_processes(values, processes.clone());
        match SumOverProcesses.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(processes, sums),
            OpsKind::UnTracked(prep) => prep.finish(sums),
        }
    }
}

#[derive(Debug)]
struct SumOverProcesses;

impl<B: Backend + CollectiveOps> Backward<B, 1> for SumOverProcesses {
    type State = Arc<dyn Collective>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let processes = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| B::sum_over_processes(grad, processes));
    }
}
