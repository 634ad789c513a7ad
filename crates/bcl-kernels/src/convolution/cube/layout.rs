//! Views and vectors of images in NHWC.

use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::{permute_nchw_to_nhwc, permute_nhwc_to_nchw};
use burn_cubecl::tensor::CubeTensor;
use cubecl::ir::VectorSize;
use cubecl::tensor_vector_size_parallel;
use cubecl::zspace::metadata::Metadata;
use cubecl::zspace::{Shape, Strides};

/// An NCHW tensor as NHWC. Copies only if its memory is in another order.
pub(super) fn channels_last(images: CubeTensor) -> CubeTensor {
    into_contiguous(permute_nchw_to_nhwc(images))
}

/// The NCHW view of a tensor in NHWC. Copies nothing, so that the next convolution finds NHWC again.
pub(super) fn channels_first(images: CubeTensor) -> CubeTensor {
    permute_nhwc_to_nchw(images)
}

/// The memory of a tensor with another shape and other strides, in elements.
pub(super) fn view<const D: usize>(tensor: &CubeTensor, shape: [usize; D], strides: [usize; D]) -> CubeTensor {
    let metadata = Metadata::new(Shape::from(shape), Strides::from(strides));
    CubeTensor::new(
        tensor.client.clone(),
        tensor.handle.clone(),
        metadata,
        tensor.device.clone(),
        tensor.dtype,
    )
}

/// A contiguous tensor as a matrix whose rows are its last axis.
pub(super) fn matrix(tensor: &CubeTensor) -> CubeTensor {
    let shape = tensor.meta.shape();
    let columns = shape[shape.len() - 1];
    let rows = shape[..shape.len() - 1].iter().product();
    view(tensor, [rows, columns], [columns, 1])
}

/// The transposed view of a matrix.
pub(super) fn transposed(matrix: &CubeTensor) -> CubeTensor {
    let (shape, strides) = (matrix.meta.shape(), matrix.meta.strides());
    view(matrix, [shape[1], shape[0]], [strides[1], strides[0]])
}

/// How many neighbouring channels a thread can move at once.
pub(super) fn vector(images: &CubeTensor) -> VectorSize {
    let sizes = images.client.io_optimized_vector_sizes(images.dtype.size());
    let last = images.meta.num_dims() - 1;
    tensor_vector_size_parallel(sizes, images.meta.shape(), images.meta.strides(), last)
}
