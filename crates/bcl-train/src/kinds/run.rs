//! One run: trains and evaluates an encoder, given a recipe, data and a seed.

use super::{Baselines, Kind, Phases, Surroundings};
use crate::{
    error::Error,
    logging::Picture,
    training::{
        RunLog,
        environment::environment,
        estimator::EpochEstimator,
        phase::{PhaseRun, RecoveryPlan, Start, newest},
        progress::{Owner, Progress},
        stopping_rule::{StoppingRule, best},
    },
};
use bcl_data::Seed;
use bcl_files::notice::{self, Working, working};
use bcl_recipe::LossConfig;
use bcl_report::{
    SampleMetrics, Showcase,
    result::{Chosen, DataSummary, EpochRecord, Metrics, Phase, RunResult, SCHEMA},
};
use burn::tensor::Device;
use std::{collections::BTreeMap, sync::Arc, time::Instant};

/// Share of the training samples that [`Run::select`] holds out if the recipe itself holds out none.
const SELECTION_SHARE: f64 = 0.2;

/// A run of one recipe with one seed.
#[derive(Debug)]
pub struct Run<'a, K: Kind> {
    /// The recipe.
    pub recipe: &'a K,
    /// Hash of the recipe.
    pub recipe_hash: String,
    /// [Digest](crate::training::DataIdentity::digest) of the data.
    pub data_digest: String,
    /// The data, which have been checked against the recipe.
    pub data: Arc<K::Data>,
    /// The folder, the backend and the rest.
    pub around: &'a Surroundings<'a>,
}

/// The end of training.
#[derive(Debug)]
pub struct Trained {
    /// Number of epochs of the saved encoder.
    pub epochs: usize,
    /// The progress at the end of the last phase.
    pub progress: Progress,
}

impl Trained {
    /// The records of the last phase.
    pub fn records(&self) -> Vec<&EpochRecord> {
        self.progress.of_phase().collect()
    }
}

/// The evaluation of a trained encoder.
#[derive(Debug)]
pub struct Outcome {
    /// Metrics on test.
    pub metrics: Metrics,
    /// The epoch that was best on test, if the recipe asks for it.
    pub oracle: Option<Chosen>,
    /// The accuracy of each fold by classifier, if the encoder was cross-validated.
    pub folds: BTreeMap<String, Vec<f64>>,
    /// Metrics of the baselines.
    pub baselines: Baselines,
    /// Metrics of each user or graph.
    pub samples: Option<SampleMetrics>,
    /// Pictures for the report.
    pub showcase: Option<Showcase>,
}

