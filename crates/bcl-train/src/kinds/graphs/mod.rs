//! Runs on graphs: encoders of whole graphs.

mod evaluation;
pub mod loader;
pub(super) mod memory;
mod saved;
mod summary;

use super::{BaselineCache, Kind, Outcome, Run, Trained};
use crate::{
    error::Error,
    memory::Estimate,
    training::{
        DataRecord,
        evaluate::EvaluationTask,
        folder::{load_model, save_model},
        phase::PhaseRun,
        progress::Progress,
        run_summary::RunSummary,
        stopping_rule::oracle,
    },
};
use bcl_backend::Backend;
use bcl_core::{EstimatorConfig, schedule::AlphaMeasurement};
use bcl_data::{
    KnownIds, SearchPath, Seed,
    graphs::{GraphBatchLimits, GraphData},
};
use bcl_eval::graphs::why_classifiers_are_off;
use bcl_files::notice;
use bcl_methods::{GraphMethodConfig, Method, WithGraphMethod, batches::GraphBatches};
use bcl_models::graphs::Gin;
use bcl_recipe::{DataFacts, GraphRecipe};
use bcl_report::result::{CALIBRATION_ERROR, CalibrationBin, DataSize, LAST_LOSS, Metrics};
use burn::tensor::Device;
use evaluation::{BaselineKey, EncodedGraphs, baselines};
use loader::{GraphLoader, LoaderOptions, batches_per_epoch};
use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

pub use saved::TrainedGraphEncoder;

impl Kind for GraphRecipe {
    type Data = Arc<GraphData>;
    type Shared = Mutex<BaselineCache<BaselineKey>>;
    type Encoded = ();

    fn source(&self, search: &SearchPath) -> Result<String, Error> {
        Ok(self.data.described(search)?)
    }

    fn load(&self, search: &SearchPath, _: KnownIds) -> Result<Arc<GraphData>, Error> {
        Ok(Arc::new(self.data.load(search)?))
    }

    fn shares_data_with(&self, other: &Self) -> bool {
        self.data == other.data
    }

    fn share(&self, data: &Arc<GraphData>) -> Result<Self::Shared, Error> {
        if let Some(text) = why_classifiers_are_off(data) {
            notice::note(text);
        }
        Ok(Mutex::default())
    }

    fn hold_out(&self, data: &Arc<GraphData>, _: f64) -> Result<Arc<GraphData>, Error> {
        Err(Error::Input(format!(
            "{}: settings of graph encoders cannot be tuned on a part of the graphs, because cross-validation evaluates them on all; compare \
             fixed settings, with --trials 0",
            data.name()
        )))
    }

    fn data_name(data: &Arc<GraphData>) -> &str {
        data.name()
    }

    fn size(data: &Arc<GraphData>) -> DataSize {
        DataSize::Graphs {
            graphs: data.num_graphs(),
            classes: data.num_classes(),
            nodes: data.num_nodes(),
            edges: data.num_edges(),
            features: data.num_features(),
        }
    }

    fn data_record(data: &Arc<GraphData>) -> DataRecord {
        DataRecord::of_graphs(data)
    }

    fn memory_of_data(&self) -> Estimate {
        memory::data(&self.data)
    }

    fn memory(&self, data: &Arc<GraphData>, _: usize) -> Estimate {
        memory::training(self, data)
    }

    fn check_data(&self, data: &Arc<GraphData>, _: &SearchPath, _: &Backend) -> Result<(), Error> {
        if data.num_graphs() < 2 {
            return Err(Error::Input(format!(
                "{}: there is one graph, but the negatives of a graph are others; add graphs",
                data.name()
            )));
        }
        Kind::estimator(self, data)?;
        if !data.is_labelled() {
            return refuse_need_of_labels(self, data);
        }
        // Whether the classes can be cross-validated.
        EncodedGraphs::evaluator(self, data, bcl_eval::Interrupt::default())?;
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

    fn estimator(&self, data: &Arc<GraphData>) -> Result<Option<EstimatorConfig>, Error> {
        let facts = DataFacts::of_classes(data.is_labelled().then(|| data.num_classes()));
        Ok(Some(self.loss.estimator(facts)?))
    }

    fn num_negatives(&self, data: &Arc<GraphData>) -> Option<usize> {
        let graphs = memory::graphs_of_a_batch(self, data, self.training.max_nodes);
        Some(self.method.settings().num_negatives(graphs))
    }

    fn batches_per_epoch(&self, data: &Arc<GraphData>) -> usize {
        batches_per_epoch(limits(self), data, Seed(self.seed))
    }

    fn metric(&self, data: &Arc<GraphData>) -> String {
        let metric = if data.is_labelled() {
            self.evaluation.metrics()[0]
        } else {
            LAST_LOSS
        };
        metric.to_owned()
    }

    fn evaluate_every(&self) -> usize {
        self.evaluation.every
    }

    fn summary(&self, data: &Arc<GraphData>, backend: &Backend, folder: &Path) -> RunSummary {
        summary::summary(self, data, backend, folder)
    }

    fn train(run: &Run<'_, Self>, data: Arc<Self::Data>, phase: PhaseRun) -> Result<Progress, Error> {
        let recipe = run.recipe;
        if recipe.training.epochs == 0 {
            let encoder = untrained(recipe, &data, &run.device());
            if run.around.processes.is_first() {
                save_model(encoder, &run.around.folder.model_file())?;
            }
            return Ok(phase.progress);
        }
        let (encoder, num_features) = (recipe.encoder.config(), data.num_features());
        let (seed, device) = (run.seed(), phase.device.clone());
        let data = Arc::clone(&*data);
        let training = Training { run, data, phase };
        recipe.method.init(encoder, num_features, seed, &device, training)
    }

    fn why_no_negatives(&self) -> &'static str {
        "all other graphs of the batch were excluded by the loss; raise training.batch_size and, if it is set, training.max_nodes"
    }

