//! The whole simulation: what to simulate, its tables, and its figures.

use super::{Calibration, Check, Drawing, Generalisation, GradientBias, Losses, Noise, Sweep, Toy, Unlabelled, WorldRecovery};
use super::{
    bias, calibration, check, classes, generalisation, gradient_bias, losses, noise, omega, published, recovery, sweep, toy,
    unlabelled,
};
use crate::timing::Environment;
use bcl_core::simulation::SimulationConfig;
use bcl_data::Seed;
use serde::Serialize;
use std::fmt;

/// A group of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Densities of true and false negatives.
    Densities,
    /// Distribution functions of true and false negatives.
    Ecdf,
    /// The weight over the base distribution function.
    Omega,
    /// Means of the estimators.
    Means,
    /// Squared errors of the estimators.
    Mse,
    /// Calibration of P(TN|x), Lemma 3.2.
    Calibration,
    /// Losses compared with the supervised loss, Lemmas 3.3 and 3.4.
    Losses,
    /// Noise of Bayesian data augmentation.
    Noise,
    /// Positive-unlabelled learning: bias of the estimators in both scenarios, and the bound of the PUCL paper's Theorem 1.
    Unlabelled,
    /// Bias and noise of the gradient of a batch over its size, the premise of Bayesian data augmentation, and the bound of its Theorem 3.
    GradientBias,
    /// Figure 3 of the BCL paper: densities of true and false negatives, base distribution N(0, 1).
    Figure3,
    /// Figure 5: the empirical distribution of exp(x/t), base distribution N(0, 1), t = 2, N = 20,000.
    Figure5,
    /// Figure 6: the density ratio over the score of the InfoNCE loss, and the bound of that loss on mutual information.
    Figure6,
    /// Figure 7: the base distribution function over the distribution function of unlabelled scores.
    Figure7,
    /// Figure 9: means of the estimators, with the base distribution U(-0.5, 0.5).
    Figure9,
    /// Figure 10: squared errors of the estimators, with the base distribution U(-0.5, 0.5).
    Figure10,
    /// Figure 3 of the BDA paper (its appendix F): learning curves of a noisy objective.
    BdaFigure3,
    /// How much of the supervised loss's gain is recovered without labels, by training small networks. It takes minutes, so it runs only if it is named.
    Recovery,
}

/// What to simulate.
#[derive(Debug, Clone, Serialize)]
pub struct SimulationPlan {
    /// The settings at the centre of every sweep.
    pub base: SimulationConfig,
    /// The seed of all draws.
    pub seed: Seed,
    /// The figures to draw; empty for all but [`Figure::Recovery`].
    pub only: Vec<Figure>,
    /// Whether to compare known values with those found.
    pub check: bool,
}

/// The results; parts that were not requested are empty.
#[derive(Debug, Serialize)]
pub struct Simulation {
    environment: Environment,
    plan: SimulationPlan,
    sweeps: Vec<Sweep>,
    calibrations: Vec<Calibration>,
    losses: Option<Losses>,
    noise: Vec<Noise>,
    unlabelled: Option<Unlabelled>,
    gradient_biases: Vec<GradientBias>,
    generalisation: Vec<Generalisation>,
    recoveries: Vec<WorldRecovery>,
    toy: Option<Toy>,
    check: Option<Check>,
    #[serde(skip)]
    drawings: Vec<Drawing>,
}

