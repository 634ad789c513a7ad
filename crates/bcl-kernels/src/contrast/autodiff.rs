//! The losses of anchors as a single node of the autodiff graph.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, Backend};

use super::{ContrastOps, Plan};

impl<B: Backend + ContrastOps, C: CheckpointStrategy> ContrastOps for Autodiff<B, C> {
    fn contrast(
        anchors: FloatTensor<Self>,
        positives: FloatTensor<Self>,
        negatives: FloatTensor<Self>,
        table: FloatTensor<Self>,
        plan: Plan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let nodes = [anchors.node(), positives.node(), negatives.node()];
        let plan = Plan {
            with_gradients: true,
            with_negatives: negatives.is_tracked(),
            ..plan
        };
        let tables = [anchors, positives, negatives, table].map(FloatTensor::<Self>::into_primitive);
        let run = |plan: Plan| {
            let [anchors, positives, negatives, table] = tables.clone();
            B::contrast(anchors, positives, negatives, table, plan)
        };
        let losses = match Contrast.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let (losses, anchors, positives, negatives) = run(plan.clone());
                let saved = Saved {
                    tables: tables.clone(),
                    gradients: [anchors, positives, negatives],
                    plan,
                };
                prep.finish(saved, losses)
            }
            OpsKind::UnTracked(prep) => {
                let (losses, ..) = run(Plan {
                    with_gradients: false,
                    ..plan
                });
                prep.finish(losses)
            }
        };
        let [anchors, positives, negatives, _] = tables.map(Self::from_inner);
        (losses, anchors, positives, negatives)
    }

    fn contrast_views(
        views: FloatTensor<Self>,
        table: FloatTensor<Self>,
        plan: Plan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let node = views.node();
        let [views, table] = [views, table].map(FloatTensor::<Self>::into_primitive);
        let run = |with_gradients| {
            let plan = Plan {
                with_gradients,
                ..plan.clone()
            };
            B::contrast_views(views.clone(), table.clone(), plan)
        };
        let losses = match Views.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let (losses, first, second) = run(true);
                let saved = SavedViews {
                    views: views.clone(),
                    table: table.clone(),
                    saved: [first, second],
                    plan,
                };
                prep.finish(saved, losses)
            }
            OpsKind::UnTracked(prep) => prep.finish(run(false).0),
        };
        let views = Self::from_inner(views);
        (losses, views.clone(), views)
    }
}

/// Saved for backward.
#[derive(Debug, Clone)]
struct Saved<T> {
    /// Anchors, positives, negatives, and the table of weights by rank.
    tables: [T; 4],
    /// The gradients of the sum of all losses.
    gradients: [T; 3],
    plan: Plan,
}

#[derive(Debug, Clone)]
struct SavedViews<T> {
    views: T,
    /// The weights by rank.
    table: T,
    /// What the forward pass keeps for backward.
    saved: [T; 2],
    plan: Plan,
}

#[derive(Debug)]
struct Views;

impl<B: Backend + ContrastOps> Backward<B, 1> for Views {
    type State = SavedViews<FloatTensor<B>>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let SavedViews {
            views,
            table,
            saved: [first, second],
            plan,
        } = ops.state;
        if let [Some(node)] = ops.parents {
            grads.register::<B>(node.id, B::contrast_views_backward(views, table, first, second, grad, plan));
        }
    }
}

#[derive(Debug)]
struct Contrast;

impl<B: Backend + ContrastOps> Backward<B, 3> for Contrast {
    type State = Saved<FloatTensor<B>>;

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let Saved {
            tables: [anchors, positives, negatives, table],
            gradients: [saved_anchors, saved_positives, saved_negatives],
            plan,
        } = ops.state;
        let (anchors, positives, negatives) = B::contrast_backward(
            anchors,
            positives,
            negatives,
            table,
            saved_anchors,
            saved_positives,
            saved_negatives,
            grad,
            plan,
        );
        for (parent, grad) in ops.parents.into_iter().zip([anchors, positives, negatives]) {
            if let Some(node) = parent {
                grads.register::<B>(node.id, grad);
            }
        }
    }
}
