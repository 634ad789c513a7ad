//! The embeddings of a batch, gathered from the processes that computed them.

use super::sums::{Number, is_wide, numbers, tensor};
use crate::{Embeddings, rows_of};
use bcl_collective::Collective;
use bcl_core::gradient_cache::Table;
use burn::tensor::Tensor;

/// The tables of all processes, with the rows of process 0 first.
#[derive(Debug)]
pub(super) struct Gathered {
    /// The embeddings of the batch, without a graph.
    pub(super) embeddings: Embeddings,
    /// Number of rows of each process in each table, process by process.
    rows: Vec<Vec<usize>>,
    process: usize,
}

impl Gathered {
    /// Gathers the tables of all processes. They may have different numbers of rows.
    pub(super) fn of(processes: &dyn Collective, own: &Embeddings) -> Self {
        let own_tables: Vec<Tensor<2>> = own.tables().map(Table::into_rows).collect();
        let own_rows: Vec<u64> = own_tables.iter().map(|rows| rows.dims()[0] as u64).collect();
        let rows = processes.all_gather_values(&own_rows);
        let rows = rows.chunks(own_rows.len());
        let rows: Vec<Vec<usize>> = rows.map(|rows| rows.iter().map(|&rows| rows as usize).collect()).collect();
        let tables = if is_wide(&own_tables) {
            gather::<f64>(processes, &own_tables, &rows)
        } else {
            gather::<f32>(processes, &own_tables, &rows)
        };
        Self {
            embeddings: own.with_rows(&tables),
            rows,
            process: processes.index(),
        }
    }

    /// Sums the gradients of all embeddings over processes and returns the sums for the rows of this process.
    ///
    /// # Shapes
    /// - gradients: the shapes of the gathered tables
    pub(super) fn own_sums(&self, processes: &dyn Collective, gradients: Vec<Option<Tensor<2>>>) -> Vec<Option<Tensor<2>>> {
        let trained: Vec<Tensor<2>> = gradients.iter().flatten().cloned().collect();
        let is_trained: Vec<bool> = gradients.iter().map(Option::is_some).collect();
        let rows: Vec<Vec<usize>> = self.rows.iter().map(|rows| only(rows, &is_trained)).collect();
        let sums = if is_wide(&trained) {
            own_sums::<f64>(processes, &trained, &rows)
        } else {
            own_sums::<f32>(processes, &trained, &rows)
        };
        let mut sums = sums.into_iter();
        gradients
            .into_iter()
            .map(|gradient| gradient.and_then(|_| sums.next()))
            .collect()
    }

    /// The rows of this process of gradients of all embeddings.
    ///
    /// # Shapes
    /// - gradients: the shapes of the gathered tables
    pub(super) fn own_rows(&self, gradients: Vec<Option<Tensor<2>>>) -> Vec<Option<Tensor<2>>> {
        let own = gradients.into_iter().enumerate().map(|(table, gradient)| {
            let first: usize = self.rows[..self.process].iter().map(|rows| rows[table]).sum();
            let own = first..first + self.rows[self.process][table];
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

/// A message is `[process][table][rows][dim]`; the gathered tables are `[table][rows of all processes][dim]`.
fn gather<T: Number>(processes: &dyn Collective, own: &[Tensor<2>], rows: &[Vec<usize>]) -> Vec<Tensor<2>> {
    let mine: Vec<T> = own.iter().flat_map(|table| numbers(table.clone())).collect();
    let all = processes.all_gather_values(&mine);
    let mut rest = all.as_slice();
    let mut tables: Vec<Vec<T>> = vec![Vec::new(); own.len()];
    for of_process in rows {
        for ((table, own), rows) in tables.iter_mut().zip(own).zip(of_process) {
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

fn own_sums<T: Number>(processes: &dyn Collective, gradients: &[Tensor<2>], rows: &[Vec<usize>]) -> Vec<Tensor<2>> {
    let all: Vec<Vec<T>> = gradients.iter().map(|gradient| numbers(gradient.clone())).collect();
    let dims: Vec<usize> = gradients.iter().map(|gradient| gradient.dims()[1]).collect();
    let mut done = vec![0; gradients.len()];
    let mut mine: Vec<T> = Vec::new();
    let mut lengths = Vec::new();
    for of_process in rows {
        let before = mine.len();
        for (table, rows) in of_process.iter().enumerate() {
            let numbers = rows * dims[table];
            mine.extend_from_slice(&all[table][done[table]..][..numbers]);
            done[table] += numbers;
        }
        lengths.push(mine.len() - before);
    }
    let sums = processes.reduce_scatter(&mine, &lengths);
    let mut rest = sums.as_slice();
    let own = rows[processes.index()].iter().zip(gradients).map(|(&rows, gradient)| {
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

    /// Two tables of different widths, with numbers that tell process, table and row: process r has r + 1 rows in the first and 1 in the second.
    fn own(process: usize) -> Embeddings {
        let table = |table: usize, rows: usize, dim: usize| {
            let number = |i: usize| (100 * process + 10 * table + i / dim) as f32;
            let numbers: Vec<f32> = (0..rows * dim).map(number).collect();
            Tensor::from_data(TensorData::new(numbers, [rows, dim]), &Device::flex())
        };
        Embeddings::new()
            .with("first", table(0, process + 1, 3))
            .with_constant("second", table(1, 1, 2))
    }

    fn first_column(rows: Tensor<2>) -> Vec<f32> {
        rows.slice_dim(1, 0..1).into_data().iter::<f32>().collect()
    }

    #[test]
    fn each_table_has_the_rows_of_all_processes_in_their_order() {
        let gathered = Threads::run(3, |processes| {
            let gathered = Gathered::of(&*processes, &own(processes.index())).embeddings;
            assert_eq!(gathered.rows("first").dims(), [6, 3]);
            [gathered.rows("first"), gathered.rows("second")].map(first_column)
        });
        let expected = [vec![0.0, 100.0, 101.0, 200.0, 201.0, 202.0], vec![10.0, 110.0, 210.0]];
        assert_eq!(gathered, vec![expected; 3]);
    }

    #[test]
    fn each_process_gets_the_sums_or_the_rows_of_its_own_embeddings() {
        Threads::run(3, |processes| {
            let process = processes.index();
            let gathered = Gathered::of(&*processes, &own(process));
            let numbers = (0..18).map(|i| (i / 3) as f32 + 1000.0 * process as f32).collect::<Vec<_>>();
            let gradient = Tensor::<2>::from_data(TensorData::new(numbers, [6, 3]), &Device::flex());
            let first = process * (process + 1) / 2;
            let expected = |factor: f32, offset: f32| -> Vec<f32> {
                (first..=first + process).map(|row| factor * row as f32 + offset).collect()
            };
            let own = gathered.own_rows(vec![Some(gradient.clone()), None]);
            assert!(own[1].is_none());
            assert_eq!(first_column(own[0].clone().unwrap()), expected(1.0, 1000.0 * process as f32));
            let sums = gathered.own_sums(&*processes, vec![Some(gradient), None]);
            assert!(sums[1].is_none());
            assert_eq!(first_column(sums[0].clone().unwrap()), expected(3.0, 3000.0));
        });
    }
}
