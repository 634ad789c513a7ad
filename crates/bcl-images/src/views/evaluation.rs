//! Views without chance, for evaluation.

use super::view::{SCRATCH, Scratch};
use super::{Region, Views, ViewsError};
use crate::{Collection, Image};
use rayon::prelude::*;

impl Views {
    /// Shows the middle of an image: resizes it so that its shorter side is `side`, and cuts off what is left of the longer one.
    ///
    /// # Shapes
    /// - out: `[3, side, side]`
    ///
    /// # Panics
    /// When the image is empty, the side is 0, or `out` has another size.
    pub fn test_view(&self, image: Image<'_>, side: usize, out: &mut [f32]) {
        assert!(
            side > 0 && out.len() == 3 * side * side,
            "a view with a side of {side} is {} numbers, not {}",
            3 * side * side,
            out.len()
        );
        let Image { width, height, .. } = image;
        let shorter = width.min(height);
        let [columns, rows] = [width, height].map(|length| side * length / shorter);
        SCRATCH.with_borrow_mut(|scratch| {
            let Scratch { resizer, planes, .. } = scratch;
            planes.resize(3 * columns * rows, 0);
            resizer.resize(image, Region::whole(width, height), columns, rows, planes);
            crop_to_middle(planes, [columns, rows], side);
            self.normalisation.planar(planes, out);
        });
    }

    /// Shows an image as it is, normalised.
    ///
    /// # Shapes
    /// - out: `[3, image.height, image.width]`
    ///
    /// # Panics
    /// When the image is empty, or `out` has another size.
    pub fn native_view(&self, image: Image<'_>, out: &mut [f32]) {
        assert!(
            !out.is_empty() && out.len() == image.pixels.len(),
            "an image of {} levels does not become {} numbers",
            image.pixels.len(),
            out.len()
        );
        self.normalisation.interleaved(image.pixels, out);
    }

    /// Shows the [middle](Self::test_view) of each image at a side, or each image [as it is](Self::native_view) where there is none;
    /// returns the rows and columns of a view.
    ///
    /// # Shapes
    /// - indices: `[batch]`, images of the collection
    /// - out: `[batch, 3, rows, columns]`; what it held is gone
    ///
    /// # Errors
    /// When images are to be shown as they are, but differ in size.
    ///
    /// # Panics
    /// When there is no such image, or the side is 0.
    pub fn test_batch(
        &self,
        collection: &Collection,
        indices: &[usize],
        side: Option<usize>,
        out: &mut Vec<f32>,
    ) -> Result<[usize; 2], ViewsError> {
        let [rows, columns] = match side {
            Some(side) => [side, side],
            None => common_size(collection, indices)?,
        };
        let length = 3 * rows * columns;
        out.resize(indices.len() * length, 0.0);
        if !out.is_empty() {
            out.par_chunks_exact_mut(length).zip(indices).for_each(|(out, &index)| {
                let image = collection.get(index);
                match side {
                    Some(side) => self.test_view(image, side, out),
                    None => self.native_view(image, out),
                }
            });
        }
        Ok([rows, columns])
    }
}

/// Rows and columns that all images have; none where there is no image.
fn common_size(collection: &Collection, indices: &[usize]) -> Result<[usize; 2], ViewsError> {
    let size = |index: usize| {
        let image = collection.get(index);
        [image.height, image.width]
    };
    let Some(&first) = indices.first() else {
        return Ok([0, 0]);
    };
    let expected = size(first);
    match indices.iter().find(|&&index| size(index) != expected) {
        None => Ok(expected),
        Some(&index) => Err(ViewsError::SizesDiffer {
            first,
            expected,
            index,
            found: size(index),
        }),
    }
}

/// Keeps `side` rows and columns in the middle of `[3, rows, columns]`.
fn crop_to_middle(planes: &mut Vec<u8>, [columns, rows]: [usize; 2], side: usize) {
    // Half a pixel goes to the even side, as Python rounds it.
    let [left, top] = [columns, rows].map(|length| ((length - side) as f64 / 2.0).round_ties_even() as usize);
    let mut end = 0;
    for channel in 0..3 {
        for y in 0..side {
            let start = (channel * rows + top + y) * columns + left;
            planes.copy_within(start..start + side, end);
            end += side;
        }
    }
    planes.truncate(end);
}
