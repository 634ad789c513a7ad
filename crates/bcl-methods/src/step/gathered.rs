//! The embeddings of a batch, gathered from the ranks that computed them.

use super::sums::{Number, is_wide, numbers, tensor};
use crate::{Embeddings, rows_of};
use bcl_collective::Collective;
use bcl_core::gradient_cache::Table;
use burn::tensor::Tensor;

/// The tables of all ranks, with the rows of rank 0 first.
#[derive(Debug)]
pub(super) struct Gathered {
    /// The embeddings of the batch, without a graph.
    pub(super) embeddings: Embeddings,
    /// Number of rows of each rank in each table, rank by rank.
    rows: Vec<Vec<usize>>,
    rank: usize,
}

impl Gathered {
    /// Gathers the tables of all ranks. They may have different numbers of rows.
    pub(super) fn of(ranks: &dyn Collective, own: &Embeddings) -> Self {
        let own_tables: Vec<Tensor<2>> = own.tables().map(Table::into_rows).collect();
        let own_rows: Vec<u64> = own_tables.iter().map(|rows| rows.dims()[0] as u64).collect();
        let rows = ranks.all_gather_values(&own_rows);
        let rows = rows.chunks(own_rows.len());
        let rows: Vec<Vec<usize>> = rows.map(|rows| rows.iter().map(|&rows| rows as usize).collect()).collect();
        let tables = if is_wide(&own_tables) {
            gather::<f64>(ranks, &own_tables, &rows)
        } else {
            gather::<f32>(ranks, &own_tables, &rows)
        };
        Self {
            embeddings: own.with_rows(&tables),
            rows,
            rank: ranks.rank(),
        }
    }

    /// Sums the gradients of all embeddings over ranks and returns the sums for the rows of this rank.
    ///
    /// # Shapes
    /// - gradients: the shapes of the gathered tables
    pub(super) fn own_sums(&self, ranks: &dyn Collective, gradients: Vec<Option<Tensor<2>>>) -> Vec<Option<Tensor<2>>> {
        let trained: Vec<Tensor<2>> = gradients.iter().flatten().cloned().collect();
        let is_trained: Vec<bool> = gradients.iter().map(Option::is_some).collect();
        let rows: Vec<Vec<usize>> = self.rows.iter().map(|rows| only(rows, &is_trained)).collect();
        let sums = if is_wide(&trained) {
            own_sums::<f64>(ranks, &trained, &rows)
        } else {
            own_sums::<f32>(ranks, &trained, &rows)
        };
        let mut sums = sums.into_iter();
        gradients
            .into_iter()
            .map(|gradient| gradient.and_then(|_| sums.next()))
            .collect()
    }

    /// The rows of this rank of gradients of all embeddings.
    ///
    /// # Shapes
    /// - gradients: the shapes of the gathered tables
    pub(super) fn own_rows(&self, gradients: Vec<Option<Tensor<2>>>) -> Vec<Option<Tensor<2>>> {
        let own = gradients.into_iter().enumerate().map(|(table, gradient)| {
            let first: usize = self.rows[..self.rank].iter().map(|rows| rows[table]).sum();
            let own = first..first + self.rows[self.rank][table];
            gradient.map(|gradient| rows_of(gradient, own))
        });
        own.collect()
    }
}

/// The entries that are marked.
fn only(rows: &[usize], marks: &[bool]) -> Vec<usize> {
    let marked = rows.iter().zip(marks).filter(|(_, mark)| **mark);
    marked.map(|(&rows, _)| rows).collect()
}

/// A message is `[rank][table][rows][dim]`; the gathered tables are `[table][rows of all ranks][dim]`.
fn gather<T: Number>(ranks: &dyn Collective, own: &[Tensor<2>], rows: &[Vec<usize>]) -> Vec<Tensor<2>> {
    let mine: Vec<T> = own.iter().flat_map(|table| numbers(table.clone())).collect();
    let all = ranks.all_gather_values(&mine);
    let mut rest = all.as_slice();
    let mut tables: Vec<Vec<T>> = vec![Vec::new(); own.len()];
    for of_rank in rows {
        for ((table, own), rows) in tables.iter_mut().zip(own).zip(of_rank) {
            let [_, dim] = own.dims();
            let (first, others) = rest.split_at(rows * dim);
            table.extend_from_slice(first);
            rest = others;
        }
    }
    tables
        .into_iter()
        .zip(own)
        .map(|(table, own)| {
            let [_, dim] = own.dims();
            let shape = [table.len() / dim, dim];
            tensor(table, shape, own)
        })
        .collect()
}