/// Simulates what the plan requests, in parallel on the global thread pool.
///
/// # Panics
/// Panics if a parameter is out of range; [`SimulationConfig::check`] returns an error instead.
pub fn run(plan: &SimulationPlan) -> Simulation {
    let SimulationPlan { base, seed, .. } = *plan;
    let wanted = |figure: Figure| plan.only.is_empty() || plan.only.contains(&figure);
    let mut drawings = Vec::new();
    if wanted(Figure::Densities) {
        drawings.extend(classes::densities(seed, &base));
    }
    if wanted(Figure::Ecdf) {
        drawings.extend(classes::distributions(seed, &base));
    }
    if wanted(Figure::Omega) {
        drawings.extend(omega::curves(base.tau_plus));
    }
    let sweeps = if wanted(Figure::Means) || wanted(Figure::Mse) {
        sweep::sweeps(seed, &base)
    } else {
        Vec::new()
    };
    if wanted(Figure::Means) {
        drawings.extend(sweeps.iter().map(Sweep::means));
    }
    if wanted(Figure::Mse) {
        drawings.extend(sweeps.iter().map(Sweep::errors));
    }
    let mut calibrations = Vec::new();
    if wanted(Figure::Calibration) {
        calibrations = calibration::calibrations(seed, &base);
        drawings.extend(calibration::drawings(&calibrations));
    }
    let losses = wanted(Figure::Losses).then(|| losses::losses(seed, &base));
    drawings.extend(losses.iter().flat_map(Losses::drawings));
    let mut noise = Vec::new();
    if wanted(Figure::Noise) {
        noise = noise::noise(seed, &base);
        drawings.extend(noise::drawings(&noise));
    }
    let unlabelled = wanted(Figure::Unlabelled).then(|| unlabelled::unlabelled(seed, &base));
    drawings.extend(unlabelled.iter().flat_map(Unlabelled::drawings));
    let (mut gradient_biases, mut generalisation) = (Vec::new(), Vec::new());
    if wanted(Figure::GradientBias) {
        generalisation = generalisation::generalisation();
        gradient_biases = gradient_bias::gradient_biases(seed, &base);
        drawings.extend(gradient_bias::drawings(&gradient_biases));
    }
    if wanted(Figure::Figure3) {
        drawings.extend(published::densities());
    }
    if wanted(Figure::Figure5) {
        drawings.extend(published::scores(seed));
    }
    if wanted(Figure::Figure6) {
        drawings.extend(bias::drawings());
    }
    if wanted(Figure::Figure7) {
        drawings.extend(published::transformations());
    }
    if wanted(Figure::Figure9) || wanted(Figure::Figure10) {
        let (means, errors) = published::estimators(seed, &base);
        drawings.extend(means.into_iter().filter(|_| wanted(Figure::Figure9)));
        drawings.extend(errors.into_iter().filter(|_| wanted(Figure::Figure10)));
    }
    let toy = wanted(Figure::BdaFigure3).then(|| toy::toy(seed));
    drawings.extend(toy.iter().map(Toy::drawing));
    let mut recoveries = Vec::new();
    if plan.only.contains(&Figure::Recovery) {
        recoveries = recovery::recoveries(seed, base.repetitions);
        drawings.extend(recovery::drawings(&recoveries));
    }
    Simulation {
        environment: Environment::read(rayon::current_num_threads()),
        plan: plan.clone(),
        sweeps,
        calibrations,
        losses,
        noise,
        unlabelled,
        gradient_biases,
        generalisation,
        recoveries,
        toy,
        check: plan.check.then(|| check::check(seed)),
        drawings,
    }
}

impl Simulation {
    /// The figures with their data.
    pub fn drawings(&self) -> &[Drawing] {
        &self.drawings
    }

    /// Whether known values were compared and one is off.
    pub fn failed(&self) -> bool {
        self.check.as_ref().is_some_and(|check| !check.holds())
    }
}

impl fmt::Display for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for sweep in &self.sweeps {
            section(f, &format!("Mean squared error over {}", sweep.parameter.name()), sweep)?;
        }
        if !self.calibrations.is_empty() {
            section(
                f,
                "Calibration of P(TN|x) (Lemma 3.2)",
                &calibration::Table(&self.calibrations),
            )?;
        }
        if let Some(losses) = &self.losses {
            section(f, "L - L_SUP as a power of N (Lemmas 3.3 and 3.4)", losses)?;
        }
        if !self.noise.is_empty() {
            let title =
                "Standard deviations: of S (InfoNCE) or the random factor (the others) relative to its mean, and of the loss";
            section(f, title, &noise::Table(&self.noise))?;
        }
        if let Some(found) = &self.unlabelled {
            let title = "Relative bias of the mean of negatives, in %, at t = 1 (positive-unlabelled learning)";
            section(f, title, &unlabelled::Biases(found))?;
            section(f, "Theorem 1 of the PUCL paper", &unlabelled::Theorem(found))?;
        }
        if !self.gradient_biases.is_empty() {
            let title = "The gradient of a batch against the gradient of the whole data set";
            section(f, title, &gradient_bias::Biases(&self.gradient_biases))?;
            let title = "Theorem 3 of the BDA paper: the bound without its complexity term, in nats";
            section(f, title, &generalisation::Listed(&self.generalisation))?;
        }
        if let Some(toy) = &self.toy {
            section(f, "Figure 3 of the BDA paper: the objective F after the last step", toy)?;
        }
        if !self.recoveries.is_empty() {
            let title = "The gain over InfoNCE and the share R of the supervised loss's gain, without labels";
            section(f, title, &recovery::Gains(&self.recoveries))?;
            let title = "Detected pairs at the first detection, before any is attracted, and at the last";
            section(f, title, &recovery::Readings(&self.recoveries))?;
        }
        if let Some(check) = &self.check {
            section(f, "Known squared errors at the paper's settings", check)?;
        }
        let SimulationConfig {
            num_anchors,
            num_negatives,
            num_positives,
            alpha,
            beta,
            gamma,
            tau_plus,
            temperature,
            hard_beta,
            repetitions,
            half_width: _,
        } = self.plan.base;
        write!(
            f,
            "M {num_anchors}, N {num_negatives}, K {num_positives}, alpha {alpha}, beta {beta}, gamma {gamma}, tau_plus {tau_plus}, \
             t {temperature}, hard_beta {hard_beta}, {repetitions} repetitions, seed {}; 95 % intervals over repetitions; {} threads.",
            self.plan.seed.0, self.environment.threads
        )
    }
}

/// Writes a title and a table, in the width of the formatter.
fn section(f: &mut fmt::Formatter<'_>, title: &str, table: &impl fmt::Display) -> fmt::Result {
    writeln!(f, "{title}")?;
    table.fmt(f)?;
    writeln!(f)
}
