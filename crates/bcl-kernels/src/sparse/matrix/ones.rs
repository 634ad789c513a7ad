//! Matrices of ones, such as adjacency matrices, from compressed rows.

use super::{Rows, SparseMatrix, check_shape};

impl SparseMatrix {
    /// Builds a matrix whose stored entries are all 1 from its compressed rows, in one pass and without sorting: for matrices that change
    /// with each batch.
    ///
    /// # Shapes
    /// - indptr:  `[num_rows + 1]`, the start of each row in `indices`, then their number
    /// - indices: `[nnz]`, the column of each entry, strictly increasing within each row
    ///
    /// # Panics
    /// Panics if `indptr` does not start at 0, decreases, or does not end at the number of indices; if the columns of a row do not increase
    /// or lie outside the shape; or if a dimension exceeds `u32::MAX`.
    ///
    /// # Example
    /// ```
    /// use bcl_kernels::SparseMatrix;
    ///
    /// // Sums over nodes 0 and 1, and over node 2.
    /// let matrix = SparseMatrix::ones(2, 3, vec![0, 2, 3], vec![0, 1, 2]);
    ///
    /// assert_eq!(matrix.values(), [1.0, 1.0, 1.0]);
    /// assert_eq!(matrix.transpose().indices(), [0, 0, 1]);
    /// ```
    pub fn ones(num_rows: usize, num_columns: usize, indptr: Vec<usize>, indices: Vec<u32>) -> Self {
        assert_eq!(
            indptr.len(),
            num_rows + 1,
            "{num_rows} rows need {} starts, but there are {}",
            num_rows + 1,
            indptr.len()
        );
        check_shape([num_rows, num_columns]);
        check_rows(num_columns, &indptr, &indices);
        let values = vec![1.0; indices.len()];
        Self::from_rows(Rows::new(num_columns, indptr, indices, values), false)
    }

    /// Builds a symmetric matrix whose stored entries are all 1 from its compressed rows, such as the adjacency matrix of undirected graphs.
    /// It is its own transpose, so the backward pass of a product builds nothing.
    ///
    /// # Shapes
    /// Same as for [`ones`](Self::ones), with as many columns as rows.
    ///
    /// # Panics
    /// Panics in the same cases as [`ones`](Self::ones), if `indptr` is empty, or if the matrix is not symmetric.
    ///
    /// # Example
    /// ```
    /// use bcl_kernels::SparseMatrix;
    ///
    /// // The path 0 - 1 - 2.
    /// let path = SparseMatrix::symmetric_ones(vec![0, 1, 3, 4], vec![1, 0, 2, 1]);
    ///
    /// assert_eq!(path.shape(), [3, 3]);
    /// assert_eq!(path.transpose().indices(), [1, 0, 2, 1]);
    /// ```
    pub fn symmetric_ones(indptr: Vec<usize>, indices: Vec<u32>) -> Self {
        assert!(!indptr.is_empty(), "a matrix without rows still needs indptr to be [0]");
        let num_rows = indptr.len() - 1;
        check_shape([num_rows, num_rows]);
        check_rows(num_rows, &indptr, &indices);
        check_symmetry(&indptr, &indices);
        let values = vec![1.0; indices.len()];
        Self::from_rows(Rows::new(num_rows, indptr, indices, values), true)
    }
}

fn check_rows(num_columns: usize, indptr: &[usize], indices: &[u32]) {
    assert_eq!(indptr[0], 0, "the first row starts at {}, but must start at 0", indptr[0]);
    for (row, range) in indptr.windows(2).enumerate() {
        let [start, end] = [range[0], range[1]];
        assert!(
            start <= end && end <= indices.len(),
            "row {row} goes from {start} to {end}, but must increase within {} indices",
            indices.len()
        );
        let columns = &indices[start..end];
        // The columns increase, so all lie within the shape if the last does.
        assert!(
            columns.is_sorted_by(|left, right| left < right),
            "the columns of row {row} must increase, but are {columns:?}"
        );
        if let Some(&last) = columns.last() {
            assert!(
                (last as usize) < num_columns,
                "row {row} has an entry in column {last}, but there are {num_columns} columns"
            );
        }
    }
    let end = indptr[indptr.len() - 1];
    assert_eq!(
        end,
        indices.len(),
        "the rows end at {end}, but there are {} indices",
        indices.len()
    );
}

/// Checks, row by row, that column `c` has the same entries as row `c`, in order. This costs as much as building the transpose, but a wrong
/// one would give wrong gradients silently.
fn check_symmetry(indptr: &[usize], indices: &[u32]) {
    let mut next = indptr.to_vec();
    for (row, range) in indptr.windows(2).enumerate() {
        for &column in &indices[range[0]..range[1]] {
            let column = column as usize;
            let slot = next[column];
            let mirrored = indices[slot..indptr[column + 1]].first().map(|&found| found as usize);
            if mirrored != Some(row) {
                // A smaller number is an entry whose mirror image was not in its row.
                let [row, column] = match mirrored {
                    Some(found) if found < row => [column, found],
                    _ => [row, column],
                };
                panic!("the matrix has an entry at ({row}, {column}), but none at ({column}, {row}), so it is not symmetric");
            }
            next[column] += 1;
        }
    }
}
