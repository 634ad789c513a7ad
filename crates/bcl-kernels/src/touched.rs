//! Gradients of tables of which a batch reads few rows.
//!
//! A gradient is a dense tensor, also if all but a few rows are zero, and clearing and reading a large one takes longer than a training step on the rows.
//! So the rows that were written are remembered beside the tensor: whoever reads it can skip the others, and once nobody has it any more, its memory
//! serves the next gradient after those rows alone were cleared.
//!
//! What is remembered holds for as long as the tensor exists: a handle of it is kept, and tensors with several handles are never written to. Any
//! operation on it gives another tensor, of which nothing is known.

use std::sync::{Arc, Mutex, PoisonError};

use burn::backend::TensorMetadata;
use burn::backend::flex::FlexTensor;

use crate::cpu::{self, Value};

/// A table, and the rows that are not zero, ascending.
struct Touched {
    table: FlexTensor,
    rows: Arc<Vec<u32>>,
}

/// The tables that somebody uses, and those that nobody uses any more. The latter go at the next call of [`written`].
static TABLES: Mutex<Vec<Touched>> = Mutex::new(Vec::new());

/// Tables below this size are cleared faster than remembered.
const LEAST_BYTES: usize = 1 << 20;

/// A row in so many must be read for a table to be worth remembering.
const LEAST_ROWS_PER_READ: usize = 4;

/// Whether to remember the rows of a table.
pub(crate) fn is_worthwhile<T>(num_rows: usize, dim: usize, num_reads: usize) -> bool {
    num_rows * dim * size_of::<T>() >= LEAST_BYTES && num_reads * LEAST_ROWS_PER_READ <= num_rows
}

/// Makes a table of zeros, of which `write` writes the given rows.
pub(crate) fn written<T: Value>(shape: [usize; 2], rows: &[u32], write: impl FnOnce(&mut [T])) -> FlexTensor {
    let [num_rows, dim] = shape;
    let mut table = match unused::<T>(shape) {
        Some(Touched { mut table, rows }) => {
            let values = T::of_mut(&mut table);
            for &row in &*rows {
                values[row as usize * dim..][..dim].fill(T::ZERO);
            }
            table
        }
        None => cpu::tensor(vec![T::ZERO; num_rows * dim], shape),
    };
    write(T::of_mut(&mut table));
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows.dedup();
    tables().push(Touched {
        table: table.clone(),
        rows: Arc::new(rows),
    });
    table
}

/// The rows of a tensor that may be other than zero, if they are known, ascending.
pub(crate) fn rows_of(tensor: &FlexTensor) -> Option<Arc<Vec<u32>>> {
    let is_same = |table: &FlexTensor| Arc::ptr_eq(&table.data_arc(), &tensor.data_arc()) && table.shape() == tensor.shape();
    let tables = tables();
    let found = tables.iter().find(|touched| is_same(&touched.table))?;
    tensor.is_contiguous().then(|| found.rows.clone())
}

/// Takes a table of this shape that nobody uses, and lets go of all others of them.
fn unused<T: Value>(shape: [usize; 2]) -> Option<Touched> {
    let mut tables = tables();
    let fits = |table: &FlexTensor| table.is_unique() && table.dtype() == T::dtype() && table.shape() == shape.into();
    let found = tables.iter().position(|touched| fits(&touched.table));
    let found = found.map(|index| tables.swap_remove(index));
    tables.retain(|touched| !touched.table.is_unique());
    found
}

fn tables() -> std::sync::MutexGuard<'static, Vec<Touched>> {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner)
}
