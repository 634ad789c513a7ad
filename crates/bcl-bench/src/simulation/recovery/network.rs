//! The encoder: two layers with a ReLU between, trained by Adam.

use super::world::{VIEW, normals};
use bcl_core::matmul;
use bcl_data::Seed;
use burn::tensor::{Device, Tensor, TensorData, activation::relu};
use std::f64::consts::PI;

pub(super) const HIDDEN: usize = 96;
const OUT: usize = 8;
const RATE: f64 = 2e-3;
/// Adam's averages, and what keeps it from dividing by 0.
const BETAS: [f64; 2] = [0.9, 0.999];
const EPSILON: f64 = 1e-8;
/// Shapes of the parameters: first weights, their bias, second weights.
const SHAPES: [[usize; 2]; 3] = [[VIEW, HIDDEN], [1, HIDDEN], [HIDDEN, OUT]];

/// `W2ᵀ relu(W1ᵀ x + b)`, or an average of such networks.
#[derive(Debug, Clone)]
pub(super) struct Network {
    parameters: [Vec<f32>; 3],
}

impl Network {
    pub(super) fn draw(seed: Seed) -> Self {
        let mut rng = seed.named("network").rng();
        let mut weights = |[rows, columns]: [usize; 2], scale: f64| -> Vec<f32> {
            normals(rows * columns, &mut rng)
                .map(|value| (scale * value) as f32)
                .collect()
        };
        let first = weights(SHAPES[0], (2.0 / VIEW as f64).sqrt());
        let second = weights(SHAPES[2], (1.0 / HIDDEN as f64).sqrt());
        Self {
            parameters: [first, vec![0.0; HIDDEN], second],
        }
    }

    /// The parameters as tensors, with gradients if the device has them.
    pub(super) fn tensors(&self, device: &Device) -> [Tensor<2>; 3] {
        let mut shapes = SHAPES.into_iter();
        self.parameters.each_ref().map(|values| {
            let shape = shapes.next().expect("there are three");
            Tensor::from_data(TensorData::new(values.clone(), shape), device)
        })
    }

    /// Moves a share of the way to another network.
    pub(super) fn follow(&mut self, other: &Self, share: f32) {
        for (values, others) in self.parameters.iter_mut().zip(&other.parameters) {
            for (value, other) in values.iter_mut().zip(others) {
                *value += share * (other - *value);
            }
        }
    }
}

/// The layer before the last one, `[count, HIDDEN]`.
pub(super) fn hidden([first, bias, _]: &[Tensor<2>; 3], views: Tensor<2>) -> Tensor<2> {
    relu(matmul(views, first.clone()) + bias.clone())
}

/// The output, not normalised, `[count, OUT]`.
pub(super) fn output(parameters: &[Tensor<2>; 3], views: Tensor<2>) -> Tensor<2> {
    matmul(hidden(parameters, views), parameters[2].clone())
}

/// Adam with a rate that falls to 0 along a cosine.
pub(super) struct Adam {
    step: usize,
    num_steps: usize,
    means: [Vec<f64>; 3],
    squares: [Vec<f64>; 3],
}

impl Adam {
    pub(super) fn new(num_steps: usize) -> Self {
        let zeros = || SHAPES.map(|[rows, columns]| vec![0.0; rows * columns]);
        Self {
            step: 0,
            num_steps,
            means: zeros(),
            squares: zeros(),
        }
    }

    pub(super) fn step(&mut self, network: &mut Network, gradients: [Vec<f32>; 3]) {
        let rate = RATE * 0.5 * (1.0 + (PI * self.step as f64 / self.num_steps as f64).cos());
        self.step += 1;
        let [of_mean, of_square] = BETAS.map(|beta| 1.0 - beta.powi(self.step as i32));
        for (index, gradient) in gradients.iter().enumerate() {
            let state = self.means[index].iter_mut().zip(&mut self.squares[index]);
            for ((value, slope), (mean, square)) in network.parameters[index].iter_mut().zip(gradient).zip(state) {
                let slope = f64::from(*slope);
                *mean += (1.0 - BETAS[0]) * (slope - *mean);
                *square += (1.0 - BETAS[1]) * (slope * slope - *square);
                *value -= (rate * (*mean / of_mean) / ((*square / of_square).sqrt() + EPSILON)) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_of_adam_is_the_rate_and_the_last_almost_none() {
        let mut network = Network::draw(Seed(1));
        let before = network.clone();
        let mut adam = Adam::new(2);
        let gradients = || SHAPES.map(|[rows, columns]| vec![0.5; rows * columns]);
        adam.step(&mut network, gradients());
        let moved = before.parameters[2][3] - network.parameters[2][3];
        assert!((f64::from(moved) - RATE).abs() < 1e-6, "{moved}");
        adam.step(&mut network, gradients());
        let moved = before.parameters[2][3] - network.parameters[2][3];
        assert!((f64::from(moved) - 1.5 * RATE).abs() < 1e-6, "{moved}");
    }

    #[test]
    fn a_follower_goes_a_share_of_the_way() {
        let [mut network, other] = [Seed(1), Seed(2)].map(Network::draw);
        let expected = 0.75 * network.parameters[0][5] + 0.25 * other.parameters[0][5];
        network.follow(&other, 0.25);
        assert!((network.parameters[0][5] - expected).abs() < 1e-6);
    }
}
