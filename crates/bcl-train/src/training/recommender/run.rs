//! One run: a recipe, data and a seed become a result.

use super::batch::{InteractionLoader, LoaderOptions};
use crate::{
    error::Error,
    memory::recommender::PROBE_ANCHORS,
    methods::Recommendation,
    recipe::RecommenderRecipe,
    training::{
        data_size,
        environment::environment,
        estimator::EpochEstimator,
        evaluate::EvaluationTask,
        folder::RunFolder,
        learned::Learned,
        opening::Opening,
        phase::{PhaseOptions, Start, newest},
        progress::{Owner, Progress},
        step::EpochPlan,
        stop::Stop,
        stopping::{Until, best},
    },
};
use bcl_backend::Backend;
use bcl_core::EstimatorConfig;
use bcl_data::{InteractionData, Interactions, Seed, hold_out, negatives::NegativeSampler};
use bcl_eval::ranking::RankingEvaluator;
use bcl_models::Graph;
use bcl_report::{
    notice,
    result::{Chosen, DataSummary, EpochRecord, Metrics, Phase, RunResult, SCHEMA},
};
use burn::optim::{AdamConfig, ModuleOptimizer, decay::WeightDecayConfig, lr_scheduler::constant::ConstantLr};
use std::{collections::BTreeMap, sync::Arc, time::Instant};

/// Figures of the baselines, by name.
pub type Baselines = BTreeMap<String, Metrics>;

/// A run of one recipe with one seed.
#[derive(Debug)]
pub struct Run<'a> {
    /// What to do.
    pub recipe: &'a RecommenderRecipe,
    /// Hash of the recipe.
    pub recipe_hash: &'a str,
    /// [Digest](crate::training::DataIdentity::digest) of the data.
    pub data_digest: &'a str,
    /// The data the recipe names.
    pub data: &'a InteractionData,
    /// Where to write.
    pub folder: &'a RunFolder,
    /// Where to compute.
    pub backend: &'a Backend,
    /// Whether to show no progress.
    pub quiet: bool,
    /// Stops the run after the step under way.
    pub stop: Stop,
}

