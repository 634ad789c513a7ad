//! Maps of vectors in the plane by t-SNE, with samples of similar vectors next to each other: images or graphs.

use bcl_core::{Similarity, matmul};
use bcl_report::MapPoint;
use bhtsne::{Neighbor, tSNE};
use burn::tensor::Tensor;
use rayon::ThreadPoolBuilder;

/// Minimum number of samples for a map.
const LEAST: usize = 10;

/// Effective number of neighbours per sample.
const PERPLEXITY: f32 = 30.0;

/// Barnes-Hut parameter: a group of points whose size is below this share of its distance counts as one point.
const THETA: f32 = 0.5;

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

/// Maps samples to the plane by t-SNE on unit features; `None` if the result is not finite.
///
/// The same features always give the same map: the initialisation is spectral, not random.
///
/// Source: van der Maaten, Accelerating t-SNE using Tree-Based Algorithms (JMLR 2014).
pub(crate) fn tsne(cosines: &Cosines) -> Option<Vec<[f64; 2]>> {
    let perplexity = PERPLEXITY.min((cosines.num_samples - 1) as f32 / 3.0);
    let neighbours = cosines.neighbours((3.0 * perplexity) as usize);
    let samples: Vec<usize> = (0..cosines.num_samples).collect();
    // A single thread adds in a fixed order.
    let points = ThreadPoolBuilder::new().num_threads(1).build().ok()?.install(|| {
        let mut layout = tSNE::<f32, usize, 2>::new(&samples);
        layout.perplexity(perplexity).spectral_init();
        layout.barnes_hut_with_neighbors(THETA, &neighbours).embedding()
    });
    let finite = points.iter().all(|value| value.is_finite());
    finite.then(|| {
        points
            .chunks(2)
            .map(|point| [0, 1].map(|axis| f64::from(point[axis])))
            .collect()
    })
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

#[cfg(test)]
mod tests;
