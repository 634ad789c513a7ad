//! Methods of contrastive learning: the networks to train, and the objective of a training step.
//!
//! A [`Method`] owns networks and memory. It embeds the parts of a batch into named [tables](Embeddings), and turns the tables of the
//! whole batch into an [`Objective`]: pairs, which any estimator turns into losses, or losses of its own. Gradient caching works between
//! these two functions.
//!
//! | method | trains | objective | memory |
//! | --- | --- | --- | --- |
//! | [`SimClr`] | image encoders | scores with the rest of the batch as negatives | |
//! | [`MoCo`] | image encoders | scores with a queue of keys, and mixtures of them, as negatives | momentum encoder, queue |
//! | [`Cmc`] | image encoders | scores of lightness against colour, with drawn images as negatives | two memory banks |
//! | [`Nnclr`] | image encoders | scores of nearest neighbours with the rest of the batch as negatives | support set |
//! | [`SimSiam`], [`Byol`] | image encoders | predictions of the other view | BYOL: momentum encoder |
//! | [`JointEmbedding`] | image encoders | Barlow Twins or VICReg: statistics of the batch | |
//! | [`Swav`] | image encoders | cluster assignments of other views | prototypes, queues |
//! | [`Dino`] | image encoders | class probabilities by a teacher | teacher, centre |
//! | [`InfoGraph`] | graph encoders | scores of nodes with the other graphs of the batch as negatives | |
//! | [`GraphCl`] | graph encoders | scores of two views with the rest of the batch as negatives | |
//! | [`Recommendation`] | recommenders | scores with sampled items as negatives | |
//!
//! ```toml
//! [dependencies]
//! # Not published yet: this is a clone of the repository; `git = "…"` with its address works, too.
//! bcl-methods = { path = "../bcl/crates/bcl-methods" }
//! bcl-core = { path = "../bcl/crates/bcl-core" }
//! bcl-models = { path = "../bcl/crates/bcl-models" }
//! burn = { version = "=0.22.1", default-features = false, features = ["std", "autodiff", "flex"] }
//! ```
//!
//! The examples `simclr`, `moco`, `lightgcn` and `infograph` of this crate are complete programs.
//!
//! Nothing here reads recipes or files. A method does not know how its scores are weighted.

pub mod batches;
mod byol;
mod cmc;
mod counter;
mod detected;
mod dino;
mod directions;
mod embeddings;
mod graph;
mod graph_cl;
mod graph_methods;
mod image;
mod info_graph;
mod joint_embedding;
mod memory_bank;
mod moco;
mod momentum;
mod nnclr;
mod objective;
mod precision;
mod predictor;
mod queue;
mod recommendation;
mod registry;
mod simclr;
mod simsiam;
pub mod step;
mod swav;
mod synthetic;
mod temperature;

pub use byol::{Byol, ByolConfig};
pub use cmc::{Cmc, CmcConfig, CmcForm};
pub use counter::Counter;
pub use detected::Detected;
pub use dino::{Dino, DinoConfig};
pub use embeddings::Embeddings;
pub use embeddings::rows_of;
pub use graph::{GraphMethodSettings, WithGraphMethod};
pub use graph_cl::{GraphCl, GraphClConfig};
pub use graph_methods::GraphMethodConfig;
pub use image::{ImageMethod, ImagePart};
pub use info_graph::{InfoGraph, InfoGraphConfig};
pub use joint_embedding::JointEmbedding;
pub use memory_bank::MemoryBank;
pub use moco::{MoCo, MoCoConfig};
pub use momentum::{Momentum, MomentumSchedule};
pub use nnclr::{Nnclr, NnclrConfig, NnclrForm, nearest};
pub use objective::Objective;
pub use precision::Precision;
pub use queue::{KeyQueue, StoredKeys};
pub use recommendation::Recommendation;
pub(crate) use registry::image_methods;
pub use registry::{ImageMethodConfig, MethodSettings, MethodSizes, MethodStart, Needs, Positives, WithMethod};
pub use simclr::{Labels, SimClr, SimClrConfig};
pub use simsiam::{SimSiam, SimSiamConfig};
pub use swav::{Swav, SwavConfig};
pub use synthetic::SyntheticConfig;
pub use temperature::LearnedTemperature;

use crate::batches::{LogQ, NamedTensors};
use bcl_core::joint_embedding::{BarlowTwinsLossConfig, VicRegLossConfig};
use burn::{
    module::{Module, ModuleDisplay},
    optim::GradientsParams,
    tensor::{Bool, Device, Int, Tensor},
};
use std::{fmt::Debug, ops::Range};

// Recipes can name a method from its line here on.
image_methods! {
    SimClr(SimClrConfig) = "simclr",
    MoCo(MoCoConfig) = "moco",
    Cmc(CmcConfig) = "cmc",
    Nnclr(NnclrConfig) = "nnclr",
    SimSiam(SimSiamConfig) = "simsiam",
    Byol(ByolConfig) = "byol",
    BarlowTwins(BarlowTwinsLossConfig) = "barlow_twins",
    VicReg(VicRegLossConfig) = "vicreg",
    Swav(SwavConfig) = "swav",
    Dino(DinoConfig) = "dino",
}

