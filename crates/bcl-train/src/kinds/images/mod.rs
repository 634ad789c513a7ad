//! Runs on images: self-supervised encoders.

mod baselines;
mod encoded;
mod fine_tune;
pub mod loader;
pub(super) mod memory;
mod online;
mod order;
mod saved;
pub mod search;
mod shares;
mod start;
mod summary;

use super::{BaselineCache, Kind, Outcome, Run, Trained};
use crate::{
    error::Error,
    memory::Estimate,
    training::{
        DataRecord, Stop, evaluate::EvaluationTask, folder::save_model, phase::PhaseRun, progress::Progress,
        run_summary::RunSummary, stopping_rule::oracle,
    },
};
pub use baselines::BaselineKey;
use baselines::baselines;
use bcl_backend::Backend;
use bcl_core::{EstimatorConfig, schedule::AlphaMeasurement};
use bcl_data::{KnownIds, SearchPath, Seed};
use bcl_eval::{
    Interrupt,
    images::{FeatureExtractor, ImageEvaluator, MeasuredAuc, clusters, has_labelled_test, showcase, why_probes_are_off},
};
use bcl_files::notice;
use bcl_images::{Collection, ImageData};
use bcl_methods::{ImageMethod, MethodStart, WithMethod};
use bcl_recipe::{DataFacts, ImageRecipe, RecoveryConfig, check_precision};
use bcl_report::{
    collapse::collapse,
    result::{DataSize, DetectionRecord, Metrics, Phase},
};
use burn::module::Module;
pub use encoded::Encoded;
use encoded::Evaluated;
pub use fine_tune::{FineTuneOptions, FineTuning, MODEL as FINE_TUNED_MODEL, Measured, RECORD as FINE_TUNING_RECORD, fine_tune};
use loader::{ImageLoader, LoaderOptions};
use order::epoch_order;
pub use saved::{ImageMetrics, embed, evaluate, export, export_onnx};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// Number of images in a picture of views.
const PICTURED: usize = 12;

impl Kind for ImageRecipe {
    type Data = ImageData;
    type Shared = Mutex<BaselineCache<BaselineKey>>;
    type Encoded = Encoded;

    fn source(&self, search: &SearchPath) -> Result<String, Error> {
        Ok(self.data.described(search)?)
    }

    fn load(&self, search: &SearchPath, _: KnownIds) -> Result<ImageData, Error> {
        Ok(self.data.load(search)?)
    }

    fn shares_data_with(&self, other: &Self) -> bool {
        self.data == other.data
    }

    fn share(&self, data: &ImageData) -> Result<Self::Shared, Error> {
        if let Some(text) = why_probes_are_off(data) {
            notice::note(text);
        }
        Ok(Mutex::default())
    }

    fn hold_out(&self, data: &ImageData, share: f64) -> Result<ImageData, Error> {
        let (train, test) = bcl_images::hold_out(&data.train, share, Seed(self.seed).named("validation"));
        let part = ImageData {
            name: format!("{}, {share} of train held out", data.name),
            train,
            test,
            skipped: data.skipped.clone(),
            notes: Vec::new(),
        };
        start::check_held_out(data, &part, share)?;
        start::check(self, &part)?;
        if has_labelled_test(&part) {
            return Ok(part);
        }
        Err(Error::Input(format!(
            "{}: choosing between epochs or recipes evaluates features on a part of the training images, which needs images of at least \
             two classes; put them into folders CLASS/ or train/CLASS/",
            data.name
        )))
    }

    fn data_name(data: &ImageData) -> &str {
        &data.name
    }

    fn size(data: &ImageData) -> DataSize {
        DataSize::Images {
            classes: data.train.classes().len(),
            train: data.train.len(),
            test: data.test.len(),
            skipped: data.skipped.len(),
        }
    }

    fn data_record(data: &ImageData) -> DataRecord {
        DataRecord::of_images(data)
    }

    fn memory_of_data(&self) -> Estimate {
        memory::data(&self.data)
    }

    fn memory(&self, data: &ImageData, num_processes: usize) -> Estimate {
        memory::training(&shares::of_one_process(self, num_processes), data.into())
    }

    fn check_data(&self, data: &ImageData, search: &SearchPath, backend: &Backend) -> Result<(), Error> {
        if self.training.epochs > 0 {
            check_precision(self.training.precision, &backend.device())?;
        }
        start::check(self, data)?;
        Kind::estimator(self, data)?;
        if self.selection.held_out > 0.0 {
            self.hold_out(data, self.selection.held_out)?;
        }
        // Without a file of weights there is nothing to check.
        if self.encoder.weights().is_some() {
            let (_, report) = start::initial_with_report(self, search, &backend.device())?;
            report.into_iter().for_each(notice::note);
        }
        Ok(())
    }

