//! Tests of maps: clusters stay together.

use super::*;
use bcl_data::Seed;
use burn::tensor::{Device, TensorData};
use rand::RngExt;

/// Groups of features, each around its own axis.
fn groups(num_groups: usize, num_samples: usize, seed: u64) -> Cosines {
    let mut rng = Seed(seed).rng();
    let mut value = |row: usize, column: usize| f32::from(u8::from(row % num_groups == column)) + 0.2 * rng.random::<f32>();
    let values: Vec<f32> = (0..num_samples * 16).map(|i| value(i / 16, i % 16)).collect();
    cosines(values, [num_samples, 16])
}

fn cosines(values: Vec<f32>, shape: [usize; 2]) -> Cosines {
    Cosines::of(Tensor::from_data(TensorData::new(values, shape), &Device::flex())).unwrap()
}

/// The other points of each point, nearest first.
fn ranked(points: &[[f64; 2]]) -> Vec<Vec<usize>> {
    let of = |own: usize| {
        let distance = |other: usize| (points[own][0] - points[other][0]).hypot(points[own][1] - points[other][1]);
        let mut others: Vec<usize> = (0..points.len()).filter(|&other| other != own).collect();
        others.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        others
    };
    (0..points.len()).map(of).collect()
}

#[test]
fn the_same_features_give_the_same_map_and_others_another() {
    let points = tsne(&groups(3, 60, 1));
    assert_eq!(points, tsne(&groups(3, 60, 1)));
    assert_ne!(points, tsne(&groups(3, 60, 2)));
}

#[test]
fn images_of_a_group_are_mapped_together() {
    let ranked = ranked(&tsne(&groups(3, 90, 3)).unwrap());
    assert!(ranked.iter().enumerate().all(|(own, others)| others[0] % 3 == own % 3));
}

#[test]
fn few_images_have_no_map_and_that_of_equal_images_is_finite() {
    let ones = |num_samples| Cosines::of(Tensor::ones([num_samples, 8], &Device::flex()));
    assert!(ones(9).is_none());
    assert_eq!(tsne(&groups(3, 10, 0)).unwrap().len(), 10);
    let equal = ones(40).unwrap();
    assert!(tsne(&equal).into_iter().flatten().flatten().all(f64::is_finite));
}

#[test]
fn features_that_are_not_finite_have_no_map() {
    let mut values = vec![1.0; 80];
    values[3] = f32::NAN;
    let features = Tensor::<2>::from_data(TensorData::new(values, [10, 8]), &Device::flex());
    assert!(Cosines::of(features).is_none());
}
