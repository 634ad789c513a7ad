//! Parts by chance and by time.

use super::*;
use proptest::prelude::*;

/// User 0 has five interactions, user 1 has two, user 2 a single one; the ranks are in the order of the pairs.
fn data() -> (Interactions, Vec<u32>) {
    let pairs = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 0), (1, 3), (2, 1)];
    (Interactions::from_pairs(3, 5, pairs), vec![3, 7, 0, 1, 5, 6, 2, 4])
}

fn held_out(kind: SplitKind, ratio: f64) -> Vec<(u32, u32)> {
    let (data, ranks) = data();
    let (kept, held_out, rest) = HoldOut::new(kind, Some(ranks)).split(&data, ratio, Seed(0));
    assert_eq!(kept.union(&held_out), data);
    assert_eq!(rest.ranks.unwrap().len(), kept.len());
    held_out.pairs().collect()
}

#[test]
fn the_newest_are_held_out_per_user_or_over_all() {
    assert_eq!(held_out(SplitKind::LeaveOneOut, 0.0), [(0, 1), (1, 0)]);
    assert_eq!(held_out(SplitKind::Ratio, 0.4), [(0, 1), (0, 4), (1, 0)]);
    // The ranks 5, 6 and 7, whoever has them.
    assert_eq!(held_out(SplitKind::Temporal, 0.4), [(0, 1), (0, 4), (1, 0)]);
    assert_eq!(held_out(SplitKind::Temporal, 0.5), [(0, 1), (0, 4), (1, 0), (2, 1)]);
}

#[test]
fn a_temporal_split_holds_out_and_keeps_at_least_one() {
    assert_eq!(held_out(SplitKind::Temporal, 0.001), [(0, 1)]);
    assert_eq!(held_out(SplitKind::Temporal, 0.999).len(), 7);
}

#[test]
fn the_rest_is_split_again_by_the_same_rule() {
    let (data, ranks) = data();
    let (kept, _, rule) = HoldOut::new(SplitKind::LeaveOneOut, Some(ranks)).split(&data, 0.0, Seed(0));
    let (_, second, _) = rule.split(&kept, 0.0, Seed(0));
    assert_eq!(second.pairs().collect::<Vec<_>>(), [(0, 4)]);
}

#[test]
fn without_times_one_interaction_per_user_is_drawn_evenly() {
    let data = Interactions::from_pairs(2, 4, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]);
    let mut counts = [0; 4];
    for seed in 0..2000 {
        let (_, held_out, _) = HoldOut::new(SplitKind::LeaveOneOut, None).split(&data, 0.0, Seed(seed));
        let [(0, item)] = held_out.pairs().collect::<Vec<_>>()[..] else {
            panic!("{held_out:?}")
        };
        counts[item as usize] += 1;
    }
    // Binomial with mean 500 and standard deviation 19.
    assert!(counts.iter().all(|count| (420..580).contains(count)), "{counts:?}");
}

#[test]
fn equal_times_are_ordered_by_the_seed_and_not_by_the_file() {
    let data = Interactions::from_pairs(1, 50, (0..50).map(|item| (0, item)));
    let same: Vec<Moment> = data.pairs().map(|_| Moment::of(7)).collect();
    let [first, again, other] = [1, 1, 2].map(|seed| ranks(&data, &same, Seed(seed)));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(!first.is_sorted());
}

proptest! {
    #[test]
    fn earlier_moments_have_lower_ranks(times in proptest::collection::vec(0..20_i64, 1..100)) {
        let data = Interactions::from_pairs(1, times.len(), (0..times.len() as u32).map(|item| (0, item)));
        let moments: Vec<Moment> = times.iter().copied().map(Moment::of).collect();
        let ranks = ranks(&data, &moments, Seed(3));
        for (a, rank_a) in times.iter().zip(&ranks) {
            for (b, rank_b) in times.iter().zip(&ranks) {
                prop_assert!(a >= b || rank_a < rank_b);
            }
        }
    }
}
