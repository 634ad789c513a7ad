//! Planted vectors for tests.

use super::Vectors;
use bcl_data::Seed;
use rand::RngExt;

/// Vectors of classes that overlap, with the class of each.
pub(super) fn overlapping(num_samples: usize, num_classes: u32, seed: u64) -> (Vectors, Vec<u32>) {
    let mut rng = Seed(seed).rng();
    let labels: Vec<u32> = (0..num_samples as u32).map(|sample| sample % num_classes).collect();
    let mut value = |label: u32, column: u32| f64::from(u8::from(label % 4 == column)) + 1.5 * rng.random::<f64>();
    let values = labels
        .iter()
        .flat_map(|&label| [0, 1, 2, 3].map(|column| value(label, column)))
        .collect();
    (Vectors::new(values, 4), labels)
}
