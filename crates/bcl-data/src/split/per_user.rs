//! Random splits per user.

use crate::{Interactions, Seed};
use rand::RngExt;

/// Holds out a fraction of each user's interactions; returns (kept, held out).
///
/// ```text
/// held_out_u = min(round(ratio · n_u), n_u - 1)
/// ```
///
/// The published split of `MovieLens` 100K (Liu and Wang, 2023) rounds in the same way. Every user with interactions keeps at least one.
/// Which ones are held out depends only on the seed and the user, so users do not affect each other's split.
///
/// # Panics
/// Panics if `ratio` is not in [0, 1).
///
/// ```
/// use bcl_data::{Interactions, Seed, split_per_user};
///
/// let data = Interactions::from_pairs(1, 10, (0..10).map(|item| (0, item)));
/// let (train, test) = split_per_user(&data, 0.2, Seed(0));
/// assert_eq!((train.len(), test.len()), (8, 2));
/// assert_eq!(train.union(&test), data);
/// ```
pub fn split_per_user(data: &Interactions, ratio: f64, seed: Seed) -> (Interactions, Interactions) {
    assert!((0.0..1.0).contains(&ratio), "ratio is {ratio}, but must be in [0, 1)");
    split_counts(data, |interactions| held_out_count(interactions, ratio), seed)
}

/// Holds out `count` of each user's interactions, given their number; returns (kept, held out).
pub(super) fn split_counts(data: &Interactions, count: impl Fn(usize) -> usize, seed: Seed) -> (Interactions, Interactions) {
    let mut kept = Vec::new();
    let mut held_out = Vec::new();
    for user in 0..data.num_users() as u32 {
        let mut items = data.items_of(user).to_vec();
        let count = count(items.len());
        let mut rng = seed.index(u64::from(user)).rng();
        // The first steps of a Fisher-Yates shuffle.
        for chosen in 0..count {
            let other = rng.random_range(chosen..items.len());
            items.swap(chosen, other);
        }
        held_out.extend(items[..count].iter().map(|&item| (user, item)));
        kept.extend(items[count..].iter().map(|&item| (user, item)));
    }
    let collect = |pairs| Interactions::from_pairs(data.num_users(), data.num_items(), pairs);
    (collect(kept), collect(held_out))
}

/// Holds out the validation part of train; returns (fit, validation).
///
/// It splits per user with the same rounding as the test split, so validation weights users as the test does, and the epoch chosen on
/// one suits the other. Users whose share rounds to zero (fewer than five interactions, at a tenth) have no validation item; every user
/// keeps at least one to train on.
///
/// # Panics
/// Panics if `ratio` is not in [0, 1).
pub fn hold_out(train: &Interactions, ratio: f64, seed: Seed) -> (Interactions, Interactions) {
    split_per_user(train, ratio, seed.named("hold_out"))
}

pub(crate) fn held_out_count(interactions: usize, ratio: f64) -> usize {
    let rounded = (ratio * interactions as f64).round() as usize;
    rounded.min(interactions.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interactions() -> impl Strategy<Value = Interactions> {
        proptest::collection::vec((0..8u32, 0..30u32), 0..150).prop_map(|pairs| Interactions::from_pairs(8, 30, pairs))
    }

    #[test]
    fn a_user_with_one_interaction_keeps_it() {
        let data = Interactions::from_pairs(1, 1, [(0, 0)]);
        let (train, test) = split_per_user(&data, 0.9, Seed(0));
        assert_eq!((train.len(), test.len()), (1, 0));
    }

    #[test]
    fn shares_are_rounded_not_cut() {
        assert_eq!(held_out_count(12, 0.2), 2);
        assert_eq!(held_out_count(13, 0.2), 3);
        assert_eq!(held_out_count(0, 0.2), 0);
    }

    #[test]
    fn the_split_of_a_user_does_not_depend_on_other_users() {
        let alone = Interactions::from_pairs(2, 30, (0..30).map(|item| (0, item)));
        let both = alone.union(&Interactions::from_pairs(2, 30, (5..25).map(|item| (1, item))));
        let test_of = |data| split_per_user(data, 0.2, Seed(4)).1.items_of(0).to_vec();
        assert_eq!(test_of(&alone), test_of(&both));
    }

    #[test]
    fn each_item_is_held_out_about_equally_often() {
        let data = Interactions::from_pairs(1, 10, (0..10).map(|item| (0, item)));
        let mut counts = [0; 10];
        for seed in 0..2000 {
            for (_, item) in split_per_user(&data, 0.2, Seed(seed)).1.pairs() {
                counts[item as usize] += 1;
            }
        }
        // Binomial with mean 400 and standard deviation 18.
        assert!(counts.iter().all(|count| (320..480).contains(count)), "{counts:?}");
    }

    #[test]
    #[should_panic(expected = "ratio is 1, but must be in [0, 1)")]
    fn a_ratio_of_one_is_refused() {
        split_per_user(&Interactions::from_pairs(1, 1, []), 1.0, Seed(0));
    }

    proptest! {
        #[test]
        fn parts_are_disjoint_and_make_up_the_whole(data in interactions(), ratio in 0.0..1.0, seed: u64) {
            let (kept, held_out) = split_per_user(&data, ratio, Seed(seed));
            prop_assert_eq!(kept.len() + held_out.len(), data.len());
            prop_assert_eq!(&kept.union(&held_out), &data);
            for user in 0..8 {
                let all = data.items_of(user).len();
                prop_assert_eq!(held_out.items_of(user).len(), held_out_count(all, ratio));
                prop_assert!(all == 0 || !kept.items_of(user).is_empty());
            }
        }

        #[test]
        fn equal_seeds_split_equally(data in interactions(), seed: u64) {
            prop_assert_eq!(
                split_per_user(&data, 0.3, Seed(seed)),
                split_per_user(&data, 0.3, Seed(seed))
            );
        }

        #[test]
        fn different_seeds_split_differently(seed: u64) {
            let data = Interactions::from_pairs(1, 200, (0..200).map(|item| (0, item)));
            prop_assert_ne!(
                split_per_user(&data, 0.5, Seed(seed)),
                split_per_user(&data, 0.5, Seed(seed.wrapping_add(1)))
            );
        }
    }
}
