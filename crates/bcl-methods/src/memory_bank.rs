//! A memory bank: one stored embedding per image of the data set.

use bcl_core::unit_rows;
use bcl_data::Seed;
use bcl_kernels::sampled_dot;
use burn::{
    module::{Module, Param},
    tensor::{Device, IndexingUpdateOp, Int, Tensor, TensorData},
};
use rand_distr::{Distribution, StandardNormal};

/// One unit row per image, which moves towards the image's latest embedding.
///
/// Source: Wu et al., [Unsupervised Feature Learning via Non-Parametric Instance Discrimination](https://arxiv.org/abs/1805.01978).
#[derive(Module, Debug)]
pub struct MemoryBank {
    /// Unit rows, `[num_images, dim]`.
    rows: Param<Tensor<2>>,
}

impl MemoryBank {
    /// Creates a bank of random unit rows.
    ///
    /// # Panics
    /// Panics if `num_images` or `dim` is 0.
    pub fn new(num_images: usize, dim: usize, seed: Seed, device: &Device) -> Self {
        assert!(
            num_images > 0 && dim > 0,
            "a bank of {num_images} rows of {dim} numbers holds nothing"
        );
        let values: Vec<f32> = StandardNormal.sample_iter(seed.rng()).take(num_images * dim).collect();
        let rows = Tensor::from_data(TensorData::new(values, [num_images, dim]), device);
        Self::of_rows(unit_rows(rows))
    }

    /// Wraps rows, which should have unit length.
    ///
    /// # Shapes
    /// - rows: `[num_images, dim]`
    pub fn of_rows(rows: Tensor<2>) -> Self {
        Self {
            rows: Param::from_tensor(rows.detach()).set_require_grad(false),
        }
    }

    /// All rows, `[num_images, dim]`.
    pub fn rows(&self) -> Tensor<2> {
        self.rows.val().detach()
    }

    /// The similarity of each embedding with the row of its image, `[num_embeddings]`. Gradients flow to the embeddings only.
    ///
    /// # Shapes
    /// - embeddings: `[num_embeddings, dim]`
    /// - images:     `[num_embeddings]`
    pub fn positives(&self, embeddings: Tensor<2>, images: Tensor<1, Int>) -> Tensor<1> {
        (embeddings * self.rows().select(0, images)).sum_dim(1).squeeze_dim(1)
    }

    /// The similarities of each embedding with the rows of some images, `[num_embeddings, num_negatives]`. Gradients flow to the
    /// embeddings only.
    ///
    /// # Shapes
    /// - embeddings: `[num_embeddings, dim]`
    /// - images:     `[num_embeddings, num_negatives]`
    pub fn negatives(&self, embeddings: Tensor<2>, images: Tensor<2, Int>) -> Tensor<2> {
        sampled_dot(embeddings, self.rows(), images)
    }

    /// Moves rows towards new embeddings: `row <- unit(momentum · row + (1 - momentum) · embedding)`.
    ///
    /// # Shapes
    /// - images:     `[num_embeddings]`, each at most once
    /// - embeddings: `[num_embeddings, dim]`, unit rows
    pub fn updated(self, images: Tensor<1, Int>, embeddings: Tensor<2>, momentum: f64) -> Self {
        let rows = self.rows();
        let before = rows.clone().select(0, images.clone());
        let after = unit_rows(before.clone() * momentum + embeddings.detach() * (1.0 - momentum));
        let rows = rows.select_assign(0, images, after - before, IndexingUpdateOp::Add);
        Self {
            rows: self.rows.map(|_| rows.detach().set_require_grad(false)),
        }
    }
}
