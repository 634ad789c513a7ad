//! Sums over ranks in a fixed order.

use crate::{Collective, Element, from_bytes, pairwise::add_rows, share, to_bytes};

/// Up to this many elements, each rank receives all addends and adds them itself: one message instead of two.
const SMALL: usize = 256;

impl dyn Collective + '_ {
    /// Replaces `values` by their sums over ranks, which have the same bits on every rank.
    ///
    /// Sums run as a balanced binary tree over ranks (see [`PairwiseSum`](crate::PairwiseSum)). Each rank sends about `2 (R - 1) / R` times
    /// the size of `values` for `R` ranks, as a ring does.
    ///
    /// # Panics
    /// Panics if the ranks pass different numbers of values.
    pub fn all_reduce<T: Element>(&self, values: &mut [T]) {
        if self.size() == 1 || values.is_empty() {
            return;
        }
        let sums = if values.len() <= SMALL {
            let mut addends = self.all_gather_values(values);
            self.check_addends(addends.len(), values.len());
            add_rows(&mut addends, values.len());
            addends.truncate(values.len());
            addends
        } else {
            let lengths: Vec<usize> = (0..self.size())
                .map(|rank| share(values.len(), rank, self.size()).len())
                .collect();
            self.all_gather_values(&self.reduce_scatter(values, &lengths))
        };
        assert_eq!(sums.len(), values.len(), "ranks reduce different numbers of values");
        values.copy_from_slice(&sums);
    }

    /// Sums `values` over ranks and returns the part that belongs to this rank: the parts lie one after the other, in the order of ranks,
    /// with `lengths` elements each.
    ///
    /// The sums equal [`all_reduce`](#method.all_reduce)'s, bit for bit.
    ///
    /// # Panics
    /// Panics unless there is one length per rank and they add up to the number of values, or if the ranks pass different lengths.
    pub fn reduce_scatter<T: Element>(&self, values: &[T], lengths: &[usize]) -> Vec<T> {
        let bytes: Vec<usize> = lengths.iter().map(|length| length * T::SIZE).collect();
        let received = self.all_to_all(to_bytes(values), &bytes);
        let mut addends: Vec<T> = from_bytes(&received);
        let length = lengths[self.rank()];
        self.check_addends(addends.len(), length);
        add_rows(&mut addends, length);
        addends.truncate(length);
        addends
    }

    /// Gathers the numbers of all ranks on all ranks, in the order of ranks. Lengths may differ by rank.
    pub fn all_gather_values<T: Element>(&self, mine: &[T]) -> Vec<T> {
        from_bytes(&self.all_gather(to_bytes(mine)))
    }

    /// Gathers the numbers of all ranks on rank 0, in the order of ranks; all others get none. Lengths may differ by rank.
    pub fn gather_values_on_first<T: Element>(&self, mine: &[T]) -> Vec<T> {
        if self.size() == 1 {
            return mine.to_vec();
        }
        let mut lengths = vec![0; self.size()];
        lengths[0] = mine.len() * T::SIZE;
        from_bytes(&self.all_to_all(to_bytes(mine), &lengths))
    }

    fn check_addends(&self, received: usize, length: usize) {
        assert_eq!(
            received,
            length * self.size(),
            "ranks reduce different numbers of values: rank {} of {} has {length}",
            self.rank(),
            self.size()
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::{Alone, Collective, PairwiseSum, Threads};

    /// Numbers that differ by rank and whose sum depends on its order.
    fn numbers(rank: usize, count: usize) -> Vec<f32> {
        let number = |i: usize| ((i * 7 + rank * 13) as f32 + 0.3).sin() * 10f32.powi((i + rank * 5) as i32 % 9 - 4);
        (0..count).map(number).collect()
    }

    fn expected(size: usize, count: usize) -> Vec<f32> {
        let sum = |i: usize| {
            let mut sum = PairwiseSum::default();
            (0..size).for_each(|rank| sum.push(numbers(rank, count)[i], |x, y| x + y));
            sum.finish(|x, y| x + y).unwrap()
        };
        (0..count).map(sum).collect()
    }

    #[test]
    fn all_ranks_get_the_tree_sum_bit_for_bit() {
        for size in 1..=5 {
            // Below and above the number of values that are sent whole, and fewer than ranks.
            for count in [0, 1, 3, 256, 257, 1000] {
                let expected = expected(size, count);
                let sums = Threads::run(size, |collective| {
                    let mut values = numbers(collective.rank(), count);
                    collective.all_reduce(&mut values);
                    values
                });
                assert!(sums.iter().all(|sum| *sum == expected), "{size} ranks, {count} values");
            }
        }
    }

    #[test]
    fn reduce_scatter_gives_each_rank_its_part_of_the_sum() {
        let lengths = [300, 0, 5];
        let parts = Threads::run(3, |collective| {
            collective.reduce_scatter(&numbers(collective.rank(), 305), &lengths)
        });
        assert_eq!(parts.concat(), expected(3, 305));
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
    }

    #[test]
    fn rank_0_alone_gathers_numbers_in_the_order_of_ranks() {
        let of_ranks = Threads::run(3, |collective| {
            let rank = collective.rank();
            collective.gather_values_on_first(&numbers(rank, 4 - 2 * rank))
        });
        assert_eq!(of_ranks, [[numbers(0, 4), numbers(1, 2)].concat(), Vec::new(), Vec::new()]);
    }

    #[test]
    fn integers_and_doubles_are_added_too() {
        // Exact in f64, and lost in f32.
        let of_rank = |rank: usize| 1.0 + rank as f64 / f64::from(1 << 30);
        let sums = Threads::run(4, |collective| {
            let (mut counts, mut numbers) = ([collective.rank() as u64, 1 << 60], [of_rank(collective.rank())]);
            collective.all_reduce(&mut counts);
            collective.all_reduce(&mut numbers);
            (counts, numbers)
        });
        assert_eq!(sums, [([6, 1 << 62], [3.0 + of_rank(6)]); 4]);
    }

    #[test]
    fn one_rank_keeps_its_values() {
        let alone: &dyn Collective = &Alone;
        let mut values = numbers(0, 300);
        alone.all_reduce(&mut values);
        assert_eq!(values, numbers(0, 300));
        assert_eq!(alone.reduce_scatter(&values, &[300]), values);
    }

    #[test]
    fn different_numbers_of_values_are_refused() {
        for counts in [[3, 4], [300, 400], [3, 300]] {
            let outcome = std::panic::catch_unwind(|| {
                Threads::run(2, |collective| {
                    collective.all_reduce(&mut vec![1.0_f32; counts[collective.rank()]]);
                })
            });
            assert!(outcome.is_err(), "{counts:?}");
        }
    }
}
