//! Batches of views, made by all threads of the pool.

use super::Views;
use crate::{Collection, ImageError};
use bcl_data::Seed;
use rayon::prelude::*;

/// Minimum number of images per task: a view takes tens of microseconds, handing over a task one or two.
const MIN_IMAGES: usize = 2;

/// The seed of one view: sample `sample` looks the same in epoch `epoch`, no matter what else is in its batch.
///
/// ```
/// use bcl_data::Seed;
/// use bcl_images::view_seed;
///
/// assert_eq!(view_seed(Seed(3), 7, 41, 1), Seed(3).named("views").index(7).index(41).index(1));
/// ```
pub fn view_seed(run: Seed, epoch: u64, sample: usize, which: usize) -> Seed {
    run.named("views").index(epoch).index(sample as u64).index(which as u64)
}

impl Views {
    /// Number of values in a [`batch`](Self::batch) of `num_images` images.
    pub fn batch_len(&self, num_images: usize) -> usize {
        num_images * (0..self.layout().len()).map(|which| self.view_len(which)).sum::<usize>()
    }

    /// Makes all views of each image: the first of all images, then the second of all images, and so on; see [`layout`](Self::layout).
    ///
    /// # Shapes
    /// - indices: `[batch]`, images of the collection
    /// - out: for each view `[batch, 3, side, side]`, one after the other; previous contents are discarded
    ///
    /// # Errors
    /// Returns an error if an image cannot be read from its file.
    ///
    /// # Panics
    /// Panics if an index is out of range.
    pub fn batch(
        &self,
        collection: &Collection,
        indices: &[usize],
        epoch: u64,
        run: Seed,
        out: &mut Vec<f32>,
    ) -> Result<(), ImageError> {
        out.resize(self.batch_len(indices.len()), 0.0);
        self.fill(self.layout().len(), collection, indices, |_| epoch, run, out)
    }

    /// As [`batch`](Self::batch), with an epoch for each image: one that is drawn several times looks different each time.
    ///
    /// # Shapes
    /// - indices: `[batch]`, images of the collection
    /// - epochs:  `[batch]`
    /// - out: as for [`batch`](Self::batch)
    ///
    /// # Errors
    /// Returns an error if an image cannot be read from its file.
    ///
    /// # Panics
    /// Panics if an index is out of range, or there is not one epoch per image.
    pub fn batch_of_epochs(
        &self,
        collection: &Collection,
        indices: &[usize],
        epochs: &[u64],
        run: Seed,
        out: &mut Vec<f32>,
    ) -> Result<(), ImageError> {
        assert_eq!(indices.len(), epochs.len(), "each image has an epoch");
        out.resize(self.batch_len(indices.len()), 0.0);
        self.fill(
            self.layout().len(),
            collection,
            indices,
            |position| epochs[position],
            run,
            out,
        )
    }

    /// Makes one view of each image, for a linear probe: the first of those that [`batch`](Self::batch) makes.
    ///
    /// # Shapes
    /// - indices: `[batch]`, images of the collection
    /// - out: `[batch, 3, side, side]`; previous contents are discarded
    ///
    /// # Errors
    /// Returns an error if an image cannot be read from its file.
    ///
    /// # Panics
    /// Panics if an index is out of range.
    pub fn single_batch(
        &self,
        collection: &Collection,
        indices: &[usize],
        epoch: u64,
        run: Seed,
        out: &mut Vec<f32>,
    ) -> Result<(), ImageError> {
        out.resize(indices.len() * self.view_len(0), 0.0);
        self.fill(1, collection, indices, |_| epoch, run, out)
    }

    /// Each image is read once for all of its views. `epoch_of` has the position of an image.
    fn fill(
        &self,
        num_views: usize,
        collection: &Collection,
        indices: &[usize],
        epoch_of: impl Fn(usize) -> u64 + Sync,
        run: Seed,
        out: &mut [f32],
    ) -> Result<(), ImageError> {
        let mut views: Vec<Vec<&mut [f32]>> = indices.iter().map(|_| Vec::with_capacity(num_views)).collect();
        let mut rest = out;
        for which in 0..num_views {
            for of_image in &mut views {
                of_image.push(rest.split_off_mut(..self.view_len(which)).expect("the length of a batch"));
            }
        }
        views
            .into_par_iter()
            .zip(indices)
            .enumerate()
            .with_min_len(MIN_IMAGES)
            .try_for_each(|(position, (views, &sample))| {
                let epoch = epoch_of(position);
                let loaded = collection.read(sample)?;
                for (which, out) in views.into_iter().enumerate() {
                    self.view(which, loaded.as_image(), view_seed(run, epoch, sample, which), out);
                }
                Ok(())
            })
    }
}
