//! Initial values of layers, each part of a network with a random stream of its own.

use burn::{
    module::Param,
    nn::Linear,
    tensor::{Device, Tensor, TensorData},
};
use rand_distr::{Distribution, Normal, Uniform};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

/// The random stream that the layers of one part of a network draw their initial values from, in the order they are built.
///
/// Burn's random source is global, so its values depend on everything drawn before.
pub(crate) struct Draws(Xoshiro256PlusPlus);

impl Draws {
    /// The stream of a named part of a network, independent of all other parts.
    pub(crate) fn new(seed: u64, part: &str) -> Self {
        // FNV-1a; any fixed map from names to numbers would do.
        let part = part.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(Xoshiro256PlusPlus::seed_from_u64(seed ^ part))
    }

    /// Normal values with mean 0 and standard deviation `√(2 / fan_out)`: He et al.'s initialisation before a ReLU, as in torchvision.
    pub(crate) fn kaiming_normal<const D: usize>(
        &mut self,
        shape: [usize; D],
        fan_out: usize,
        device: &Device,
    ) -> Param<Tensor<D>> {
        let deviation = (2.0 / fan_out as f64).sqrt() as f32;
        self.parameter(shape, Normal::new(0.0, deviation).expect("a finite deviation"), device)
    }

    /// Uniform values within `±1 / √fan_in`: PyTorch's default for linear layers.
    pub(crate) fn linear_uniform<const D: usize>(
        &mut self,
        shape: [usize; D],
        fan_in: usize,
        device: &Device,
    ) -> Param<Tensor<D>> {
        let bound = (fan_in as f64).sqrt().recip() as f32;
        self.parameter(shape, Uniform::new_inclusive(-bound, bound).expect("an interval"), device)
    }

    /// A linear layer with uniform weights within `±√(6 / (size_in + size_out))`, Glorot and Bengio's initialisation, and biases of 0.
    pub(crate) fn xavier_linear(&mut self, sizes: [usize; 2], device: &Device) -> Linear {
        let [size_in, size_out] = sizes;
        let bound = (6.0 / (size_in + size_out) as f64).sqrt() as f32;
        let uniform = Uniform::new_inclusive(-bound, bound).expect("an interval");
        Linear {
            weight: self.parameter(sizes, uniform, device),
            bias: Some(Param::from_tensor(Tensor::zeros([size_out], device))),
        }
    }

    fn parameter<const D: usize>(
        &mut self,
        shape: [usize; D],
        distribution: impl Distribution<f32>,
        device: &Device,
    ) -> Param<Tensor<D>> {
        let values: Vec<f32> = distribution.sample_iter(&mut self.0).take(shape.iter().product()).collect();
        Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), device))
    }
}
