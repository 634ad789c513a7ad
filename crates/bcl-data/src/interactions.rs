//! User-item interactions in compressed sparse rows (CSR).

/// A set of (user, item) pairs, stored by user.
///
/// The items of a user are sorted and unique, so [`contains`](Self::contains) is a binary search, and sets with equal content compare
/// equal.
///
/// # Shapes
/// - offsets: `[num_users + 1]`, row `u` is `items[offsets[u]..offsets[u + 1]]`
/// - items:   `[len]`
///
/// ```
/// use bcl_data::Interactions;
///
/// let liked = Interactions::from_pairs(2, 4, [(0, 3), (0, 1), (1, 2), (0, 3)]);
/// assert_eq!(liked.len(), 3);
/// assert_eq!(liked.items_of(0), [1, 3]);
/// assert!(!liked.contains(1, 3));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interactions {
    num_items: usize,
    offsets: Vec<usize>,
    items: Vec<u32>,
}

impl Interactions {
    /// Builds the set from pairs in any order; repeated pairs count once.
    ///
    /// # Panics
    /// Panics if a user is not below `num_users` or an item not below `num_items`.
    pub fn from_pairs(num_users: usize, num_items: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
        pairs.sort_unstable();
        pairs.dedup();

        let mut offsets = vec![0; num_users + 1];
        for &(user, item) in &pairs {
            assert!((user as usize) < num_users, "user is {user}, but must be below {num_users}");
            assert!((item as usize) < num_items, "item is {item}, but must be below {num_items}");
            offsets[user as usize + 1] += 1;
        }
        for user in 0..num_users {
            offsets[user + 1] += offsets[user];
        }
        let items = pairs.into_iter().map(|(_, item)| item).collect();
        Self {
            num_items,
            offsets,
            items,
        }
    }

    /// Number of users, including those without interactions.
    pub fn num_users(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of items, including those without interactions.
    pub fn num_items(&self) -> usize {
        self.num_items
    }

    /// Number of interactions.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no interactions.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items of a user, in ascending order.
    ///
    /// # Panics
    /// Panics if `user` is not below [`num_users`](Self::num_users).
    pub fn items_of(&self, user: u32) -> &[u32] {
        let user = user as usize;
        assert!(
            user < self.num_users(),
            "user is {user}, but must be below {}",
            self.num_users()
        );
        &self.items[self.offsets[user]..self.offsets[user + 1]]
    }

    /// Whether `user` interacted with `item`.
    ///
    /// # Panics
    /// Panics if `user` is not below [`num_users`](Self::num_users).
    pub fn contains(&self, user: u32, item: u32) -> bool {
        self.items_of(user).binary_search(&item).is_ok()
    }

    /// Iterates over all pairs, ordered by user, then by item.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.num_users() as u32).flat_map(|user| self.items_of(user).iter().map(move |&item| (user, item)))
    }

    /// The popularity of each item: the number of its users. `[num_items]`
    pub fn item_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.num_items];
        for &item in &self.items {
            counts[item as usize] += 1;
        }
        counts
    }

    /// Interactions divided by the number of possible pairs, in [0, 1]; 0 if no pair is possible.
    pub fn density(&self) -> f64 {
        let possible = self.num_users() as f64 * self.num_items as f64;
        if possible == 0.0 { 0.0 } else { self.len() as f64 / possible }
    }

    /// The pairs in either set.
    ///
    /// # Panics
    /// Panics if the two sets differ in their number of users or items.
    pub fn union(&self, other: &Self) -> Self {
        assert_eq!(
            (self.num_users(), self.num_items),
            (other.num_users(), other.num_items),
            "the numbers of (users, items) must be equal"
        );
        Self::from_pairs(self.num_users(), self.num_items, self.pairs().chain(other.pairs()))
    }

    /// The start of each row in `items`, then the end of the last. `[num_users + 1]`
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The items of all rows, concatenated. `[len]`
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// The same pairs with more users and items.
    pub(crate) fn widened(mut self, num_users: usize, num_items: usize) -> Self {
        debug_assert!(num_users >= self.num_users() && num_items >= self.num_items);
        self.offsets.resize(num_users + 1, self.items.len());
        self.num_items = num_items;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn pairs() -> impl Strategy<Value = Vec<(u32, u32)>> {
        proptest::collection::vec((0..7u32, 0..9u32), 0..80)
    }

    #[test]
    fn users_and_items_without_interactions_are_kept() {
        let data = Interactions::from_pairs(3, 5, [(1, 2)]);
        assert_eq!((data.num_users(), data.num_items()), (3, 5));
        assert!(data.items_of(0).is_empty() && data.items_of(2).is_empty());
        assert_eq!(data.item_counts(), [0, 0, 1, 0, 0]);
    }

    #[test]
    fn an_empty_data_set_has_density_zero() {
        assert_eq!(Interactions::from_pairs(0, 0, []).density(), 0.0);
        assert_eq!(Interactions::from_pairs(2, 4, [(0, 0), (1, 3)]).density(), 0.25);
    }

    #[test]
    #[should_panic(expected = "user is 3, but must be below 3")]
    fn a_user_out_of_range_is_named() {
        Interactions::from_pairs(3, 5, [(3, 0)]);
    }

    #[test]
    #[should_panic(expected = "item is 5, but must be below 5")]
    fn an_item_out_of_range_is_named() {
        Interactions::from_pairs(3, 5, [(0, 5)]);
    }

    #[test]
    fn widening_keeps_the_pairs() {
        let data = Interactions::from_pairs(2, 3, [(0, 2), (1, 0)]);
        let wide = data.clone().widened(4, 6);
        assert_eq!(wide, Interactions::from_pairs(4, 6, data.pairs()));
    }

    proptest! {
        #[test]
        fn rows_are_sorted_unique_and_complete(pairs in pairs()) {
            let data = Interactions::from_pairs(7, 9, pairs.clone());
            let set: BTreeSet<_> = pairs.into_iter().collect();
            prop_assert_eq!(data.pairs().collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(data.len(), set.len());
            prop_assert_eq!(data.offsets().len(), 8);
            prop_assert_eq!(data.offsets()[7], data.items().len());
            for user in 0..7 {
                prop_assert!(data.items_of(user).is_sorted_by(|a, b| a < b));
                for item in 0..9 {
                    prop_assert_eq!(data.contains(user, item), set.contains(&(user, item)));
                }
            }
        }

        #[test]
        fn popularity_sums_to_the_number_of_interactions(pairs in pairs()) {
            let data = Interactions::from_pairs(7, 9, pairs);
            prop_assert_eq!(data.item_counts().iter().sum::<u32>() as usize, data.len());
        }

        #[test]
        fn union_is_the_union_of_the_pairs(a in pairs(), b in pairs()) {
            let union = Interactions::from_pairs(7, 9, a.clone()).union(&Interactions::from_pairs(7, 9, b.clone()));
            prop_assert_eq!(union, Interactions::from_pairs(7, 9, a.into_iter().chain(b)));
        }
    }
}
