//! Implicit GEMM on tensor cores, by cubek.

use burn_cubecl::tensor::CubeTensor;
use cubek::convolution::components::Dimensionality;
use cubek::convolution::definition::{BackwardDataBlueprint, BackwardWeightBlueprint, ConvBlueprint, ForwardBlueprint};
use cubek::convolution::{ConvAlgorithm, ConvolutionArgs, ConvolutionInputs, Strategy, launch_ref};
use cubek::matmul::definition::{MatmulElems, MatmulGlobalElems};
use cubek::matmul::multi_level::definition::BatchMatmulBlueprint;
use cubek::std::{InputBinding, MatrixLayout};

use super::Refused;
use super::algorithm::{Implicit, Pass};
use super::tiling::{Buffering, Sizes, blueprint, element};
use crate::convolution::geometry::Geometry;
use crate::cube::empty;

/// Convolves images in NHWC with kernels `[channels_out, height, width, channels_in]`.
pub(super) fn forward(
    input: CubeTensor,
    weight: CubeTensor,
    sizes: &Geometry,
    implicit: Implicit,
) -> Result<CubeTensor, Refused> {
    let [height, width] = sizes.output;
    let out = empty(&input, [sizes.batch_size, height, width, sizes.channels_out], input.dtype);
    launch(
        Pass::Forward,
        &out.clone(),
        sizes,
        implicit,
        |input, weight, out| ConvolutionInputs::Forward {
            input,
            weight,
            bias: None,
            out,
        },
        input,
        weight,
    )?;
    Ok(out)
}

/// The gradient of the input in NHWC.
pub(super) fn data(grad: CubeTensor, weight: CubeTensor, sizes: &Geometry, implicit: Implicit) -> Result<CubeTensor, Refused> {
    let [height, width] = sizes.input;
    let out = empty(&grad, [sizes.batch_size, height, width, sizes.channels_in], grad.dtype);
    launch(
        Pass::Data,
        &out.clone(),
        sizes,
        implicit,
        |out_grad, weights, in_grad| ConvolutionInputs::BackwardData {
            out_grad,
            weights,
            in_grad,
        },
        grad,
        weight,
    )?;
    Ok(out)
}

/// The gradient of the kernels, `[channels_out, height, width, channels_in]`.
pub(super) fn weight(input: CubeTensor, grad: CubeTensor, sizes: &Geometry, implicit: Implicit) -> Result<CubeTensor, Refused> {
    let [height, width] = sizes.kernel;
    let out = empty(&input, [sizes.channels_out, height, width, sizes.channels_in], grad.dtype);
    launch(
        Pass::Weight,
        &out.clone(),
        sizes,
        implicit,
        |input, out_grad, weight_grad| ConvolutionInputs::BackwardWeight {
            input,
            out_grad,
            weight_grad,
        },
        input,
        grad,
    )?;
    Ok(out)
}

fn launch(
    pass: Pass,
    out: &CubeTensor,
    sizes: &Geometry,
    implicit: Implicit,
    inputs: impl FnOnce(InputBinding, InputBinding, cubecl::prelude::TensorBinding) -> ConvolutionInputs,
    left: CubeTensor,
    right: CubeTensor,
) -> Result<(), Refused> {
    let client = out.client.clone();
    let element = element(out.dtype)?;
    let elements = MatmulElems::from_globals(&MatmulGlobalElems {
        lhs: element,
        rhs: element,
        out: element,
    });
    let block = blueprint(
        &client,
        implicit.tiles,
        element,
        &matrices(pass, sizes),
        buffering(implicit.loading),
    )?;
    let strategy = match block {
        None => Strategy::Inferred {
            algorithm: implicit.loading,
            tile_kind: implicit.tiles.kind,
        },
        Some(matmul) => Strategy::Forced {
            algorithm: implicit.loading,
            blueprint: for_pass(pass, matmul),
        },
    };
    let inputs = inputs(
        InputBinding::new(left.binding(), element),
        InputBinding::new(right.binding(), element),
        out.clone().binding(),
    );
    let options = ConvolutionArgs {
        stride: [sizes.stride; 2],
        padding: [sizes.padding; 2],
        dilation: [1; 2],
    };
    launch_ref::<2>(&strategy, &client, inputs, options, elements).map_err(|error| Refused(format!("{error:?}")))
}

/// The matrix product that cubek makes of a pass.
fn matrices(pass: Pass, sizes: &Geometry) -> Sizes {
    let taps = sizes.kernel[0] * sizes.kernel[1];
    let pixels_in = sizes.batch_size * sizes.input[0] * sizes.input[1];
    let pixels_out = sizes.batch_size * sizes.output_pixels();
    match pass {
        Pass::Forward => Sizes {
            rows: pixels_out,
            columns: sizes.channels_out,
            depth: taps * sizes.channels_in,
            left: MatrixLayout::RowMajor,
            right: MatrixLayout::ColMajor,
        },
        Pass::Data => Sizes {
            rows: pixels_in,
            columns: sizes.channels_in,
            depth: taps * sizes.channels_out,
            left: MatrixLayout::RowMajor,
            right: MatrixLayout::RowMajor,
        },
        Pass::Weight => Sizes {
            rows: sizes.channels_out,
            columns: taps * sizes.channels_in,
            depth: pixels_out,
            left: MatrixLayout::ColMajor,
            right: MatrixLayout::RowMajor,
        },
    }
}

fn buffering(loading: ConvAlgorithm) -> Buffering {
    match loading {
        ConvAlgorithm::SpecializedAsyncCyclic | ConvAlgorithm::SpecializedAsyncStrided | ConvAlgorithm::SpecializedTma => {
            Buffering::Specialized
        }
        _ => Buffering::Single,
    }
}

fn for_pass(pass: Pass, matmul: BatchMatmulBlueprint) -> ConvBlueprint {
    let dimensionality = Dimensionality::Dim2;
    match pass {
        Pass::Forward => ConvBlueprint::Forward(ForwardBlueprint {
            matmul,
            dimensionality,
            has_bias: false,
        }),
        Pass::Data => ConvBlueprint::BackwardData(BackwardDataBlueprint { matmul, dimensionality }),
        Pass::Weight => ConvBlueprint::BackwardWeight(BackwardWeightBlueprint { matmul, dimensionality }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pass_has_as_many_multiplications_as_the_convolution() {
        let sizes = Geometry::new([4, 16, 9, 8], [24, 16, 3, 3], 1, 1);
        let multiplications = 4 * 9 * 8 * 24 * 16 * 9;
        for pass in Pass::ALL {
            let Sizes {
                rows, columns, depth, ..
            } = matrices(pass, &sizes);
            assert_eq!(rows * columns * depth, multiplications, "{pass}");
        }
    }
}
