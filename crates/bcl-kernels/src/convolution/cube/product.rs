//! Matrix products by a chosen algorithm.

use burn::tensor::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::zspace::Shape;
use cubek::convolution::AcceleratedTileKind::{Cmma, Mma};
use cubek::matmul::definition::{MatmulElems, MatmulGlobalElems};
use cubek::matmul::multi_level::Strategy;
use cubek::matmul::multi_level::definition::BatchMatmulBlueprint;
use cubek::matmul::routine::{BlueprintStrategy, Routine};
use cubek::std::{InputBinding, MatrixLayout};

use super::Refused;
use super::algorithm::{Loading, Product};
use super::tiling::{Buffering, Sizes, blueprint, element};
use crate::cube::empty;

/// `left · right` with the result in `dtype`.
///
/// # Shapes
/// - left:  `[.., rows, depth]`, one of the last two strides is 1
/// - right: `[.., depth, columns]`, one of the last two strides is 1
/// - output: `[.., rows, columns]`, contiguous
pub(super) fn product(left: CubeTensor, right: CubeTensor, dtype: DType, product: Product) -> Result<CubeTensor, Refused> {
    let client = left.client.clone();
    let rank = left.meta.num_dims();
    let type_in = element(left.dtype)?;
    let sizes = Sizes {
        rows: left.meta.shape()[rank - 2],
        columns: right.meta.shape()[rank - 1],
        depth: left.meta.shape()[rank - 1],
        left: layout(&left)?,
        right: layout(&right)?,
    };
    let mut shape: Vec<usize> = left.meta.shape()[..rank - 2].to_vec();
    shape.extend([sizes.rows, sizes.columns]);
    let out = empty(&left, Shape::from(shape), dtype);
    let mut elements = MatmulElems::from_globals(&MatmulGlobalElems {
        lhs: type_in,
        rhs: type_in,
        out: element(dtype)?,
    });
    let buffering = match product.loading {
        Loading::Double | Loading::DoubleAsync | Loading::DoubleTma => Buffering::Double,
        Loading::SpecializedTma => Buffering::Specialized,
        _ => Buffering::Single,
    };
    let block = match product.loading {
        Loading::Units => None,
        _ => blueprint(&client, product.tiles, type_in, &sizes, buffering)?,
    };
    cubek::matmul::launch::launch_ref(
        &strategy(product, block).into(),
        &client,
        InputBinding::new(left.binding(), type_in),
        InputBinding::new(right.binding(), type_in),
        out.clone().binding(),
        &mut elements,
    )
    .map_err(|error| Refused(format!("{error:?}")))?;
    Ok(out)
}

fn layout(matrix: &CubeTensor) -> Result<MatrixLayout, Refused> {
    MatrixLayout::from_shape_and_strides(matrix.meta.shape(), matrix.meta.strides(), None)
        .map_err(|error| Refused(error.to_string()))
}

fn strategy(product: Product, block: Option<BatchMatmulBlueprint>) -> Strategy {
    match (product.loading, product.tiles.kind) {
        (Loading::Units, _) => Strategy::SimpleUnit(BlueprintStrategy::default()),
        (Loading::Simple, Mma) => Strategy::SimpleCyclicMma(chosen(block)),
        (Loading::Simple, Cmma) => Strategy::SimpleCyclicCmma(chosen(block)),
        (Loading::SimpleStrided, Mma) => Strategy::SimpleStridedMma(chosen(block)),
        (Loading::SimpleStrided, Cmma) => Strategy::SimpleStridedCmma(chosen(block)),
        (Loading::SimpleAsync, Mma) => Strategy::SimpleAsyncStridedMma(chosen(block)),
        (Loading::SimpleAsync, Cmma) => Strategy::SimpleAsyncStridedCmma(chosen(block)),
        (Loading::SimpleTma, Mma) => Strategy::SimpleTmaMma(chosen(block)),
        (Loading::SimpleTma, Cmma) => Strategy::SimpleTmaCmma(chosen(block)),
        (Loading::Double, Mma) => Strategy::DoubleCyclicMma(chosen(block)),
        (Loading::Double, Cmma) => Strategy::DoubleCyclicCmma(chosen(block)),
        (Loading::DoubleAsync, Mma) => Strategy::DoubleAsyncStridedMma(chosen(block)),
        (Loading::DoubleAsync, Cmma) => Strategy::DoubleAsyncStridedCmma(chosen(block)),
        (Loading::DoubleTma, Mma) => Strategy::DoubleTmaMma(chosen(block)),
        (Loading::DoubleTma, Cmma) => Strategy::DoubleTmaCmma(chosen(block)),
        (Loading::SpecializedTma, Mma) => Strategy::SpecializedTmaMma(chosen(block)),
        (Loading::SpecializedTma, Cmma) => Strategy::SpecializedTmaCmma(chosen(block)),
    }
}

fn chosen<R: Routine<(), Blueprint = BatchMatmulBlueprint>>(block: Option<BatchMatmulBlueprint>) -> BlueprintStrategy<(), R> {
    BlueprintStrategy::maybe_forced_default(&block)
}
