//! Batches of images.

use super::BatchViews;
use bcl_models::vision::Mode;
use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use std::{ops::Range, sync::Arc};

/// The images of a batch, with views of those that this process embeds.
#[derive(Debug, Clone)]
pub struct ImageBatch {
    /// The views: of all images, or of one process's own contiguous part of them.
    pub views: BatchViews,
    /// Index of each image of the batch in the training data.
    pub images: Arc<[usize]>,
    /// The class of each image, if known and requested.
    pub classes: Option<Arc<[u32]>>,
    /// Statistics that batch normalisation uses.
    pub mode: Mode,
}

impl ImageBatch {
    /// The index of an anchor's image, if anchors are stacked view after view.
    pub fn image_of(&self, anchor: usize) -> usize {
        self.images[anchor % self.images.len()]
    }

    /// Which negatives have the class of their anchor if the anchors are the samples of one view and the negatives all other samples of the
    /// other view; `None` without classes.
    ///
    /// # Shapes
    /// - anchors: a range of `0..batch_size`
    /// - output:  `[anchors.len(), batch_size - 1]`
    pub fn same_class_across(&self, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        Some(bcl_core::same_class_across(&self.labels(device)?, anchors))
    }

    /// Which negatives of some anchors have the class of their anchor in the layout of two views; `None` without classes.
    ///
    /// # Shapes
    /// - anchors: a range of `0..2 · batch_size`
    /// - output:  `[anchors.len(), 2 · batch_size - 2]`
    pub fn same_class(&self, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        Some(bcl_core::same_class(&self.labels(device)?, anchors))
    }

    /// The class of each image, `[batch_size]`; `None` without classes.
    pub fn labels(&self, device: &Device) -> Option<Tensor<1, Int>> {
        Some(label_tensor(self.classes.as_deref()?, device))
    }
}

/// Classes on a device, `[classes.len()]`.
pub(super) fn label_tensor(classes: &[u32], device: &Device) -> Tensor<1, Int> {
    let labels: Vec<i64> = classes.iter().map(|&class| class.into()).collect();
    Tensor::from_data(labels.as_slice(), device)
}

/// The indices of samples on a device, `[samples.len()]`.
pub fn index_tensor(samples: &[usize], device: &Device) -> Tensor<1, Int> {
    let indices: Vec<i64> = samples.iter().map(|&sample| sample as i64).collect();
    Tensor::from_data(TensorData::from(&*indices), device)
}