    fn check_processes(&self, size: usize) -> Result<(), Error> {
        shares::check_shares(self, size)?;
        self.loss.iter().try_for_each(|loss| Ok(loss.check_processes(size)?))
    }

    fn encoder_name(&self) -> &'static str {
        self.encoder.name()
    }

    fn loss_name(&self) -> String {
        Self::loss_name(self)
    }

    fn estimator(&self, data: &ImageData) -> Result<Option<EstimatorConfig>, Error> {
        let facts = DataFacts::of_classes(Some(data.train.classes().len()).filter(|&number| number > 0));
        Ok(self.loss.as_ref().map(|loss| loss.estimator(facts)).transpose()?)
    }

    fn recovery(&self) -> Option<(&RecoveryConfig, usize)> {
        Some((self.recovery.as_ref()?, self.encoder.config().num_features()))
    }

    fn num_negatives(&self, _: &ImageData) -> Option<usize> {
        self.method.settings().num_negatives(self.training.batch_size)
    }

    fn batches_per_epoch(&self, data: &ImageData) -> usize {
        data.train.len() / self.training.batch_size
    }

    fn metric(&self, data: &ImageData) -> String {
        self.selection_metric()
            .unwrap_or_else(|| ImageEvaluator::shown_metric(data))
            .to_owned()
    }

    fn evaluate_every(&self) -> usize {
        self.evaluation.every
    }

    fn summary(&self, data: &ImageData, backend: &Backend, folder: &Path) -> RunSummary {
        let num_parameters = start::untrained(self, &backend.device()).num_params();
        summary::summary(self, data, num_parameters, backend, folder)
    }

    fn train(run: &Run<'_, Self>, data: Arc<Self::Data>, phase: PhaseRun) -> Result<Progress, Error> {
        let Run { recipe, around, .. } = run;
        if recipe.training.epochs == 0 {
            let encoder = start::initial(recipe, around.search, &run.device())?;
            if around.processes.is_first() {
                save_model(encoder, &around.folder.model_file())?;
            }
            return Ok(phase.progress);
        }
        let device = phase.device.clone();
        let norm_processes = (recipe.training.sync_batch_norm && around.processes.size() > 1).then(|| around.processes.clone());
        let encoder = start::initial(recipe, around.search, &device)?.with_norms_over_processes(norm_processes.as_ref());
        let steps_per_epoch = recipe.batches_per_epoch(&data).div_ceil(recipe.training.accumulate);
        let start = MethodStart {
            encoder,
            dim: recipe.encoder.config().dim(),
            num_images: data.train.len(),
            classes: data.train.labels().iter().copied().collect(),
            steps_per_epoch,
            num_steps: steps_per_epoch * recipe.training.epochs,
            precision: recipe.training.precision,
            norm_processes,
            seed: run.seed(),
            device,
        };
        recipe.method.init(start, Training { run, data, phase })
    }

    fn why_no_negatives(&self) -> &'static str {
        "all other images of the batch or queue were excluded by the loss, for example because they are of the anchor's class; raise \
         training.batch_size"
    }

    fn encode(run: &Run<'_, Self>) -> Result<Encoded, Error> {
        Encoded::of(run)
    }

    fn metrics(run: &Run<'_, Self>, trained: &Trained, encoded: Encoded) -> Result<Metrics, Error> {
        let _working = run.working("evaluating the encoder");
        Ok(encoded.evaluated(trained)?.metrics)
    }

    fn outcome(run: &Run<'_, Self>, trained: &Trained, encoded: Encoded, shared: &Self::Shared) -> Result<Outcome, Error> {
        let Evaluated {
            evaluator,
            features,
            metrics,
        } = {
            let _working = run.working("evaluating the encoder");
            encoded.evaluated(trained)?
        };
        if let Some(text) = collapse(&metrics) {
            notice::warn(format_args!(
                "{}, seed {}: the features {text}",
                run.recipe.name, run.recipe.seed
            ));
        }
        let _working = run.working("drawing maps and evaluating baselines");
        let mut showcase = showcase(&evaluator, &features, Seed(run.recipe.seed))?;
        drop(features);
        let images = &run.data.train;
        let found = run.recipe.recovery.as_ref().and_then(|_| run.around.folder.read_clusters());
        if let Some(found) = found.filter(|found| found.len() == images.len()) {
            showcase.clusters = clusters(images, &found)?;
        }
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let records = trained.records();
        if let Some([before, after]) = DetectionRecord::rose_after_attraction(&trained.progress.records) {
            notice::warn(format_args!(
                "{}, seed {}: clusters became reproducible only after they were attracted (stability {before:.2} before, {after:.2} at the end), \
                 which attraction can cause by itself; look at the clusters in the report, and compare with recovery.attract = 0",
                run.recipe.name, run.recipe.seed
            ));
        }
        let metric = run.recipe.oracle_metric();
        Ok(Outcome {
            oracle: metric.and_then(|metric| oracle(&records, (trained.epochs, &metrics), metric)),
            metrics,
            folds: BTreeMap::new(),
            baselines: baselines(run.recipe, &evaluator, &run.around.backend.device(), &mut shared)?,
            samples: None,
            showcase: Some(showcase),
        })
    }

    fn views_picture(&self, data: &ImageData) -> Result<Option<Vec<u8>>, Error> {
        pictured_views(self, &data.train).map(Some)
    }
}

