//! t-SNE.

use super::{Cosines, on_one_thread};
use bhtsne::tSNE;

/// Effective number of neighbours per sample.
const PERPLEXITY: f32 = 30.0;

/// Barnes-Hut parameter: a group of points whose size is below this share of its distance counts as one point.
const THETA: f32 = 0.5;

/// Maps samples to the plane by t-SNE on unit features; `None` if the result is not finite.
///
/// The same features always give the same map: the initialisation is spectral, not random.
///
/// Source: van der Maaten, Accelerating t-SNE using Tree-Based Algorithms (JMLR 2014).
pub(crate) fn tsne(cosines: &Cosines) -> Option<Vec<[f64; 2]>> {
    let perplexity = PERPLEXITY.min((cosines.num_samples - 1) as f32 / 3.0);
    let neighbours = cosines.neighbours((3.0 * perplexity) as usize);
    let samples: Vec<usize> = (0..cosines.num_samples).collect();
    let points = on_one_thread(|| {
        let mut layout = tSNE::<f32, usize, 2>::new(&samples);
        layout.perplexity(perplexity).spectral_init();
        layout.barnes_hut_with_neighbors(THETA, &neighbours).embedding()
    })?;
    let finite = points.iter().all(|value| value.is_finite());
    finite.then(|| {
        points
            .chunks(2)
            .map(|point| [0, 1].map(|axis| f64::from(point[axis])))
            .collect()
    })
}
