//! Named tables of embeddings.

use bcl_core::gradient_cache::Table;
use burn::tensor::Tensor;
use std::{borrow::Cow, ops::Range};

/// The embeddings of a batch, or of a part of one, as named tables such as `first` and `second` views, or `queries` and `keys`.
///
/// A table is trained, or constant like the output of a momentum encoder.
///
/// ```
/// use bcl_methods::Embeddings;
/// use burn::tensor::{Device, Tensor};
///
/// let rows = |value: f32| Tensor::<2>::full([2, 3], value, &Device::flex());
/// let parts = [0.0, 1.0].map(|value| Embeddings::new().with("queries", rows(value)).with_constant("keys", rows(value)));
/// let batch = Embeddings::stack(parts);
/// assert_eq!(batch.rows("keys").dims(), [4, 3]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Embeddings(Vec<(Cow<'static, str>, Table)>);

impl Embeddings {
    /// Creates an empty set of tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a table through which gradients flow.
    ///
    /// # Shapes
    /// - rows: `[num_embeddings, dim]`
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, rows: Tensor<2>) -> Self {
        self.0.push((name.into(), Table::Trained(rows)));
        self
    }

    /// Adds a table without gradients.
    ///
    /// # Shapes
    /// - rows: `[num_embeddings, dim]`
    pub fn with_constant(mut self, name: impl Into<Cow<'static, str>>, rows: Tensor<2>) -> Self {
        self.0.push((name.into(), Table::Constant(rows.detach())));
        self
    }

    /// Returns the table of a name.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn rows(&self, name: &str) -> Tensor<2> {
        let Some((_, table)) = self.0.iter().find(|(of_table, _)| of_table == name) else {
            let known: Vec<_> = self.0.iter().map(|(name, _)| &**name).collect();
            panic!("there are no embeddings named {name}, only {}", known.join(", "));
        };
        table.clone().into_rows()
    }

    /// The names of all tables, in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    /// All tables, in the order in which they were added.
    pub fn tables(&self) -> impl Iterator<Item = Table> {
        self.0.iter().map(|(_, table)| table.clone())
    }

    /// Replaces the rows of all tables, in the order of [`tables`](Self::tables), for example by those with a graph.
    ///
    /// # Panics
    /// Panics if the numbers of tables differ.
    pub fn with_rows(&self, rows: &[Tensor<2>]) -> Self {
        assert_eq!(rows.len(), self.0.len(), "there must be rows for each table");
        let tables = self.0.iter().zip(rows).map(|((name, table), rows)| match table {
            Table::Trained(_) => (name.clone(), Table::Trained(rows.clone())),
            Table::Constant(_) => (name.clone(), Table::Constant(rows.clone())),
        });
        Self(tables.collect())
    }

    /// Stacks the tables of the parts of a batch, name by name. A single part is not copied.
    ///
    /// # Panics
    /// Panics if there is no part, or if the parts have different tables.
    pub fn stack(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut parts: Vec<Self> = parts.into_iter().collect();
        match parts.len() {
            0 => panic!("a batch has at least one part"),
            1 => parts.remove(0),
            _ => {
                let stacked: Vec<Tensor<2>> = (0..parts[0].0.len())
                    .map(|table| Tensor::cat(parts.iter().map(|part| part.0[table].1.clone().into_rows()).collect(), 0))
                    .collect();
                parts[0].with_rows(&stacked)
            }
        }
    }

    /// Detaches all tables from the graph.
    pub fn detached(&self) -> Self {
        let rows: Vec<_> = self.tables().map(|table| table.into_rows().detach()).collect();
        self.with_rows(&rows)
    }
}

/// Slices rows of a tensor. If the range covers all rows, nothing is copied.
pub fn rows_of<const D: usize>(tensor: Tensor<D>, rows: Range<usize>) -> Tensor<D> {
    if rows.len() == tensor.dims()[0] {
        tensor
    } else {
        tensor.slice_dim(0, rows)
    }
}
