//! Recipes of graph encoders, and what must hold between their tables beyond the range of each value.

use super::{
    GraphDataConfig, GraphEvaluationConfig, LoggingConfig, LossConfig, OptimizerConfig, RecipeKind, Refusal, RunRecipe,
    SelectionConfig, TrainingConfig,
    check::{check_blocks, check_held_out_auc, check_schedule, check_training_auc},
    shared_tables,
};
use crate::check_header;
use bcl_core::{
    parameter::{MOST_EPOCHS, at_least},
    schedule::AlphaSchedule,
};
use bcl_data::manifest::{Contents, Layout};
use bcl_methods::GraphMethodConfig;
use bcl_models::graphs::GinConfig;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use toml::Table;

/// Everything that determines the run of a graph encoder, apart from the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphRecipe {
    /// Name of the run, and of its folder; by default the file's name.
    #[serde(default)]
    pub name: String,
    /// Seed of all random choices.
    #[serde(default)]
    pub seed: u64,
    /// The graphs.
    pub data: GraphDataConfig,
    /// The encoder.
    pub encoder: GraphEncoderKind,
    /// What is compared.
    #[serde(default)]
    pub method: GraphMethodConfig,
    /// How negatives are weighted.
    pub loss: LossConfig,
    /// Schedule of the loss's α.
    #[serde(default)]
    pub alpha_schedule: AlphaSchedule,
    /// Optimizer, learning rate schedule and clipping.
    #[serde(default)]
    pub optimizer: OptimizerConfig,
    /// Batch size and number of epochs.
    #[serde(default)]
    pub training: TrainingConfig,
    /// Whether the best epoch on test is reported, too.
    #[serde(default)]
    pub selection: SelectionConfig,
    /// What is logged beside `metrics.jsonl`. It is not hashed.
    #[serde(default, skip_serializing_if = "LoggingConfig::is_off")]
    pub logging: LoggingConfig,
    /// How graph vectors are evaluated.
    #[serde(default)]
    pub evaluation: GraphEvaluationConfig,
    /// Folder of the recipe file, where the files it names are looked for first. Built-in recipes have none. It is neither written nor
    /// hashed.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

/// Graph encoders, by `encoder.kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GraphEncoderKind {
    /// A graph isomorphism network.
    Gin(GinConfig),
}

impl GraphEncoderKind {
    /// All kinds: a recipe with one of them trains on graphs.
    pub const KINDS: [&str; 1] = ["gin"];

    /// The kind, as in recipes.
    pub fn name(&self) -> &'static str {
        let Self::Gin(_) = self;
        Self::KINDS[0]
    }

    /// The parameters of the network.
    pub fn config(&self) -> &GinConfig {
        let Self::Gin(config) = self;
        config
    }
}

impl RunRecipe for GraphRecipe {
    shared_tables!();

    const SAMPLES: &'static str = "graphs";
    const ENCODERS: &'static [&'static str] = &GraphEncoderKind::KINDS;
    const OWN_KEYS: &'static [&'static str] = &[
        "data.graphs",
        "data.features",
        "data.node_attributes",
        "data.symmetrise",
        "training.max_nodes",
    ];

    fn loss(&self) -> Option<&LossConfig> {
        Some(&self.loss)
    }

    fn comparison_metric(&self) -> &str {
        self.evaluation.metrics()[0]
    }

    fn has_layout(layout: &Layout) -> bool {
        layout.contents() == Contents::Graphs
    }
}