    fn encode(_: &Run<'_, Self>) -> Result<(), Error> {
        Ok(())
    }

    fn metrics(run: &Run<'_, Self>, _: &Trained, (): ()) -> Result<Metrics, Error> {
        let (graphs, encoder) = run.trained()?;
        Ok(graphs.evaluate(&graphs.vectors(&encoder)?)?.metrics)
    }

    fn outcome(run: &Run<'_, Self>, trained: &Trained, (): (), shared: &Self::Shared) -> Result<Outcome, Error> {
        let (graphs, encoder) = run.trained()?;
        let working = run.working("evaluating the encoder");
        let vectors = graphs.vectors(&encoder)?;
        let evaluation = graphs.evaluate(&vectors)?;
        drop(working);
        let samples = run.data.is_labelled().then(|| evaluation.samples());
        let mut metrics = evaluation.metrics;
        let records = trained.records();
        let best_on_test = || oracle(&records, (trained.epochs, &metrics), &run.recipe.metric(&run.data));
        let best_on_test = run.recipe.selection.oracle.then(best_on_test).flatten();
        if let Some(last) = records.last() {
            // The calibration error of P(TN|x), if the true classes are known.
            let calibration = CalibrationBin::expected_error(&last.calibration);
            metrics.extend(calibration.map(|error| (CALIBRATION_ERROR.to_owned(), error)));
            if !run.data.is_labelled() {
                metrics.insert(LAST_LOSS.to_owned(), last.loss);
            }
        }
        let _working = run.working("drawing maps and evaluating baselines");
        let showcase = graphs.showcase(&vectors);
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let baselines = baselines(run.recipe, &graphs, &mut shared)?;
        Ok(Outcome {
            metrics,
            folds: evaluation.folds,
            oracle: best_on_test,
            baselines,
            samples,
            showcase: Some(showcase),
        })
    }
}

/// All that training needs besides the method.
struct Training<'r, 'a> {
    run: &'r Run<'a, GraphRecipe>,
    data: Arc<GraphData>,
    phase: PhaseRun,
}

impl WithGraphMethod for Training<'_, '_> {
    type Output = Result<Progress, Error>;

    fn call<M, B>(self, method: M, batches: B) -> Result<Progress, Error>
    where
        M: Method<Encoder = Gin, Batch = B::Batch>,
        B: GraphBatches,
    {
        let Self { run, data, phase } = self;
        let Run { recipe, around, .. } = run;
        let plan = phase.plan();
        let with_truth = plan.needs_truth(recipe.alpha_schedule);
        let options = LoaderOptions {
            limits: limits(recipe),
            steps_per_epoch: recipe.batches_per_epoch(&data),
            gradient_cache: recipe.training.gradient_cache,
            with_truth,
            seed: run.seed(),
            device: phase.device.clone(),
        };
        let loader = GraphLoader::new(batches, Arc::clone(&data), plan.clone(), options);
        let task = EvaluationTask::new(
            EncodedGraphs::new(recipe, &data, around)?,
            phase.select_by.clone(),
            loader.probe(plan.estimator, &run.device()),
            phase.tau_plus().unwrap_or(1.0 / data.num_classes().max(2) as f64),
        );
        let task = if data.is_labelled() { task } else { task.without_measure() };
        phase.train(method, loader, task)
    }
}

/// Refuses what needs the classes of graphs that have none.
fn refuse_need_of_labels(recipe: &GraphRecipe, data: &GraphData) -> Result<(), Error> {
    let trains = recipe.training.epochs > 0;
    let loss = recipe.loss.objective().init(recipe.loss.without_data());
    let measures = recipe.alpha_schedule.measures() == Some(AlphaMeasurement::LabelBased);
    let (setting, remedy) = if trains && loss.requirements().truth {
        (format!("loss.kind = \"{}\"", recipe.loss.name()), "choose another loss")
    } else if trains && measures {
        let setting = "alpha_schedule.kind = \"measured\"";
        (setting.to_owned(), "set it to \"label_free\" or another schedule")
    } else if recipe.selection.oracle {
        ("selection.oracle = true".to_owned(), "remove it")
    } else {
        return Ok(());
    };
    Err(Error::Input(format!(
        "{setting} needs the class of each graph, but {} has no graph labels; {remedy}, or add a file …_graph_labels.txt",
        data.name()
    )))
}

/// The sizes of a batch.
fn limits(recipe: &GraphRecipe) -> GraphBatchLimits {
    GraphBatchLimits::new(recipe.training.batch_size, recipe.training.max_nodes)
}

/// The encoder with random weights from the seed.
fn untrained(recipe: &GraphRecipe, data: &GraphData, device: &Device) -> Gin {
    let seed = Seed(recipe.seed).named(GraphMethodConfig::ENCODER).0;
    recipe.encoder.config().init(data.num_features(), seed, device)
}

impl Run<'_, GraphRecipe> {
    /// The evaluator, and the encoder after training.
    fn trained(&self) -> Result<(EncodedGraphs, Gin), Error> {
        let graphs = EncodedGraphs::new(self.recipe, &self.data, self.around)?;
        let untrained = untrained(self.recipe, &self.data, &self.around.backend.device());
        Ok((graphs, load_model(untrained, self.around.folder)?))
    }
}
