//! Checks that hold for every recipe.

use super::{LossConfig, Refusal, TrainingConfig};
use bcl_core::{
    ContrastiveObjective,
    parameter::shown,
    schedule::{AlphaMeasurement, AlphaSchedule},
};

/// What makes the loss compare the anchors of a batch with each other, if it does. The loss itself must have been checked.
fn comparing_anchors(loss: &LossConfig) -> Option<String> {
    let objective = loss.objective();
    // A parameter with a schedule may have a value from which on they are compared.
    let moments = loss.schedules().milestones().into_iter();
    let mut estimators = moments.map(|moment| loss.schedules().at(loss.without_data(), moment));
    let estimator = &estimators.find(|estimator| objective.init(estimator).requirements().whole_batch)?;
    Some(match (objective, estimator.parameter("sigma")) {
        (_, Some(_)) => "loss.sigma".to_owned(),
        (ContrastiveObjective::Nce, None) => format!("loss.kind = \"{}\"", estimator.name()),
        (objective, None) => format!(
            "loss.objective = \"{}\" and loss.kind = \"{}\"",
            objective.name(),
            estimator.name()
        ),
    })
}

/// Refuses gradient caching for a loss that compares the anchors of a batch with each other. The loss itself must have been checked.
pub(super) fn check_blocks(loss: &LossConfig, training: &TrainingConfig) -> Result<(), Refusal> {
    let Some(switch) = training.gradient_cache.and_then(|_| comparing_anchors(loss)) else {
        return Ok(());
    };
    Err(Refusal::new(
        "training.gradient_cache",
        format!(
            "computes the loss in blocks of anchors, but with {switch} it depends on all anchors of a batch at once; remove \
             training.gradient_cache or {switch}"
        ),
    ))
}

impl LossConfig {
    /// Refuses several processes for a loss that compares the anchors of a batch with each other: each process has the scores of its own anchors.
    ///
    /// # Errors
    /// Returns an error that names the key and the remedy.
    pub fn check_processes(&self, num_processes: usize) -> Result<(), Refusal> {
        let Some(switch) = comparing_anchors(self).filter(|_| num_processes > 1) else {
            return Ok(());
        };
        Err(Refusal::new(
            "loss",
            format!(
                "depends on all anchors of a batch at once with {switch}, but each of {num_processes} processes computes the loss of its own \
                 anchors; train in one process, or choose another loss"
            ),
        ))
    }
}

/// Checks that the loss has an α for the schedule to move, and that none of its values makes the weights 0/0.
pub(super) fn check_schedule(loss: &LossConfig, schedule: AlphaSchedule) -> Result<(), Refusal> {
    let estimator = loss.without_data();
    if schedule == (AlphaSchedule::Constant {}) {
        return Ok(());
    }
    if estimator.alpha().is_none() {
        return Err(Refusal::new(
            "alpha_schedule.kind",
            format!(
                "moves alpha, which loss.kind \"{}\" does not have; remove [alpha_schedule], set alpha_schedule.kind = \"constant\", or use \
                 loss.kind = \"bayesian\"",
                estimator.name()
            ),
        ));
    }
    if loss.schedules().get("alpha").is_some() {
        return Err(Refusal::new(
            "alpha_schedule.kind",
            "moves alpha, but so does the schedule in loss.alpha; remove [alpha_schedule], or set loss.alpha to a number",
        ));
    }
    let configured = match schedule {
        AlphaSchedule::Linear { start, end, .. } => vec![("start", start), ("end", end)],
        AlphaSchedule::ReleasedSteps { start, .. } => vec![("start", start)],
        _ => Vec::new(),
    };
    // What alpha allows the other parameters may change with their schedules.
    let estimators = || {
        loss.schedules()
            .milestones()
            .into_iter()
            .map(|moment| loss.schedules().at(estimator, moment))
    };
    for ((key, alpha), estimator) in configured
        .into_iter()
        .flat_map(|alpha| estimators().map(move |estimator| (alpha, estimator)))
    {
        estimator.with_alpha(alpha).check().map_err(|error| {
            let problem = format!(
                "makes {} {}, which must {}",
                error.name,
                shown(error.value),
                error.requirement
            );
            Refusal::new(format!("alpha_schedule.{key}"), problem)
        })?;
    }
    Ok(())
}

/// Refuses a schedule of α that reads held-out data if none are held out.
pub(super) fn check_held_out_auc(schedule: AlphaSchedule, held_out: f64) -> Result<(), Refusal> {
    if schedule.measures() != Some(AlphaMeasurement::HeldOut) || held_out > 0.0 {
        return Ok(());
    }
    Err(Refusal::new(
        "alpha_schedule.kind",
        "is \"held_out\", but no training data are held out; for images, set selection.held_out, such as 0.1; for graphs, use \"label_free\" or \
         \"measured\"",
    ))
}

/// Refuses a schedule of α that reads features of training images, for data without images.
pub(super) fn check_training_auc(schedule: AlphaSchedule) -> Result<(), Refusal> {
    if schedule.measures() != Some(AlphaMeasurement::Training) {
        return Ok(());
    }
    Err(Refusal::new(
        "alpha_schedule.kind",
        "is \"released_empirical\", which reads the features of training images; use \"label_free\", or for recommenders \"held_out\"",
    ))
}
