//! A set of items that is emptied as fast as it was filled.

/// A bit for each item. A thread keeps one and uses it for row after row, so that no table of users times items is needed.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    words: Vec<u64>,
}

impl Marks {
    /// No marks, room for `num_items`.
    pub(crate) fn new(num_items: usize) -> Self {
        Self {
            words: vec![0; num_items.div_ceil(64)],
        }
    }

    /// Marks items.
    #[inline]
    pub(crate) fn set(&mut self, items: &[u32]) {
        for &item in items {
            self.words[item as usize / 64] |= 1 << (item % 64);
        }
    }

    /// Takes back the marks of the items (and of their neighbours in a word: call it with what was set).
    #[inline]
    pub(crate) fn clear(&mut self, items: &[u32]) {
        for &item in items {
            self.words[item as usize / 64] = 0;
        }
    }

    /// Whether an item is marked.
    #[inline]
    pub(crate) fn contains(&self, item: u32) -> bool {
        self.words[item as usize / 64] >> (item % 64) & 1 == 1
    }
}
