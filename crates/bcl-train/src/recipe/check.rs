//! What must hold between the tables of a recipe, beyond the range of each value.

use super::{DataSource, Recipe, Refusal};
use crate::negatives::NegativesConfig;
use bcl_core::schedule::{AlphaMeasurement, AlphaSchedule};

impl Recipe {
    /// Checks every table, and that the tables fit together.
    ///
    /// # Errors
    /// Names the first key that is refused, its value, and what would be accepted.
    pub fn check(&self) -> Result<(), Refusal> {
        check_name(&self.name)?;
        if self.seed > i64::MAX as u64 {
            return Err(Refusal::new(
                "seed",
                format!("is {}, but must be at most {}", self.seed, i64::MAX),
            ));
        }
        self.data.check()?;
        let parameter = |table| move |error| Refusal::of_parameter(table, &error);
        self.encoder.check().map_err(|message| {
            let (key, problem) = message.split_once(' ').unwrap_or((&message, ""));
            Refusal::new(format!("encoder.{key}"), problem)
        })?;
        self.negatives.check().map_err(parameter("negatives"))?;
        self.loss.without_data().check().map_err(parameter("loss"))?;
        self.alpha_schedule.check().map_err(parameter("alpha_schedule"))?;
        self.optimizer.check().map_err(parameter("optimizer"))?;
        self.training.check().map_err(parameter("training"))?;
        self.evaluation.check()?;
        self.check_schedule()?;
        self.check_truth()?;
        self.check_in_batch()
    }

    /// A schedule moves an α; there must be one, and nothing may be left that it makes 0/0.
    fn check_schedule(&self) -> Result<(), Refusal> {
        let estimator = self.loss.without_data();
        if self.alpha_schedule == (AlphaSchedule::Constant {}) {
            return Ok(());
        }
        if estimator.alpha().is_none() {
            return Err(Refusal::new(
                "alpha_schedule.kind",
                format!(
                    "moves alpha, which loss.kind \"{}\" has not; remove [alpha_schedule] or use loss.kind = \"bayesian\"",
                    estimator.name()
                ),
            ));
        }
        if let AlphaSchedule::Linear { start, end, .. } = self.alpha_schedule {
            for (key, alpha) in [("start", start), ("end", end)] {
                estimator.clone().with_alpha(alpha).check().map_err(|error| {
                    let problem = format!("makes {} {}, which must {}", error.name, error.value, error.requirement);
                    Refusal::new(format!("alpha_schedule.{key}"), problem)
                })?;
            }
        }
        Ok(())
    }

    /// Only planted data know the truth.
    fn check_truth(&self) -> Result<(), Refusal> {
        if matches!(self.data.source()?, DataSource::Planted(_)) {
            return Ok(());
        }
        let estimator = self.loss.without_data();
        if estimator.init().needs_truth() {
            return Err(Refusal::new(
                "loss.kind",
                format!(
                    "is \"{}\", which needs to know the true negatives: only data.dataset = \"planted\" does",
                    estimator.name()
                ),
            ));
        }
        if self.alpha_schedule.measures() == Some(AlphaMeasurement::LabelBased) {
            return Err(Refusal::new(
                "alpha_schedule.kind",
                "is \"measured\", which reads the true classes: only data.dataset = \"planted\" has them; use \"label_free\"",
            ));
        }
        Ok(())
    }

    /// A batch of one has no other positives.
    fn check_in_batch(&self) -> Result<(), Refusal> {
        if matches!(self.negatives, NegativesConfig::InBatch(_)) && self.training.batch_size < 2 {
            return Err(Refusal::new(
                "training.batch_size",
                format!(
                    "is {}, but negatives.kind \"in_batch\" needs at least 2: the negatives are the other positives",
                    self.training.batch_size
                ),
            ));
        }
        Ok(())
    }
}

/// The name becomes a folder below the one for runs, and must not leave it.
fn check_name(name: &str) -> Result<(), Refusal> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let part_fits = |part: &str| !part.is_empty() && part != "." && part != "..";
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
