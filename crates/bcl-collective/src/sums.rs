//! Sums over processes in a fixed order.

use crate::{Collective, Element, from_bytes, pairwise::add_rows, share, to_bytes};

/// Up to this many elements, each process receives all addends and adds them itself: one message instead of two.
const SMALL: usize = 256;

impl dyn Collective + '_ {
    /// Replaces `values` by their sums over processes, which have the same bits on every process.
    ///
    /// Sums run as a balanced binary tree over processes (see [`PairwiseSum`](crate::PairwiseSum)). Each process sends about `2 (R - 1) / R` times
    /// the size of `values` for `R` processes, as a ring does.
    ///
    /// # Panics
    /// Panics if the processes pass different numbers of values.
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
                .map(|process| share(values.len(), process, self.size()).len())
                .collect();
            self.all_gather_values(&self.reduce_scatter(values, &lengths))
        };
        assert_eq!(sums.len(), values.len(), "processes reduce different numbers of values");
        values.copy_from_slice(&sums);
    }

    /// Sums `values` over processes and returns the part that belongs to this process: the parts lie one after the other, in the order of processes,
    /// with `lengths` elements each.
    ///
    /// The sums equal [`all_reduce`](#method.all_reduce)'s, bit for bit.
    ///
    /// # Panics
    /// Panics unless there is one length per process and they add up to the number of values, or if the processes pass different lengths.
    pub fn reduce_scatter<T: Element>(&self, values: &[T], lengths: &[usize]) -> Vec<T> {
        let bytes: Vec<usize> = lengths.iter().map(|length| length * T::SIZE).collect();
        let received = self.all_to_all(to_bytes(values), &bytes);
        let mut addends: Vec<T> = from_bytes(&received);
        let length = lengths[self.index()];
        self.check_addends(addends.len(), length);
        add_rows(&mut addends, length);
        addends.truncate(length);
        addends
    }

    /// Gathers the numbers of all processes on all processes, in the order of processes. Lengths may differ by process.
    pub fn all_gather_values<T: Element>(&self, mine: &[T]) -> Vec<T> {
        from_bytes(&self.all_gather(to_bytes(mine)))
    }

    /// Gathers the numbers of all processes on process 0, in the order of processes; all others get none. Lengths may differ by process.
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
            "processes reduce different numbers of values: process {} of {} has {length}",
            self.index(),
            self.size()
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::{Alone, Collective, PairwiseSum, Threads};

    /// Numbers that differ by process and whose sum depends on its order.
    fn numbers(process: usize, count: usize) -> Vec<f32> {
        let number = |i: usize| ((i * 7 + process * 13) as f32 + 0.3).sin() * 10f32.powi((i + process * 5) as i32 % 9 - 4);
        (0..count).map(number).collect()
    }

    fn expected(size: usize, count: usize) -> Vec<f32> {
        let sum = |i: usize| {
            let mut sum = PairwiseSum::default();
            (0..size).for_each(|process| sum.push(numbers(process, count)[i], |x, y| x + y));
            sum.finish(|x, y| x + y).unwrap()
        };
        (0..count).map(sum).collect()
    }

    #[test]
    fn all_processes_get_the_tree_sum_bit_for_bit() {
        for size in 1..=5 {
            // Below and above the number of values that are sent whole, and fewer than processes.
            for count in [0, 1, 3, 256, 257, 1000] {
                let expected = expected(size, count);
                let sums = Threads::run(size, |collective| {
                    let mut values = numbers(collective.index(), count);
                    collective.all_reduce(&mut values);
                    values
                });
                assert!(sums.iter().all(|sum| *sum == expected), "{size} processes, {count} values");
            }
        }
    }

    #[test]
    fn reduce_scatter_gives_each_process_its_part_of_the_sum() {
        let lengths = [300, 0, 5];
        let parts = Threads::run(3, |collective| {
            collective.reduce_scatter(&numbers(collective.index(), 305), &lengths)
        });
        assert_eq!(parts.concat(), expected(3, 305));
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
    }

    #[test]
    fn process_0_alone_gathers_numbers_in_the_order_of_processes() {
        let of_processes = Threads::run(3, |collective| {
            let process = collective.index();
            collective.gather_values_on_first(&numbers(process, 4 - 2 * process))
        });
        assert_eq!(
            of_processes,
            [[numbers(0, 4), numbers(1, 2)].concat(), Vec::new(), Vec::new()]
        );
    }

    #[test]
    fn integers_and_doubles_are_added_too() {
        // Exact in f64, and lost in f32.
        let of_process = |process: usize| 1.0 + process as f64 / f64::from(1 << 30);
        let sums = Threads::run(4, |collective| {
            let (mut counts, mut numbers) = ([collective.index() as u64, 1 << 60], [of_process(collective.index())]);
            collective.all_reduce(&mut counts);
            collective.all_reduce(&mut numbers);
            (counts, numbers)
        });
        assert_eq!(sums, [([6, 1 << 62], [3.0 + of_process(6)]); 4]);
    }

    #[test]
    fn one_process_keeps_its_values() {
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
                    collective.all_reduce(&mut vec![1.0_f32; counts[collective.index()]]);
                })
            });
            assert!(outcome.is_err(), "{counts:?}");
        }
    }
}
