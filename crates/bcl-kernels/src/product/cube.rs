//! Matrix products on GPUs.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata, ops::FloatTensorOps};
use burn::tensor::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::{prelude::Scalar, tf32};
use cubek::{
    matmul::{
        definition::{MatmulElems, MatmulGlobalElems},
        launch::launch_ref,
        multi_level::Strategy,
    },
    std::InputBinding,
};

use super::ProductOps;
use crate::convolution::cube::half_product;
use crate::cube::empty;

impl ProductOps for Cube {
    fn product(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self> {
        if left.shape().num_elements() == 0 || right.shape().num_elements() == 0 {
            return Self::float_matmul(left, right);
        }
        if would_be_rounded(&left) {
            return single(left, right);
        }
        half_product(&left, &right).unwrap_or_else(|| Self::float_matmul(left, right))
    }
}

/// Whether Burn would round 32-bit operands to TF32.
fn would_be_rounded(tensor: &CubeTensor) -> bool {
    tensor.dtype == DType::F32 && tensor.client.properties().supports_type(tf32::elem_type_native())
}

/// A product of 32-bit matrices without tensor cores, whose threads keep tiles in registers.
fn single(left: CubeTensor, right: CubeTensor) -> CubeTensor {
    let [num_rows, _] = left.shape().dims();
    let [_, num_columns] = right.shape().dims();
    let output = empty(&left, [num_rows, num_columns], DType::F32);
    let element = f32::elem_type_native();
    let client = left.client.clone();
    #[allow(clippy::default_trait_access)] // its type is as long as this function
    launch_ref(
        &Strategy::SimpleUnit(Default::default()).into(),
        &client,
        InputBinding::new(left.binding(), element),
        InputBinding::new(right.binding(), element),
        output.clone().binding(),
        &mut MatmulElems::from_globals(&MatmulGlobalElems {
            lhs: element,
            rhs: element,
            out: element,
        }),
    )
    .expect("it needs no tensor cores, and takes matrices of any size and layout");
    output
}
