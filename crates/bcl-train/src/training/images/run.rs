//! One run: a recipe, images and a seed become an encoder, and figures that say how good it is.

use super::{
    baselines::JudgedBaselines,
    batch::{ImageLoader, LoaderOptions},
    start::{initial, untrained},
};
use crate::{
    error::Error,
    methods::{ImageMethod, WithMethod},
    recipe::{ImageRecipe, Refusal},
    training::{
        data_size,
        environment::environment,
        estimator::EpochEstimator,
        evaluate::EvaluationTask,
        folder::{RunFolder, keep, load_kept},
        learned::Learned,
        opening::Opening,
        phase::{PhaseOptions, Start},
        progress::{Owner, Progress},
        recommender::run::Baselines,
        step::{EpochPlan, PlannedLoader},
        stop::Stop,
        stopping::Until,
    },
};
use bcl_backend::Backend;
use bcl_core::{EstimatorConfig, schedule::AlphaMeasurement};
use bcl_data::{SearchPath, Seed};
use bcl_eval::{
    Interrupt,
    images::{ImageJudge, Shown, showcase},
    probe::Labelled,
};
use bcl_images::ImageData;
use bcl_report::{
    notice::{self, Working, working},
    result::{CALIBRATION_ERROR, CalibrationBin, Chosen, DataSummary, EpochRecord, LAST_LOSS, Metrics, Phase, RunResult, SCHEMA},
};
use burn::module::Module;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// A run of one recipe with one seed.
#[derive(Debug)]
pub struct ImageRun<'a> {
    /// What to do.
    pub recipe: &'a ImageRecipe,
    /// Hash of the recipe.
    pub recipe_hash: &'a str,
    /// [Digest](crate::training::DataIdentity::digest) of the data.
    pub data_digest: &'a str,
    /// The images the recipe names, [checked](super::start::check) against it.
    pub data: &'a Arc<ImageData>,
    /// Where files that the recipe names are looked for.
    pub search: &'a SearchPath,
    /// Where to write.
    pub folder: &'a RunFolder,
    /// Where to compute.
    pub backend: &'a Backend,
    /// Whether to show no progress.
    pub quiet: bool,
    /// Stops the run after the step under way.
    pub stop: Stop,
}

/// A trained encoder, judged.
struct Outcome {
    judge: Arc<ImageJudge>,
    progress: Progress,
    /// Of the training and of the test images.
    features: [Labelled; 2],
    figures: Metrics,
}

impl ImageRun<'_> {
    /// Trains and evaluates, going on from the newest checkpoint in the folder where there is one, and writes the result beside
    /// baselines, which are only judged where they are not known yet.
    ///
    /// # Errors
    /// When data, recipe or disk do not allow it, the loss diverges, or the run is interrupted; what was written stays.
    pub fn finish(&self, judged: &Mutex<JudgedBaselines>) -> Result<RunResult, Error> {
        let started = Instant::now();
        let Outcome {
            judge,
            progress,
            features,
            figures,
        } = self.outcome()?;
        let _working = self.working("drawing the map and judging baselines");
        let showcase = showcase(&judge, &features, Seed(self.recipe.seed));
        drop(features);
        let mut judged = judged.lock().unwrap_or_else(PoisonError::into_inner);
        let baselines = judged.of(self.recipe, &judge, &self.backend.device())?;
        drop(judged);
        let result = RunResult {
            showcase: Some(showcase),
            ..self.result(&progress, figures, baselines, started)
        };
        self.folder.finish(&result, progress.records)?;
        Ok(result)
    }

    /// Trains, and judges the encoder after the last epoch; no report, no result.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn figures(&self) -> Result<Chosen, Error> {
        let Outcome { progress, figures, .. } = self.outcome()?;
        Ok(Chosen {
            epoch: progress.of_phase().count(),
            metrics: figures,
        })
    }

    /// Trains, and judges what comes of it.
    fn outcome(&self) -> Result<Outcome, Error> {
        let judge = Arc::new(judge(self.recipe, self.data, self.backend, self.stop.clone()));
        self.open();
        let progress = match self.recipe.training.epochs {
            0 => self.keep_initial()?,
            _ => self.train(&judge)?,
        };
        let trained = load_kept(untrained(self.recipe, &self.backend.device()), self.folder)?;
        let _working = self.working("judging the encoder");
        let features = judge.features(&trained)?;
        let mut figures = judge.encoder_with(&trained, &features)?;
        figures.extend(calibration_error(&progress));
        if !judge.is_on() {
            let last = progress.of_phase().last();
            figures.extend(last.map(|record| (LAST_LOSS.to_owned(), record.loss)));
        }
        Ok(Outcome {
            judge,
            progress,
            features,
            figures,
        })
    }

    /// Says what the run is about to do.
    fn open(&self) {
        if !self.quiet {
            let num_parameters = untrained(self.recipe, &self.backend.device()).num_params();
            Opening::of_images(self.recipe, self.data, num_parameters, self.backend, self.folder.path()).say();
        }
    }

    fn working(&self, what: &str) -> Option<Working> {
        (!self.quiet).then(|| working(format!("{}: {what}", self.recipe.name)))
    }

    fn beginning(&self) -> Progress {
        let owner = Owner {
            recipe_hash: self.recipe_hash,
            seed: self.recipe.seed,
            data: self.data_digest,
        };
        let steps_per_epoch = self.data.train.len() / self.recipe.training.batch_size;
        Progress::start(owner, Phase::Training, steps_per_epoch, Vec::new())
    }

    /// Keeps the encoder as it is.
    fn keep_initial(&self) -> Result<Progress, Error> {
        let start = Start::find(self.folder, self.beginning())?;
        let encoder = initial(self.recipe, self.search, &self.backend.device())?;
        keep(encoder, &self.folder.model_file())?;
        Ok(start.progress)
    }

    fn train(&self, judge: &Arc<ImageJudge>) -> Result<Progress, Error> {
        let recipe = self.recipe;
        let device = self.backend.training_device();
        let refuse = |refusal: Refusal| Error::Input(refusal.to_string());
        recipe.training.precision.check(&device).map_err(refuse)?;
        let start = Start::find(self.folder, self.beginning())?;
        let encoder = initial(recipe, self.search, &device)?;
        let dim = recipe.encoder.config().head.out;
        let training = Training { run: self, judge, start };
        recipe
            .method
            .init(encoder, dim, recipe.training.precision, Seed(recipe.seed), training)
    }

    fn result(&self, progress: &Progress, figures: Metrics, baselines: Baselines, started: Instant) -> RunResult {
        let records: Vec<&EpochRecord> = progress.of_phase().collect();
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
                size: data_size::of_images(self.data),
            },
            encoder: self.recipe.encoder.name().to_owned(),
            loss: self.recipe.loss_name().to_owned(),
            validation: Chosen {
                epoch: records.len(),
                metrics: figures,
            },
            oracle: None,
            baselines,
            wall_seconds: started.elapsed().as_secs_f64(),
            epoch_seconds: epoch_seconds.get(epoch_seconds.len() / 2).copied().unwrap_or_default(),
            peak_memory_bytes: bcl_backend::peak_memory(),
            recipe: serde_json::to_value(self.recipe).expect("a recipe is plain data"),
            showcase: None,
        }
    }
}

