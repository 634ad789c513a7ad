//! The common part of all methods on views of images.

use super::{Embeddings, Method, Objective, Precision};
use crate::batches::{BatchViews, ImageBatch, NamedTensors};
use bcl_core::unit_rows;
use bcl_models::vision::{ImageEncoder, Mode};
use burn::{
    module::{Module, ModuleDisplay},
    optim::GradientsParams,
    tensor::{Bool, DType, Device, FloatDType, Tensor, TensorData},
};
use std::ops::Range;

/// Views of some images, for the encoder.
#[derive(Debug, Clone)]
pub struct ImagePart {
    /// The views, `[num_images, 3, side, side]` each: the global ones, then the local ones.
    pub views: Vec<Tensor<4>>,
    /// Statistics that batch normalisation uses.
    pub mode: Mode,
}

/// A method that trains encoders of images, from views of each. It is a [`Method`].
pub trait ImageMethod: Module + ModuleDisplay + 'static {
    /// As [`Method::REMEMBERS`].
    const REMEMBERS: bool = false;

    /// The encoder.
    fn encoder(&self) -> &ImageEncoder;

    /// Precision in which embeddings are computed.
    fn precision(&self) -> Precision;

    /// Number of anchors of a batch: one per view of each image, unless a method says otherwise. A loss that is no mean over samples has
    /// a single anchor, the batch.
    fn num_anchors(&self, batch_size: usize) -> usize {
        2 * batch_size
    }

    /// Whether the method stores the classes of a batch for later batches, for [`same_class`](Self::same_class).
    fn remembers_classes(&self) -> bool {
        false
    }

    /// As [`Method::embed`].
    fn embed(&self, part: &ImagePart) -> Embeddings;

    /// As [`Method::objective`].
    fn objective(&self, batch: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective;

    /// As [`Method::same_class`].
    fn same_class(&self, _: &ImageBatch, _: Range<usize>, _: &Device) -> Option<Tensor<2, Bool>> {
        None
    }

    /// Whether [`same_class`](Self::same_class) compares the classes of the batch alone, without the classes of samples in memory.
    fn compares_within_batch(&self) -> bool {
        true
    }

    /// As [`Method::before_update`].
    fn before_update(&self, gradients: GradientsParams) -> GradientsParams {
        gradients
    }

    /// As [`Method::remember`].
    fn remember(self, _: &ImageBatch, _: &Embeddings) -> Self {
        self
    }

    /// As [`Method::after_update`].
    fn after_update(self) -> Self {
        self
    }

    /// Whether a step can be [recorded](bcl_kernels::StepGraph): it depends on views and parameters alone, with the same numbers in each step, and changes
    /// nothing but parameters, running statistics and [counters](crate::Counter), apart from what it [remembers](Self::remember).
    fn is_recordable(&self, _: &ImageBatch) -> bool {
        false
    }
}

impl<M: ImageMethod> Method for M {
    type Encoder = ImageEncoder;
    type Batch = ImageBatch;
    type Part = ImagePart;

    const REMEMBERS: bool = M::REMEMBERS;

    fn encoder(&self) -> &ImageEncoder {
        ImageMethod::encoder(self)
    }

    fn parts(batch: &ImageBatch, at_most: usize) -> impl Iterator<Item = ImagePart> {
        let mode = batch.mode;
        batch.views.parts(at_most).map(move |views| ImagePart { views, mode })
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        ImageMethod::embed(self, part)
    }

    fn num_anchors(&self, batch: &ImageBatch) -> usize {
        ImageMethod::num_anchors(self, batch.images.len())
    }

    fn objective(&self, batch: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        ImageMethod::objective(self, batch, embeddings, anchors)
    }

    fn same_class(&self, batch: &ImageBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        ImageMethod::same_class(self, batch, anchors, device)
    }

    fn relabelled(&self, batch: &ImageBatch, labels: &[u32]) -> Option<ImageBatch> {
        self.compares_within_batch().then(|| ImageBatch {
            classes: Some(batch.images.iter().map(|&image| labels[image]).collect()),
            ..batch.clone()
        })
    }

    fn samples(batch: &ImageBatch, anchors: Range<usize>) -> Option<Vec<usize>> {
        Some(anchors.map(|anchor| batch.image_of(anchor)).collect())
    }

    fn before_update(&self, gradients: GradientsParams) -> GradientsParams {
        ImageMethod::before_update(self, gradients)
    }

    /// Views are large, and only their embeddings are remembered.
    fn remembered(batch: ImageBatch) -> ImageBatch {
        ImageBatch {
            views: BatchViews::Made(Vec::new()),
            ..batch
        }
    }