/// An encoder with all that the method adds to it, and the objective of a training step.
///
/// State that is not trained, such as a queue or a momentum encoder, is stored as parameters without gradients. So checkpoints contain
/// it, and an interrupted run ends with the same bits.
pub trait Method: Module + ModuleDisplay + 'static {
    /// The network that is evaluated, and that a finished run keeps.
    type Encoder: Module + ModuleDisplay;

    /// The input of one step.
    type Batch: Debug + Clone + Send + Sync + 'static;

    /// The part of a batch that is encoded at a time.
    type Part;

    /// Whether each of several processes that share a batch embeds all of it, so that all of them have the same tables, because the encoder needs the
    /// whole batch. Otherwise the batch of a process has the inputs of its own samples, and the rows of each table are stacked in the order of processes.
    const EMBEDS_WHOLE_BATCH: bool = false;

    /// Whether [`remember`](Self::remember) does anything.
    const REMEMBERS: bool = false;

    /// The encoder.
    fn encoder(&self) -> &Self::Encoder;

    /// Splits a batch into parts of at most `at_most` samples. The stacked embeddings of the parts equal the batch's embeddings. An encoder
    /// that needs the whole batch returns it as the only part.
    fn parts(batch: &Self::Batch, at_most: usize) -> impl Iterator<Item = Self::Part>;

    /// The rows of a table that the objective of a batch depends on, each once; `None` if these are all. For methods that [embed the whole
    /// batch](Self::EMBEDS_WHOLE_BATCH) and have large tables, such as all items, of which a batch uses few rows.
    fn rows_in_use(&self, _: &Self::Batch, _table: &str) -> Option<Tensor<1, Int>> {
        None
    }

    /// Embeds a part of a batch.
    fn embed(&self, part: &Self::Part) -> Embeddings;

    /// Number of anchors of a batch. The objective is the mean of their losses, each a function of the embeddings of the batch, and gradient
    /// caching computes it in blocks of anchors.
    fn num_anchors(&self, batch: &Self::Batch) -> usize;

    /// Computes the objective of some anchors, given the embeddings of the whole batch.
    fn objective(&self, batch: &Self::Batch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective;

    /// The log-Q correction of some anchors, if requested: their scores are without it.
    fn log_q(&self, _: &Self::Batch, _: Range<usize>) -> Option<LogQ> {
        None
    }

    /// Which negatives of some anchors have the anchor's class; `None` if the batch has no classes or the method no negatives.
    ///
    /// # Shapes
    /// - output: `[anchors.len(), num_negatives]`
    fn same_class(&self, _: &Self::Batch, _: Range<usize>, _: &Device) -> Option<Tensor<2, Bool>> {
        None
    }

    /// The batch with other classes, given for each training sample; `None` if [`same_class`](Self::same_class) does not compare the classes of
    /// the batch alone.
    fn relabelled(&self, _: &Self::Batch, _labels: &[u32]) -> Option<Self::Batch> {
        None
    }

    /// The training sample of each of some anchors, by which a loss can keep numbers per sample; `None` if samples are not numbered. Anchors
    /// are stacked view after view, each view with the same samples in the same order.
    fn samples(_: &Self::Batch, _: Range<usize>) -> Option<Vec<usize>> {
        None
    }

    /// The log of the means of `x_k` at which the augmented loss draws for some anchors, given the batch's log-means. They are the same
    /// unless a loss keeps a running rate per sample.
    ///
    /// # Shapes
    /// - `of_batch`, output: `[anchors.len()]`
    fn log_means(&self, _: &Self::Batch, _: Range<usize>, of_batch: Tensor<1>) -> Tensor<1> {
        of_batch
    }

    /// Changes the gradients right before an optimizer step. For example, removes gradients of parameters that are frozen for a while.
    fn before_update(&self, gradients: GradientsParams) -> GradientsParams {
        gradients
    }

    /// The batch without what [`remember`](Self::remember) does not read, to be kept until the optimizer step.
    fn remembered(batch: Self::Batch) -> Self::Batch {
        batch
    }

    /// Stores what later batches need of this one, such as keys of a queue. `embeddings` come from the batch's step, detached.
    fn remember(self, _: &Self::Batch, _: &Embeddings) -> Self {
        self
    }

    /// Moves what follows the parameters, such as a momentum encoder, once after each optimizer step.
    fn after_update(self) -> Self {
        self
    }

    /// [`remember`](Self::remember) and [`after_update`](Self::after_update), for an optimizer step with a single batch.
    fn after_step(self, batch: &Self::Batch, embeddings: &Embeddings) -> Self {
        self.remember(batch, embeddings).after_update()
    }

    /// The tensors of a batch on which a step depends, if it can be [recorded](bcl_kernels::StepGraph).
    fn inputs(&self, _: &Self::Batch) -> Option<Vec<Tensor<4>>> {
        None
    }

    /// The batch with other [inputs](Self::inputs).
    fn with_inputs(batch: Self::Batch, _: Vec<Tensor<4>>) -> Self::Batch {
        batch
    }

    /// The tensors of a batch by name, which a diverged run saves.
    fn tensors(batch: &Self::Batch) -> NamedTensors;

    /// A term to add to the mean loss, such as an L2 penalty.
    ///
    /// # Shapes
    /// - output: `[1]`
    fn penalty(&self, _: &Self::Batch) -> Option<Tensor<1>> {
        None
    }

    /// Loss scale, which keeps gradients in f16 from underflowing.
    fn gradient_scale(&self) -> f64 {
        1.0
    }

    /// Whether convolutions of a training step may [round their inputs](bcl_kernels::with_tf32).
    fn allows_tf32(&self) -> bool {
        false
    }

    /// Embeds a batch, at most `at_most` samples at a time.
    fn embed_batch(&self, batch: &Self::Batch, at_most: usize) -> Embeddings {
        Embeddings::stack(Self::parts(batch, at_most).map(|part| self.embed(&part)))
    }
}
