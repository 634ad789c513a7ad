//! The losses to measure: every estimator, the released arithmetic, and some from a matrix of scores.

use bcl_core::{
    BayesianLossConfig, BayesianVariant, EstimatorConfig, HardLossConfig, InfoNceLossConfig, Pairs, Reduction, SideInformation,
    Similarity, same_class,
};
use burn::tensor::{Device, Tensor};

/// A loss to measure.
#[derive(Debug, Clone, PartialEq)]
pub enum LossVariant {
    /// An estimator with default parameters.
    Estimator(EstimatorConfig),
    /// The same from a matrix of all scores, where the estimator could do without.
    FromScores(EstimatorConfig),
}

/// Number of classes among the samples, for the oracle.
const CLASSES: usize = 10;

impl LossVariant {
    /// All losses, `InfoNCE` first.
    pub fn all() -> Vec<Self> {
        let official = EstimatorConfig::Bayesian(BayesianLossConfig::new().with_variant(BayesianVariant::Official));
        let from_scores = [
            EstimatorConfig::InfoNce(InfoNceLossConfig::new()),
            EstimatorConfig::Hard(HardLossConfig::new()),
            EstimatorConfig::Bayesian(BayesianLossConfig::new()),
        ];
        EstimatorConfig::all()
            .into_iter()
            .chain([official])
            .map(Self::Estimator)
            .chain(from_scores.map(Self::FromScores))
            .collect()
    }

    /// Finds a loss by name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|variant| variant.name() == name)
    }

    /// The name, without spaces.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Estimator(EstimatorConfig::Bayesian(bayesian)) if bayesian.variant == BayesianVariant::Official => {
                "bayesian_official"
            }
            Self::Estimator(config) => config.name(),
            Self::FromScores(EstimatorConfig::InfoNce(_)) => "info_nce_scores",
            Self::FromScores(EstimatorConfig::Hard(_)) => "hard_scores",
            Self::FromScores(_) => "bayesian_scores",
        }
    }

    /// Whether a matrix of scores is stored on this device.
    pub(super) fn needs_scores(&self, batch_size: usize, device: &Device) -> bool {
        let Self::Estimator(config) = self else { return true };
        let view = Tensor::<2>::ones([batch_size, 1], device);
        let pairs = Pairs::from_views(view.clone(), view, Similarity::Dot).with_least_similarity(-1.0);
        pairs.needs_scores(config.init().as_ref())
    }

    /// Builds the loss for in-batch scores of `batch_size` samples, with its other inputs prepared.
    pub(super) fn init(&self, batch_size: usize, like: &Tensor<2>) -> Box<dyn Fn(Pairs) -> Tensor<1>> {
        let (config, from_scores) = match self {
            Self::Estimator(config) => (config, false),
            Self::FromScores(config) => (config, true),
        };
        let estimator = config.init();
        let (device, dtype) = (like.device(), like.dtype());
        let mut side = SideInformation::none();
        side.noise = estimator
            .requirements()
            .gamma_shape
            .map(|shape| Tensor::full([2 * batch_size], shape, (&device, dtype)));
        side.same_class = estimator.requirements().truth.then(|| {
            let labels = Tensor::arange(0..batch_size as i64, &device).remainder_scalar(CLASSES as i64);
            same_class(&labels, 0..2 * batch_size)
        });
        Box::new(move |pairs| {
            let losses = if from_scores {
                estimator.losses(pairs.into_scores().into(), &side)
            } else {
                estimator.losses(pairs, &side)
            };
            losses.reduce(Reduction::Mean)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for variant in LossVariant::all() {
            assert_eq!(LossVariant::named(variant.name()), Some(variant));
        }
        assert_eq!(LossVariant::named("triplet"), None);
    }

    #[test]
    fn losses_that_compute_block_by_block_need_no_scores() {
        let needs_scores = |name| {
            LossVariant::named(name)
                .expect("a known name")
                .needs_scores(2, &Device::flex())
        };
        let names = ["info_nce", "hard", "bayesian", "ring", "info_nce_scores"];
        assert_eq!(names.map(needs_scores), [false, false, false, false, true]);
    }
}
