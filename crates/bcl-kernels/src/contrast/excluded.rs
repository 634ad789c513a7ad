//! Rows of a table that are not negatives of an anchor.

use std::sync::Arc;

/// Which rows of a table are not negatives of an anchor, though they are in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excluded {
    /// None: the table is a queue, or sampled.
    None,
    /// Row `first + r` is the positive of anchor r.
    Own {
        /// The row of the first anchor.
        first: usize,
    },
    /// The table has two views of each sample: all first views, then all second views. Anchor r is row `first + r`, and the other view of
    /// its sample is its positive.
    BothViews {
        /// The row of the first anchor.
        first: usize,
    },
    /// Each anchor has a list, such as the items that a user has interacted with. An anchor whose list has all rows has the loss 0 and no gradient.
    Listed {
        /// The lists.
        lists: Arc<RowLists>,
        /// The number of the first anchor's list.
        first: usize,
    },
}

impl Excluded {
    /// The rows of a list for each anchor; [`None`](Self::None) if all lists are empty.
    ///
    /// ```
    /// use bcl_kernels::Excluded;
    ///
    /// assert!(matches!(Excluded::listed([vec![0, 2], vec![]]), Excluded::Listed { first: 0, .. }));
    /// assert_eq!(Excluded::listed([vec![], vec![]]), Excluded::None);
    /// ```
    pub fn listed(lists: impl IntoIterator<Item = Vec<u32>>) -> Self {
        let lists: RowLists = lists.into_iter().collect();
        if lists.rows.is_empty() {
            return Self::None;
        }
        Self::Listed {
            lists: Arc::new(lists),
            first: 0,
        }
    }

    /// How many rows are excluded for each anchor; `None` if that differs.
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::None => Some(0),
            Self::Own { .. } => Some(1),
            Self::BothViews { .. } => Some(2),
            Self::Listed { .. } => None,
        }
    }

    /// The same for the anchors from `start` on.
    #[must_use]
    pub fn starting_at(&self, start: usize) -> Self {
        let mut moved = self.clone();
        match &mut moved {
            Self::None => {}
            Self::Own { first } | Self::BothViews { first } | Self::Listed { first, .. } => *first += start,
        }
        moved
    }

    /// The rows that are excluded for an anchor, in a table of `num_rows`; each once.
    pub fn rows(&self, anchor: usize, num_rows: usize) -> impl Iterator<Item = usize> + '_ {
        let (own, other, listed) = match self {
            Self::None => (None, None, &[][..]),
            Self::Own { first } => (Some(first + anchor), None, &[][..]),
            Self::BothViews { first } => {
                let other = (first + anchor + num_rows / 2) % num_rows;
                (Some(first + anchor), Some(other), &[][..])
            }
            Self::Listed { lists, first } => (None, None, lists.list(first + anchor)),
        };
        own.into_iter().chain(other).chain(listed.iter().map(|&row| row as usize))
    }

    /// N, of an anchor: the rows of a table of `num_rows` that are left.
    pub fn num_negatives(&self, anchor: usize, num_rows: usize) -> usize {
        num_rows - self.rows(anchor, num_rows).count()
    }

    /// # Panics
    /// Panics if an anchor has no list, or the rows are not in the table.
    pub(super) fn check(&self, num_anchors: usize, num_rows: usize) {
        match self {
            Self::None => {}
            Self::Own { first } | Self::BothViews { first } => assert!(
                first + num_anchors <= num_rows,
                "anchors {first}..{} must be rows of the {num_rows} negatives",
                first + num_anchors
            ),
            Self::Listed { lists, first } => {
                let len = lists.len();
                assert!(
                    first + num_anchors <= len,
                    "anchors {first}..{} have {len} lists",
                    first + num_anchors
                );
                if let Some(&row) = lists.rows.iter().find(|&&row| row as usize >= num_rows) {
                    panic!("row {row} is excluded, but there are {num_rows}");
                }
            }
        }
        if let Self::BothViews { .. } = self {
            assert!(num_rows.is_multiple_of(2), "{num_rows} rows cannot be two views");
        }
    }
}

/// Lists of rows, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowLists {
    /// Where each list begins, and where the last one ends.
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl RowLists {
    /// The number of lists.
    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where each list begins and the last one ends in this very sequence, then all lists, for kernels.
    #[cfg(feature = "cube")]
    pub(super) fn joined(&self) -> Vec<u32> {
        let starts = self.starts.iter().map(|start| (self.starts.len() + start) as u32);
        starts.chain(self.rows.iter().copied()).collect()
    }

    /// A list, in ascending order.
    ///
    /// # Panics
    /// Panics if there is none of this number.
    fn list(&self, number: usize) -> &[u32] {
        &self.rows[self.starts[number]..self.starts[number + 1]]
    }
}

/// Rows that are in a list twice are kept once.
impl FromIterator<Vec<u32>> for RowLists {
    fn from_iter<I: IntoIterator<Item = Vec<u32>>>(lists: I) -> Self {
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for mut list in lists {
            list.sort_unstable();
            list.dedup();
            rows.append(&mut list);
            starts.push(rows.len());
        }
        Self { starts, rows }
    }
}
