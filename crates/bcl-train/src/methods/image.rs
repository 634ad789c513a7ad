//! The common part of all methods on two views of each image.

use super::{Embeddings, Method, Objective, Precision};
use crate::batches::{BatchViews, ImageBatch, NamedTensors};
use bcl_models::vision::{ImageEncoder, Mode};
use burn::{
    module::{Module, ModuleDisplay},
    tensor::{Bool, Device, Tensor, TensorData},
};
use std::ops::Range;

/// Two views of some images, for the encoder.
#[derive(Debug, Clone)]
pub struct ImagePart {
    /// The views, `[num_images, 3, side, side]` each.
    pub views: [Tensor<4>; 2],
    /// Statistics that batch normalisation uses.
    pub mode: Mode,
}

/// A method that trains encoders of images, from two views of each. It is a [`Method`].
pub trait ImageMethod: Module + ModuleDisplay + 'static {
    /// The encoder.
    fn encoder(&self) -> &ImageEncoder;

    /// Precision in which embeddings are computed.
    fn precision(&self) -> Precision;

    /// Number of anchors per image: one per view, unless only one view is an anchor.
    fn anchors_per_image(&self) -> usize {
        2
    }

    /// Whether the method stores the classes of a batch for later batches, for [`same_class`](Self::same_class).
    fn remembers_classes(&self) -> bool {
        false
    }

    /// As [`Method::embed`].
    fn embed(&self, part: &ImagePart) -> Embeddings;

    /// As [`Method::objective`], which depends on the embeddings only.
    fn objective(&self, embeddings: &Embeddings, anchors: Range<usize>) -> Objective;

    /// As [`Method::same_class`].
    fn same_class(&self, _: &ImageBatch, _: Range<usize>, _: &Device) -> Option<Tensor<2, Bool>> {
        None
    }

    /// As [`Method::after_step`].
    fn after_step(self, _: &ImageBatch, _: &Embeddings) -> Self {
        self
    }
}

impl<M: ImageMethod> Method for M {
    type Encoder = ImageEncoder;
    type Batch = ImageBatch;
    type Part = ImagePart;
    const SEPARABLE: bool = true;

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
        self.anchors_per_image() * batch.views.batch_size()
    }

    fn objective(&self, _: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        ImageMethod::objective(self, embeddings, anchors)
    }

    fn same_class(&self, batch: &ImageBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        ImageMethod::same_class(self, batch, anchors, device)
    }

    fn after_step(self, batch: &ImageBatch, embeddings: &Embeddings) -> Self {
        ImageMethod::after_step(self, batch, embeddings)
    }

    fn tensors(batch: &ImageBatch) -> NamedTensors {
        tensors(batch)
    }

    fn gradient_scale(&self) -> f64 {
        self.precision().gradient_scale()
    }
}

/// Computes the projections of one view of all images of a part, as unit rows.
///
/// Each view is a forward pass of its own, as in the authors' code: batch statistics never cover both views of an image.
pub(super) fn projections(encoder: &ImageEncoder, part: &ImagePart, view: usize, precision: Precision) -> Tensor<2> {
    encoder.projections(part.views[view].clone().cast(precision.dtype()), part.mode)
}

/// The tensors of a batch by name. For views made on demand, their images and epoch, because the views may not fit into memory.
fn tensors(batch: &ImageBatch) -> NamedTensors {
    let views = match &batch.views {
        BatchViews::Made(views) => NamedTensors::default()
            .with("first_views", views[0].to_data())
            .with("second_views", views[1].to_data()),
        BatchViews::OnDemand(views) => NamedTensors::default()
            .with("images", whole_numbers(views.images.iter().map(|&image| image as i64)))
            .with("epoch", whole_numbers([views.epoch as i64])),
    };
    let classes = batch.classes.as_ref();
    views.with_some(
        "classes",
        classes.map(|classes| whole_numbers(classes.iter().map(|&class| class.into()))),
    )
}

fn whole_numbers(numbers: impl IntoIterator<Item = i64>) -> TensorData {
    TensorData::from(&*numbers.into_iter().collect::<Vec<_>>())
}
