//! The numerical experiment of the paper with its figures, and the lemmas of its appendix A in numbers.
//!
//! | figure | shows | source |
//! | --- | --- | --- |
//! | `densities`, `ecdf` | true and false negatives for several α, drawn and by formula | section 3, appendix B |
//! | `omega` | the weight over Φ: for fixed α with several β, for fixed β with several α | Eq. 13 |
//! | `means` | the estimators and `θ_SUP` while one parameter changes | section 4.1, appendix B |
//! | `mse` | their squared errors | section 4.1, appendix B |
//! | `calibration` | P(TN given x) against the simulated truth | Lemma 3.2 |
//! | `losses` | the loss with an estimate against the supervised one over N | Lemmas 3.3 and 3.4 |
//! | `noise` | the noise of sampling and of drawing in the augmented and geometric losses | Bayesian data augmentation |
//! | `unlabelled` | the bias of the estimators if positives are labelled and removed, and Theorem 1 | Contrastive Learning with Negative Sampling Correction |
//! | `gradient-bias` | the gradient of a batch against the whole data set's | Bayesian data augmentation |
//! | `recovery` | the share of the supervised loss's gain that detectors and weights recover, on request only | ours |
//!
//! `means` and `mse` have the intervals of the released experiment, up to ±1/t². The figures of *Bayesian Self-Supervised Contrastive
//! Learning* (arXiv 2301.11673) have names of their own, and the settings of their captions and text:
//!
//! | figure | base distribution φ |
//! | --- | --- |
//! | `figure3`, `figure5` | N(0, 1); t = 2, N = 20,000 |
//! | `figure6` | none: p+/p- over the score, and the bound on mutual information |
//! | `figure7` | any |
//! | `figure9`, `figure10` | U(-0.5, 0.5), each end shortened by a random share of up to γ |
//! | `bda-figure3` | none: learning curves of a noisy objective, of *Bayesian data augmentation* |
//!
//! Every repetition of every point has its own seed, so neither the number of threads nor the choice of figures changes a
//! number.

mod bias;
mod bound;
mod calibration;
mod check;
mod classes;
mod drawing;
mod generalisation;
mod gradient_bias;
mod losses;
mod noise;
mod omega;
mod parameter;
mod published;
mod recovery;
mod repeat;
mod run;
mod sweep;
mod toy;
mod unlabelled;

pub use bound::Bound;
pub use calibration::{Bin, Calibration, calibrations};
pub use check::{Check, Claim, check};
pub use drawing::{Csv, Drawing};
pub use generalisation::Generalisation;
pub use gradient_bias::{ComparedLoss, GradientBias};
pub use losses::{Difference, Losses, Slopes, losses};
pub use noise::{Noise, noise};
pub use parameter::Parameter;
pub use recovery::{MeanReading, Outcome, Reading, RecoveryMethod, RecoveryRow, RecoverySize, Structure, World, WorldRecovery};
pub use run::{Figure, Simulation, SimulationPlan, run};
pub use sweep::{Estimate, Point, Sweep, sweeps};
pub use toy::{Method, Toy};
pub use unlabelled::{Scenario, ScenarioBias, TheoremOne, Unlabelled};
