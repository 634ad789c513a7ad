//! Which items lists contain, and the order of items with equal scores.

use crate::top_k::NOWHERE;
use bcl_data::{Interactions, Seed};
use std::sync::Arc;

/// Which items lists contain, and the order of items with equal scores.
///
/// The order is a hash of the items' ids, the same for all models, so neither popular items nor the first of a file win ties.
///
/// ```
/// use bcl_data::Interactions;
/// use bcl_eval::ranking::ItemOrder;
///
/// let order = ItemOrder::hashed(["tea", "jam", "rice"]);
/// let reversed = ItemOrder::hashed(["rice", "jam", "tea"]);
/// assert!((0..3).all(|item| order.place(item) == reversed.place(2 - item)));
///
/// let train = Interactions::from_pairs(1, 3, [(0, 0), (0, 2)]);
/// assert_eq!(order.without_untrained(&train).place(1), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemOrder {
    places: Arc<[u32]>,
}

impl ItemOrder {
    /// Orders ties by the numbers of the items.
    pub fn numbered(num_items: usize) -> Self {
        Self {
            places: (0..num_items as u32).collect(),
        }
    }

    /// Orders ties by a hash of the items' ids, given in the order of their numbers.
    pub fn hashed<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let seed = Seed(0).named("ties");
        let mut items: Vec<(u64, &str, u32)> = ids
            .into_iter()
            .zip(0..)
            .map(|(id, item)| (seed.named(id).0, id, item))
            .collect();
        items.sort_unstable();
        let mut places = vec![0; items.len()];
        for ((.., item), place) in items.into_iter().zip(0..) {
            places[item as usize] = place;
        }
        Self { places: places.into() }
    }

    /// Leaves out items without a training interaction: nothing was learned about them.
    ///
    /// # Panics
    /// Panics if `train` has another number of items.
    #[must_use]
    pub fn without_untrained(&self, train: &Interactions) -> Self {
        assert_eq!(
            self.places.len(),
            train.num_items(),
            "order and interactions must have the same number of items"
        );
        let counts = train.item_counts();
        let places = self
            .places
            .iter()
            .zip(counts)
            .map(|(&place, count)| if count > 0 { place } else { NOWHERE });
        Self {
            places: places.collect(),
        }
    }

    /// The place of an item among those with the same score; `None` if no list contains the item.
    ///
    /// # Panics
    /// Panics if the item is out of range.
    pub fn place(&self, item: u32) -> Option<u32> {
        Some(self.places[item as usize]).filter(|&place| place != NOWHERE)
    }

    /// Number of items.
    pub fn num_items(&self) -> usize {
        self.places.len()
    }

    pub(super) fn places(&self) -> &[u32] {
        &self.places
    }
}
