//! What methods on two views of each image share.

use super::Precision;
use crate::batches::{BatchViews, ImageBatch, NamedTensors};
use bcl_models::vision::{ImageEncoder, Mode};
use burn::tensor::{Tensor, TensorData};

/// Two views of some images, for the encoder.
#[derive(Debug, Clone)]
pub struct ImagePart {
    /// The views, `[num_images, 3, side, side]` each.
    pub views: [Tensor<4>; 2],
    /// Which statistics batch normalisation uses.
    pub mode: Mode,
}

/// Splits a batch into parts of at most `at_most` images.
pub(super) fn parts(batch: &ImageBatch, at_most: usize) -> impl Iterator<Item = ImagePart> + use<> {
    let mode = batch.mode;
    batch.views.parts(at_most).map(move |views| ImagePart { views, mode })
}

/// Each view of each image is an anchor.
pub(super) fn num_anchors(batch: &ImageBatch) -> usize {
    2 * batch.views.batch_size()
}

/// Projections of one view of the images of a part, as unit rows.
///
/// Each view passes the encoder on its own, as in the released codes: batch normalisation never sees both views of an image.
pub(super) fn projections(encoder: &ImageEncoder, part: &ImagePart, view: usize, precision: Precision) -> Tensor<2> {
    encoder.projections(part.views[view].clone().cast(precision.dtype()), part.mode)
}

/// The tensors of a batch by name. Of views that are made on demand, which images and epoch they are made from: the views of a whole
/// batch need not fit into memory.
pub(super) fn tensors(batch: &ImageBatch) -> NamedTensors {
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
