//! Prototypes: vectors that projections are scored against.

use crate::{
    check::{count_in, panic_if_bad},
    draws::Draws,
};
use bcl_kernels::{matmul, unit_rows};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};

/// The maximum number of prototypes, and of their size: four times as many as DINO has.
const MOST: usize = 1 << 18;

/// Configuration of [`Prototypes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrototypesConfig {
    /// Number of prototypes, 1 to 262,144.
    pub count: usize,
    /// Size of a prototype and of the rows to score, 1 to 262,144.
    pub dim: usize,
}

impl PrototypesConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), String> {
        count_in("count", self.count, MOST)?;
        count_in("dim", self.dim, MOST)
    }

    /// Builds prototypes with initial values determined by the seed: uniform within `±1 / √dim`, as `PyTorch`'s linear layers.
    ///
    /// # Panics
    /// Panics if a parameter is out of range; use [`check`](Self::check) to test.
    pub fn init(&self, seed: u64, device: &Device) -> Prototypes {
        panic_if_bad(self.check());
        let Self { count, dim } = *self;
        Prototypes {
            weight: Draws::new(seed, "prototypes").linear_uniform([count, dim], dim, device),
        }
    }
}

/// Prototypes, trained with the encoder: a linear layer without a bias, whose rows are compared with unit rows.
///
/// ```text
/// scores(x)  = x weightᵀ                        SwAV
/// cosines(x) = unit(x) unit(weight)ᵀ            DINO: weight normalisation with length 1
/// ```
///
/// `SwAV` scales the rows of the weight to unit length before each forward pass, outside of the graph: [`normalised`](Self::normalised).
/// DINO does so within the graph, so gradients of its weight are tangent to its rows, and weight decay only raises their effective
/// learning rate.
///
/// Sources: Caron et al., [Unsupervised Learning of Visual Features by Contrasting Cluster
/// Assignments](https://arxiv.org/abs/2006.09882); Caron et al., [Emerging Properties in Self-Supervised Vision
/// Transformers](https://arxiv.org/abs/2104.14294).
///
/// # Example
/// ```
/// use bcl_models::vision::PrototypesConfig;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let prototypes = PrototypesConfig { count: 5, dim: 2 }.init(0, &device).normalised();
///
/// let scores = prototypes.scores(Tensor::from_floats([[0.6, 0.8]], &device));
/// assert_eq!(scores.dims(), [1, 5]);
/// ```
#[derive(Module, Debug)]
pub struct Prototypes {
    /// One prototype per row, `[count, dim]`.
    pub weight: Param<Tensor<2>>,
}

impl Prototypes {
    /// Computes the dot product of each row with each prototype as it is.
    ///
    /// # Shapes
    /// - rows:   `[num_rows, dim]`, in the precision of the weight
    /// - output: `[num_rows, count]`
    pub fn scores(&self, rows: Tensor<2>) -> Tensor<2> {
        matmul(rows, self.weight.val().transpose())
    }

    /// Computes the cosine of each row and each prototype, with gradients through both lengths.
    ///
    /// # Shapes
    /// As for [`scores`](Self::scores).
    pub fn cosines(&self, rows: Tensor<2>) -> Tensor<2> {
        matmul(unit_rows(rows), unit_rows(self.weight.val()).transpose())
    }

    /// Scales each prototype to unit length, outside of the graph.
    pub fn normalised(self) -> Self {
        let Self { weight } = self;
        Self {
            weight: weight.map(|weight| {
                let (is_autodiff, require_grad) = (weight.is_autodiff(), weight.is_require_grad());
                let weight = unit_rows(weight.without_autodiff());
                let weight = if is_autodiff { weight.autodiff() } else { weight };
                weight.set_require_grad(require_grad)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(tensor: Tensor<2>) -> Vec<f32> {
        tensor.into_data().iter::<f32>().collect()
    }

    #[test]
    fn the_seed_alone_determines_the_start() {
        let weight = |seed| values(PrototypesConfig { count: 4, dim: 3 }.init(seed, &Device::flex()).weight.val());
        assert_eq!(weight(1), weight(1));
        assert_ne!(weight(1), weight(2));
    }

    #[test]
    fn cosines_do_not_depend_on_lengths_and_scores_do() {
        let device = Device::flex();
        let prototypes = PrototypesConfig { count: 4, dim: 3 }.init(0, &device);
        let doubled = Prototypes {
            weight: prototypes.weight.clone().map(|weight| weight * 2.0),
        };
        let rows = Tensor::<2>::from_floats([[1.0, -2.0, 0.5], [0.0, 3.0, 0.0]], &device);
        let cosines = values(prototypes.cosines(rows.clone()));
        assert_eq!(values(doubled.cosines(rows.clone() * 4.0)), cosines);
        assert!(cosines.iter().all(|cosine| cosine.abs() <= 1.0 + 1e-6), "{cosines:?}");
        assert_ne!(values(doubled.scores(rows.clone())), values(prototypes.scores(rows)));
    }

    #[test]
    fn normalised_prototypes_are_trained_as_before() {
        let device = Device::flex().autodiff();
        let prototypes = PrototypesConfig { count: 4, dim: 3 }.init(0, &device);
        let id = prototypes.weight.id;
        let prototypes = prototypes.normalised();
        assert_eq!(prototypes.weight.id, id);
        let gradients = prototypes.scores(Tensor::ones([1, 3], &device)).sum().backward();
        let gradient = prototypes.weight.val().grad(&gradients).expect("a gradient");
        // The gradient of a plain dot product, because the graph does not include the lengths.
        assert_eq!(values(gradient), [1.0; 12]);
    }

    #[test]
    fn a_momentum_copy_stays_without_gradients() {
        let device = Device::flex().autodiff();
        let copy = PrototypesConfig { count: 4, dim: 3 }.init(0, &device).no_grad().normalised();
        assert!(!copy.weight.val().is_require_grad());
    }

    #[test]
    fn sizes_out_of_range_are_refused_by_name() {
        let refused = |count, dim| PrototypesConfig { count, dim }.check().expect_err("out of range");
        assert_eq!(refused(0, 1), "count is 0, but must be in [1, 262144]");
        assert_eq!(refused(1, MOST + 1), "dim is 262145, but must be in [1, 262144]");
    }
}
