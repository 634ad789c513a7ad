//! The sparse product composed of tensor operations: gather the rows, scale them, and add them up per output row.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Scalar, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{FloatDType, IndexingUpdateOp, Shape, TensorData};

use super::{SparseMatrix, SparseOps};

/// Entries gathered at once, which bounds the memory to this many rows of the dense matrix.
const CHUNK: usize = 1 << 18;

pub(crate) fn sparse_matmul<B: Backend>(matrix: &SparseMatrix, dense: FloatTensor<B>) -> FloatTensor<B> {
    let device = dense.device();
    let float_dtype: FloatDType = dense.dtype().into();
    let int_dtype = get_or_init_device_settings::<B>(&device).int_dtype;
    let [num_rows, _] = matrix.shape();
    let num_columns = dense.shape()[1];

    let int = |values: Vec<i64>| {
        let len = values.len();
        let data = TensorData::new(values, [len]);
        B::int_from_data(data.convert_dtype(int_dtype.into()), &device)
    };
    let mut output = B::float_zeros(Shape::from([num_rows, num_columns]), &device, float_dtype);
    if num_columns == 0 {
        return output;
    }
    let triplets: Vec<(u32, u32, f32)> = matrix.triplets().collect();
    for chunk in triplets.chunks(CHUNK) {
        let rows = int(chunk.iter().map(|&(row, _, _)| i64::from(row)).collect());
        let columns = int(chunk.iter().map(|&(_, column, _)| i64::from(column)).collect());
        let values: Vec<f32> = chunk.iter().map(|&(_, _, value)| value).collect();
        let values = TensorData::new(values, [chunk.len(), 1]).convert_dtype(float_dtype.into());
        let terms = B::float_mul(
            B::float_select(dense.clone(), 0, columns),
            B::float_from_data(values, &device),
        );
        output = B::float_select_assign(output, 0, rows, terms, IndexingUpdateOp::Add);
    }
    output
}

/// `scale · (addend + matrix · dense)`, through the backend's own product.
pub(crate) fn sparse_matmul_add<B: SparseOps>(
    matrix: SparseMatrix,
    dense: FloatTensor<B>,
    addend: FloatTensor<B>,
    scale: f64,
) -> FloatTensor<B> {
    let sum = B::float_add(addend, B::sparse_matmul(matrix, dense));
    B::float_mul_scalar(sum, Scalar::from(scale))
}

/// Horner's scheme: `E + Â (E + Â (…))` sums the powers with one product and one addition per layer.
pub(crate) fn propagate<B: SparseOps>(
    matrix: &SparseMatrix,
    users: FloatTensor<B>,
    items: FloatTensor<B>,
    num_layers: usize,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let transpose = matrix.transpose();
    let (mut user_sum, mut item_sum) = (users.clone(), items.clone());
    for layer in 1..=num_layers {
        let scale = if layer == num_layers {
            1.0 / (num_layers + 1) as f64
        } else {
            1.0
        };
        let next = B::sparse_matmul_add(matrix.clone(), item_sum.clone(), users.clone(), scale);
        item_sum = B::sparse_matmul_add(transpose.clone(), user_sum, items.clone(), scale);
        user_sum = next;
    }
    (user_sum, item_sum)
}
