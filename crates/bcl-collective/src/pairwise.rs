//! Sums in the order of a balanced binary tree.

use crate::Element;

/// Adds items as a balanced binary tree: neighbours first, then neighbouring pairs, and so on.
///
/// The tree depends on the number of items alone. If processes hold equally many consecutive items and that number is a power of two, then the
/// tree over the items of one process is a subtree of that over all items. So the sums of all processes, added by
/// [`all_reduce`](trait.Collective.html#method.all_reduce), have the bits of a sum over all items on one process.
///
/// At most one partial sum per level of the tree exists at a time.
///
/// ```
/// use bcl_collective::PairwiseSum;
///
/// let mut sum = PairwiseSum::default();
/// for x in ["a", "b", "c", "d", "e"] {
///     sum.push(x.to_owned(), |x, y| format!("({x}+{y})"));
/// }
/// assert_eq!(sum.finish(|x, y| format!("({x}+{y})")).unwrap(), "(((a+b)+(c+d))+e)");
/// ```
#[derive(Debug, Clone)]
pub struct PairwiseSum<T> {
    /// Sums of `2^level` items, each of a lower level than the one before.
    partial: Vec<(u32, T)>,
}

impl<T> Default for PairwiseSum<T> {
    fn default() -> Self {
        Self { partial: Vec::new() }
    }
}

impl<T> PairwiseSum<T> {
    /// Adds an item. `add` gets the earlier items first.
    pub fn push(&mut self, item: T, mut add: impl FnMut(T, T) -> T) {
        let (mut level, mut sum) = (0, item);
        while let Some((_, earlier)) = self.partial.pop_if(|(other, _)| *other == level) {
            sum = add(earlier, sum);
            level += 1;
        }
        self.partial.push((level, sum));
    }

    /// The sum of all items; `None` if there were none.
    pub fn finish(mut self, mut add: impl FnMut(T, T) -> T) -> Option<T> {
        let (_, mut sum) = self.partial.pop()?;
        while let Some((_, earlier)) = self.partial.pop() {
            sum = add(earlier, sum);
        }
        Some(sum)
    }
}

/// Adds the rows of a matrix of `length` columns as a [`PairwiseSum`] would, into its first row.
pub(crate) fn add_rows<T: Element>(rows: &mut [T], length: usize) {
    let count = rows.len().checked_div(length).unwrap_or(0);
    let mut stride = 1;
    while stride < count {
        for row in (0..count - stride).step_by(2 * stride) {
            let (before, after) = rows.split_at_mut((row + stride) * length);
            for (sum, addend) in before[row * length..][..length].iter_mut().zip(&after[..length]) {
                *sum += *addend;
            }
        }
        stride *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(items: impl IntoIterator<Item = String>) -> String {
        let mut sum = PairwiseSum::default();
        for item in items {
            sum.push(item, |x, y| format!("({x}{y})"));
        }
        sum.finish(|x, y| format!("({x}{y})")).unwrap_or_default()
    }

    fn items(count: usize) -> Vec<String> {
        (0..count).map(|i| format!("{i} ")).collect()
    }

    #[test]
    fn a_process_with_a_power_of_two_of_items_holds_a_subtree() {
        for processes in 1..9 {
            for each in [1, 2, 4, 8] {
                let whole = items(processes * each);
                let by_process = whole.chunks(each).map(|part| tree(part.to_vec()));
                assert_eq!(
                    tree(by_process),
                    tree(whole.clone()),
                    "{processes} processes with {each} items each"
                );
            }
        }
        assert_eq!(tree([]), "");
    }

    #[test]
    fn rows_are_added_in_the_same_order() {
        // Sums of these floats depend on their order.
        let values = |count: usize| (0..count).map(|i| (i as f32 + 0.3).sin() * 10f32.powi(i as i32 % 9 - 4));
        let mut orders_differ = false;
        for count in 1..40 {
            let mut sum = PairwiseSum::default();
            values(count).for_each(|x| sum.push(x, |x, y| x + y));
            let mut rows: Vec<f32> = values(count).flat_map(|x| [x, -x, 1.0]).collect();
            add_rows(&mut rows, 3);
            let expected = sum.finish(|x, y| x + y).unwrap();
            assert_eq!(rows[..3], [expected, -expected, count as f32], "{count}");
            orders_differ |= expected != values(count).sum::<f32>();
        }
        assert!(orders_differ, "the values must make the order matter");
        add_rows::<f32>(&mut [], 0);
    }
}
