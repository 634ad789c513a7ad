//! What a phase of a run logs, and under which tags.

use super::RunFolder;
use crate::logging::{LoggerError, Loggers, Scalars, StepsFile, TensorBoard};
use bcl_recipe::LoggingConfig;
use bcl_report::result::EpochRecord;

/// The loggers of a phase, and how often they receive a step.
#[derive(Debug, Clone, Default)]
pub struct RunLog {
    /// All loggers of the phase.
    pub loggers: Loggers,
    /// Steps between two points within an epoch; 0 for none.
    pub every: usize,
}

impl RunLog {
    /// Adds the loggers of a recipe to the caller's loggers.
    pub fn new(config: &LoggingConfig, folder: &RunFolder, loggers: Loggers) -> Self {
        let mut loggers = loggers;
        if config.every > 0 {
            loggers = loggers.with(StepsFile::new(folder.steps_file()));
        }
        if config.tensorboard {
            loggers = loggers.with(TensorBoard::new(folder.tensorboard()));
        }
        Self {
            loggers,
            every: config.every,
        }
    }

    /// Logs every so many steps the loss and the learning rate of a step.
    ///
    /// # Errors
    /// Returns an error if a logger does.
    pub fn step(&self, step: usize, loss: f64, learning_rate: f64) -> Result<(), LoggerError> {
        if self.every == 0 || !step.is_multiple_of(self.every) {
            return Ok(());
        }
        let scalars = [("step/loss", loss), ("step/learning_rate", learning_rate)];
        self.loggers
            .scalars(step, &scalars.map(|(tag, value)| (tag.to_owned(), value)).into())
    }

    /// Logs the record of an epoch that ended with this step.
    ///
    /// # Errors
    /// Returns an error if a logger does.
    pub fn epoch(&self, step: usize, record: &EpochRecord) -> Result<(), LoggerError> {
        if self.loggers.is_empty() {
            return Ok(());
        }
        self.loggers.scalars(step, &scalars_of(record))?;
        self.loggers.flush()
    }
}

/// The numbers of a record, except those that are undefined.
fn scalars_of(record: &EpochRecord) -> Scalars {
    let false_negatives = record.false_negatives;
    let single = [
        ("epoch/number", Some(record.epoch as f64)),
        ("epoch/loss", Some(record.loss)),
        ("epoch/train_seconds", Some(record.train_seconds)),
        ("epoch/evaluation_seconds", Some(record.evaluation_seconds)),
        ("weights/alpha", record.alpha),
        ("weights/alpha_hat", record.alpha_hat),
        ("weights/alpha_labels", record.alpha_labels),
        ("weights/macro_auc", record.macro_auc),
        ("recovery/clusters", record.detection.map(|found| found.clusters as f64)),
        ("recovery/stability", record.detection.map(|found| found.stability)),
        ("recovery/strength", record.detection.map(|found| found.strength)),
        ("recovery/detected", record.detection.map(|found| found.detected)),
        ("recovery/precision", record.detection.and_then(|found| found.precision)),
        ("recovery/recall", record.detection.and_then(|found| found.recall)),
        ("weights/score_spread", record.score_spread),
        ("weights/effective_sample_size", record.effective_sample_size),
        ("weights/floored", record.floored),
        ("weights/false_negatives_share", false_negatives.map(|found| found.share)),
        (
            "weights/false_negatives_gradient",
            false_negatives.map(|found| found.gradient),
        ),
    ];
    let single = single.into_iter().filter_map(|(tag, value)| Some((tag.to_owned(), value?)));
    let groups = [
        ("scheduled", Some(&record.scheduled)),
        ("validation", record.validation.as_ref()),
        ("test", record.test.as_ref()),
    ];
    let grouped = groups.into_iter().flat_map(|(group, values)| {
        let values = values.into_iter().flatten();
        values.map(move |(name, value)| (format!("{group}/{name}"), *value))
    });
    single.chain(grouped).filter(|(_, value)| value.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logging::Logger;
    use bcl_report::result::Phase;
    use std::sync::mpsc::{Sender, channel};

    #[derive(Debug)]
    struct Steps(Sender<(usize, Scalars)>);

    impl Logger for Steps {
        fn begin(&mut self, _: Phase, _: usize) -> Result<(), LoggerError> {
            Ok(())
        }

        fn scalars(&mut self, step: usize, scalars: &Scalars) -> Result<(), LoggerError> {
            self.0
                .send((step, scalars.clone()))
                .map_err(|error| LoggerError::other("steps", error))
        }
    }

    #[test]
    fn steps_are_logged_every_so_often_and_never_by_default() {
        let logged = |every| {
            let (sender, receiver) = channel();
            let log = RunLog {
                loggers: Loggers::default().with(Steps(sender)),
                every,
            };
            (1..=7).for_each(|step| log.step(step, 0.5, 0.1).unwrap());
            drop(log);
            receiver.iter().map(|(step, _)| step).collect::<Vec<_>>()
        };
        assert_eq!(logged(0), [0; 0]);
        assert_eq!(logged(3), [3, 6]);
    }

    #[test]
    fn the_numbers_of_a_record_have_a_tag_each_and_undefined_ones_none() {
        let line = r#"{"phase":"refit","epoch":2,"loss":1.5,"alpha":0.75,"omega_quantiles":[],"train_seconds":1,"evaluation_seconds":2,
            "test":{"recall@20":0.25},"scheduled":{"temperature":0.1}}"#;
        let mut record: EpochRecord = serde_json::from_str(line).unwrap();
        record.alpha_hat = Some(f64::NAN);
        let scalars = scalars_of(&record);
        let expected = [
            ("epoch/evaluation_seconds", 2.0),
            ("epoch/loss", 1.5),
            ("epoch/number", 2.0),
            ("epoch/train_seconds", 1.0),
            ("scheduled/temperature", 0.1),
            ("test/recall@20", 0.25),
            ("weights/alpha", 0.75),
        ];
        let found: Vec<(&str, f64)> = scalars.iter().map(|(tag, value)| (&**tag, *value)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_error_of_a_logger_is_that_of_the_log() {
        let (sender, receiver) = channel();
        drop(receiver);
        let log = RunLog {
            loggers: Loggers::default().with(Steps(sender)),
            every: 1,
        };
        assert!(log.step(1, 0.5, 0.1).unwrap_err().to_string().starts_with("steps: "));
    }
}
