//! SwAV: predicts the cluster of a view from another view.

use super::cross_entropy_with_other_views;
use crate::{
    config::configuration,
    margins::over,
    parameter::{count_in, in_closed, temperature},
};
use burn::tensor::{
    Tensor,
    activation::{log_softmax, softmax},
};

configuration! {
    SwavLossConfig => SwavLoss {
        /// Temperature t of the predictions, in [1e-6, 1e6].
        temperature / with_temperature: f64 = 0.1,
        /// Entropy regularisation ε of the codes, in [1e-6, 1e6]: the lower, the closer each code is to a single prototype.
        epsilon / with_epsilon: f64 = 0.05,
        /// Number of Sinkhorn iterations, 1 to 1,000.
        iterations / with_iterations: usize = 3,
    }

    check(config) {
        temperature(config.temperature)?;
        in_closed("epsilon", config.epsilon, 1e-6, 1e6)?;
        count_in("iterations", config.iterations, 1, 1_000)
    }

    init(config) {
        SwavLoss { config: config.clone() }
    }
}

/// The loss of SwAV. The similarities of a view with the prototypes, its *scores*, become a code by [`sinkhorn`], which the other views
/// predict:
///
/// ```text
/// L = mean over views i with codes and other views v of  - Σ_k code_ik log softmax_k(scores_v / t)
/// ```
///
/// Codes have no gradient. The prototypes learn through the scores of the predicting view.
///
/// Source: Caron et al., [Unsupervised Learning of Visual Features by Contrasting Cluster Assignments](https://arxiv.org/abs/2006.09882),
/// Eq. 1 to 3.
///
/// ```
/// use bcl_core::joint_embedding::SwavLossConfig;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// // Cosines of two samples with two prototypes; each sample has its own.
/// let scores = Tensor::<2>::from_data([[1.0, -1.0], [-1.0, 1.0]], &device);
/// let swav = SwavLossConfig::new().init();
/// let codes = [0, 1].map(|_| swav.codes(scores.clone()));
/// let losses = swav.forward_no_reduction(&codes, &[scores.clone(), scores]);
/// assert!(losses.max().into_scalar::<f32>() < 1e-6);
/// ```
#[derive(Debug, Clone)]
pub struct SwavLoss {
    config: SwavLossConfig,
}

impl SwavLoss {
    /// Computes the codes of a view from its scores.
    ///
    /// # Shapes
    /// - scores, output: `[num_samples, num_prototypes]`
    pub fn codes(&self, scores: Tensor<2>) -> Tensor<2> {
        sinkhorn(scores, self.config.epsilon, self.config.iterations)
    }

    /// Computes the codes of a view together with a queue of earlier embeddings, for batches with fewer samples than prototypes.
    ///
    /// # Shapes
    /// - scores:         `[num_samples, num_prototypes]`
    /// - `queue_scores`: `[size, num_prototypes]`, of the queue with the current prototypes
    /// - output:         `[num_samples, num_prototypes]`
    pub fn codes_with_queue(&self, scores: Tensor<2>, queue_scores: Tensor<2>) -> Tensor<2> {
        let [num_samples, _] = scores.dims();
        self.codes(Tensor::cat(vec![scores, queue_scores], 0))
            .slice_dim(0, 0..num_samples)
    }

    /// Computes the loss of each sample. The views with codes are the first ones; further views, such as local crops, only predict.
    ///
    /// # Shapes
    /// - codes, scores: `[num_samples, num_prototypes]` each
    /// - output:        `[num_samples]`, nats
    ///
    /// # Panics
    /// Panics if there is no code, if there are fewer than two views or fewer than codes, or if the shapes differ.
    pub fn forward_no_reduction(&self, codes: &[Tensor<2>], scores: &[Tensor<2>]) -> Tensor<1> {
        let logits: Vec<_> = scores
            .iter()
            .map(|scores| over(scores.clone(), self.config.temperature))
            .collect();
        cross_entropy_with_other_views(codes, &logits)
    }
}

/// Assigns samples to prototypes so that all prototypes are used equally: starting from `Q = exp(scores / ε)`, each iteration scales every
/// column to an equal total and then every row to a total of 1.
///
/// Rows sum to 1, and columns to B/K (B samples, K prototypes) after many iterations only. Scaling works on logarithms, so nothing
/// overflows or vanishes for any ε. The output is constant in the gradient.
///
/// # Shapes
/// - scores, output: `[num_samples, num_prototypes]`
///
/// # Panics
/// Panics if there is no iteration or ε is not positive.
///
/// Source: Cuturi, [Sinkhorn Distances](https://arxiv.org/abs/1306.0895), with few iterations as in SwAV.
///
/// ```
/// use bcl_core::joint_embedding::sinkhorn;
/// use burn::tensor::{Device, Tensor};
///
/// // Both samples prefer the first prototype, yet only one of them can have it.
/// let scores = Tensor::<2>::from_data([[0.9, 0.1], [0.8, 0.5]], &Device::flex());
/// let codes: Vec<f32> = sinkhorn(scores, 0.2, 100).into_data().iter().collect();
/// assert!(codes[0] > 0.7 && codes[3] > 0.7);
/// assert!((codes[0] + codes[2] - 1.0).abs() < 1e-3);
/// ```
pub fn sinkhorn(scores: Tensor<2>, epsilon: f64, iterations: usize) -> Tensor<2> {
    assert!(iterations > 0, "codes need at least one iteration");
    assert!(epsilon > 0.0, "epsilon is {epsilon}, but must be positive");
    let by_columns = |log_codes| log_softmax(log_codes, 0);
    let log_codes = (1..iterations).fold(over(scores.detach(), epsilon), |log_codes, _| {
        log_softmax(by_columns(log_codes), 1)
    });
    softmax(by_columns(log_codes), 1)
}