/// The training of a run, whatever its method.
struct Training<'a> {
    run: &'a ImageRun<'a>,
    judge: &'a Arc<ImageJudge>,
    start: Start,
}

impl WithMethod for Training<'_> {
    type Output = Result<Progress, Error>;

    fn call<M: ImageMethod>(self, method: M) -> Result<Progress, Error> {
        let Self { run, judge, start } = self;
        let recipe = run.recipe;
        let batch_size = recipe.training.batch_size;
        let device = run.backend.training_device();
        let num_negatives = recipe.method.num_negatives(batch_size);
        let schedule = recipe
            .estimator()
            .zip(num_negatives)
            .map(|(config, num_negatives)| EpochEstimator::new(config.clone(), recipe.alpha_schedule, num_negatives));
        if let Some(warning) = schedule.as_ref().and_then(EpochEstimator::warning) {
            notice::warn(warning);
        }
        let estimator = schedule.as_ref().map(|schedule| schedule.at(&start.progress));
        let plan = EpochPlan {
            epoch: start.progress.epoch,
            first_step: 0,
            estimator: estimator.clone(),
        };
        let with_truth = estimator.as_ref().is_some_and(|estimator| estimator.needs_truth())
            || recipe.alpha_schedule.measures() == Some(AlphaMeasurement::LabelBased)
            || method.remembers_classes();
        let options = LoaderOptions {
            views: recipe.views.init(),
            batch_size,
            gradient_cache: recipe.training.gradient_cache,
            with_truth,
            anchors_per_image: method.anchors_per_image(),
            seed: Seed(recipe.seed),
            device: device.clone(),
        };
        let loader = ImageLoader::new(run.data.clone(), plan, options);
        let tau_plus = recipe.estimator().and_then(EstimatorConfig::tau_plus);
        let task = EvaluationTask {
            measure: Some(judge.clone()),
            // Shown after an epoch; it chooses nothing.
            select_by: Arc::from(judge.shown_figure()),
            probe: loader.probe(estimator, &run.backend.device()),
            posterior: None,
            tau_plus: tau_plus.unwrap_or(1.0 / run.data.train.classes().len().max(2) as f64),
        };
        let epochs = recipe.training.epochs;
        let learning_rate = recipe.optimizer.schedule(epochs, loader.steps_per_epoch());
        let options = PhaseOptions {
            folder: run.folder,
            label: recipe.name.clone(),
            select_by: judge.shown_figure(),
            estimator: schedule,
            until: Until::Fixed {
                epochs,
                every: recipe.evaluation.every,
            },
            keep: Some(epochs),
            start,
            device,
            quiet: run.quiet,
            stop: run.stop.clone(),
        };
        let model = Learned::new(method, recipe.optimizer.largest_global_norm());
        options.train(model, recipe.optimizer.init(), learning_rate, loader, task)
    }
}

/// How far P(TN|x) is from the truth after the last epoch, where that is known.
fn calibration_error(progress: &Progress) -> Option<(String, f64)> {
    let last = progress.of_phase().last()?;
    Some((
        CALIBRATION_ERROR.to_owned(),
        CalibrationBin::expected_error(&last.calibration)?,
    ))
}

/// What judges the encoders of a recipe, until it is asked to stop.
pub fn judge(recipe: &ImageRecipe, data: &Arc<ImageData>, backend: &Backend, stop: Stop) -> ImageJudge {
    let evaluation = recipe.evaluation.clone();
    let views = recipe.views.init();
    let shown = Shown {
        side: evaluation.side.unwrap_or(views.config().side),
        views,
        device: backend.device(),
        interrupt: Interrupt::when(move || stop.is_requested()),
    };
    ImageJudge::new(data.clone(), shown, evaluation, Seed(recipe.seed))
}
