//! The embedding tables that all encoders of users and items train.

use bcl_kernels::gather_rows;
use burn::{
    module::{Module, Param},
    tensor::{Device, Int, Tensor, TensorData},
};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

/// Embedding tables: one row per user and one per item.
#[derive(Module, Debug)]
pub struct Tables {
    /// `[num_users, dim]`
    pub users: Param<Tensor<2>>,
    /// `[num_items, dim]`
    pub items: Param<Tensor<2>>,
}

impl Tables {
    /// Draws normal entries with mean 0 and standard deviation `init_std`, determined by the seed alone.
    pub fn new(num_users: usize, num_items: usize, dim: usize, init_std: f64, seed: u64, device: &Device) -> Self {
        // Burn's random source is global, so its values depend on everything drawn before.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let normal = Normal::new(0.0f32, init_std as f32).expect("a checked standard deviation");
        let mut table = |rows: usize| {
            let values: Vec<f32> = (0..rows * dim).map(|_| normal.sample(&mut rng)).collect();
            Param::from_tensor(Tensor::from_data(TensorData::new(values, [rows, dim]), device))
        };
        Self {
            users: table(num_users),
            items: table(num_items),
        }
    }

    /// Reads rows of both tables.
    ///
    /// # Shapes
    /// - users: `[num_read]`, items: `[num_read]`
    /// - output: `[num_read, dim]` each
    pub fn rows(&self, users: Tensor<1, Int>, items: Tensor<1, Int>) -> (Tensor<2>, Tensor<2>) {
        (gather_rows(self.users.val(), users), gather_rows(self.items.val(), items))
    }
}
