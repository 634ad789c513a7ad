//! What the list of a user may have.

use super::ItemOrder;
use crate::top_k::{NotANumber, RankedItem, TopK};
use bcl_data::Interactions;

/// The items that a list has: the `k` best, without the user's items in `excluded`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) k: usize,
    pub(super) excluded: Option<&'a Interactions>,
    /// Which items lists contain, and the order of ties; by default all, by their numbers.
    pub(super) order: Option<&'a ItemOrder>,
}

impl<'a> Wanted<'a> {
    pub(super) fn excluded_for(self, user: u32) -> &'a [u32] {
        self.excluded.map_or(&[][..], |excluded| excluded.items_of(user))
    }

    /// An empty list.
    pub(super) fn list(self) -> TopK<'a> {
        TopK::in_order(self.k, self.order.map(ItemOrder::places))
    }

    /// The list of a user with these scores.
    pub(super) fn of_row(self, user: u32, scores: &[f32]) -> Result<Vec<RankedItem>, NotANumber> {
        let mut list = self.list();
        list.offer(0, scores, self.excluded_for(user))?;
        Ok(list.into_list())
    }
}
