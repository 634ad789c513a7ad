//! Batches of images.

use super::BatchViews;
use bcl_models::vision::Mode;
use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use std::{ops::Range, sync::Arc};

/// The images of a batch, with views of those that this rank embeds.
#[derive(Debug, Clone)]
pub struct ImageBatch {
    /// The views: of all images, or of one rank's own contiguous part of them.
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
        let classes = self.classes.as_deref()?;
        let shape = [anchors.len(), classes.len() - 1];
        let marks: Vec<bool> = anchors.flat_map(|own| others_of_class(classes, own)).collect();
        Some(Tensor::from_data(TensorData::new(marks, shape), device))
    }

    /// Which negatives of some anchors have the class of their anchor in the layout of two views; `None` without classes.
    ///
    /// # Shapes
    /// - anchors: a range of `0..2 · batch_size`
    /// - output:  `[anchors.len(), 2 · batch_size - 2]`
    pub fn same_class(&self, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        let classes = self.classes.as_deref()?;
        let shape = [anchors.len(), 2 * classes.len() - 2];
        Some(Tensor::from_data(
            TensorData::new(same_class(classes, anchors), shape),
            device,
        ))
    }
}

/// The indices of samples on a device, `[samples.len()]`.
pub fn index_tensor(samples: &[usize], device: &Device) -> Tensor<1, Int> {
    let indices: Vec<i64> = samples.iter().map(|&sample| sample as i64).collect();
    Tensor::from_data(TensorData::from(&*indices), device)
}

/// Which negatives have their anchor's class, row by row, in the order of [`Scores::from_views`](bcl_core::Scores::from_views): an
/// anchor's negatives are the first and then the second views of all other samples.
fn same_class(classes: &[u32], anchors: Range<usize>) -> Vec<bool> {
    let samples = anchors.map(|anchor| anchor % classes.len());
    samples
        .flat_map(|own| others_of_class(classes, own).chain(others_of_class(classes, own)))
        .collect()
}

/// Which samples other than `own` have its class.
fn others_of_class(classes: &[u32], own: usize) -> impl Iterator<Item = bool> {
    let other = move |&(sample, _): &(usize, &u32)| sample != own;
    classes
        .iter()
        .enumerate()
        .filter(other)
        .map(move |(_, class)| *class == classes[own])
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_core::{Scores, Similarity};

    #[test]
    fn same_class_has_the_order_of_the_scores() {
        let labels = [0u32, 1, 0, 1, 1];
        // Orthogonal classes: a similarity of 1 is a shared class.
        let rows: Vec<f32> = labels
            .iter()
            .flat_map(|&label| if label == 0 { [1.0, 0.0] } else { [0.0, 1.0] })
            .collect();
        let views = Tensor::<2>::from_data(TensorData::new(rows, [5, 2]), &Device::flex());
        let scores = Scores::from_views(views.clone(), views, Similarity::Cosine);
        let similar: Vec<bool> = scores.negatives.into_data().iter::<f32>().map(|score| score > 0.5).collect();
        assert_eq!(same_class(&labels, 0..10), similar);
        assert_eq!(same_class(&labels, 3..7), similar[3 * 8..7 * 8]);
    }
}
