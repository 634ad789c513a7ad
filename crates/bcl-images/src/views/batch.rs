//! Batches of views, made by all threads of the pool.

use super::Views;
use crate::Collection;
use bcl_data::Seed;
use rayon::prelude::*;

/// Minimum number of views per task: a view takes tens of microseconds, handing over a task one or two.
const MIN_VIEWS: usize = 4;

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
    /// Makes two views of each image, for contrastive losses.
    ///
    /// # Shapes
    /// - indices: `[batch]`, images of the collection
    /// - out: `[2, batch, 3, side, side]`; previous contents are discarded
    ///
    /// # Panics
    /// Panics if an index is out of range.
    pub fn batch(&self, collection: &Collection, indices: &[usize], epoch: u64, run: Seed, out: &mut Vec<f32>) {
        self.fill(2, collection, indices, epoch, run, out);
    }

    /// Makes one view of each image, for a linear probe: the first of the two that [`batch`](Self::batch) makes.
    ///
    /// # Shapes
    /// - indices: `[batch]`, images of the collection
    /// - out: `[batch, 3, side, side]`; previous contents are discarded
    ///
    /// # Panics
    /// Panics if an index is out of range.
    pub fn single_batch(&self, collection: &Collection, indices: &[usize], epoch: u64, run: Seed, out: &mut Vec<f32>) {
        self.fill(1, collection, indices, epoch, run, out);
    }

    fn fill(&self, num_views: usize, collection: &Collection, indices: &[usize], epoch: u64, run: Seed, out: &mut Vec<f32>) {
        out.resize(num_views * indices.len() * self.view_len(), 0.0);
        out.par_chunks_exact_mut(self.view_len())
            .with_min_len(MIN_VIEWS)
            .enumerate()
            .for_each(|(index, out)| {
                let (which, sample) = (index / indices.len(), indices[index % indices.len()]);
                self.view(collection.get(sample), view_seed(run, epoch, sample, which), out);
            });
    }
}
