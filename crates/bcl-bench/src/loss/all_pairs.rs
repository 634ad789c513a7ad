//! The Bayesian loss with an eCDF that compares every pair of scores in a row, as in the released code: the baseline to beat.

use bcl_core::{BayesianLossConfig, Scores, posterior::PosteriorTensors};
use burn::tensor::Tensor;

/// Comparisons per chunk of anchors. All anchors at once need `2 B N²` of them, 8.6 GB at a batch size of 1024.
const CHUNK: usize = 1 << 22;

/// The mean loss over anchors, equal to the loss of [`bcl_core::Bayesian`].
pub(super) fn loss(config: &BayesianLossConfig, scores: Scores) -> Tensor<1> {
    let posterior = config.init().posterior();
    let weights = posterior.omega_tensor(ecdf(scores.negatives.clone().detach()));
    let margins = scores.negatives - scores.positives;
    let masses = (weights * (margins * config.temperature.recip()).exp()).sum_dim(1);
    masses.log1p().mean()
}

/// # Shapes
/// - scores, output: `[num_anchors, num_negatives]`
fn ecdf(scores: Tensor<2>) -> Tensor<2> {
    let [num_anchors, num_negatives] = scores.dims();
    let dtype = scores.dtype();
    let rows = (CHUNK / num_negatives.pow(2)).max(1);
    let ranks = (0..num_anchors).step_by(rows).map(|start| {
        let chunk = scores.clone().slice([start..num_anchors.min(start + rows), 0..num_negatives]);
        let others: Tensor<3> = chunk.clone().unsqueeze_dim(1);
        let own: Tensor<3> = chunk.unsqueeze_dim(2);
        own.greater_equal(others).float().cast(dtype).sum_dim(2).squeeze_dim(2)
    });
    Tensor::cat(ranks.collect(), 0) * (num_negatives as f64).recip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_core::{Pairs, Reduction, Similarity};
    use burn::tensor::{Device, Int};

    #[test]
    fn it_computes_the_bayesian_loss() {
        let device = Device::flex();
        let view = |frequency: f64| (Tensor::<1, Int>::arange(0..40 * 8, &device).float() * frequency).sin();
        let [first, second] = [1.0, 1.1].map(|frequency| view(frequency).reshape([40, 8]));
        let scores = Pairs::from_views(first, second, Similarity::Cosine).into_scores();
        let config = BayesianLossConfig::new();
        let sorted: f64 = config.init().forward(scores.clone(), Reduction::Mean).into_scalar();
        let pairs: f64 = loss(&config, scores).into_scalar();
        assert!((sorted - pairs).abs() < 1e-5, "{sorted} against {pairs}");
    }

    #[test]
    fn ties_count_in_chunks_of_any_size() {
        let device = Device::flex();
        // 2100² pairs do not fit into one chunk, so each row is its own chunk.
        let scores = Tensor::<2>::from_data([[1.0, 2.0, 2.0, 0.0], [3.0, 3.0, 3.0, 3.0]], &device).repeat(&[1, 525]);
        let found: Vec<f64> = ecdf(scores).into_data().iter::<f64>().collect();
        for (index, expected) in [(0, 0.5), (1, 1.0), (2, 1.0), (3, 0.25), (2100, 1.0), (4199, 1.0)] {
            assert!((found[index] - expected).abs() < 1e-6, "entry {index} is {}", found[index]);
        }
    }
}
