//! Recipes of recommenders, and what must hold between their tables beyond the range of each value.

use super::{
    DataConfig, DataSource, LoggingConfig, LossConfig, OptimizerConfig, RankingEvaluationConfig, RecipeKind, Refusal, RunRecipe,
    SelectionConfig, TrainingConfig,
    check::{check_blocks, check_schedule, check_training_auc},
    shared_tables,
};
use crate::{check_header, nearest};
use bcl_core::schedule::{AlphaMeasurement, AlphaSchedule};
use bcl_data::{
    manifest::{Contents, Layout},
    negatives::NegativesConfig,
};
use bcl_models::RecommenderConfig;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use toml::Table;

/// Everything that determines the run of a recommender, apart from the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecommenderRecipe {
    /// Name of the run, and of its folder; by default the file's name.
    #[serde(default)]
    pub name: String,
    /// Seed of all random choices.
    #[serde(default)]
    pub seed: u64,
    /// The interactions.
    pub data: DataConfig,
    /// The encoder of users and items.
    #[serde(default)]
    pub encoder: RecommenderConfig,
    /// Where negatives come from.
    #[serde(default)]
    pub negatives: NegativesConfig,
    /// How negatives are weighted.
    pub loss: LossConfig,
    /// Schedule of the loss's α.
    #[serde(default)]
    pub alpha_schedule: AlphaSchedule,
    /// The optimizer.
    #[serde(default)]
    pub optimizer: OptimizerConfig,
    /// Batch size and number of epochs.
    #[serde(default)]
    pub training: TrainingConfig,
    /// How the number of epochs is chosen.
    #[serde(default)]
    pub selection: SelectionConfig,
    /// What is logged beside `metrics.jsonl`. It is not hashed.
    #[serde(default, skip_serializing_if = "LoggingConfig::is_off")]
    pub logging: LoggingConfig,
    /// Metrics and baselines.
    #[serde(default)]
    pub evaluation: RankingEvaluationConfig,
    /// Folder of the recipe file, where the files it names are looked for first. Built-in recipes have none. It is neither written nor
    /// hashed.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

impl RunRecipe for RecommenderRecipe {
    shared_tables!();

    const SAMPLES: &'static str = "interactions";
    const ENCODERS: &'static [&'static str] = &RecommenderConfig::KINDS;
    const OWN_KEYS: &'static [&'static str] = &[
        "data.train",
        "data.test",
        "data.file",
        "data.files",
        "data.split",
        "negatives",
    ];

    fn loss(&self) -> Option<&LossConfig> {
        Some(&self.loss)
    }

    fn comparison_metric(&self) -> &str {
        self.selection_metric()
    }

    fn has_layout(layout: &Layout) -> bool {
        layout.contents() == Contents::Interactions
    }
}

impl RecipeKind for RecommenderRecipe {
    const MEANINGLESS: &'static [(&'static str, &'static str)] = &[
        (
            "training.sync_batch_norm",
            "does not apply to interactions: recommenders have no batch normalisation; remove it",
        ),
        (
            "training.step_graph",
            "does not apply to interactions: the rows that a step changes are found on the processor; remove it",
        ),
        (
            "training.precision",
            "does not apply to interactions: embedding tables are kept and trained in 32 bits; remove it",
        ),
        (
            "training.max_nodes",
            "does not apply to interactions, which have no nodes; remove it, or lower training.batch_size",
        ),
        (
            "training.sampling",
            "does not apply to interactions, which have no classes; remove it",
        ),
        (
            "evaluation.label_fractions",
            "does not apply to interactions, which have no classes to probe; remove it",
        ),
    ];

    fn defaults() -> Table {
        toml::toml! {
            encoder.kind = "mf"
            negatives.kind = "uniform"
            optimizer.learning_rate = 0.01
            optimizer.weight_decay = 0.0
            training.batch_size = 1024
            training.epochs = 60
            training.patience = 12
            selection.held_out = 0.1
            selection.metric = "ndcg@20"
            selection.oracle = true
        }
    }

    fn name_mut(&mut self) -> &mut String {
        &mut self.name
    }

    fn check(&self) -> Result<(), Refusal> {
        check_header(&self.name, self.seed)?;
        self.data.check()?;
        let parameter = |table| move |error| Refusal::of_parameter(table, &error);
        self.encoder
            .check()
            .map_err(|message| Refusal::of_parameter("encoder", &message))?;
        self.negatives
            .check()
            .map_err(|error| Refusal::of_parameter("negatives", &error))?;
        self.loss.check(self.training.epochs)?;
        self.loss.check_words(true)?;
        self.alpha_schedule.check().map_err(parameter("alpha_schedule"))?;
        self.optimizer.check(self.training.epochs)?;
        self.training.check(1, 1).map_err(parameter("training"))?;
        self.logging.check().map_err(parameter("logging"))?;
        self.selection.check().map_err(parameter("selection"))?;
        self.evaluation
            .check()
            .map_err(|message| Refusal::of_parameter("evaluation", &message))?;
        self.check_metric()?;
        check_schedule(&self.loss, self.alpha_schedule)?;
        check_blocks(&self.loss, &self.training)?;
        self.check_rates()?;
        self.check_truth()?;
        check_training_auc(self.alpha_schedule)?;
        self.check_in_batch()
    }

    fn resolve(&mut self) {
        self.data.resolve();
    }
}

impl RecommenderRecipe {
    /// The metric that selects an epoch.
    pub fn selection_metric(&self) -> &str {
        self.selection.metric.as_deref().unwrap_or_default()
    }

    /// Refuses to select by a metric that is not measured.
    fn check_metric(&self) -> Result<(), Refusal> {
        let (metric, known) = (self.selection_metric(), self.evaluation.metrics());
        if known.iter().any(|known| known == metric) {
            return Ok(());
        }
        let meant = nearest(metric, known.iter().map(String::as_str));
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean \"{meant}\"?"));
        Err(Refusal::new(
            "selection.metric",
            format!(
                "is \"{metric}\", but must be one of {} with `@` and one of the cutoffs {:?}{meant}",
                RankingEvaluationConfig::METRICS.join(", "),
                self.evaluation.cutoffs
            ),
        ))
    }

    /// Refuses running rates, which are kept per training image.
    fn check_rates(&self) -> Result<(), Refusal> {
        if self.loss.without_data().parameter("running").is_none() {
            return Ok(());
        }
        Err(Refusal::new(
            "loss.running",
            "does not apply to recommenders: running rates are kept per training image; remove it to draw at the rate of the batch",
        ))
    }

    /// Refuses what needs true classes if the data are not planted.
    fn check_truth(&self) -> Result<(), Refusal> {
        if matches!(self.data.source()?, DataSource::Planted(_)) {
            return Ok(());
        }
        let estimator = self.loss.without_data();
        if estimator.init().requirements().truth {
            return Err(Refusal::new(
                "loss.kind",
                format!(
                    "is \"{}\", which needs to know the true negatives: only data.dataset = \"planted\" has them",
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

    /// Refuses in-batch negatives for batches of one, which have no other positives.
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
