//! Which algorithm computes a convolution on a GPU with tensor cores.
//!
//! A table instead of a search at run time: a search compiles every candidate, which takes half a second each. The example
//! `convolution_algorithms` times the candidates for the layers of a ResNet.

use burn::tensor::DType;
use cubek::convolution::ConvAlgorithm;

use super::algorithm::{Algorithm, Implicit, Loading, Pass, Product, Tiles};
use crate::convolution::geometry::Geometry;

/// Blocks of 128 output pixels by 64 channels.
const NARROW: Tiles = Tiles::mma(4, 2, 8, 2);

/// Blocks of 64 by 64 channels, for weight gradients of layers with few channels.
const SQUARE: Tiles = Tiles::mma(4, 1, 8, 4);

/// Images with fewer channels than one load of 16 bytes are gathered into an im2col matrix first.
const CHANNELS_PER_LOAD: usize = 8;

/// The algorithm for a pass. Single precision stays exact, and so without tensor cores, which would round inputs to TF32.
pub(super) fn choose(pass: Pass, dtype: DType, sizes: &Geometry) -> Algorithm {
    match dtype {
        DType::BF16 | DType::F16 => half_precision(pass, sizes),
        _ => Algorithm::Portable,
    }
}

fn half_precision(pass: Pass, sizes: &Geometry) -> Algorithm {
    let one_pixel = sizes.kernel == [1, 1];
    let whole_loads = sizes.channels_in % CHANNELS_PER_LOAD == 0 && sizes.channels_out % CHANNELS_PER_LOAD == 0;
    let product = |tiles| Product {
        loading: Loading::Simple,
        tiles,
    };
    let implicit = Implicit {
        loading: ConvAlgorithm::SimpleSyncStrided,
        tiles: NARROW,
    };
    let block = if sizes.channels_out > 64 { NARROW } else { SQUARE };
    match pass {
        Pass::Forward | Pass::Data if one_pixel || !whole_loads => Algorithm::Columns(product(NARROW)),
        Pass::Forward | Pass::Data => Algorithm::Implicit(implicit),
        Pass::Weight if one_pixel || !whole_loads || sizes.stride > 1 => Algorithm::Columns(product(block)),
        Pass::Weight => Algorithm::Shifted(product(block)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(dtype: DType, channels: [usize; 2], kernel: usize, stride: usize) -> [Algorithm; 3] {
        let [channels_in, channels_out] = channels;
        let sizes = Geometry::new(
            [512, channels_in, 32, 32],
            [channels_out, channels_in, kernel, kernel],
            stride,
            kernel / 2,
        );
        Pass::ALL.map(|pass| choose(pass, dtype, &sizes))
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
            let algorithms = chosen(DType::BF16, channels, kernel, stride);
            for (pass, algorithm) in Pass::ALL.into_iter().zip(algorithms) {
                assert!(
                    algorithm != Algorithm::Portable && algorithm.computes(pass),
                    "{channels:?} {kernel} {stride} {pass}"
                );
            }
        }
    }

    #[test]
    fn single_and_double_precision_use_no_tensor_cores() {
        for dtype in [DType::F32, DType::F64] {
            assert_eq!(chosen(dtype, [64, 64], 3, 1), [Algorithm::Portable; 3]);
        }
    }

    #[test]
    fn kernels_of_one_pixel_are_plain_products() {
        for algorithm in chosen(DType::BF16, [64, 256], 1, 1) {
            assert!(matches!(algorithm, Algorithm::Columns(_)), "{algorithm}");
        }
    }

    #[test]
    fn only_weight_gradients_with_stride_1_shift_images() {
        let [forward, data, weight] = chosen(DType::BF16, [64, 64], 3, 1);
        assert!(matches!([forward, data], [Algorithm::Implicit(_), Algorithm::Implicit(_)]));
        assert!(matches!(weight, Algorithm::Shifted(_)));
        assert!(matches!(chosen(DType::BF16, [64, 128], 3, 2)[2], Algorithm::Columns(_)));
    }
}
