//! Draws from a fixed discrete distribution in constant time.

use super::stream::Stream;

/// Walker's alias table, built with Vose's method (1991): every column holds one share of `1 / n`, split between at most two
/// items.
#[derive(Debug, Clone)]
pub(crate) struct AliasTable {
    columns: Vec<Column>,
}

/// A column keeps its own item for draws below `threshold / 2^32` and yields `alias` for the rest.
#[derive(Debug, Clone, Copy)]
struct Column {
    threshold: u32,
    alias: u32,
}

impl AliasTable {
    /// Builds a table for draws in proportion to `weights`.
    ///
    /// # Panics
    /// Panics if the weights are negative or infinite, or their sum is not positive.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        assert!(
            total.is_finite() && total > 0.0 && weights.iter().all(|weight| *weight >= 0.0),
            "weights must be at least 0 and have a positive, finite sum; their sum is {total}"
        );
        let mut shares: Vec<f64> = weights.iter().map(|weight| weight / total * weights.len() as f64).collect();
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) = (0..shares.len()).partition(|&item| shares[item] < 1.0);

        let mut columns: Vec<Column> = (0..shares.len() as u32)
            .map(|item| Column {
                threshold: u32::MAX,
                alias: item,
            })
            .collect();
        while let (Some(small), Some(&large)) = (poor.pop(), rich.last()) {
            columns[small] = Column {
                threshold: (shares[small] * 2_f64.powi(32)) as u32,
                alias: large as u32,
            };
            shares[large] -= 1.0 - shares[small];
            if shares[large] < 1.0 {
                rich.pop();
                poor.push(large);
            }
        }
        Self { columns }
    }

    /// Draws an item.
    #[inline]
    pub(crate) fn draw(&self, stream: &mut Stream) -> u32 {
        let (item, coin) = stream.below(self.columns.len() as u32);
        let column = self.columns[item as usize];
        // A branch would be mispredicted too often.
        std::hint::select_unpredictable(coin < column.threshold, item, column.alias)
    }

    /// The probability of each item, as the columns encode it.
    #[cfg(test)]
    fn probabilities(&self) -> Vec<f64> {
        let n = self.columns.len() as f64;
        let mut probabilities = vec![0.0; self.columns.len()];
        for (item, column) in self.columns.iter().enumerate() {
            let own = f64::from(column.threshold) / 2_f64.powi(32);
            probabilities[item] += own / n;
            probabilities[column.alias as usize] += (1.0 - own) / n;
        }
        probabilities
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_columns_add_up_to_the_weights(weights in proptest::collection::vec(0.0..100.0_f64, 1..200)) {
            let total: f64 = weights.iter().sum();
            prop_assume!(total > 1e-3);
            for (probability, weight) in AliasTable::new(&weights).probabilities().iter().zip(&weights) {
                prop_assert!((probability - weight / total).abs() < 1e-9, "{} {}", probability, weight / total);
            }
        }
    }

    #[test]
    fn items_of_weight_zero_are_never_drawn() {
        let table = AliasTable::new(&[0.0, 3.0, 0.0, 1.0, 0.0]);
        let mut stream = Stream::new(Seed(3));
        assert!((0..10_000).all(|_| [1, 3].contains(&table.draw(&mut stream))));
    }

    #[test]
    #[should_panic(expected = "their sum is 0")]
    fn weights_without_a_sum_are_refused() {
        AliasTable::new(&[0.0, 0.0]);
    }
}
