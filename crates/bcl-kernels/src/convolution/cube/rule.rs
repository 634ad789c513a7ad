//! Which algorithm computes a convolution on a GPU with tensor cores.
//!
//! A table instead of a search at run time: a search compiles every candidate, which takes half a second each. The example
//! `convolution_algorithms` times the candidates for the layers of a ResNet.

use burn::tensor::DType;
use cubek::convolution::{AcceleratedTileKind, ConvAlgorithm};

use super::algorithm::{Algorithm, Convolution, Implicit, Loading, Pass, Pipeline, Product, Tiles};
use crate::convolution::geometry::Geometry;

/// Blocks of 128 output pixels by 64 channels.
const NARROW: Tiles = Tiles::mma(4, 2, 8, 2);

/// Blocks of 64 by 64 channels, for weight gradients of layers with few channels.
const SQUARE: Tiles = Tiles::mma(4, 1, 8, 4);

/// Blocks of 128 pixels by 128 channels, or of 128 by 128 channels.
const WIDE: Pipeline = Pipeline::new([2, 2], [4, 4], 4, 3);

/// Blocks of 128 pixels by 64 channels.
const SLIM: Pipeline = Pipeline::new([2, 2], [4, 2], 2, 4);

/// Blocks of 64 by 64 channels.
const SMALL: Pipeline = Pipeline::new([2, 2], [2, 2], 2, 4);

/// For products that are no convolution.
pub(super) const PRODUCT: Product = Product {
    loading: Loading::Simple,
    tiles: NARROW,
};

/// Exact in single precision, on every device.
const UNITS: Product = Product {
    loading: Loading::Units,
    tiles: NARROW,
};

/// Images with fewer channels than one load of 16 bytes are gathered into an im2col matrix first.
pub(super) const CHANNELS_PER_LOAD: usize = 8;

/// The algorithm for a pass, on a device that has what [`Pipeline`]s need or has it not. Single precision stays exact, and so without tensor cores, which
/// would round inputs to TF32: see [`with_tf32`].
pub(super) fn choose(pass: Pass, dtype: DType, sizes: &Geometry, pipelines: bool) -> Algorithm {
    match dtype {
        DType::BF16 | DType::F16 => pipelined(pass, sizes)
            .filter(|_| pipelines)
            .unwrap_or_else(|| half_precision(pass, sizes)),
        _ => without_tensor_cores(sizes),
    }
}

/// The algorithm for a pass in single precision whose inputs are rounded to TF32. cubek chooses the blocks: none were measured.
pub(super) fn with_tf32(pass: Pass, sizes: &Geometry) -> Algorithm {
    let tiles = Tiles::inferred(AcceleratedTileKind::Mma);
    let implicit = Implicit {
        loading: ConvAlgorithm::SimpleSyncStrided,
        tiles,
    };
    by_shape(pass, sizes, implicit, [tiles; 2])
}

/// The algorithm for any pass on a device without tensor cores for the type. Kernels of one pixel are matrix products.
pub(super) fn without_tensor_cores(sizes: &Geometry) -> Algorithm {
    if sizes.kernel == [1, 1] {
        Algorithm::Columns(UNITS)
    } else {
        Algorithm::Portable
    }
}

/// The fastest on an H100 and an H200 of those measured. The first layer has too few channels. With a stride, the data gradient of a kernel of one pixel is
/// a product with fewer pixels than a convolution of a gradient with zeros between its pixels.
fn pipelined(pass: Pass, sizes: &Geometry) -> Option<Algorithm> {
    let (channels_in, channels_out) = (sizes.channels_in, sizes.channels_out);
    let one_pixel = sizes.kernel == [1, 1];
    let convolution = |channels_in: usize, channels_out: usize| {
        let long = !one_pixel || channels_in >= 256;
        if long && channels_in % 64 == 0 && channels_out % 128 == 0 {
            Some(WIDE)
        } else if channels_in % 32 == 0 && channels_out % 64 == 0 {
            Some(SLIM)
        } else {
            None
        }
    };
    match pass {
        Pass::Forward => convolution(channels_in, channels_out).map(Algorithm::Pipelined),
        Pass::Data if one_pixel && sizes.stride > 1 => None,
        Pass::Data => convolution(channels_out, channels_in).map(|how| Algorithm::Rotated(Convolution::Pipelined(how))),
        Pass::Weight if channels_in % 64 != 0 || channels_out % 64 != 0 => None,
        Pass::Weight if one_pixel || channels_out % 128 != 0 => Some(Algorithm::Pipelined(SMALL)),
        Pass::Weight if channels_in % 128 != 0 => Some(Algorithm::Pipelined(SLIM)),
        Pass::Weight => Some(Algorithm::Pipelined(WIDE)),
    }
}

fn half_precision(pass: Pass, sizes: &Geometry) -> Algorithm {
    let implicit = Implicit {
        loading: ConvAlgorithm::SimpleSyncStrided,
        tiles: NARROW,
    };
    let block = if sizes.channels_out > 64 { NARROW } else { SQUARE };
    by_shape(pass, sizes, implicit, [NARROW, block])
}

