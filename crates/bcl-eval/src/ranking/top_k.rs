//! The best k of a row of scores, without sorting the row.

use std::cmp::Ordering;

/// An item in a ranking and the score that put it there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedItem {
    /// Dense item id.
    pub item: u32,
    /// The score, higher is better.
    pub score: f32,
}

/// The first item of a row whose score is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotANumber {
    pub(super) item: u32,
}

/// Scores compared at a time: one AVX-512 register, or two AVX2 ones.
const LANES: usize = 16;

/// Replaces the content of `best` by the `k` highest scores outside `excluded`, best first, equal scores in the order of item ids.
///
/// `excluded` is sorted. Shorter lists come out when fewer than `k` items are left.
///
/// Most items of a row lose against the k-th best so far, so the loop spends one comparison on each; only the few that pass are
/// looked up in `excluded` and collected. Items come in the order of their ids, so one that merely equals the k-th best loses.
pub(super) fn top_k(scores: &[f32], excluded: &[u32], k: usize, best: &mut Vec<RankedItem>) -> Result<(), NotANumber> {
    best.clear();
    let room = 2 * k.max(1);
    // The k-th best score, once k items are known.
    let mut bar = None;

    for (chunk_index, chunk) in scores.chunks(LANES).enumerate() {
        // Counted without a branch, so that it becomes vector instructions. A comparison with NaN is false: a chunk that holds one
        // is always looked at below.
        if let Some(bar) = bar
            && chunk.iter().filter(|&&score| score <= bar).count() == chunk.len()
        {
            continue;
        }
        for (offset, &score) in chunk.iter().enumerate() {
            let item = (chunk_index * LANES + offset) as u32;
            if score.is_nan() {
                return Err(NotANumber { item });
            }
            if bar.is_some_and(|bar| score <= bar) || excluded.binary_search(&item).is_ok() {
                continue;
            }
            best.push(RankedItem { item, score });
            if best.len() == room {
                best.select_nth_unstable_by(room / 2 - 1, |a, b| better_first(*a, *b));
                best.truncate(room / 2);
                bar = best.last().map(|ranked| ranked.score);
            }
        }
    }

    best.sort_unstable_by(|a, b| better_first(*a, *b));
    best.truncate(k);
    Ok(())
}

/// The order of a ranking; total, as scores are not NaN and item ids differ.
fn better_first(a: RankedItem, b: RankedItem) -> Ordering {
    b.score
        .partial_cmp(&a.score)
        .unwrap_or(Ordering::Equal)
        .then(a.item.cmp(&b.item))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn items(scores: &[f32], excluded: &[u32], k: usize) -> Vec<u32> {
        let mut best = Vec::new();
        top_k(scores, excluded, k, &mut best).unwrap();
        best.iter().map(|ranked| ranked.item).collect()
    }

    fn items_by_sorting(scores: &[f32], excluded: &[u32], k: usize) -> Vec<u32> {
        let mut items: Vec<u32> = (0..scores.len() as u32).filter(|item| !excluded.contains(item)).collect();
        // A stable sort keeps equal scores in the order of item ids.
        items.sort_by(|&a, &b| scores[b as usize].partial_cmp(&scores[a as usize]).unwrap());
        items.truncate(k);
        items
    }

    #[test]
    fn equal_scores_rank_by_item_id() {
        assert_eq!(items(&[0.5; 100], &[], 3), [0, 1, 2]);
        assert_eq!(items(&[0.0, -0.0, 1.0, 0.0], &[], 4), [2, 0, 1, 3]);
    }

    #[test]
    fn excluded_items_never_appear_however_good() {
        assert_eq!(items(&[9.0, 1.0, 8.0, 2.0], &[0, 2], 3), [3, 1]);
    }

    #[test]
    fn infinite_scores_have_a_place() {
        let scores = [f32::NEG_INFINITY, 0.0, f32::INFINITY];
        assert_eq!(items(&scores, &[], 3), [2, 1, 0]);
    }

    #[test]
    fn an_empty_list_is_no_error() {
        assert_eq!(items(&[1.0, 2.0], &[], 0), [0; 0]);
        assert_eq!(items(&[], &[], 5), [0; 0]);
    }

    #[test]
    fn the_first_not_a_number_is_found_wherever_it_is() {
        for position in 0..100 {
            let mut scores: Vec<f32> = (0..100_u8).map(|item| -f32::from(item)).collect();
            scores[position] = f32::NAN;
            scores[99] = f32::NAN;
            let found = top_k(&scores, &[position as u32], 3, &mut Vec::new());
            assert_eq!(found, Err(NotANumber { item: position as u32 }));
        }
    }

    proptest! {
        /// Few distinct scores make many ties; rising ones make every item pass the bar.
        #[test]
        fn partial_selection_equals_sorting(
            mut scores in prop::collection::vec((-4_i8..4).prop_map(f32::from), 0..200),
            excluded in prop::collection::btree_set(0_u32..200, 0..30),
            k in 0_usize..50,
            rising in any::<bool>(),
        ) {
            if rising {
                scores.sort_by(f32::total_cmp);
            }
            let excluded: Vec<u32> = excluded.into_iter().collect();
            prop_assert_eq!(items(&scores, &excluded, k), items_by_sorting(&scores, &excluded, k));
        }
    }
}
