//! Checks that hold for every recipe.

use super::{LossConfig, Refusal};
use bcl_core::{parameter::shown, schedule::AlphaSchedule};

/// Checks the keys above all tables.
pub(super) fn check_header(name: &str, seed: u64) -> Result<(), Refusal> {
    check_name(name)?;
    if seed > i64::MAX as u64 {
        return Err(Refusal::new("seed", format!("is {seed}, but must be at most {}", i64::MAX)));
    }
    Ok(())
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

/// Checks that the name, which becomes a folder inside the one for runs, does not leave that folder.
fn check_name(name: &str) -> Result<(), Refusal> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let part_fits = |part: &str| !part.is_empty() && part != "." && part != "..";
    // Folder names may have 255 bytes, and the seed is appended.
    if name.len() > 1000 || name.split('/').any(|part| part.len() > 200) {
        return Err(Refusal::new(
            "name",
            format!("has {} characters, but may have 1000, and 200 between two `/`", name.len()),
        ));
    }
    if name.chars().all(allowed) && name.split('/').all(part_fits) {
        return Ok(());
    }
    Err(Refusal::new(
        "name",
        format!(
            "is \"{name}\", but must be a relative path of letters, digits, `-`, `_` and `.`, such as \"ml-100k/mf-bayesian\""
        ),
    ))
}
