//! A map of features in the plane, with images of similar features next to each other.

use bcl_core::Similarity;
use bhtsne::{Neighbor, tSNE};
use burn::tensor::Tensor;

/// Effective number of neighbours per image in t-SNE.
const PERPLEXITY: f32 = 30.0;

/// Minimum number of images for a map.
const LEAST: usize = 10;

/// Barnes-Hut parameter: a group of points whose size is below this share of its distance counts as one point.
const THETA: f32 = 0.5;

/// Maps features to the plane by t-SNE on unit rows; `None` for fewer than ten rows, or if the result is not finite.
///
/// The same features always give the same map: the initialisation is spectral, not random, and a single thread sums in a fixed order.
///
/// Source: van der Maaten, Accelerating t-SNE using Tree-Based Algorithms (JMLR 2014).
///
/// # Shapes
/// - features: `[num_images, num_features]`
/// - output:   `num_images` points
pub(super) fn map(features: Tensor<2>) -> Option<Vec<[f64; 2]>> {
    let [num_images, _] = features.dims();
    if num_images < LEAST {
        return None;
    }
    let perplexity = PERPLEXITY.min((num_images - 1) as f32 / 3.0);
    let neighbours = neighbours(features, (3.0 * perplexity) as usize);
    let images: Vec<usize> = (0..num_images).collect();
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().ok()?;
    let points = one_thread.install(|| {
        let mut layout = tSNE::<f32, usize, 2>::new(&images);
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

/// The nearest rows of each row, nearest first, ties in order.
fn neighbours(features: Tensor<2>, count: usize) -> Vec<Vec<Neighbor<f32>>> {
    let rows = Similarity::Cosine.prepare(features.detach());
    let cosines: Vec<f32> = rows.clone().matmul(rows.transpose()).into_data().iter::<f32>().collect();
    let num_images = cosines.len().isqrt();
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
    cosines.chunks(num_images).enumerate().map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::Seed;
    use burn::tensor::{Device, TensorData};
    use rand::RngExt;

    /// Three groups of features, each around its own axis.
    fn groups(num_images: usize, seed: u64) -> Tensor<2> {
        let mut rng = Seed(seed).rng();
        let mut value = |row: usize, column: usize| f32::from(u8::from(row % 3 == column)) + 0.2 * rng.random::<f32>();
        let values: Vec<f32> = (0..num_images * 8).map(|i| value(i / 8, i % 8)).collect();
        Tensor::from_data(TensorData::new(values, [num_images, 8]), &Device::flex())
    }

    #[test]
    fn the_same_features_give_the_same_map_and_others_another() {
        let points = map(groups(60, 1));
        assert!(points.is_some());
        assert_eq!(points, map(groups(60, 1)));
        assert_ne!(points, map(groups(60, 2)));
    }

    #[test]
    fn images_of_a_group_are_mapped_together() {
        let points = map(groups(90, 3)).unwrap();
        let nearest = |own: usize| {
            let distance = |other: &usize| {
                let [x, y] = [0, 1].map(|axis| points[own][axis] - points[*other][axis]);
                x.hypot(y)
            };
            let others = (0..points.len()).filter(|other| *other != own);
            others.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
        };
        assert!((0..points.len()).all(|own| nearest(own) % 3 == own % 3));
    }

    #[test]
    fn few_images_have_no_map_and_that_of_equal_images_is_finite() {
        assert_eq!(map(groups(9, 0)), None);
        assert!(map(groups(10, 0)).is_some());
        if let Some(points) = map(Tensor::ones([40, 8], &Device::flex())) {
            assert!(points.iter().flatten().all(|value| value.is_finite()));
        }
    }
}
