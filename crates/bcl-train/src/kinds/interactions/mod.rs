//! Runs on interactions of users with items: recommenders.

mod baselines;
pub mod loader;
pub(super) mod memory;
mod ranking;
mod recommend;
mod recommendations;
mod saved;
mod summary;

use super::{Baselines, Kind, Outcome, Run, Trained};
use crate::{
    error::Error,
    memory::Estimate,
    training::{
        DataRecord, RunFolder, evaluate::EvaluationTask, folder::load_model, phase::PhaseRun, progress::Progress,
        run_summary::RunSummary, stopping_rule::oracle,
    },
};
use baselines::baselines;
use bcl_backend::Backend;
use bcl_core::{EstimatorConfig, schedule::AlphaMeasurement};
use bcl_data::{
    InteractionData, Interactions, KnownIds, LoadReport, SearchPath, Seed, SplitKind,
    negatives::{NegativeSampler, NegativesError},
};
use bcl_eval::ranking::{EmbeddingScorer, ItemOrder, RankingEvaluator};
use bcl_files::notice;
use bcl_models::{Graph, Recommender};
use bcl_recipe::{DataFacts, RecommenderRecipe};
use bcl_report::{
    SampleKind, SampleMetrics,
    result::{DataSize, EFFECTIVE_SAMPLE_SIZE, EpochRecord, Metrics, Phase, SCORE_SPREAD},
};
use burn::tensor::Device;
use loader::{InteractionLoader, LoaderOptions};
use memory::PROBE_ANCHORS;
use ranking::RankingMeasure;
pub use recommend::{ListOptions, RankingMetrics, RankingOptions};
pub use recommendations::{Recommendations, RecommendedItem, Subject};
pub use saved::TrainedRecommender;
use std::{collections::BTreeMap, path::Path, sync::Arc};

impl Kind for RecommenderRecipe {
    type Data = InteractionData;
    type Shared = Baselines;
    type Encoded = ();

    fn source(&self, search: &SearchPath) -> Result<String, Error> {
        Ok(self.data.described(search)?)
    }

    fn load(&self, search: &SearchPath, ids: KnownIds) -> Result<InteractionData, Error> {
        Ok(self.data.load(search, ids)?)
    }

    fn shares_data_with(&self, other: &Self) -> bool {
        self.data == other.data && self.evaluation == other.evaluation
    }

    fn share(&self, data: &InteractionData) -> Result<Baselines, Error> {
        baselines(data, &self.evaluation)
    }

    fn hold_out(&self, data: &InteractionData, share: f64) -> Result<InteractionData, Error> {
        let part = data.hold_out(share, Seed(self.seed).named("validation"));
        if part.trained_test().is_empty() {
            return Err(nothing_to_validate_on(data, &part, share));
        }
        Ok(part)
    }

    fn data_name(data: &InteractionData) -> &str {
        &data.name
    }

    fn size(data: &InteractionData) -> DataSize {
        DataSize::Interactions {
            users: data.train.num_users(),
            items: data.train.num_items(),
            train: data.train.len(),
            test: data.test.len(),
        }
    }

    fn left_out(data: &InteractionData) -> Option<LoadReport> {
        (data.report != LoadReport::default()).then_some(data.report)
    }

    fn data_record(data: &InteractionData) -> DataRecord {
        DataRecord::of_interactions(data)
    }

    fn memory_of_data(&self) -> Estimate {
        memory::data(&self.data)
    }

    fn memory(&self, data: &InteractionData, _: usize) -> Estimate {
        memory::training(self, data.into())
    }

    fn check_data(&self, data: &InteractionData, search: &SearchPath, _: &Backend) -> Result<(), Error> {
        sampler(self, data)?;
        if self.selection.held_out > 0.0 {
            self.hold_out(data, self.selection.held_out)?;
        }
        let names = self.data.load_item_names(search, &data.items)?;
        if let Some(names) = names.filter(|names| names.num_untitled() > 0) {
            notice::note(format!(
                "data.items has no title for {} of {} items; they are shown by their ids",
                names.num_untitled(),
                data.items.len()
            ));
        }
        Ok(())
    }

    fn check_processes(&self, size: usize) -> Result<(), Error> {
        Ok(self.loss.check_processes(size)?)
    }