fn own_sums<T: Number>(ranks: &dyn Collective, gradients: &[Tensor<2>], rows: &[Vec<usize>]) -> Vec<Tensor<2>> {
    let all: Vec<Vec<T>> = gradients.iter().map(|gradient| numbers(gradient.clone())).collect();
    let dims: Vec<usize> = gradients.iter().map(|gradient| gradient.dims()[1]).collect();
    let mut done = vec![0; gradients.len()];
    let mut mine: Vec<T> = Vec::new();
    let mut lengths = Vec::new();
    for of_rank in rows {
        let before = mine.len();
        for (table, rows) in of_rank.iter().enumerate() {
            let numbers = rows * dims[table];
            mine.extend_from_slice(&all[table][done[table]..][..numbers]);
            done[table] += numbers;
        }
        lengths.push(mine.len() - before);
    }
    let sums = ranks.reduce_scatter(&mine, &lengths);
    let mut rest = sums.as_slice();
    let own = rows[ranks.rank()].iter().zip(gradients).map(|(&rows, gradient)| {
        let [_, dim] = gradient.dims();
        let (first, others) = rest.split_at(rows * dim);
        rest = others;
        tensor(first.to_vec(), [rows, dim], gradient)
    });
    own.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_collective::Threads;
    use burn::tensor::{Device, TensorData};

    /// Two tables of different widths, with numbers that tell rank, table and row: rank r has r + 1 rows in the first and 1 in the second.
    fn own(rank: usize) -> Embeddings {
        let table = |table: usize, rows: usize, dim: usize| {
            let number = |i: usize| (100 * rank + 10 * table + i / dim) as f32;
            let numbers: Vec<f32> = (0..rows * dim).map(number).collect();
            Tensor::from_data(TensorData::new(numbers, [rows, dim]), &Device::flex())
        };
        Embeddings::new()
            .with("first", table(0, rank + 1, 3))
            .with_constant("second", table(1, 1, 2))
    }

    fn first_column(rows: Tensor<2>) -> Vec<f32> {
        rows.slice_dim(1, 0..1).into_data().iter::<f32>().collect()
    }

    #[test]
    fn each_table_has_the_rows_of_all_ranks_in_their_order() {
        let gathered = Threads::run(3, |ranks| {
            let gathered = Gathered::of(&*ranks, &own(ranks.rank())).embeddings;
            assert_eq!(gathered.rows("first").dims(), [6, 3]);
            [gathered.rows("first"), gathered.rows("second")].map(first_column)
        });
        let expected = [vec![0.0, 100.0, 101.0, 200.0, 201.0, 202.0], vec![10.0, 110.0, 210.0]];
        assert_eq!(gathered, vec![expected; 3]);
    }

    #[test]
    fn each_rank_gets_the_sums_or_the_rows_of_its_own_embeddings() {
        Threads::run(3, |ranks| {
            let rank = ranks.rank();
            let gathered = Gathered::of(&*ranks, &own(rank));
            let numbers = (0..18).map(|i| (i / 3) as f32 + 1000.0 * rank as f32).collect::<Vec<_>>();
            let gradient = Tensor::<2>::from_data(TensorData::new(numbers, [6, 3]), &Device::flex());
            let first = rank * (rank + 1) / 2;
            let expected = |factor: f32, offset: f32| -> Vec<f32> {
                (first..=first + rank).map(|row| factor * row as f32 + offset).collect()
            };
            let own = gathered.own_rows(vec![Some(gradient.clone()), None]);
            assert!(own[1].is_none());
            assert_eq!(first_column(own[0].clone().unwrap()), expected(1.0, 1000.0 * rank as f32));
            let sums = gathered.own_sums(&*ranks, vec![Some(gradient), None]);
            assert!(sums[1].is_none());
            assert_eq!(first_column(sums[0].clone().unwrap()), expected(3.0, 3000.0));
        });
    }
}
