//! Selects the k best of a row of scores without sorting the row: items for a user, or rows near a query.

use std::cmp::Ordering;

/// An item and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedItem {
    /// Dense item id.
    pub item: u32,
    /// The score; higher is better.
    pub score: f32,
}

/// A NaN score was found; `item` is the first item that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotANumber {
    pub(crate) item: u32,
}

/// Scores compared at a time: one AVX-512 register or two AVX2 registers.
const LANES: usize = 16;

/// Collects the `k` best of a row of scores, which may come in several pieces.
///
/// Most items score below the k-th best so far and cost a single comparison; only the few others are looked up among the excluded ones and
/// collected.
#[derive(Debug)]
pub(crate) struct TopK<'a> {
    k: usize,
    best: Vec<RankedItem>,
    /// The k-th best, once k items are known.
    bar: Option<RankedItem>,
    /// The place of each item among items of equal score; `None` for the order of ids.
    places: Option<&'a [u32]>,
}

/// The place of an item that no list contains.
pub(crate) const NOWHERE: u32 = u32::MAX;

impl<'a> TopK<'a> {
    /// Orders ties by id.
    pub(crate) fn new(k: usize) -> Self {
        Self::in_order(k, None)
    }

    /// Orders ties by the places of items, if given, and leaves out items that are [`NOWHERE`].
    pub(crate) fn in_order(k: usize, places: Option<&'a [u32]>) -> Self {
        Self {
            k,
            best: Vec::new(),
            bar: None,
            places,
        }
    }

    /// Takes the scores of the items from `first` on, which are behind all items that were offered before. Items in `excluded`, which
    /// must be sorted, are left out.
    pub(crate) fn offer(&mut self, first: u32, scores: &[f32], excluded: &[u32]) -> Result<(), NotANumber> {
        let room = self.k.max(1).saturating_mul(2);
        for (chunk_index, chunk) in scores.chunks(LANES).enumerate() {
            // Counting without a branch compiles to vector instructions. Comparisons with NaN are false, so a chunk with a NaN is never
            // skipped.
            if let Some(bar) = self.bar
                && self.is_below(bar.score, chunk)
            {
                continue;
            }
            for (offset, &score) in chunk.iter().enumerate() {
                let item = first + (chunk_index * LANES + offset) as u32;
                if score.is_nan() {
                    return Err(NotANumber { item });
                }
                let ranked = RankedItem { item, score };
                let loses = self.bar.is_some_and(|bar| better(self.places, bar, ranked).is_lt());
                if loses || self.place(item) == NOWHERE || excluded.binary_search(&item).is_ok() {
                    continue;
                }
                self.best.push(ranked);
                if self.best.len() == room {
                    let places = self.places;
                    self.best.select_nth_unstable_by(room / 2 - 1, |a, b| better(places, *a, *b));
                    self.best.truncate(room / 2);
                    self.bar = self.best.last().copied();
                }
            }
        }
        Ok(())
    }

    /// Whether no score of the chunk gets past the bar. Items are visited in the order of their ids, so in this order ties lose.
    fn is_below(&self, bar: f32, chunk: &[f32]) -> bool {
        let below = match self.places {
            None => chunk.iter().filter(|&&score| score <= bar).count(),
            Some(_) => chunk.iter().filter(|&&score| score < bar).count(),
        };
        below == chunk.len()
    }

    fn place(&self, item: u32) -> u32 {
        self.places.map_or(item, |places| places[item as usize])
    }

    /// The items of highest score, best first. The list is shorter than `k` if fewer items remain.
    pub(crate) fn into_list(mut self) -> Vec<RankedItem> {
        let places = self.places;
        self.best.sort_unstable_by(|a, b| better(places, *a, *b));
        self.best.truncate(self.k);
        self.best
    }
}

/// Orders by descending score, then by the places of the items.
fn better(places: Option<&[u32]>, a: RankedItem, b: RankedItem) -> Ordering {
    match places {
        None => better_first(a, b),
        Some(places) => {
            let by_score = b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal);
            by_score.then_with(|| places[a.item as usize].cmp(&places[b.item as usize]))
        }
    }
}

/// The `k` items of highest score that are not in `excluded`, as [`TopK`] collects them.
pub(crate) fn top_k(scores: &[f32], excluded: &[u32], k: usize) -> Result<Vec<RankedItem>, NotANumber> {
    let mut top = TopK::new(k);
    top.offer(0, scores, excluded)?;
    Ok(top.into_list())
}

/// Orders by descending score, then by item id. The order is total, because scores are not NaN and item ids differ.
pub(crate) fn better_first(a: RankedItem, b: RankedItem) -> Ordering {
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
        let best = top_k(scores, excluded, k).unwrap();
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
    fn excluded_items_never_appear_even_with_the_best_score() {
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
            let found = top_k(&scores, &[position as u32], 3);
            assert_eq!(found, Err(NotANumber { item: position as u32 }));
        }
    }

    proptest! {
        /// Few distinct scores give many ties; ascending scores make every item beat the k-th best so far.
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
            let expected = items_by_sorting(&scores, &excluded, k);
            prop_assert_eq!(&items(&scores, &excluded, k), &expected);

            let mut in_pieces = TopK::new(k);
            for (piece, scores) in scores.chunks(23).enumerate() {
                in_pieces.offer(23 * piece as u32, scores, &excluded).unwrap();
            }
            prop_assert_eq!(in_pieces.into_list().iter().map(|ranked| ranked.item).collect::<Vec<_>>(), expected);
        }

        /// Reversed places reverse ties, whatever the pieces; places that are nowhere leave items out.
        #[test]
        fn ties_are_ordered_by_places(
            scores in prop::collection::vec((-2_i8..2).prop_map(f32::from), 0..200),
            k in 0_usize..50,
            every in 2_usize..9,
        ) {
            let count = scores.len() as u32;
            let places: Vec<u32> = (0..count).map(|item| if (item as usize).is_multiple_of(every) { NOWHERE } else { count - item }).collect();
            let mut expected: Vec<u32> = (0..count).filter(|&item| places[item as usize] != NOWHERE).collect();
            expected.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]).then(b.cmp(&a)));
            expected.truncate(k);
            let mut top = TopK::in_order(k, Some(&places));
            for (piece, scores) in scores.chunks(23).enumerate() {
                top.offer(23 * piece as u32, scores, &[]).unwrap();
            }
            prop_assert_eq!(top.into_list().iter().map(|ranked| ranked.item).collect::<Vec<_>>(), expected);
        }
    }
}
