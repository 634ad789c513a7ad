//! Blocks of tiles in the terms of cubek.

use burn::tensor::DType;
use cubecl::client::Client;
use cubecl::ir::{AddressType, ElemType, FloatKind};
use cubecl::zspace::shape;
use cubek::convolution::AcceleratedTileKind;
use cubek::matmul::definition::{MatmulGlobalElems, MatmulProblem};
use cubek::matmul::multi_level::components::global::{InputLoadFlow, LoadFlows};
use cubek::matmul::multi_level::components::stage::PartitionBuffering;
use cubek::matmul::multi_level::components::tile::TileMatmulKind;
use cubek::matmul::multi_level::definition::{BatchMatmulBlueprint, TilingScheme};
use cubek::matmul::multi_level::stage::{SwizzleMode, SwizzleModes};
use cubek::std::MatrixLayout;

use super::Refused;
use super::algorithm::{Block, Tiles};
use super::instruction::instruction;

/// The element type in cubek's terms; `None` for types without tensor cores in any of our programs.
pub(super) fn element(dtype: DType) -> Result<ElemType, Refused> {
    Ok(ElemType::Float(match dtype {
        DType::F32 | DType::Flex32 => FloatKind::F32,
        DType::F16 => FloatKind::F16,
        DType::BF16 => FloatKind::BF16,
        other => return Err(Refused(format!("{other:?} is not a type of these kernels"))),
    }))
}

/// A matrix product, or the one behind a convolution.
pub(super) struct Sizes {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) depth: usize,
    pub(super) left: MatrixLayout,
    pub(super) right: MatrixLayout,
}

/// How warps share the work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Buffering {
    /// Load, multiply, repeat.
    Single,
    /// Load one block while another is multiplied.
    Double,
    /// The same, with warps that only load.
    Specialized,
}

/// The block of `tiles` for a product of these sizes. `None` if cubek chooses.
pub(super) fn blueprint(
    client: &Client,
    tiles: Tiles,
    element: ElemType,
    sizes: &Sizes,
    buffering: Buffering,
) -> Result<Option<BatchMatmulBlueprint>, Refused> {
    let Some(block) = tiles.block else { return Ok(None) };
    let Some(instruction) = instruction(client, tiles.kind, element) else {
        return Err(Refused(format!("no {} instruction for {element:?}", tiles.kind)));
    };
    let kind = match tiles.kind {
        AcceleratedTileKind::Cmma => TileMatmulKind::Cmma,
        AcceleratedTileKind::Mma => TileMatmulKind::Mma,
    };
    let Block {
        planes,
        rows,
        columns,
        depth,
    } = block;
    let scheme = TilingScheme::builder()
        .with_tile_size((instruction[0], instruction[1], instruction[2]).into())
        .with_partition_size((u32::from(rows), u32::from(columns), u32::from(depth)).into())
        .with_stage_size((u32::from(planes), 1u32, 1u32).into())
        .build()
        .map_err(|error| Refused(error.into()))?;
    let problem = MatmulProblem::from_parameters(
        sizes.rows,
        sizes.columns,
        sizes.depth,
        shape![],
        shape![],
        sizes.left,
        sizes.right,
        MatrixLayout::RowMajor,
        None,
        None,
        MatmulGlobalElems {
            lhs: element,
            rhs: element,
            out: element,
        },
        AddressType::default(),
    );
    let plane = client.properties().hardware.plane_size_max;
    let mut builder = BatchMatmulBlueprint::builder(kind, scheme, plane, &problem)
        .partition_buffering(PartitionBuffering::Single)
        .stage_buffering(if buffering == Buffering::Single { 1 } else { 2 });
    if buffering == Buffering::Specialized {
        builder = builder.load_specialization_config(LoadFlows {
            lhs: InputLoadFlow::LoadOnly,
            rhs: InputLoadFlow::LoadOnly,
        });
    }
    if kind.should_swizzle(client) {
        let left = match sizes.left {
            MatrixLayout::RowMajor => scheme.elements_per_stage_along_k(),
            MatrixLayout::ColMajor => scheme.elements_per_stage_along_m(),
        };
        let right = match sizes.right {
            MatrixLayout::RowMajor => scheme.elements_per_stage_along_n(),
            MatrixLayout::ColMajor => scheme.elements_per_stage_along_k(),
        };
        builder = builder.shared_swizzle(SwizzleModes {
            lhs: swizzle(left as usize * element.size()),
            rhs: swizzle(right as usize * element.size()),
            ..Default::default()
        });
    }
    Ok(Some(builder.build()))
}

/// Swizzling for rows of this many bytes in shared memory.
fn swizzle(bytes: usize) -> SwizzleMode {
    match bytes {
        32 => SwizzleMode::B32,
        64 => SwizzleMode::B64,
        128 => SwizzleMode::B128,
        _ => SwizzleMode::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_at_most_128_bytes_are_swizzled() {
        assert_eq!(swizzle(64), SwizzleMode::B64);
        assert_eq!(swizzle(96), SwizzleMode::None);
        assert_eq!(swizzle(256), SwizzleMode::None);
    }

    #[test]
    fn double_precision_has_no_element() {
        assert!(element(DType::F64).is_err());
        assert_eq!(element(DType::BF16).unwrap(), ElemType::Float(FloatKind::BF16));
    }
}
