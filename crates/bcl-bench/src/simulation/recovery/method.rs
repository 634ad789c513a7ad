//! The losses that are compared, with their temperatures.

use super::{loss::Use, world::World};
use bcl_clusters::{ClusterCount, Detector};
use bcl_core::{BayesianLossConfig, DebiasedLossConfig, Estimator, EstimatorConfig, HardLossConfig, InfoNceLossConfig};
use serde::Serialize;

/// How an encoder is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryMethod {
    /// `InfoNCE`.
    InfoNce,
    /// `InfoNCE` without false negatives, which labels tell.
    Supervised,
    /// `InfoNCE` with false negatives as positives.
    SupervisedAttract,
    /// Bayesian, α = 0.9, β = 0.5.
    Bayesian,
    /// Hard negatives.
    Hard,
    /// Debiased.
    Debiased,
    /// Clusters of the coarser rule, eliminated and attracted.
    Wcc,
    /// The same, eliminated only.
    WccEliminate,
    /// Clusters of the finer rule, eliminated and attracted.
    Finer,
    /// The same, eliminated only.
    FinerEliminate,
}

/// Where false negatives are known from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Nowhere,
    Labels,
    Clusters(Detector),
}

impl RecoveryMethod {
    pub(super) const ALL: [Self; 10] = [
        Self::InfoNce,
        Self::Supervised,
        Self::SupervisedAttract,
        Self::Bayesian,
        Self::Hard,
        Self::Debiased,
        Self::Wcc,
        Self::WccEliminate,
        Self::Finer,
        Self::FinerEliminate,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::InfoNce => "info_nce",
            Self::Supervised => "supervised",
            Self::SupervisedAttract => "supervised, attract",
            Self::Bayesian => "bayesian",
            Self::Hard => "hard",
            Self::Debiased => "debiased",
            Self::Wcc => "wcc",
            Self::WccEliminate => "wcc, eliminate",
            Self::Finer => "finer",
            Self::FinerEliminate => "finer, eliminate",
        }
    }

    pub(super) fn source(self) -> Source {
        let clusters = |count| {
            Source::Clusters(Detector {
                count,
                ..Detector::default()
            })
        };
        match self {
            Self::InfoNce | Self::Bayesian | Self::Hard | Self::Debiased => Source::Nowhere,
            Self::Supervised | Self::SupervisedAttract => Source::Labels,
            Self::Wcc | Self::WccEliminate => clusters(ClusterCount::COARSER),
            Self::Finer | Self::FinerEliminate => clusters(ClusterCount::FINER),
        }
    }

    pub(super) fn use_of_pairs(self) -> Use {
        match self {
            Self::SupervisedAttract | Self::Wcc | Self::Finer => Use::Attract,
            _ => Use::Eliminate,
        }
    }

    /// Tuned elsewhere for InfoNCE, the supervised loss and the finer rule, on other seeds, and not for the worlds with further structure. The losses of
    /// the papers have InfoNCE's, all clusters the finer rule's, and both supervised losses the same.
    pub(super) fn temperature(self, world: World) -> f64 {
        let [info_nce, supervised, clusters] = match world.num_classes {
            2 => [0.1, 0.8, 0.1],
            4 => [0.1, 0.5, 0.8],
            30 => [0.5, 0.2, 0.2],
            _ => [0.8, 0.2, 0.3],
        };
        match self.source() {
            Source::Nowhere => info_nce,
            Source::Labels => supervised,
            Source::Clusters(_) => clusters,
        }
    }

    /// The estimator, with the true τ+ of the world.
    pub(super) fn estimator(self, world: World) -> Box<dyn Estimator> {
        let (temperature, tau_plus) = (self.temperature(world), world.tau_plus());
        let config = match self {
            Self::Bayesian => {
                let config = BayesianLossConfig::new()
                    .with_temperature(temperature)
                    .with_tau_plus(tau_plus);
                EstimatorConfig::Bayesian(config.with_alpha(0.9).with_beta(0.5))
            }
            Self::Hard => EstimatorConfig::Hard(HardLossConfig::new().with_temperature(temperature).with_tau_plus(tau_plus)),
            Self::Debiased => EstimatorConfig::Debiased(
                DebiasedLossConfig::new()
                    .with_temperature(temperature)
                    .with_tau_plus(tau_plus),
            ),
            _ => EstimatorConfig::InfoNce(InfoNceLossConfig::new().with_temperature(temperature)),
        };
        config.init()
    }
}
