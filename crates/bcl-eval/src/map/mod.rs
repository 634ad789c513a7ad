//! Maps of vectors in the plane, with samples of similar vectors next to each other: images or graphs.

mod tsne;
mod umap;

pub(crate) use tsne::tsne;
pub(crate) use umap::umap;

use bcl_core::{Similarity, matmul};
use bcl_report::MapPoint;
use bhtsne::Neighbor;
use burn::tensor::Tensor;
use rayon::ThreadPoolBuilder;

/// Minimum number of samples for a map.
const LEAST: usize = 10;

/// The cosine similarity of the features of each pair of samples.
#[derive(Debug)]
pub(crate) struct Cosines {
    num_samples: usize,
    values: Vec<f32>,
}

impl Cosines {
    /// Compares features; `None` for fewer than ten samples, or if a feature is not finite.
    ///
    /// # Shapes
    /// - features: `[num_samples, num_features]`
    pub(crate) fn of(features: Tensor<2>) -> Option<Self> {
        let [num_samples, _] = features.dims();
        if num_samples < LEAST {
            return None;
        }
        let rows = Similarity::Cosine.prepare(features.detach());
        let values: Vec<f32> = matmul(rows.clone(), rows.transpose()).into_data().iter::<f32>().collect();
        let finite = values.iter().all(|value| value.is_finite());
        finite.then_some(Self { num_samples, values })
    }

    fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.num_samples)
    }

    /// The nearest samples of each sample by the Euclidean distance of unit features, nearest first, ties in order.
    fn neighbours(&self, count: usize) -> Vec<Vec<Neighbor<f32>>> {
        let of_row = |(own, cosines): (usize, &[f32])| {
            let distance = |&cosine: &f32| (2.0 - 2.0 * cosine).max(0.0).sqrt();
            let all = cosines.iter().map(distance).enumerate();
            let mut others: Vec<Neighbor<f32>> = all
                .filter(|(index, _)| *index != own)
                .map(|(index, distance)| Neighbor { index, distance })
                .collect();
            others.sort_by(|a, b| a.distance.total_cmp(&b.distance));
            others.truncate(count);
            others
        };
        self.rows().enumerate().map(of_row).collect()
    }
}

/// The points of a map, with the class of each; none if there is no map.
pub(crate) fn points(positions: Option<Vec<[f64; 2]>>, classes: &[u32]) -> Vec<MapPoint> {
    let point = |([x, y], &class): ([f64; 2], &u32)| MapPoint {
        // Hundredths are finer than a pixel.
        x: (x * 100.0).round() / 100.0,
        y: (y * 100.0).round() / 100.0,
        class,
    };
    positions.unwrap_or_default().into_iter().zip(classes).map(point).collect()
}

/// Runs `work` on a single thread, which adds in a fixed order; `None` if the thread cannot be started.
fn on_one_thread<R: Send>(work: impl FnOnce() -> R + Send) -> Option<R> {
    Some(ThreadPoolBuilder::new().num_threads(1).build().ok()?.install(work))
}

#[cfg(test)]
mod tests;
