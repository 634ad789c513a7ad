//! Mixed precision: 16-bit images through an encoder with 32-bit parameters.
//!
//! The tests state how close projections and gradients come to full precision, as cosines.

use bcl_models::vision::{ImageEncoder, ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::{DType, Device, FloatDType, Tensor, TensorData},
};

const BATCH: usize = 32;

fn encoder(stem: Stem) -> ImageEncoder {
    let config = ImageEncoderConfig {
        trunk: ResNetConfig {
            depth: ResNetDepth::ResNet18,
            stem,
            width: 4,
        },
        head: ProjectionHeadConfig {
            hidden: 8,
            out: 4,
            ..ProjectionHeadConfig::default()
        },
        ..ImageEncoderConfig::default()
    };
    config.init(0, &Device::flex().autodiff())
}

/// Noise, so that no channel is nearly constant; batch normalisation would amplify the rounding.
fn images() -> Tensor<4> {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let pixels: Vec<f32> = (0..BATCH * 3 * 32 * 32).map(|_| next()).collect();
    Tensor::from_data(TensorData::new(pixels, [BATCH, 3, 32, 32]), &Device::flex().autodiff())
}

/// All gradients of a module and their types.
#[derive(Default)]
struct Gradients {
    all: GradientsParams,
    values: Vec<f64>,
    types: Vec<DType>,
}

impl ModuleVisitor for Gradients {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.all.get::<D>(parameter.id) {
            self.types.push(gradient.dtype());
            self.values.extend(gradient.into_data().iter::<f64>());
        }
    }
}

/// Differentiates a sum that weights every output differently.
fn backward<const D: usize>(encoder: &ImageEncoder, outputs: Tensor<D>) -> Gradients {
    let weights: Vec<f32> = (0..outputs.shape().num_elements()).map(|i| (i as f32 * 1.3).cos()).collect();
    let weights = Tensor::<D>::from_data(TensorData::new(weights, outputs.dims()), &outputs.device());
    let loss = (outputs.cast(FloatDType::F32) * weights).sum();
    let mut gradients = Gradients {
        all: GradientsParams::from_grads(loss.backward(), encoder),
        ..Gradients::default()
    };
    encoder.visit(&mut gradients);
    gradients
}

/// Projections and their gradients.
fn run(encoder: &ImageEncoder, dtype: FloatDType) -> (Tensor<2>, Gradients) {
    let projections = encoder.projections(images().cast(dtype), Mode::Train);
    let gradients = backward(encoder, projections.clone());
    (projections, gradients)
}

fn values(tensor: Tensor<2>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

fn cosine(left: &[f64], right: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

#[test]
fn a_convolution_and_its_normalisation_have_the_gradients_of_full_precision() {
    let gradients = |dtype| {
        let encoder = encoder(Stem::Cifar);
        let convolved = encoder.trunk.conv1.forward(images().cast(dtype));
        assert_eq!(convolved.dtype(), DType::from(dtype));
        let normalised = encoder.trunk.bn1.forward(convolved, Mode::Train);
        assert_eq!(normalised.dtype(), DType::from(dtype));
        backward(&encoder, normalised).values
    };
    let full = gradients(FloatDType::F32);
    assert_eq!(full.len(), 4 * 3 * 9 + 4 + 4);
    for (dtype, least) in [(FloatDType::BF16, 0.999), (FloatDType::F16, 0.999_99)] {
        let found = cosine(&full, &gradients(dtype));
        assert!(found > least, "{dtype:?}: {found}");
    }
}

/// Over twenty layers, rounding flips some ReLUs and their gradients, most of all in channels with few pixels.
#[test]
fn an_encoder_in_mixed_precision_hands_out_32_bits_that_agree_with_full() {
    let cases = [
        (Stem::Cifar, FloatDType::BF16, [0.999, 0.85]),
        (Stem::Imagenet, FloatDType::BF16, [0.995, 0.5]),
        (Stem::Cifar, FloatDType::F16, [0.999_95, 0.97]),
        (Stem::Imagenet, FloatDType::F16, [0.999, 0.8]),
    ];
    for (stem, dtype, least) in cases {
        let (full, full_gradients) = run(&encoder(stem), FloatDType::F32);
        let (mixed, gradients) = run(&encoder(stem), dtype);
        assert_eq!(mixed.dtype(), DType::F32);
        assert!(gradients.types.iter().all(|&dtype| dtype == DType::F32));
        assert_eq!(gradients.types.len(), full_gradients.types.len());

        let (full, mixed) = (values(full), values(mixed));
        let found = [cosine(&full, &mixed), cosine(&full_gradients.values, &gradients.values)];
        assert!(found[0] > least[0] && found[1] > least[1], "{stem:?} {dtype:?}: {found:?}");
        // Make sure that something was cast.
        assert_ne!(mixed, full);
    }
}

#[test]
fn running_statistics_keep_32_bits_and_move_as_in_full_precision() {
    let (full, mixed) = (encoder(Stem::Cifar), encoder(Stem::Cifar));
    run(&full, FloatDType::F32);
    run(&mixed, FloatDType::BF16);
    let mean = |encoder: &ImageEncoder| encoder.trunk.layer1[0].bn1.running_mean.value();
    assert_eq!(mean(&mixed).dtype(), DType::F32);
    let values = |encoder| mean(encoder).into_data().iter::<f64>().collect::<Vec<f64>>();
    assert!(values(&mixed).iter().any(|&mean| mean != 0.0));
    assert!(cosine(&values(&full), &values(&mixed)) > 0.999);
}