    fn encoder_name(&self) -> &'static str {
        self.encoder.name()
    }

    fn loss_name(&self) -> String {
        self.loss.name()
    }

    fn estimator(&self, data: &InteractionData) -> Result<Option<EstimatorConfig>, Error> {
        let facts = DataFacts::of_density(data.train.density());
        Ok(Some(self.loss.estimator(facts)?))
    }

    fn num_negatives(&self, data: &InteractionData) -> Option<usize> {
        let others = || self.training.batch_size.min(data.train.len()).saturating_sub(1);
        Some(self.negatives.count().unwrap_or_else(others))
    }

    fn why_no_negatives(&self) -> &'static str {
        "all were masked because the user has interacted with them, or excluded by the loss; raise negatives.count (training.batch_size \
         for negatives.kind = \"in_batch\"), or set negatives.mask_hits = false"
    }

    fn batches_per_epoch(&self, data: &InteractionData) -> usize {
        data.train.len().div_ceil(self.training.batch_size)
    }

    fn metric(&self, _: &InteractionData) -> String {
        self.selection_metric().to_owned()
    }

    fn summary(&self, data: &InteractionData, backend: &Backend, folder: &Path) -> RunSummary {
        summary::summary(self, data, backend, folder)
    }

    fn train(run: &Run<'_, Self>, data: Arc<Self::Data>, phase: PhaseRun) -> Result<Progress, Error> {
        let recipe = run.recipe;
        let (seed, plan, device) = (run.seed(), phase.plan(), phase.device.clone());
        let InteractionData { train, truth, .. } = &*data;
        let estimator = phase.estimator.as_ref().expect("recommenders have an estimator");
        let sampler = Arc::new(sampler(recipe, &data)?);
        let options = |device| LoaderOptions {
            batch_size: recipe.training.batch_size,
            gradient_cache: recipe.training.gradient_cache,
            seed,
            device,
        };
        let loader = |device| {
            let truth = truth.clone().map(Arc::new);
            InteractionLoader::new(train, sampler.clone(), truth, plan.clone(), options(device))
        };
        let stop = phase.stop.clone();
        let measure = RankingMeasure {
            evaluator: evaluator(recipe, &data).with_interrupt(move || stop.is_requested()),
            // Test data set no parameter of the loss.
            macro_auc: phase.progress.phase == Phase::Selection
                && recipe.alpha_schedule.measures() == Some(AlphaMeasurement::HeldOut),
        };
        let task = EvaluationTask::new(
            measure,
            phase.select_by.clone(),
            loader(run.device()).probe(plan.estimator.clone(), PROBE_ANCHORS),
            estimator.tau_plus().unwrap_or_else(|| run.data.train.density()),
        );
        let method = bcl_methods::Recommendation {
            encoder: recipe.encoder.init(&graph(train), seed.named("init").0, &device),
            l2: recipe.optimizer.l2,
        };
        let loader = loader(device);
        phase.train(method, loader, task)
    }

    fn encode(_: &Run<'_, Self>) -> Result<(), Error> {
        Ok(())
    }

    fn metrics(_: &Run<'_, Self>, trained: &Trained, (): ()) -> Result<Metrics, Error> {
        Ok(metrics_of(&trained.records(), trained.epochs))
    }

    fn outcome(run: &Run<'_, Self>, trained: &Trained, (): (), shared: &Baselines) -> Result<Outcome, Error> {
        let records = trained.records();
        let mut metrics = metrics_of(&records, trained.epochs);
        let best_on_test = || oracle(&records, (trained.epochs, &metrics), &run.recipe.metric(&run.data));
        let best_on_test = run.recipe.selection.oracle.then(best_on_test).flatten();
        let record = records[trained.epochs - 1];
        metrics.extend(
            record
                .effective_sample_size
                .map(|size| (EFFECTIVE_SAMPLE_SIZE.to_owned(), size)),
        );
        metrics.extend(record.score_spread.map(|spread| (SCORE_SPREAD.to_owned(), spread)));
        Ok(Outcome {
            metrics,
            oracle: best_on_test,
            baselines: shared.clone(),
            folds: BTreeMap::new(),
            samples: Some(of_users(run)?),
            showcase: None,
        })
    }
}