/// Kernels of one pixel, and images with few channels, are products of matrices. `tiles` are the blocks of products: of output and data gradients, and of weight
/// gradients.
fn by_shape(pass: Pass, sizes: &Geometry, implicit: Implicit, tiles: [Tiles; 2]) -> Algorithm {
    let one_pixel = sizes.kernel == [1, 1];
    let whole_loads = sizes.channels_in % CHANNELS_PER_LOAD == 0 && sizes.channels_out % CHANNELS_PER_LOAD == 0;
    let [of_images, of_weights] = tiles.map(|tiles| Product {
        loading: Loading::Simple,
        tiles,
    });
    match pass {
        Pass::Forward | Pass::Data if one_pixel || !whole_loads => Algorithm::Columns(of_images),
        Pass::Forward | Pass::Data => Algorithm::Implicit(implicit),
        Pass::Weight if one_pixel || !whole_loads || sizes.stride > 1 => Algorithm::Columns(of_weights),
        Pass::Weight => Algorithm::Shifted(of_weights),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes([channels_in, channels_out]: [usize; 2], kernel: usize, stride: usize) -> Geometry {
        let weight = [channels_out, channels_in, kernel, kernel];
        Geometry::new([512, channels_in, 32, 32], weight, stride, kernel / 2)
    }

    fn chosen(dtype: DType, channels: [usize; 2], kernel: usize, stride: usize, pipelines: bool) -> [Algorithm; 3] {
        let sizes = sizes(channels, kernel, stride);
        Pass::ALL.map(|pass| choose(pass, dtype, &sizes, pipelines))
    }

    #[test]
    fn no_layer_of_a_resnet_falls_back_in_half_precision() {
        for (channels, kernel, stride) in [
            ([3, 64], 3, 1),
            ([3, 64], 7, 2),
            ([64, 64], 3, 1),
            ([64, 128], 3, 2),
            ([64, 128], 1, 2),
            ([64, 256], 1, 1),
            ([512, 512], 3, 1),
        ] {
            for pipelines in [false, true] {
                let algorithms = chosen(DType::BF16, channels, kernel, stride, pipelines);
                for (pass, algorithm) in Pass::ALL.into_iter().zip(algorithms) {
                    assert!(
                        algorithm != Algorithm::Portable && algorithm.computes(pass),
                        "{channels:?} {kernel} {stride} {pass} {pipelines}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_layer_of_a_resnet_uses_tensor_cores_with_tf32() {
        for (channels, kernel, stride) in [([3, 64], 7, 2), ([64, 64], 3, 1), ([64, 128], 3, 2), ([64, 256], 1, 1)] {
            let sizes = sizes(channels, kernel, stride);
            for pass in Pass::ALL {
                let algorithm = with_tf32(pass, &sizes);
                assert!(
                    algorithm != Algorithm::Portable && algorithm.computes(pass),
                    "{channels:?} {kernel} {pass}"
                );
            }
        }
    }

    #[test]
    fn single_and_double_precision_use_no_tensor_cores() {
        for dtype in [DType::F32, DType::F64] {
            assert_eq!(chosen(dtype, [64, 64], 3, 1, true), [Algorithm::Portable; 3]);
        }
    }

    #[test]
    fn kernels_of_one_pixel_are_plain_products_without_pipelines() {
        for (dtype, pipelines) in [(DType::BF16, false), (DType::F32, true)] {
            for algorithm in chosen(dtype, [64, 256], 1, 1, pipelines) {
                assert!(matches!(algorithm, Algorithm::Columns(_)), "{algorithm}");
            }
        }
        let [forward, data, weight] = chosen(DType::BF16, [64, 256], 1, 2, true);
        assert!(matches!(
            [forward, weight],
            [Algorithm::Pipelined(_), Algorithm::Pipelined(_)]
        ));
        assert!(matches!(data, Algorithm::Columns(_)), "{data}");
    }

    #[test]
    fn only_weight_gradients_with_stride_1_shift_images() {
        let [forward, data, weight] = chosen(DType::BF16, [64, 64], 3, 1, false);
        assert!(matches!([forward, data], [Algorithm::Implicit(_), Algorithm::Implicit(_)]));
        assert!(matches!(weight, Algorithm::Shifted(_)));
        assert!(matches!(
            chosen(DType::BF16, [64, 128], 3, 2, false)[2],
            Algorithm::Columns(_)
        ));
    }

    #[test]
    fn blocks_of_a_pipeline_are_whole() {
        let blocks = |channels| {
            chosen(DType::BF16, channels, 3, 1, true).map(|algorithm| match algorithm {
                Algorithm::Pipelined(how) | Algorithm::Rotated(Convolution::Pipelined(how)) => {
                    Some([how.height(), how.width(), how.length()])
                }
                _ => None,
            })
        };
        assert_eq!(
            blocks([64, 64]),
            [Some([128, 64, 32]), Some([128, 64, 32]), Some([64, 64, 32])]
        );
        assert_eq!(blocks([128, 256]), [Some([128, 128, 64]); 3]);
        assert_eq!(
            blocks([64, 128]),
            [Some([128, 128, 64]), Some([128, 64, 32]), Some([128, 64, 32])]
        );
        assert_eq!(blocks([96, 40]), [None; 3]);
    }
}
