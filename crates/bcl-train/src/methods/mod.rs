//! Methods: what is trained, and what a training step minimises.
//!
//! A [`Method`] owns networks and memory. It embeds the parts of a batch into named [tables](Embeddings), and turns the tables of the
//! whole batch into an [`Objective`]: scores, which any estimator turns into losses, or losses of its own. A step may be cut between the
//! two: for gradient caching, and for processes that share a batch.
//!
//! | method | trains | objective | memory |
//! | --- | --- | --- | --- |
//! | [`SimClr`] | image encoders | scores of the other view against the rest of the batch | |
//! | [`MoCo`] | image encoders | scores against a queue of keys | momentum encoder, queue |
//! | [`SimSiam`] | image encoders | losses of its own | |
//! | [`Recommendation`] | recommenders | scores of chosen against sampled items | |
//!
//! Nothing here reads recipes or files, and a method knows nothing of how its scores are weighted.

mod config;
mod embeddings;
mod image;
mod moco;
mod objective;
mod precision;
mod queue;
mod recommendation;
mod simclr;
mod simsiam;

pub use config::{MethodConfig, SimClrConfig, WithMethod};
pub use embeddings::Embeddings;
pub(crate) use embeddings::rows_of;
pub use image::{ImageMethod, ImagePart};
pub use moco::{MoCo, MoCoConfig};
pub use objective::Objective;
pub use precision::Precision;
pub use queue::KeyQueue;
pub use recommendation::Recommendation;
pub use simclr::SimClr;
pub use simsiam::{SimSiam, SimSiamConfig};

use crate::batches::NamedTensors;
use burn::{
    module::{Module, ModuleDisplay},
    tensor::{Bool, Device, Tensor},
};
use std::{fmt::Debug, ops::Range};

/// What is trained: an encoder with whatever the method adds to it, and what a step minimises.
///
/// State that is no parameter, such as a queue or a momentum encoder, consists of parameters without gradients: it is saved in
/// checkpoints with all others, and an interrupted run ends in the same bits.
pub trait Method: Module + ModuleDisplay + 'static {
    /// The network that a finished run keeps and evaluation judges.
    type Encoder: Module + ModuleDisplay;

    /// What is compared in one step.
    type Batch: Debug + Clone + Send + Sync + 'static;

    /// The part of a batch that is encoded at a time.
    type Part;

    /// Whether the objective is a mean over anchors, each of which needs the embeddings of the batch but not the losses of other
    /// anchors. Only then may a batch be compared in blocks of anchors (gradient caching).
    const SEPARABLE: bool;

    /// The encoder.
    fn encoder(&self) -> &Self::Encoder;

    /// Splits a batch into parts of at most `at_most` samples. The stacked embeddings of the parts are those of the batch. If an encoder
    /// does not work sample by sample, the only part is the whole.
    fn parts(batch: &Self::Batch, at_most: usize) -> impl Iterator<Item = Self::Part>;

    /// Embeds a part of a batch.
    fn embed(&self, part: &Self::Part) -> Embeddings;

    /// Number of anchors of a batch.
    fn num_anchors(&self, batch: &Self::Batch) -> usize;

    /// Compares some anchors of a batch, given the embeddings of all of it.
    fn objective(&self, batch: &Self::Batch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective;

    /// Which negatives of some anchors share their class; `None` if the batch has no classes or the method no negatives.
    ///
    /// # Shapes
    /// - output: `[anchors.len(), num_negatives]`
    fn same_class(&self, _: &Self::Batch, _: Range<usize>, _: &Device) -> Option<Tensor<2, Bool>> {
        None
    }

    /// The method after an optimizer step: momentum encoders move, queues take new keys. `embeddings` are those of the step, detached.
    fn after_step(self, _: &Self::Batch, _: &Embeddings) -> Self {
        self
    }

    /// The tensors of a batch by name, which are kept if its loss is not finite.
    fn tensors(batch: &Self::Batch) -> NamedTensors;

    /// A term that is added to the mean loss, if any.
    ///
    /// # Shapes
    /// - output: `[1]`
    fn penalty(&self, _: &Self::Batch) -> Option<Tensor<1>> {
        None
    }

    /// The factor that gradients are computed at so that they do not underflow (loss scaling).
    fn gradient_scale(&self) -> f64 {
        1.0
    }

    /// Embeds a batch, at most `at_most` samples at a time.
    fn embed_batch(&self, batch: &Self::Batch, at_most: usize) -> Embeddings {
        Embeddings::stack(Self::parts(batch, at_most).map(|part| self.embed(&part)))
    }
}
