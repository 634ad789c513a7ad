//! Holds out images for model selection.

use crate::Collection;
use bcl_data::Seed;
use rand::seq::SliceRandom;

/// Holds out a fraction of each class; returns (kept, held out), both in the order of the images.
///
/// ```text
/// held_out_c = min(round(share · n_c), n_c - 1)
/// ```
///
/// Images without a class are always kept, because they cannot be used for evaluation. The choice depends only on the seed and the class.
///
/// # Panics
/// Panics if `share` is not in [0, 1).
///
/// ```
/// use bcl_data::Seed;
/// use bcl_images::{PlantedImagesConfig, hold_out};
///
/// let data = PlantedImagesConfig { train: 50, test: 10, ..PlantedImagesConfig::default() }.generate();
/// let (kept, held_out) = hold_out(&data.train, 0.2, Seed(1));
/// assert_eq!((kept.len(), held_out.len()), (40, 10));
/// ```
pub fn hold_out(images: &Collection, share: f64, seed: Seed) -> (Collection, Collection) {
    assert!((0.0..1.0).contains(&share), "share is {share}, but must be in [0, 1)");
    let mut is_held_out = vec![false; images.len()];
    for class in 0..images.classes().len() {
        let mut members: Vec<usize> = (0..images.len())
            .filter(|&index| images.labels()[index] == Some(class as u32))
            .collect();
        let count = ((share * members.len() as f64).round() as usize).min(members.len().saturating_sub(1));
        members.shuffle(&mut seed.index(class as u64).rng());
        for &index in &members[..count] {
            is_held_out[index] = true;
        }
    }
    let part = |of: bool| {
        let mut part = Collection::new(images.classes().to_vec());
        for index in (0..images.len()).filter(|&index| is_held_out[index] == of) {
            part.push_from(images, index, images.labels()[index]);
        }
        part
    };
    (part(false), part(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;

    /// A collection in which image `i` is one pixel with red `i`.
    fn numbered(labels: &[Option<u32>]) -> Collection {
        let mut images = Collection::new(["a", "b"].map(String::from).to_vec());
        for (number, label) in labels.iter().enumerate() {
            let pixels = [number as u8, 0, 0];
            images.push(
                Image {
                    width: 1,
                    height: 1,
                    pixels: &pixels,
                },
                *label,
            );
        }
        images
    }

    fn numbers(images: &Collection) -> Vec<u8> {
        (0..images.len()).map(|index| images.get(index).pixels[0]).collect()
    }

    #[test]
    fn every_image_is_in_one_part_and_each_class_gives_its_share() {
        let labels: Vec<Option<u32>> = (0..30).map(|i| (i % 3 != 2).then_some(i % 3)).collect();
        let (kept, held_out) = hold_out(&numbered(&labels), 0.2, Seed(4));
        let mut all = [numbers(&kept), numbers(&held_out)].concat();
        all.sort_unstable();
        assert_eq!(all, (0..30).collect::<Vec<u8>>());
        assert_eq!(held_out.labels().iter().filter(|label| **label == Some(0)).count(), 2);
        assert_eq!(held_out.labels().iter().filter(|label| **label == Some(1)).count(), 2);
        assert!(held_out.labels().iter().all(Option::is_some), "what has no class is kept");
    }

    #[test]
    fn the_seed_decides_which() {
        let images = numbered(&[Some(0); 100]);
        let held_out = |seed| numbers(&hold_out(&images, 0.2, Seed(seed)).1);
        assert_eq!(held_out(1), held_out(1));
        assert_ne!(held_out(1), held_out(2));
    }

    #[test]
    fn the_last_image_of_a_class_is_kept() {
        let (kept, held_out) = hold_out(&numbered(&[Some(0), Some(1)]), 0.9, Seed(0));
        assert_eq!((kept.len(), held_out.len()), (2, 0));
    }
}
