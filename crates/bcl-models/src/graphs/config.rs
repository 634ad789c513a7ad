//! Parameters of a graph encoder: the `[encoder]` table of a recipe.

use crate::check::count_in;
use serde::{Deserialize, Serialize};

/// The maximum number of layers.
const MOST_LAYERS: usize = 64;
/// The maximum size of a layer.
const MOST_HIDDEN: usize = 65_536;

/// The order of operations in a layer of [`Gin`](super::Gin), after a node and its neighbours are added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GinOrder {
    /// `Linear → ReLU → Linear → ReLU → BatchNorm`, so embeddings are signed. The released code of `InfoGraph`, and of HCL.
    #[default]
    InfoGraph,
    /// `Linear → BatchNorm → ReLU → Linear → BatchNorm → ReLU`, as Xu et al. published it in 2019.
    Xu2019,
}

/// Configuration of [`Gin`](super::Gin). The defaults follow `InfoGraph`.
///
/// ```
/// use bcl_models::graphs::GinConfig;
///
/// let config = GinConfig { layers: 5, ..GinConfig::default() };
/// config.check().unwrap();
/// assert_eq!(config.dim(), 5 * 32);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GinConfig {
    /// Number of layers, 1 to 64.
    pub layers: usize,
    /// Size of each layer, 1 to 65,536.
    pub hidden: usize,
    /// Whether the additional weight ε of the node itself is learned; 0 otherwise.
    pub learn_epsilon: bool,
    /// The order of operations in a layer.
    pub order: GinOrder,
}

impl Default for GinConfig {
    fn default() -> Self {
        Self {
            layers: 3,
            hidden: 32,
            learn_epsilon: false,
            order: GinOrder::default(),
        }
    }
}

impl GinConfig {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the range.
    pub fn check(&self) -> Result<(), String> {
        count_in("layers", self.layers, MOST_LAYERS)?;
        count_in("hidden", self.hidden, MOST_HIDDEN)
    }

    /// Size of a node's or a graph's embedding: the sum over all layers.
    pub fn dim(&self) -> usize {
        self.layers * self.hidden
    }

    /// Number of trained parameters.
    ///
    /// ```
    /// use bcl_models::graphs::GinConfig;
    ///
    /// // The 7 labels of atoms in MUTAG.
    /// assert_eq!(GinConfig::default().num_parameters(7), 5728);
    /// ```
    pub fn num_parameters(&self, num_features: usize) -> u64 {
        let hidden = self.hidden as u64;
        let norms = match self.order {
            GinOrder::InfoGraph => 1,
            GinOrder::Xu2019 => 2,
        };
        let of_layer = |size_in| {
            // Two linear layers with biases, and scale and shift of each norm.
            (size_in as u64 + 1) * hidden + (hidden + 1) * hidden + norms * 2 * hidden + u64::from(self.learn_epsilon)
        };
        self.sizes_in(num_features).map(of_layer).sum()
    }

    /// Numbers saved for backward per node in a training step, its embedding included: inputs of linear layers and of norms. A lower bound.
    pub fn saved_per_node(&self, num_features: usize) -> u64 {
        let hidden = self.hidden as u64;
        let of_layer = |size_in| {
            size_in as u64
                + match self.order {
                    // The outputs of both ReLUs.
                    GinOrder::InfoGraph => 2 * hidden,
                    // The inputs of both norms, and of the second linear layer.
                    GinOrder::Xu2019 => 3 * hidden,
                }
        };
        self.sizes_in(num_features).map(of_layer).sum::<u64>() + self.dim() as u64
    }

    /// The size of the input of each layer.
    pub(super) fn sizes_in(&self, num_features: usize) -> impl Iterator<Item = usize> + use<> {
        let hidden = self.hidden;
        (0..self.layers).map(move |layer| if layer == 0 { num_features } else { hidden })
    }
}
