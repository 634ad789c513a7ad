//! What clusters must and must not depend on.

use super::*;
use crate::adjusted_rand_index;
use rand::RngExt;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// About N(0, 1).
fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// Four classes in the first two dimensions, and two dimensions of wide noise; all mixed, so that no axis is special.
fn classes(count: usize) -> (Points, Vec<u32>) {
    let mut random = rng(7);
    let labels: Vec<u32> = (0..count as u32).map(|index| index % 4).collect();
    let mut values = Vec::new();
    for &label in &labels {
        let centre = [f64::from(label % 2) * 6.0, f64::from(label / 2) * 6.0];
        let mut row: Vec<f64> = centre.iter().map(|centre| centre + normal(&mut random)).collect();
        row.extend((0..2).map(|_| 8.0 * normal(&mut random)));
        values.extend((0..4).map(|index| row[index] + 0.5 * row[(index + 1) % 4] - 0.3 * row[(index + 2) % 4]));
    }
    (Points::new(values, 4).unwrap(), labels)
}

#[test]
fn classes_are_found_beside_directions_of_larger_variance() {
    let (points, truth) = classes(800);
    let found = Clustering::fit(&points, 4, &mut rng(1)).unwrap();
    let agreement = adjusted_rand_index(&found.labels(&points).unwrap(), &truth).unwrap();
    assert!(agreement > 0.95, "{agreement}");

    // Without any whitening, the wide noise decides.
    let means = points.select(&seed(&points, 4, &mut rng(1)));
    let (plain, _) = steps(&points, &points, None, means, 50);
    let agreement = adjusted_rand_index(&plain.labels, &truth).unwrap();
    assert!(agreement < 0.2, "{agreement}");
}

#[test]
fn the_scales_of_the_features_do_not_matter() {
    let (points, _) = classes(400);
    let scaled = points.values().chunks_exact(4).flat_map(|row| {
        let scales = [1.0, 1.5, 0.8, 1.2];
        row.iter()
            .zip(scales)
            .map(|(value, scale)| value * scale + 5.0)
            .collect::<Vec<f64>>()
    });
    let scaled = Points::new(scaled.collect(), 4).unwrap();
    let labels = |points: &Points| Clustering::fit(points, 4, &mut rng(2)).unwrap().labels(points).unwrap();
    let agreement = adjusted_rand_index(&labels(&points), &labels(&scaled)).unwrap();
    assert!(agreement > 0.95, "{agreement}");
}

#[test]
fn threads_change_no_bit() {
    let (points, _) = classes(3000);
    let fitted = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Clustering::fit(&points, 16, &mut rng(3)).unwrap())
    };
    assert_eq!(fitted(1), fitted(3));
}

#[test]
fn input_without_clusters_is_refused_or_gives_some_labels() {
    let points = Points::new(vec![1.5; 20], 2).unwrap();
    let fit = |points: &Points, count| Clustering::fit(points, count, &mut rng(4));
    assert_eq!(fit(&points, 0), Err(ClusterError::NoClusters));
    let too_few = ClusterError::TooFewPoints {
        points: 10,
        clusters: 11,
        needed: 11,
    };
    assert_eq!(fit(&points, 11), Err(too_few));
    assert_eq!(fit(&points, 10).unwrap().labels(&points).unwrap(), [0; 10]);
    // Two distinct points and four clusters: no spread within clusters.
    let two = Points::new([0.0, 1.0].repeat(6), 1).unwrap();
    let labels = fit(&two, 4).unwrap().labels(&two).unwrap();
    assert!(
        labels[0] != labels[1] && (0..12).all(|index| labels[index] == labels[index % 2]),
        "{labels:?}"
    );
    for scale in [1e99, 1e-99, 1e-200] {
        let extreme = Points::new((0..40).map(|index| scale * f64::from(index % 7)).collect(), 2).unwrap();
        assert_eq!(fit(&extreme, 3).unwrap().labels(&extreme).unwrap().len(), 20, "{scale}");
    }
}

#[test]
fn points_of_another_dimension_are_refused() {
    let found = Clustering::fit(&classes(40).0, 2, &mut rng(5)).unwrap();
    let other = Points::new(vec![0.0; 3], 3).unwrap();
    assert_eq!(found.labels(&other), Err(ClusterError::Shape { values: 3, dim: 4 }));
}