    fn remember(self, batch: &ImageBatch, embeddings: &Embeddings) -> Self {
        ImageMethod::remember(self, batch, embeddings)
    }

    fn after_update(self) -> Self {
        ImageMethod::after_update(self)
    }

    fn inputs(&self, batch: &ImageBatch) -> Option<Vec<Tensor<4>>> {
        match &batch.views {
            BatchViews::Made(views) if self.is_recordable(batch) && batch.mode == Mode::Train => Some(views.clone()),
            _ => None,
        }
    }

    fn with_inputs(batch: ImageBatch, views: Vec<Tensor<4>>) -> ImageBatch {
        ImageBatch {
            views: BatchViews::Made(views),
            ..batch
        }
    }

    fn tensors(batch: &ImageBatch) -> NamedTensors {
        tensors(batch)
    }

    fn gradient_scale(&self) -> f64 {
        self.precision().gradient_scale()
    }

    fn allows_tf32(&self) -> bool {
        self.precision() == Precision::Tf32
    }
}

/// Computes the projections of one view of all images of a part, as unit rows.
pub(super) fn projections(encoder: &ImageEncoder, part: &ImagePart, view: usize, precision: Precision) -> Tensor<2> {
    encoder.projections(part.views[view].clone().cast(precision.dtype()), part.mode)
}

/// Computes the projections of some views of all images of a part, as unit rows.
///
/// Batch statistics never cover several views of an image, as in the authors' code, where each is a forward pass of its own.
pub(super) fn projections_of_views(
    encoder: &ImageEncoder,
    part: &ImagePart,
    views: Range<usize>,
    precision: Precision,
) -> Vec<Tensor<2>> {
    encoder.projections_of_views(images_of(part, views, precision), part.mode)
}

/// The [same](projections_of_views), not normalised.
pub(super) fn raw_projections_of_views(
    encoder: &ImageEncoder,
    part: &ImagePart,
    views: Range<usize>,
    precision: Precision,
) -> Vec<Tensor<2>> {
    encoder.raw_projections_of_views(images_of(part, views, precision), part.mode)
}

fn images_of(part: &ImagePart, views: Range<usize>, precision: Precision) -> Vec<Tensor<4>> {
    let images = part.views[views].iter();
    images.map(|images| images.clone().cast(precision.dtype())).collect()
}

/// L2-normalises rows in at least 32 bits, because comparing them needs all digits.
pub(super) fn unit(rows: Tensor<2>) -> Tensor<2> {
    unit_rows(wide(rows))
}

/// Casts rows to at least 32 bits, in which losses are computed.
pub(super) fn wide(rows: Tensor<2>) -> Tensor<2> {
    match rows.dtype() {
        DType::F64 => rows,
        _ => rows.cast(FloatDType::F32),
    }
}

/// The tensors of a batch by name. For views made on demand, their images and epoch, because the views may not fit into memory.
fn tensors(batch: &ImageBatch) -> NamedTensors {
    let views = match &batch.views {
        BatchViews::Made(views) => (1..)
            .zip(views.iter())
            .fold(NamedTensors::default(), |tensors, (number, views)| {
                tensors.with(format!("views_{number}"), views.to_data())
            }),
        BatchViews::OnDemand(views) => {
            NamedTensors::default().with("epoch", whole_numbers(views.epochs.iter().map(|&epoch| epoch as i64)))
        }
    };
    let views = views.with("images", whole_numbers(batch.images.iter().map(|&image| image as i64)));
    let classes = batch.classes.as_ref();
    views.with_some(
        "classes",
        classes.map(|classes| whole_numbers(classes.iter().map(|&class| class.into()))),
    )
}

fn whole_numbers(numbers: impl IntoIterator<Item = i64>) -> TensorData {
    TensorData::from(&*numbers.into_iter().collect::<Vec<_>>())
}

/// Names of the tables of [`projected_views`].
const VIEWS: [&str; 2] = ["first", "second"];

/// The projections of either view in 32 bits, not normalised, as tables to be read by [`views_of`].
pub(super) fn projected_views(encoder: &ImageEncoder, part: &ImagePart, precision: Precision) -> Embeddings {
    let projections = raw_projections_of_views(encoder, part, 0..2, precision);
    let views = VIEWS.into_iter().zip(projections);
    views.fold(Embeddings::new(), |embeddings, (name, rows)| {
        embeddings.with(name, wide(rows))
    })
}

/// The tables of [`projected_views`].
pub(super) fn views_of(embeddings: &Embeddings) -> [Tensor<2>; 2] {
    VIEWS.map(|name| embeddings.rows(name))
}
