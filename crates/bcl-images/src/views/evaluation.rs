//! Deterministic views for evaluation.

use super::augmentation::{SCRATCH, Scratch};
use super::{Region, Views, ViewsError};
use crate::{Collection, Image};
use rayon::prelude::*;
use std::ops::Range;

impl Views {
    /// Centre crop: resizes an image so that its shorter side is `side`, and crops the longer one.
    ///
    /// # Shapes
    /// - out: `[3, side, side]`
    ///
    /// # Panics
    /// Panics if the image is empty, the side is 0, or `out` has another size.
    pub fn test_view(&self, image: Image<'_>, side: usize, out: &mut [f32]) {
        assert!(
            side > 0 && out.len() == 3 * side * side,
            "a view with side {side} has {} values, but the output has {}",
            3 * side * side,
            out.len()
        );
        let Image { width, height, .. } = image;
        let shorter = width.min(height);
        let [columns, rows] = [width, height].map(|length| side * length / shorter);
        SCRATCH.with_borrow_mut(|scratch| {
            let Scratch { resizer, planes, .. } = scratch;
            planes.resize(3 * side * side, 0);
            // A thin image would be very long.
            let middle = [columns, rows].map(|length| middle(length, side));
            resizer.resize_part(image, Region::whole(width, height), [columns, rows], middle, planes);
            self.normalisation.planar(planes, out);
        });
    }

    /// Converts and normalises an image at its native size.
    ///
    /// # Shapes
    /// - out: `[3, image.height, image.width]`
    ///
    /// # Panics
    /// Panics if the image is empty, or `out` has another size.
    pub fn native_view(&self, image: Image<'_>, out: &mut [f32]) {
        assert!(
            !out.is_empty() && out.len() == image.pixels.len(),
            "the image has {} values, but the output has {}",
            image.pixels.len(),
            out.len()
        );
        self.normalisation.interleaved(image.pixels, out);
    }

    /// Makes the [centre crop](Self::test_view) of each image if `side` is given, or else the [native view](Self::native_view). Returns the
    /// rows and columns of a view.
    ///
    /// # Shapes
    /// - indices: `[batch]`, images of the collection
    /// - out: `[batch, 3, rows, columns]`; previous contents are discarded
    ///
    /// # Errors
    /// Returns an error if native views are requested, but the images differ in size, or if an image cannot be read from its file.
    ///
    /// # Panics
    /// Panics if an index is out of range, or the side is 0.
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
            out.par_chunks_exact_mut(length).zip(indices).try_for_each(|(out, &index)| {
                let loaded = collection.read(index)?;
                match side {
                    Some(side) => self.test_view(loaded.as_image(), side, out),
                    None => self.native_view(loaded.as_image(), out),
                }
                Ok::<_, ViewsError>(())
            })?;
        }
        Ok([rows, columns])
    }
}

/// The common size of all images; zeros for no images.
fn common_size(collection: &Collection, indices: &[usize]) -> Result<[usize; 2], ViewsError> {
    let size = |index: usize| {
        let [width, height] = collection.size(index);
        [height, width]
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

/// The middle `side` of `length` pixels.
fn middle(length: usize, side: usize) -> Range<usize> {
    // Rounds half to even, as Python does.
    let start = ((length - side) as f64 / 2.0).round_ties_even() as usize;
    start..start + side
}