impl RecipeKind for GraphRecipe {
    const MEANINGLESS: &'static [(&'static str, &'static str)] = &[
        (
            "training.sync_batch_norm",
            "does not apply to graphs: every process encodes the whole batch; remove it",
        ),
        (
            "training.step_graph",
            "does not apply to graphs: each batch has other numbers of nodes and edges; remove it",
        ),
        (
            "optimizer.lazy",
            "does not apply to graphs: it is for embedding tables, which they do not have; remove it",
        ),
        (
            "optimizer.l2",
            "does not apply to graphs: it regularises embedding tables, which they do not have; use optimizer.weight_decay",
        ),
        (
            "training.precision",
            "does not apply to graphs: sums over neighbours are computed in 32 bits; remove it",
        ),
        (
            "training.sampling",
            "does not apply to graphs: each is drawn once per epoch; remove it",
        ),
        (
            "evaluation.label_fractions",
            "does not apply to graphs, whose classifiers are cross-validated on all labels; remove it",
        ),
    ];

    fn defaults() -> Table {
        toml::toml! {
            method.kind = "infograph"
            optimizer.weight_decay = 0.0
            training.batch_size = 128
            training.epochs = 20
        }
    }

    fn name_mut(&mut self) -> &mut String {
        &mut self.name
    }

    fn check(&self) -> Result<(), Refusal> {
        check_header(&self.name, self.seed)?;
        self.data.check()?;
        self.encoder
            .config()
            .check()
            .map_err(|message| Refusal::of_parameter("encoder", &message))?;
        let method = self.method.settings().check();
        method.map_err(|error| Refusal::of_text(&error.to_string()))?;
        let parameter = |table| move |error| Refusal::of_parameter(table, &error);
        self.loss.check(self.training.epochs)?;
        self.loss.check_words(false)?;
        self.check_rates()?;
        self.alpha_schedule.check().map_err(parameter("alpha_schedule"))?;
        self.optimizer.check_rate_of_networks()?;
        // Without training, no warm-up is too long.
        self.optimizer.check(match self.training.epochs {
            0 => MOST_EPOCHS,
            epochs => epochs,
        })?;
        self.training.check_counts(2, 0).map_err(parameter("training"))?;
        self.logging.check().map_err(parameter("logging"))?;
        self.check_sizes().map_err(parameter("training"))?;
        self.check_selection()?;
        self.evaluation
            .check()
            .map_err(|message| Refusal::of_parameter("evaluation", &message))?;
        check_schedule(&self.loss, self.alpha_schedule)?;
        check_training_auc(self.alpha_schedule)?;
        check_held_out_auc(self.alpha_schedule, 0.0)?;
        check_blocks(&self.loss, &self.training)
    }

    fn resolve(&mut self) {
        self.data.resolve();
    }
}

impl GraphRecipe {
    /// Checks the numbers of nodes: of a batch, and of those compared at a time.
    fn check_sizes(&self) -> Result<(), bcl_core::ParameterError> {
        at_least("max_nodes", self.training.max_nodes.unwrap_or(2), 2)?;
        at_least("gradient_cache", self.training.gradient_cache.unwrap_or(1), 1)
    }

    /// Refuses running rates, which are kept per training image.
    fn check_rates(&self) -> Result<(), Refusal> {
        if self.loss.without_data().parameter("running").is_none() {
            return Ok(());
        }
        Err(Refusal::new(
            "loss.running",
            "does not apply to graphs: running rates are kept per training image; remove it to draw at the rate of the batch",
        ))
    }

    /// Refuses to choose an epoch by a part of the graphs: cross-validation needs all of them.
    fn check_selection(&self) -> Result<(), Refusal> {
        let SelectionConfig {
            held_out,
            metric,
            oracle,
        } = &self.selection;
        let needless = [
            ("selection.held_out", *held_out != 0.0),
            ("selection.metric", metric.is_some()),
            ("training.patience", self.training.patience.is_some()),
        ];
        if let Some((key, _)) = needless.iter().find(|(_, is_given)| *is_given) {
            return Err(Refusal::new(
                *key,
                "does not apply to graphs: cross-validation evaluates the encoder of the last epoch on all of them; remove it, and set \
                 training.epochs",
            ));
        }
        if *oracle && (self.evaluation.every == 0 || self.training.epochs == 0) {
            return Err(Refusal::new(
                "selection.oracle",
                "is true, but no epochs are evaluated to choose from; set evaluation.every, such as 5, and training.epochs",
            ));
        }
        Ok(())
    }
}
