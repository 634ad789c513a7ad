//! A set of items that can be emptied quickly.

/// One bit per item. Each thread reuses one set for row after row, so no table of users times items is needed.
#[derive(Debug, Clone)]
pub(crate) struct ItemSet {
    words: Vec<u64>,
}

impl ItemSet {
    /// An empty set with room for `num_items`.
    pub(crate) fn new(num_items: usize) -> Self {
        Self {
            words: vec![0; num_items.div_ceil(64)],
        }
    }

    /// Adds items.
    #[inline]
    pub(crate) fn insert(&mut self, items: &[u32]) {
        for &item in items {
            self.words[item as usize / 64] |= 1 << (item % 64);
        }
    }

    /// Removes items. This clears whole words, so pass all items of the set.
    #[inline]
    pub(crate) fn remove(&mut self, items: &[u32]) {
        for &item in items {
            self.words[item as usize / 64] = 0;
        }
    }

    /// Whether the set contains an item.
    #[inline]
    pub(crate) fn contains(&self, item: u32) -> bool {
        self.words[item as usize / 64] >> (item % 64) & 1 == 1
    }
}
