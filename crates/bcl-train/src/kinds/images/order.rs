//! Which images an epoch draws, and in which order.

use bcl_data::Seed;
use bcl_images::{Collection, by_class};
use bcl_recipe::Sampling;
use rand::seq::SliceRandom;

/// More than any number of epochs, so that further draws of an image differ from the draws of later epochs.
const VIEWS_PER_DRAW: u64 = 1 << 32;

/// The images of an epoch in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Draws {
    /// Indices of the images.
    pub(super) images: Vec<usize>,
    /// The epoch of each one's views: the training epoch, but another one for each further draw of the same image, so that it looks
    /// different.
    pub(super) epochs: Vec<u64>,
}

impl Draws {
    /// The draws of an epoch: as many as there are images.
    pub(super) fn new(sampling: Sampling, images: &Collection, seed: Seed, epoch: usize) -> Self {
        match sampling {
            Sampling::Uniform => Self {
                images: epoch_order(images.len(), seed, epoch),
                epochs: vec![epoch as u64; images.len()],
            },
            Sampling::ClassBalanced => Self::class_balanced(images.labels(), seed, epoch),
        }
    }

    /// Rounds that draw one image of each class, the classes in an order of their own in each round, until there are as many draws as labels.
    ///
    /// So the draws of any two classes differ by at most one in each round, and each batch is balanced, too. The images of a class come in
    /// a shuffled order, which is repeated once all were drawn: two draws of an image are as many rounds apart as its class has images, the
    /// most there can be.
    fn class_balanced(labels: &[Option<u32>], seed: Seed, epoch: usize) -> Self {
        let seed = seed.named("balanced order").index(epoch as u64);
        let mut classes = by_class(labels);
        for (class, members) in classes.iter_mut().enumerate() {
            members.shuffle(&mut seed.named("images").index(class as u64).rng());
        }
        classes.retain(|members| !members.is_empty());
        let num_draws = classes.iter().map(Vec::len).sum();
        let rounds = (0..).flat_map(|round| {
            let mut order: Vec<usize> = (0..classes.len()).collect();
            order.shuffle(&mut seed.named("classes").index(round).rng());
            order.into_iter().map(move |class| (class, round))
        });
        let draw = |(class, round): (usize, u64)| {
            let members: &[usize] = &classes[class];
            let count = members.len() as u64;
            let before = round / count;
            (members[(round % count) as usize], epoch as u64 + before * VIEWS_PER_DRAW)
        };
        let (images, epochs) = rounds.take(num_draws).map(draw).unzip();
        Self { images, epochs }
    }
}

/// The order of the images in an epoch that draws each once, from its seed.
pub(super) fn epoch_order(num_images: usize, seed: Seed, epoch: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..num_images).collect();
    order.shuffle(&mut seed.named("order").index(epoch as u64).rng());
    order
}

/// The largest batch in which class-balanced sampling draws no image twice; 0 without images.
///
/// With n images in the smallest of C classes, two draws of one image are n rounds of C draws apart, and the order of the classes in these
/// rounds may bring them C - 1 draws nearer.
pub(super) fn largest_batch_without_repeats(labels: &[Option<u32>]) -> usize {
    let counts = by_class(labels)
        .into_iter()
        .map(|members| members.len())
        .filter(|&count| count > 0);
    let num_classes = counts.clone().count();
    counts.min().map_or(0, |fewest| (fewest - 1) * num_classes + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// 40 images of class 0, 9 of class 1, none of class 2, 3 of class 3.
    fn labels() -> Vec<Option<u32>> {
        let of = |label, count| std::iter::repeat_n(Some(label), count);
        of(0, 40).chain(of(1, 9)).chain(of(3, 3)).collect()
    }

    fn draws(epoch: usize) -> Draws {
        Draws::class_balanced(&labels(), Seed(5), epoch)
    }

    #[test]
    fn every_class_is_drawn_equally_often_in_any_part_of_an_epoch() {
        let drawn = draws(2);
        assert_eq!((drawn.images.len(), drawn.epochs.len()), (52, 52));
        for end in 1..=52 {
            let count = |class| {
                drawn.images[..end]
                    .iter()
                    .filter(|&&image| labels()[image] == Some(class))
                    .count()
            };
            let counts = [0, 1, 3].map(count);
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
    }

    #[test]
    fn all_images_of_a_class_come_before_any_comes_again_and_then_with_other_views() {
        let drawn = draws(2);
        let mut seen: BTreeMap<usize, u64> = BTreeMap::new();
        for (&image, &epoch) in drawn.images.iter().zip(&drawn.epochs) {
            let before = seen.entry(image).or_default();
            assert_eq!(epoch, 2 + (*before << 32), "image {image}");
            *before += 1;
        }
        let of_class = |class| {
            seen.iter()
                .filter(move |&(&image, _)| labels()[image] == Some(class))
                .map(|(_, &count)| count)
        };
        for class in [1, 3] {
            let counts: Vec<u64> = of_class(class).collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
        assert!(of_class(0).all(|count| count == 1));
    }

    #[test]
    fn epochs_differ_and_repeat_exactly() {
        assert_eq!(draws(2), draws(2));
        assert_ne!(draws(2).images, draws(3).images);
    }

    #[test]
    fn no_batch_of_the_stated_size_has_an_image_twice_and_a_larger_one_may() {
        let largest = largest_batch_without_repeats(&labels());
        assert_eq!(largest, 7);
        let repeats = |size: usize| {
            (0..50).any(|epoch| {
                let images = draws(epoch).images;
                images.windows(size).any(|batch| {
                    let mut batch = batch.to_vec();
                    batch.sort_unstable();
                    batch.windows(2).any(|pair| pair[0] == pair[1])
                })
            })
        };
        assert!(!repeats(largest));
        assert!(repeats(largest + 1));
        assert_eq!(largest_batch_without_repeats(&[None]), 0);
    }
}
