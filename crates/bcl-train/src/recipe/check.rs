//! Checks that hold for every recipe.

use super::{LossConfig, Refusal};
use bcl_core::{parameter::shown, schedule::AlphaSchedule};

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
    let configured = match schedule {
        AlphaSchedule::Linear { start, end, .. } => vec![("start", start), ("end", end)],
        AlphaSchedule::ReleasedSteps { start, .. } => vec![("start", start)],
        _ => Vec::new(),
    };
    for (key, alpha) in configured {
        estimator.clone().with_alpha(alpha).check().map_err(|error| {
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
