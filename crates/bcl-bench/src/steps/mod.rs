//! The time of training steps, part by part: data, forward, loss, backward, optimizer.
//!
//! The parts run one after the other. (Training makes the next batch meanwhile.) This cannot separate the loss's backward pass from the encoder's, so
//! objective, loss and backward are also timed without the encoder, on the same embeddings: that is the "loss alone". It does not count as part of the
//! step.
//!
//! A device that computes in the background is idle from the end of a part to the beginning of the next. [`Timing::Whole`] waits once, at the end of the
//! step, as training does.
//!
//! With gradient caching, "forward" is the pass without a graph, "loss" goes from embeddings to their gradients, and "backward"
//! is the second pass, forward and backward. The views are made during both passes, so "data" is 0.

mod images;
mod interactions;

pub use images::{describe, image_step};
pub use interactions::{Interactions, planted};

use crate::timing::{Clock, Turn};
use bcl_core::Reduction;
use bcl_kernels::with_tf32;
use bcl_methods::step::{Step, gradients};
use bcl_methods::{Embeddings, Method};
use bcl_train::training::learned::Learned;
use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer},
    tensor::{Device, Tensor},
    train::TrainStep,
};

/// What of a step is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Each part, waiting for the device after it.
    Parts,
    /// Everything after the data, waiting for the device at the end.
    Whole,
}

/// A training under way.
struct Training<M: Method> {
    /// `None` while the optimizer has it.
    learned: Option<Learned<M>>,
    optimizer: ModuleOptimizer,
    rate: f64,
    device: Device,
    timing: Timing,
}

/// What a step computes before the optimizer.
struct Gradients {
    of_parameters: GradientsParams,
    /// The embeddings of the batch, detached.
    embeddings: Embeddings,
    /// Time of objective, loss and backward alone in seconds.
    loss_alone: f64,
}

impl<M: Method> Training<M> {
    fn learned(&self) -> &Learned<M> {
        self.learned.as_ref().expect("the last step put it back")
    }

    /// Trains a step on the batch that `data` makes, and times its parts.
    fn turn(&mut self, data: impl FnOnce(&Learned<M>) -> Step<M::Batch>) -> Turn {
        let mut parts = Vec::new();
        let mut clock = Clock::new(&self.device);
        let step = data(self.learned());
        parts.push(("data", clock.lap()));
        if self.timing == Timing::Whole {
            parts.push(("without data", self.whole(step, clock)));
            return Turn::of(parts);
        }
        let learned = self.learned.take().expect("the last step put it back");
        let Gradients {
            of_parameters,
            embeddings,
            loss_alone,
        } = with_tf32(learned.allows_tf32(), || match step.gradient_cache {
            Some(at_most) => cached(&step, &learned, at_most, &mut clock, &mut parts),
            None => at_once(&step, &learned, &mut clock, &mut parts),
        });
        let clock = Clock::new(&self.device);
        learned.finish(step, embeddings);
        parts.push(("optimizer", self.optimize(learned, of_parameters, clock)));
        let mut turn = Turn::of(parts);
        turn.parts.push(("loss alone", loss_alone));
        turn
    }

    /// Trains a step as training does; returns its time in seconds.
    fn whole(&mut self, step: Step<M::Batch>, clock: Clock) -> f64 {
        let learned = self.learned.take().expect("the last step put it back");
        let output = TrainStep::step(&learned, step);
        self.optimize(learned, output.grads, clock)
    }

    /// Moves the weights; returns the seconds since the clock's last lap.
    fn optimize(&mut self, learned: Learned<M>, gradients: GradientsParams, mut clock: Clock) -> f64 {
        // As in training, where the loop keeps the weights until it has read the loss, so the optimizer cannot write into them.
        let kept = learned.clone();
        self.learned = Some(learned.optimize(&mut self.optimizer, self.rate.into(), gradients));
        let seconds = clock.lap();
        drop(kept);
        seconds
    }
}

/// Computes the gradients of the whole batch at once.
fn at_once<M: Method>(
    step: &Step<M::Batch>,
    learned: &Learned<M>,
    clock: &mut Clock,
    parts: &mut Vec<(&'static str, f64)>,
) -> Gradients {
    let num_anchors = learned.num_anchors(&step.batch);
    let loss_of = |embeddings: &Embeddings| step.losses(learned, embeddings, 0..num_anchors).reduce(Reduction::Mean);
    let embeddings = learned.embed_batch(&step.batch, usize::MAX);
    parts.push(("forward", clock.lap()));
    let loss = loss_of(&embeddings);
    parts.push(("loss", clock.lap()));
    let objective: Tensor<1> = match learned.penalty(&step.batch) {
        Some(penalty) => loss + penalty,
        None => loss,
    };
    let of_parameters = gradients(learned, objective);
    parts.push(("backward", clock.lap()));

    let leaves: Vec<Tensor<2>> = embeddings
        .tables()
        .map(|table| table.into_rows().detach().require_grad())
        .collect();
    clock.lap();
    let of_loss = loss_of(&embeddings.with_rows(&leaves)).backward();
    // Not all rows have a gradient: the rows of momentum encoders have none.
    for gradient in leaves.iter().filter_map(|leaf| leaf.grad(&of_loss)) {
        // Reading waits for devices that compute in the background.
        gradient.into_data();
    }
    Gradients {
        of_parameters,
        embeddings: embeddings.detached(),
        loss_alone: clock.lap(),
    }
}

/// The same with gradient caching, which computes the loss alone in any case.
fn cached<M: Method>(
    step: &Step<M::Batch>,
    learned: &Learned<M>,
    at_most: usize,
    clock: &mut Clock,
    parts: &mut Vec<(&'static str, f64)>,
) -> Gradients {
    let embeddings = learned.clone().no_grad().embed_batch(&step.batch, at_most);
    parts.push(("forward", clock.lap()));
    let cache = step.embedding_gradients(learned, &embeddings, at_most);
    let loss_alone = clock.lap();
    parts.push(("loss", loss_alone));
    let of_parameters = step.parameter_gradients(learned, &cache.gradients, at_most);
    parts.push(("backward", clock.lap()));
    Gradients {
        of_parameters,
        embeddings: embeddings.detached(),
        loss_alone,
    }
}