impl<K: Kind> Run<'_, K> {
    /// Trains and evaluates, continuing from the newest checkpoint in the folder, and writes the result.
    ///
    /// # Errors
    /// Returns an error if the recipe does not fit, files cannot be read or written, the loss diverges, or the run is interrupted. Files
    /// written so far remain.
    pub fn finish(&self, shared: &K::Shared) -> Result<RunResult, Error> {
        let started = Instant::now();
        self.announce();
        let trained = self.train()?;
        let encoded = K::encode(self)?;
        self.around.on_first(|| {
            let outcome = K::outcome(self, &trained, encoded, shared)?;
            let result = self.result(&trained, outcome, started);
            let may_grow = self.phases().may_grow(&trained.progress.records);
            self.around.folder.finish(&result, trained.progress.records)?;
            self.around.folder.tidy(may_grow);
            Ok(result)
        })
    }

    /// Trains on a part of train and evaluates on the rest of it, without using test data.
    ///
    /// If the recipe holds out a part of train, this is the first phase of [`finish`](Self::finish), and the best epoch is returned.
    /// Otherwise a fifth is held out, and the encoder is evaluated there after the last epoch.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn select(&self) -> Result<Chosen, Error> {
        if self.recipe.selection().held_out > 0.0 {
            return self.chosen(&self.selection()?);
        }
        let part = Run {
            data: Arc::new(self.recipe.hold_out(&self.data, SELECTION_SHARE)?),
            recipe_hash: self.recipe_hash.clone(),
            data_digest: self.data_digest.clone(),
            ..*self
        };
        part.announce();
        let trained = part.train()?;
        let encoded = K::encode(&part)?;
        Ok(Chosen {
            epoch: trained.epochs,
            metrics: self.around.on_first(|| K::metrics(&part, &trained, encoded))?,
        })
    }

    /// The seed of the run.
    pub fn seed(&self) -> Seed {
        Seed(self.recipe.seed())
    }

    /// The device that evaluates.
    pub fn device(&self) -> Device {
        self.around.backend.device()
    }

    /// Prints every ten seconds that the run is still working on `what`.
    pub fn working(&self, what: &str) -> Option<Working> {
        (!self.around.quiet).then(|| working(format!("{}: {what}", self.recipe.name())))
    }

    fn announce(&self) {
        if !self.around.quiet {
            self.recipe
                .summary(&self.data, self.around.backend, self.around.folder.path())
                .print();
        }
    }

    /// Trains in one phase, or in two if the recipe holds out a part of train to choose the number of epochs.
    fn train(&self) -> Result<Trained, Error> {
        if self.recipe.selection().held_out == 0.0 {
            let epochs = self.recipe.training().epochs;
            let until = StoppingRule::Fixed {
                epochs,
                every: self.recipe.evaluate_every(),
            };
            let start = self.beginning(Phase::Training, &self.data, Vec::new());
            let progress = self.phase(self.data.clone(), start, until, Some(epochs))?;
            return Ok(Trained { epochs, progress });
        }
        let refit = self.beginning(Phase::Refit, &self.data, Vec::new());
        let found = self.around.on_first(|| {
            Ok(match newest(self.around.folder, &refit)? {
                // A checkpoint of the second phase has the records of the first.
                Some(found) => Some(Progress {
                    phase: Phase::Selection,
                    ..found.progress
                }),
                None => self.inherited_selection()?,
            })
        })?;
        let first = match found {
            Some(first) => first,
            None => self.selection()?,
        };
        let epochs = self.chosen(&first)?.epoch;
        let selected = first.of_phase().cloned().collect();
        let start = self.beginning(Phase::Refit, &self.data, selected);
        self.around.on_first(|| self.inherit_refit(&start, epochs))?;
        let until = self.phases().second(epochs);
        let progress = self.phase(self.data.clone(), start, until, Some(epochs))?;
        Ok(Trained { epochs, progress })
    }

    /// Trains on a part of train until the metric on the held-out part stops improving.
    fn selection(&self) -> Result<Progress, Error> {
        let part = Arc::new(self.recipe.hold_out(&self.data, self.recipe.selection().held_out)?);
        let start = self.beginning(Phase::Selection, &part, Vec::new());
        self.phase(part, start, self.phases().first(), None)
    }

    /// The best epoch of the first phase.
    ///
    /// # Errors
    /// Returns an error if no epoch has the metric, which only an edited checkpoint can cause.
    pub(super) fn chosen(&self, selection: &Progress) -> Result<Chosen, Error> {
        let records: Vec<&EpochRecord> = selection.of_phase().collect();
        let metric = self.recipe.metric(&self.data);
        let (epoch, _) = best(&records, |record| record.validation.as_ref(), &metric).ok_or_else(|| {
            Error::Input(format!(
                "the checkpoints in {} cannot be right: no epoch of selection has the metric {metric}; start a new run",
                self.around.folder.path().display()
            ))
        })?;
        Ok(Chosen {
            epoch,
            metrics: records[epoch - 1].validation.clone().unwrap_or_default(),
        })
    }

    /// The rules of the phases.
    pub(super) fn phases(&self) -> Phases<'_, K> {
        Phases::new(self.recipe, &self.data)
    }

    pub(super) fn beginning(&self, phase: Phase, data: &K::Data, records: Vec<EpochRecord>) -> Progress {
        let owner = Owner {
            recipe_hash: &self.recipe_hash,
            seed: self.recipe.seed(),
            data: &self.data_digest,
        };
        Progress::start(owner, phase, self.recipe.batches_per_epoch(data), records)
    }

    fn phase(&self, data: Arc<K::Data>, start: Progress, until: StoppingRule, keep: Option<usize>) -> Result<Progress, Error> {
        let (recipe, around) = (self.recipe, self.around);
        let Start { progress, resumed } = around.on_first(|| Start::find(around.folder, start, until))?;
        let estimator = recipe.estimator(&self.data)?.zip(recipe.num_negatives(&self.data));
        let estimator = estimator.map(|(config, num_negatives)| {
            let loss = recipe.loss();
            let schedules = loss.map(|loss| loss.schedules().clone()).unwrap_or_default();
            EpochEstimator::new(config, schedules, recipe.alpha_schedule(), num_negatives)
                .with_objective(loss.map(LossConfig::objective).unwrap_or_default())
        });
        if let Some(warning) = estimator.as_ref().and_then(EpochEstimator::warning) {
            notice::warn(warning);
        }
        let label = match progress.phase {
            Phase::Selection => format!("{} select", recipe.name()),
            Phase::Refit => format!("{} refit", recipe.name()),
            Phase::Training => recipe.name().to_owned(),
        };
        let phase = PhaseRun {
            folder: around.folder.clone(),
            label,
            select_by: recipe.metric(&data).into(),
            estimator,
            recovery: recipe.recovery().map(|(config, num_features)| RecoveryPlan {
                config: config.clone(),
                num_features,
                seed: self.seed(),
            }),
            why_no_negatives: recipe.why_no_negatives(),
            until,
            log: self.log(&data, &progress)?,
            keep,
            optimizer: recipe.optimizer().clone(),
            training: recipe.training().clone(),
            device: around.backend.training_device(),
            quiet: around.quiet,
            stop: around.stop.clone(),
            processes: around.processes.clone(),
            progress,
            resumed,
        };
        K::train(self, data, phase)
    }

    /// Begins to log a phase; at its first step with the recipe and, if it has any, views.
    fn log(&self, data: &K::Data, progress: &Progress) -> Result<RunLog, Error> {
        if !self.around.processes.is_first() {
            return Ok(RunLog::default());
        }
        let log = RunLog::new(self.recipe.logging(), self.around.folder, self.around.loggers.clone());
        let loggers = &log.loggers;
        if loggers.is_empty() {
            return Ok(log);
        }
        loggers.begin(progress.phase, progress.step)?;
        if progress.step == 0 {
            loggers.text(0, "recipe", &format!("```toml\n{}```\n", self.recipe.to_toml()))?;
            if let Some(png) = self.recipe.views_picture(data)? {
                loggers.image(0, "views", &Picture::of_png(png)?)?;
            }
            loggers.flush()?;
        }
        Ok(log)
    }

    fn result(&self, trained: &Trained, outcome: Outcome, started: Instant) -> RunResult {
        let mut epoch_seconds: Vec<f64> = trained.progress.of_phase().map(|record| record.train_seconds).collect();
        epoch_seconds.sort_by(f64::total_cmp);
        RunResult {
            schema: SCHEMA,
            name: self.recipe.name().to_owned(),
            recipe_hash: self.recipe_hash.clone(),
            seed: self.recipe.seed(),
            environment: environment(self.around.backend, self.around.processes.size()),
            data: DataSummary {
                name: K::data_name(&self.data).to_owned(),
                size: K::size(&self.data),
            },
            left_out: K::left_out(&self.data),
            encoder: self.recipe.encoder_name().to_owned(),
            loss: self.recipe.loss_name(),
            validation: Chosen {
                epoch: trained.epochs,
                metrics: outcome.metrics,
            },
            oracle: outcome.oracle,
            folds: outcome.folds,
            baselines: outcome.baselines,
            wall_seconds: started.elapsed().as_secs_f64(),
            epoch_seconds: epoch_seconds.get(epoch_seconds.len() / 2).copied().unwrap_or_default(),
            peak_memory_bytes: self.around.backend.peak_memory(),
            recipe: serde_json::to_value(self.recipe.to_table()).expect("a recipe is plain data"),
            samples: outcome.samples,
            showcase: outcome.showcase,
        }
    }
}