impl Run<'_> {
    /// Trains and evaluates, going on from the newest checkpoint in the folder where there is one, and writes the result.
    ///
    /// # Errors
    /// When data, recipe or disk do not allow it, the loss diverges, or the run is interrupted; what was written stays.
    pub fn finish(&self, baselines: Baselines) -> Result<RunResult, Error> {
        let started = Instant::now();
        let estimator = self.estimator()?;
        if !self.quiet {
            Opening::of_recommender(self.recipe, self.data, self.backend, self.folder.path()).say();
        }
        let refit = self.beginning(Phase::Refit, &self.data.train, Vec::new());
        let selection = if let Some(refit) = newest(self.folder, &refit)? {
            Progress {
                phase: Phase::Selection,
                ..refit.progress
            }
        } else {
            self.selection(&estimator)?
        };
        let epochs = self.chosen_on_validation(&selection)?.epoch;

        let selected = selection.of_phase().cloned().collect();
        let start = self.beginning(Phase::Refit, &self.data.train, selected);
        let until = Until::Epochs {
            epochs,
            oracle_patience: self.recipe.evaluation.oracle.then_some(self.recipe.training.patience),
            at_most: self.recipe.training.epochs,
        };
        let refit = self.phase(&estimator, start, until, &self.data.train, &self.data.test, Some(epochs))?;

        let result = self.result(&refit, epochs, &estimator, baselines, started);
        self.folder.finish(&result, refit.records)?;
        self.folder.tidy();
        Ok(result)
    }

    /// Only the first phase: the best epoch on the validation tenth, with its figures there. Test is not looked at.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn select(&self) -> Result<Chosen, Error> {
        self.chosen_on_validation(&self.selection(&self.estimator()?)?)
    }

    fn estimator(&self) -> Result<EstimatorConfig, Error> {
        Ok(self.recipe.loss.estimator(self.data.train.density())?)
    }

    /// Trains on nine tenths of train until the figure on the last tenth rises no more.
    fn selection(&self, estimator: &EstimatorConfig) -> Result<Progress, Error> {
        let training = &self.recipe.training;
        let seed = Seed(self.recipe.seed);
        let (fit, validation) = hold_out(&self.data.train, training.validation, seed.named("validation"));
        let until = Until::NoImprovement {
            patience: training.patience,
            at_most: training.epochs,
        };
        let start = self.beginning(Phase::Selection, &fit, Vec::new());
        self.phase(estimator, start, until, &fit, &validation, None)
    }

    /// The beginning of a phase that trains on some interactions.
    fn beginning(&self, phase: Phase, train: &Interactions, records: Vec<EpochRecord>) -> Progress {
        let owner = Owner {
            recipe_hash: self.recipe_hash,
            seed: self.recipe.seed,
            data: self.data_digest,
        };
        let steps_per_epoch = train.len().div_ceil(self.recipe.training.batch_size);
        Progress::start(owner, phase, steps_per_epoch, records)
    }

    /// The best epoch of the first phase.
    ///
    /// # Errors
    /// When no epoch has a figure, which only an edited checkpoint can say.
    fn chosen_on_validation(&self, selection: &Progress) -> Result<Chosen, Error> {
        let records: Vec<&EpochRecord> = selection.of_phase().collect();
        let select_by = &self.recipe.evaluation.select_by;
        let (epoch, _) = best(&records, |record| record.validation.as_ref(), select_by).ok_or_else(|| {
            Error::Input(format!(
                "the checkpoints in {} cannot be right: no epoch of selection has a figure {select_by}; start a new run",
                self.folder.path().display()
            ))
        })?;
        Ok(Chosen {
            epoch,
            metrics: records[epoch - 1].validation.clone().unwrap_or_default(),
        })
    }

    /// Trains on some interactions and evaluates on others, epoch by epoch.
    fn phase(
        &self,
        estimator: &EstimatorConfig,
        start: Progress,
        until: Until,
        train: &Interactions,
        held_out: &Interactions,
        keep: Option<usize>,
    ) -> Result<Progress, Error> {
        let recipe = self.recipe;
        let phase = start.phase;
        let start = Start::find(self.folder, start)?;
        let seed = Seed(recipe.seed);
        let device = self.backend.training_device();
        let num_negatives = recipe.negatives.count().unwrap_or(recipe.training.batch_size - 1);
        let schedule = EpochEstimator::new(estimator.clone(), recipe.alpha_schedule, num_negatives);
        if let Some(warning) = schedule.warning() {
            notice::warn(warning);
        }
        let first = Some(schedule.at(&start.progress));
        let plan = EpochPlan {
            epoch: start.progress.epoch,
            first_step: 0,
            estimator: first.clone(),
        };
        let sampler = Arc::new(NegativeSampler::new(&recipe.negatives, train, seed)?);
        let options = |device| LoaderOptions {
            batch_size: recipe.training.batch_size,
            gradient_cache: recipe.training.gradient_cache,
            temperature: estimator.temperature(),
            seed,
            device,
        };
        let truth = self.data.truth.clone().map(Arc::new);
        let loader = InteractionLoader::new(train, sampler.clone(), truth.clone(), plan.clone(), options(device.clone()));
        let measured = InteractionLoader::new(train, sampler, truth, plan, options(self.backend.device()));
        let stop = self.stop.clone();
        let evaluator =
            RankingEvaluator::new(&recipe.evaluation.cutoffs, train, held_out).with_interrupt(move || stop.is_requested());
        let task = EvaluationTask {
            measure: Some(Arc::new(evaluator)),
            select_by: Arc::from(recipe.evaluation.select_by.as_str()),
            probe: measured.probe(first, PROBE_ANCHORS),
            posterior: None,
            tau_plus: estimator.tau_plus().unwrap_or_else(|| self.data.train.density()),
        };

        let graph = Graph {
            num_users: train.num_users(),
            num_items: train.num_items(),
            edges: train.pairs().collect(),
        };
        let method = Recommendation {
            encoder: recipe.encoder.init(&graph, seed.named("init").0, &device),
            l2: recipe.optimizer.l2,
        };
        let label = match phase {
            Phase::Selection => "select",
            Phase::Refit | Phase::Training => "refit",
        };
        let options = PhaseOptions {
            folder: self.folder,
            label: format!("{} {label}", recipe.name),
            select_by: &recipe.evaluation.select_by,
            estimator: Some(schedule),
            until,
            keep,
            start,
            device,
            quiet: self.quiet,
            stop: self.stop.clone(),
        };
        let learning_rate = ConstantLr::new(recipe.optimizer.learning_rate);
        options.train(Learned::new(method, None), self.optimizer(), learning_rate, loader, task)
    }

    fn optimizer(&self) -> ModuleOptimizer {
        let decay = self.recipe.optimizer.weight_decay;
        // Burn's default epsilon of 1e-5 is a thousand times that of the paper and of other frameworks, and the gradients of single
        // embedding rows are small enough to feel it.
        AdamConfig::new()
            .with_epsilon(1e-8)
            .with_weight_decay((decay > 0.0).then(|| WeightDecayConfig::new(decay as f32)))
            .init()
    }

    fn result(
        &self,
        refit: &Progress,
        epochs: usize,
        estimator: &EstimatorConfig,
        baselines: Baselines,
        started: Instant,
    ) -> RunResult {
        let records: Vec<&EpochRecord> = refit.of_phase().collect();
        let chosen = |epoch: usize| Chosen {
            epoch,
            metrics: records[epoch - 1].test.clone().unwrap_or_default(),
        };
        let oracle = best(&records, |record| record.test.as_ref(), &self.recipe.evaluation.select_by).map(|(epoch, _)| epoch);
        let mut epoch_seconds: Vec<f64> = records.iter().map(|record| record.train_seconds).collect();
        epoch_seconds.sort_by(f64::total_cmp);
        RunResult {
            schema: SCHEMA,
            name: self.recipe.name.clone(),
            recipe_hash: self.recipe_hash.to_owned(),
            seed: self.recipe.seed,
            environment: environment(self.backend),
            data: DataSummary {
                name: self.data.name.clone(),
                size: data_size::of_interactions(self.data),
            },
            encoder: self.recipe.encoder.name().to_owned(),
            loss: estimator.name().to_owned(),
            validation: chosen(epochs),
            oracle: oracle.filter(|_| self.recipe.evaluation.oracle).map(chosen),
            baselines,
            wall_seconds: started.elapsed().as_secs_f64(),
            epoch_seconds: epoch_seconds[epoch_seconds.len() / 2],
            peak_memory_bytes: bcl_backend::peak_memory(),
            recipe: serde_json::to_value(self.recipe).expect("a recipe is plain data"),
            showcase: None,
        }
    }
}