/// The negatives of the recipe. Errors name users by their ids.
fn sampler(recipe: &RecommenderRecipe, data: &InteractionData) -> Result<NegativeSampler, Error> {
    NegativeSampler::new(&recipe.negatives, &data.train, Seed(recipe.seed)).map_err(|error| match error {
        NegativesError::NothingLeft { user, num_items } => Error::Input(format!(
            "user {} has interacted with all {num_items} items, so `uniform` has nothing to draw; use negatives.kind = \"uniform_all\"",
            data.users.raw(user)
        )),
        error => error.into(),
    })
}

/// The error for data of which no interaction is left to validate on in the part that was held out.
fn nothing_to_validate_on(data: &InteractionData, part: &InteractionData, share: f64) -> Error {
    if data.hold_out.kind() == SplitKind::Temporal && !part.test.is_empty() {
        return Error::Input(format!(
            "the newest {} training interactions, which selection.held_out = {share} holds out, all belong to users without an earlier one, about whom \
             nothing can be learned; raise selection.held_out, or split per user: data.split = {{ order = \"time\" }}",
            part.test.len()
        ));
    }
    let train = &data.train;
    let mut lengths: Vec<usize> = (0..train.num_users() as u32).map(|user| train.items_of(user).len()).collect();
    lengths.retain(|&length| length > 1);
    lengths.sort_unstable();
    let Some(&median) = lengths.get(lengths.len() / 2) else {
        return Error::Input(
            "no user has two interactions for training, so none can be left out to validate on; bring data with longer histories"
                .to_owned(),
        );
    };
    Error::Input(format!(
        "a share of {share} leaves no interaction to validate on: users have at most {} for training, and the share of each user rounds to \
         none; set selection.held_out = {}",
        lengths[lengths.len() - 1],
        // At least half of these users then have an interaction to validate on.
        (100.0 / median as f64).ceil() / 100.0
    ))
}

/// The metrics of each user, by the saved encoder.
fn of_users(run: &Run<'_, RecommenderRecipe>) -> Result<SampleMetrics, Error> {
    let (recipe, data, around) = (run.recipe, &run.data, run.around);
    let encoder = trained(recipe, data, around.folder, &around.backend.device())?;
    let stop = around.stop.clone();
    let evaluator = evaluator(recipe, data).with_interrupt(move || stop.is_requested());
    metrics_of_users(&evaluator, &EmbeddingScorer::new(encoder.embeddings()), data)
}

/// The metrics of each user that an evaluator ranks for.
fn metrics_of_users(
    evaluator: &RankingEvaluator,
    scorer: &EmbeddingScorer,
    data: &InteractionData,
) -> Result<SampleMetrics, Error> {
    let users = evaluator.users().iter();
    Ok(SampleMetrics {
        kind: SampleKind::User,
        ids: users.map(|&user| data.users.raw(user).to_owned()).collect(),
        metrics: evaluator.evaluate_users(scorer)?,
    })
}

/// The encoder with the weights that a run has saved.
///
/// # Errors
/// As [`load_model`].
fn trained(
    recipe: &RecommenderRecipe,
    data: &InteractionData,
    folder: &RunFolder,
    device: &Device,
) -> Result<Recommender, Error> {
    load_model(recipe.encoder.init(&graph(&data.train), recipe.seed, device), folder)
}

/// Ranks for the test users of the data that have training interactions.
fn evaluator(recipe: &RecommenderRecipe, data: &InteractionData) -> RankingEvaluator {
    RankingEvaluator::new(&recipe.evaluation.cutoffs, &data.train, &data.trained_test()).in_order(item_order(data))
}

/// The order of ties, without the items about which nothing was learned.
fn item_order(data: &InteractionData) -> ItemOrder {
    ItemOrder::hashed(data.items.iter()).without_untrained(&data.train)
}

/// The graph of the interactions that an encoder propagates along.
fn graph(train: &Interactions) -> Graph {
    Graph {
        num_users: train.num_users(),
        num_items: train.num_items(),
        edges: train.pairs().collect(),
    }
}

/// The test metrics after an epoch, counted from 1.
fn metrics_of(records: &[&EpochRecord], epoch: usize) -> Metrics {
    records[epoch - 1].test.clone().unwrap_or_default()
}
