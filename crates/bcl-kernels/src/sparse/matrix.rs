//! A sparse matrix in compressed sparse rows (CSR), whose transpose is built on first use.

use std::sync::{Arc, OnceLock};

use burn::tensor::{Device, Tensor, TensorData};

mod ones;

/// A constant sparse `f32` matrix in compressed sparse rows (CSR), in host memory.
///
/// Clones and transposes share the storage. The transpose, which the gradient of [`sparse_matmul`](crate::sparse_matmul) needs, is
/// built on first use and cached.
///
/// # Example
/// ```
/// use bcl_kernels::SparseMatrix;
///
/// // Entries in any order; those with the same row and column add up.
/// let matrix = SparseMatrix::from_triplets(2, 3, [(1, 2, 0.5), (0, 0, 1.0), (1, 2, 0.25)]);
///
/// assert_eq!(matrix.shape(), [2, 3]);
/// assert_eq!(matrix.nnz(), 2);
/// assert_eq!(matrix.indptr(), [0, 1, 2]);
/// assert_eq!(matrix.transpose().shape(), [3, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct SparseMatrix {
    storage: Arc<Storage>,
    transposed: bool,
}

#[derive(Debug)]
struct Storage {
    rows: Rows,
    /// The transpose; never built if the matrix is symmetric.
    columns: OnceLock<Rows>,
    is_symmetric: bool,
}

/// Compressed rows: entry `k` of row `r` is at `indptr[r] + k`.
#[derive(Debug)]
struct Rows {
    num_columns: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    #[cfg(feature = "cube")]
    uploads: super::uploads::Uploads,
}

impl SparseMatrix {
    /// Builds the matrix from `(row, column, value)` entries in any order.
    ///
    /// Entries with the same row and column are added up in the order given. Explicit zeros are kept.
    ///
    /// # Panics
    /// Panics if an entry lies outside the shape, or a dimension exceeds `u32::MAX`.
    pub fn from_triplets(num_rows: usize, num_columns: usize, entries: impl IntoIterator<Item = (u32, u32, f32)>) -> Self {
        check_shape([num_rows, num_columns]);
        let mut entries: Vec<(u32, u32, f32)> = entries.into_iter().collect();
        for &(row, column, value) in &entries {
            assert!(
                (row as usize) < num_rows && (column as usize) < num_columns,
                "the entry {value} at ({row}, {column}) lies outside the shape [{num_rows}, {num_columns}]"
            );
        }
        // A stable sort, so that repeated entries add up in the order given.
        entries.sort_by_key(|&(row, column, _)| (row, column));
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let mut indptr = vec![0; num_rows + 1];
        for &(row, _, _) in &entries {
            indptr[row as usize + 1] += 1;
        }
        for row in 0..num_rows {
            indptr[row + 1] += indptr[row];
        }
        let indices = entries.iter().map(|&(_, column, _)| column).collect();
        let values = entries.iter().map(|&(_, _, value)| value).collect();
        Self::from_rows(Rows::new(num_columns, indptr, indices, values), false)
    }

    fn from_rows(rows: Rows, is_symmetric: bool) -> Self {
        Self {
            storage: Arc::new(Storage {
                rows,
                columns: OnceLock::new(),
                is_symmetric,
            }),
            transposed: false,
        }
    }

    /// The number of rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        let rows = self.rows();
        [rows.indptr.len() - 1, rows.num_columns]
    }

    /// The number of stored entries.
    pub fn nnz(&self) -> usize {
        self.rows().values.len()
    }

    /// The start of each row in [`indices`](Self::indices) and [`values`](Self::values), then the end of the last; `num_rows + 1` numbers.
    pub fn indptr(&self) -> &[usize] {
        &self.rows().indptr
    }

    /// The column of each entry, increasing within each row.
    pub fn indices(&self) -> &[u32] {
        &self.rows().indices
    }

    /// The value of each entry.
    pub fn values(&self) -> &[f32] {
        &self.rows().values
    }

    /// The transpose, which shares this matrix's storage.
    pub fn transpose(&self) -> Self {
        Self {
            storage: Arc::clone(&self.storage),
            transposed: !self.transposed && !self.storage.is_symmetric,
        }
    }

    /// The same matrix with its transpose built now instead of on first use, for example in the thread that prepares batches.
    pub fn with_transpose(self) -> Self {
        let Storage {
            rows,
            columns,
            is_symmetric,
        } = self.storage.as_ref();
        if !is_symmetric {
            columns.get_or_init(|| rows.transpose());
        }
        self
    }

    /// Iterates over the entries as `(row, column, value)`, row by row.
    pub fn triplets(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        let rows = self.rows();
        rows.indptr.windows(2).enumerate().flat_map(move |(row, range)| {
            let range = range[0]..range[1];
            let indices = rows.indices[range.clone()].iter();
            let values = rows.values[range].iter();
            indices.zip(values).map(move |(&column, &value)| (row as u32, column, value))
        })
    }

    /// Copies the matrix into a dense tensor.
    ///
    /// # Shapes
    /// - output: `[num_rows, num_columns]`
    pub fn to_dense(&self, device: &Device) -> Tensor<2> {
        let [num_rows, num_columns] = self.shape();
        let mut dense = vec![0.0f32; num_rows * num_columns];
        for (row, column, value) in self.triplets() {
            dense[row as usize * num_columns + column as usize] = value;
        }
        Tensor::from_data(TensorData::new(dense, [num_rows, num_columns]), device)
    }

    /// The copies of these rows on GPUs.
    #[cfg(feature = "cube")]
    pub(super) fn uploads(&self) -> &super::uploads::Uploads {
        &self.rows().uploads
    }

    fn rows(&self) -> &Rows {
        let Storage { rows, columns, .. } = self.storage.as_ref();
        if self.transposed {
            columns.get_or_init(|| rows.transpose())
        } else {
            rows
        }
    }
}

impl Rows {
    fn new(num_columns: usize, indptr: Vec<usize>, indices: Vec<u32>, values: Vec<f32>) -> Self {
        Self {
            num_columns,
            indptr,
            indices,
            values,
            #[cfg(feature = "cube")]
            uploads: super::uploads::Uploads::default(),
        }
    }

    /// Counting sort by column. It is stable, so rows come out increasing within each column.
    fn transpose(&self) -> Self {
        let num_rows = self.indptr.len() - 1;
        let mut indptr = vec![0; self.num_columns + 1];
        for &column in &self.indices {
            indptr[column as usize + 1] += 1;
        }
        for column in 0..self.num_columns {
            indptr[column + 1] += indptr[column];
        }
        let mut next = indptr.clone();
        let mut indices = vec![0; self.indices.len()];
        let mut values = vec![0.0; self.values.len()];
        for row in 0..num_rows {
            for entry in self.indptr[row]..self.indptr[row + 1] {
                let slot = &mut next[self.indices[entry] as usize];
                indices[*slot] = row as u32;
                values[*slot] = self.values[entry];
                *slot += 1;
            }
        }
        Self::new(num_rows, indptr, indices, values)
    }
}

/// Rows and columns are numbered in 32 bits.
fn check_shape(shape: [usize; 2]) {
    assert!(
        shape.iter().all(|&length| u32::try_from(length).is_ok()),
        "the shape is {shape:?}, but a dimension must be at most {}",
        u32::MAX
    );
}