/// Draws the first images of the first epoch with their views as a PNG file.
///
/// # Errors
/// Returns an error if the views do not fit into memory, or an image cannot be read.
pub fn pictured_views(recipe: &ImageRecipe, images: &Collection) -> Result<Vec<u8>, Error> {
    let seed = Seed(recipe.seed);
    let mut pictured = epoch_order(images.len(), seed, 0);
    pictured.truncate(PICTURED);
    memory::views(pictured.len(), &recipe.views).check()?;
    let views = recipe.views.init();
    let mut pixels = Vec::new();
    views.batch(images, &pictured, 0, seed, &mut pixels)?;
    Ok(views.contact_sheet(images, &pictured, &pixels)?)
}

/// A phase that trains with any method.
struct Training<'r, 'a> {
    run: &'r Run<'a, ImageRecipe>,
    data: Arc<ImageData>,
    phase: PhaseRun,
}

impl WithMethod for Training<'_, '_> {
    type Output = Result<Progress, Error>;

    fn call<M: ImageMethod>(self, method: M) -> Result<Progress, Error> {
        let Self { run, data, phase } = self;
        let Run { recipe, around, .. } = run;
        let plan = phase.plan();
        let with_truth = plan.needs_truth(recipe.alpha_schedule) || method.remembers_classes();
        let options = LoaderOptions {
            views: recipe.views.init(),
            batch_size: recipe.training.batch_size,
            sampling: recipe.training.sampling,
            gradient_cache: recipe.training.gradient_cache,
            with_truth,
            num_anchors: method.num_anchors(recipe.training.batch_size),
            own: shares::own_images(recipe, &*around.processes),
            seed: run.seed(),
            device: phase.device.clone(),
        };
        let loader = ImageLoader::new(data.clone(), plan.clone(), options);
        let task = EvaluationTask::new(
            evaluator(recipe, &data, around.backend, around.stop.clone())
                .measuring_auc(measured_auc(recipe, phase.progress.phase)),
            phase.select_by.clone(),
            loader.probe(plan.estimator, &run.device()),
            phase.tau_plus().unwrap_or(1.0 / data.train.classes().len().max(2) as f64),
        );
        phase.train(method, loader, task)
    }
}

/// The images whose AUC the schedule of α reads in a phase. Test data set no parameter of the loss, and a refit follows what was measured before.
fn measured_auc(recipe: &ImageRecipe, phase: Phase) -> Option<MeasuredAuc> {
    match recipe.alpha_schedule.measures()? {
        AlphaMeasurement::HeldOut if phase == Phase::Selection => Some(MeasuredAuc::Test),
        AlphaMeasurement::Training if phase != Phase::Refit => Some(MeasuredAuc::Train {
            anchors: 2 * recipe.training.batch_size,
        }),
        _ => None,
    }
}

/// Creates the evaluator of a recipe, which `stop` can interrupt.
fn evaluator(recipe: &ImageRecipe, data: &Arc<ImageData>, backend: &Backend, stop: Stop) -> ImageEvaluator {
    let evaluation = recipe.evaluation.clone();
    let views = recipe.views.init();
    let extractor = FeatureExtractor {
        side: evaluation.side.unwrap_or(views.config().side),
        views,
        device: backend.device(),
        interrupt: Interrupt::when(move || stop.is_requested()),
    };
    ImageEvaluator::new(data.clone(), extractor, evaluation, Seed(recipe.seed))
}
