//! Recipes of image encoders, and what must hold between their tables beyond the range of each value.

use super::{
    ImageDataConfig, ImageEvaluationConfig, LoggingConfig, LossConfig, OptimizerConfig, OptimizerKind, RecipeKind,
    RecoveryConfig, Refusal, RunRecipe, SelectionConfig, TrainingConfig,
    check::{check_blocks, check_held_out_auc, check_schedule},
    shared_tables,
};
use crate::check_header;
use bcl_core::{
    AugmentedRate, EstimatorConfig,
    parameter::MOST_EPOCHS,
    schedule::{AlphaMeasurement, AlphaSchedule},
};
use bcl_data::manifest::{Contents, Layout};
use bcl_images::{ColourSpace, ViewsConfig};
use bcl_methods::{Labels, MethodConfig, Needs, Positives};
use bcl_models::vision::{ImageEncoderConfig, ProjectionHeadConfig, ResNetConfig};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use std::path::{Path, PathBuf};
use toml::Table;

/// Metrics that may select an epoch: they are measured during training and in results. The first is the default.
const SELECTION_METRICS: [&str; 2] = ["knn_top1", "knn_top5"];

/// Everything that determines the run of an image encoder, apart from the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageRecipe {
    /// Name of the run, and of its folder; by default the file's name.
    #[serde(default)]
    pub name: String,
    /// Seed of all random choices.
    #[serde(default)]
    pub seed: u64,
    /// The images.
    pub data: ImageDataConfig,
    /// The random views of an image.
    #[serde(default)]
    pub views: ViewsConfig,
    /// The encoder.
    pub encoder: ImageEncoderKind,
    /// What a step minimises.
    #[serde(default, skip_serializing_if = "MethodConfig::is_default")]
    pub method: MethodConfig,
    /// How negatives are weighted; absent if the method has a loss of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossConfig>,
    /// Schedule of the loss's α.
    #[serde(default)]
    pub alpha_schedule: AlphaSchedule,
    /// Optimizer, learning rate schedule and clipping.
    #[serde(default)]
    pub optimizer: OptimizerConfig,
    /// Batch size and number of epochs.
    #[serde(default)]
    pub training: TrainingConfig,
    /// How the number of epochs is chosen; by default `[training]` sets it.
    #[serde(default, serialize_with = "selection_of_images")]
    pub selection: SelectionConfig,
    /// Whether false negatives are detected by clusters; by default they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryConfig>,
    /// What is logged beside `metrics.jsonl`. It is not hashed.
    #[serde(default, skip_serializing_if = "LoggingConfig::is_off")]
    pub logging: LoggingConfig,
    /// How features are evaluated.
    #[serde(default)]
    pub evaluation: ImageEvaluationConfig,
    /// Folder of the recipe file, where the files it names are looked for first. Built-in recipes have none. It is neither written nor
    /// hashed.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

/// Writes `oracle` only if it is true: recipes without the column keep the hash that they had before image runs had it.
fn selection_of_images<S: Serializer>(selection: &SelectionConfig, serializer: S) -> Result<S::Ok, S::Error> {
    let SelectionConfig {
        held_out,
        metric,
        oracle,
    } = selection;
    let mut table = serializer.serialize_map(None)?;
    table.serialize_entry("held_out", held_out)?;
    if let Some(metric) = metric {
        table.serialize_entry("metric", metric)?;
    }
    if *oracle {
        table.serialize_entry("oracle", oracle)?;
    }
    table.end()
}

/// Image encoders, by `encoder.kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ImageEncoderKind {
    /// A residual network with a projection head.
    #[serde(rename = "resnet")]
    ResNet(ResNetEncoderConfig),
}

/// A residual network with a projection head, and its initial weights.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResNetEncoderConfig {
    /// File of initial weights, beside the recipe or in `--data`: safetensors or PyTorch's `.pth`, with the names of torchvision or of
    /// other code that uses it. If absent, the seed determines the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<PathBuf>,
    /// What the names of the network's tensors begin with, if the file has several networks: `student.module.backbone.`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights_prefix: Option<String>,
    /// The residual network.
    pub trunk: ResNetConfig,
    /// The head on top of it.
    pub head: ProjectionHeadConfig,
    /// Splits images between two such networks: the first reads this many channels, the second the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split_channels: Option<usize>,
}

impl ImageEncoderKind {
    /// All kinds: a recipe with one of them trains on images.
    pub const KINDS: [&str; 1] = ["resnet"];

    /// The kind, as in recipes.
    pub fn name(&self) -> &'static str {
        let Self::ResNet(_) = self;
        Self::KINDS[0]
    }

    /// The parameters of the network.
    pub fn config(&self) -> ImageEncoderConfig {
        let Self::ResNet(config) = self;
        ImageEncoderConfig {
            trunk: config.trunk.clone(),
            head: config.head.clone(),
            split_channels: config.split_channels,
        }
    }

    /// The file of initial weights, as in the recipe.
    pub fn weights(&self) -> Option<&Path> {
        let Self::ResNet(config) = self;
        config.weights.as_deref()
    }

    /// The prefix of the network in the file of initial weights, if it has several.
    pub fn weights_prefix(&self) -> Option<&str> {
        let Self::ResNet(config) = self;
        config.weights_prefix.as_deref()
    }
}

impl RunRecipe for ImageRecipe {
    shared_tables!();

    const SAMPLES: &'static str = "images";
    const ENCODERS: &'static [&'static str] = &ImageEncoderKind::KINDS;
    const OWN_KEYS: &'static [&'static str] = &[
        "data.images",
        "data.classes",
        "data.two_random_classes",
        "data.train_per_class",
        "data.skip_broken",
        "data.background",
        "data.orientation",
        "data.stream",
        "data.cache_mib",
        "views",
    ];

    fn loss(&self) -> Option<&LossConfig> {
        self.loss.as_ref()
    }

    fn comparison_metric(&self) -> &str {
        self.selection_metric().unwrap_or("probe_top1")
    }

    fn spread_over_epochs(&self) -> Option<&'static str> {
        let method = self.method.settings();
        self.optimizer.spread_over_epochs().or_else(|| method.spread_over_epochs())
    }

    fn has_layout(layout: &Layout) -> bool {
        layout.contents() == Contents::Images
    }
}

impl RecipeKind for ImageRecipe {
    const MEANINGLESS: &'static [(&'static str, &'static str)] = &[
        (
            "optimizer.lazy",
            "does not apply to images: it is for embedding tables, which they do not have; remove it",
        ),
        (
            "optimizer.l2",
            "does not apply to images: it regularises embedding tables, which they do not have; use optimizer.weight_decay",
        ),
        (
            "training.max_nodes",
            "does not apply to images, which have no nodes; remove it, or lower training.batch_size",
        ),
    ];

    fn defaults() -> Table {
        toml::toml! { method.kind = "simclr" }
    }

    fn name_mut(&mut self) -> &mut String {
        &mut self.name
    }

    fn check(&self) -> Result<(), Refusal> {
        check_header(&self.name, self.seed)?;
        self.data.check()?;
        self.views.check().map_err(|error| Refusal::of_text(&error.to_string()))?;
        self.encoder
            .config()
            .check()
            .map_err(|message| Refusal::of_parameter("encoder", &message))?;
        if self.encoder.weights_prefix().is_some() && self.encoder.weights().is_none() {
            return Err(Refusal::new(
                "encoder.weights_prefix",
                "only has a meaning with encoder.weights; remove it",
            ));
        }
        let parameter = |table| move |error| Refusal::of_parameter(table, &error);
        self.method.settings().check().map_err(parameter("method"))?;
        self.check_needs()?;
        self.check_loss()?;
        self.alpha_schedule.check().map_err(parameter("alpha_schedule"))?;
        self.optimizer.check_rate_of_networks()?;
        // Without training, no warm-up is too long.
        self.optimizer.check(match self.training.epochs {
            0 => MOST_EPOCHS,
            epochs => epochs,
        })?;
        self.training.check(2, 0).map_err(parameter("training"))?;
        self.check_step_graph()?;
        self.logging.check().map_err(parameter("logging"))?;
        self.check_selection()?;
        self.check_recovery()?;
        self.evaluation
            .check()
            .map_err(|message| Refusal::of_parameter("evaluation", &message))?;
        match &self.loss {
            Some(loss) => {
                check_schedule(loss, self.alpha_schedule)?;
                check_held_out_auc(self.alpha_schedule, self.selection.held_out)?;
                self.check_evaluated_auc()
            }
            None => Ok(()),
        }
    }

    fn resolve(&mut self) {
        self.data.resolve();
    }
}

impl ImageRecipe {
    /// The estimator, if the method has negatives.
    pub fn estimator(&self) -> Option<&EstimatorConfig> {
        self.loss.as_ref().map(LossConfig::without_data)
    }

    /// What is minimised, in a word or two: the estimator, or the method if it has a loss of its own, and what becomes of detected false negatives.
    pub fn loss_name(&self) -> String {
        let name = match &self.loss {
            Some(loss) => loss.name(),
            None => self.method.name().to_owned(),
        };
        match &self.recovery {
            Some(recovery) => format!("{name}, {}", recovery.name()),
            None => name,
        }
    }

    /// The metric that selects an epoch on held-out images, if any are held out.
    pub fn selection_metric(&self) -> Option<&str> {
        (self.selection.held_out > 0.0).then(|| self.metric_or_default())
    }

    /// The metric by which an epoch is best on test, if the recipe asks for the `oracle` column.
    pub fn oracle_metric(&self) -> Option<&str> {
        self.selection.oracle.then(|| self.metric_or_default())
    }

    fn metric_or_default(&self) -> &str {
        self.selection.metric.as_deref().unwrap_or(SELECTION_METRICS[0])
    }

    /// Checks that the negatives of the method are images of the batch, whose clusters are known.
    fn check_recovery(&self) -> Result<(), Refusal> {
        let Some(recovery) = &self.recovery else { return Ok(()) };
        recovery.check().map_err(|error| Refusal::of_parameter("recovery", &error))?;
        let epochs = self.training.epochs;
        if recovery.warmup >= epochs && epochs > 0 {
            return Err(Refusal::new(
                "recovery.warmup",
                format!("is {}, but must be below training.epochs, {epochs}", recovery.warmup),
            ));
        }
        match &self.method {
            MethodConfig::SimClr(config) if config.labels == Labels::None => self.check_attracted(recovery),
            MethodConfig::SimClr(_) => Err(Refusal::new(
                "recovery",
                "detects what method.labels tells; leave the table out, or remove method.labels",
            )),
            method => Err(Refusal::new(
                "recovery",
                format!(
                    "does not apply to method \"{}\": it needs negatives of the batch; leave the table out, or set method.kind to \"simclr\"",
                    method.name()
                ),
            )),
        }
    }

    /// Checks that the steps can be recorded, if they are to be.
    fn check_step_graph(&self) -> Result<(), Refusal> {
        if !self.training.step_graph {
            return Ok(());
        }
        let method = self.method.name();
        let obstacles = [
            (
                !self.method.settings().is_recordable(),
                format!(
                    "method \"{method}\" with these settings differs from step to step; it can be true with \"simclr\" without labels, \"moco\" without synthetic keys, \"byol\" with a constant \
                     momentum, \"simsiam\", \"barlow_twins\" and \"vicreg\""
                ),
            ),
            (
                self.optimizer.kind == OptimizerKind::Sgd,
                "optimizer.kind is \"sgd\", whose rate would stay as recorded; it can be \"adam\", \"adamw\" or \"lars\""
                    .to_owned(),
            ),
            (
                self.optimizer.clip_norm > 0.0,
                "optimizer.clip_norm is set; optimizer.clip_global_norm can be".to_owned(),
            ),
            (
                self.training.accumulate > 1,
                "training.accumulate is above 1, and a recorded step ends with the optimizer".to_owned(),
            ),
            (
                self.training.gradient_cache.is_some(),
                "training.gradient_cache is set, whose parts are not recorded".to_owned(),
            ),
            (
                self.recovery.is_some(),
                "there is a [recovery] table, and which pairs it detects changes".to_owned(),
            ),
        ];
        let obstacle = obstacles.into_iter().find(|(is_there, _)| *is_there);
        obstacle.map_or(Ok(()), |(_, reason)| {
            Err(Refusal::new(
                "training.step_graph",
                format!("is true, but {reason}; set one of them differently"),
            ))
        })
    }

    /// Checks that the loss can count detected pairs as positives if they are attracted.
    fn check_attracted(&self, recovery: &RecoveryConfig) -> Result<(), Refusal> {
        let estimator = self.loss.as_ref().map(LossConfig::without_data);
        match estimator {
            Some(EstimatorConfig::Augmented(loss))
                if recovery.attract > 0.0 && loss.running.is_some() && loss.rate == AugmentedRate::WithPositive =>
            {
                Err(Refusal::new(
                    "recovery.attract",
                    "gives anchors several positives, but with loss.running the rate counts one; set loss.rate = \"negatives\", or remove loss.running",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Checks that encoders are evaluated during training if the schedule of α reads an AUC of their features.
    fn check_evaluated_auc(&self) -> Result<(), Refusal> {
        let (every, epochs) = (self.evaluation.every, self.training.epochs);
        // One epoch has no later one to measure for.
        let is_in_time = every > 0 && (every < epochs || epochs < 2);
        if self.alpha_schedule.measures() != Some(AlphaMeasurement::Training) || is_in_time {
            return Ok(());
        }
        let problem = match every {
            0 => "is 0".to_owned(),
            _ => format!("is {every}, after the last of {epochs} epochs that could use a measurement"),
        };
        Err(Refusal::new(
            "evaluation.every",
            format!(
                "{problem}, but alpha_schedule.kind = \"released_empirical\" reads features while training; set it to the number of epochs between \
                 two measurements, 20 in the released code"
            ),
        ))
    }

    /// Checks that something is held out if an epoch is to be chosen, and that its metric is measured.
    fn check_selection(&self) -> Result<(), Refusal> {
        let Self {
            selection,
            training,
            evaluation,
            ..
        } = self;
        if let Some(metric) = selection.metric.as_deref()
            && !SELECTION_METRICS.contains(&metric)
        {
            return Err(Refusal::new(
                "selection.metric",
                format!("is \"{metric}\", but must be one of {}", SELECTION_METRICS.join(", ")),
            ));
        }
        if selection.oracle && (evaluation.every == 0 || training.epochs == 0) {
            return Err(Refusal::new(
                "selection.oracle",
                "is true, but no epochs are evaluated to choose from; set evaluation.every, such as 5, and training.epochs",
            ));
        }
        if selection.held_out == 0.0 {
            let needless = [
                ("training.patience", training.patience.is_some()),
                ("selection.metric", selection.metric.is_some() && !selection.oracle),
            ];
            return match needless.iter().find(|(_, is_given)| *is_given) {
                Some((key, _)) => Err(Refusal::new(
                    *key,
                    "chooses an epoch on held-out images, but none are held out; set selection.held_out, such as 0.1, or remove it",
                )),
                None => Ok(()),
            };
        }
        if selection.oracle {
            return Err(Refusal::new(
                "selection.oracle",
                "is true, but selection.held_out chooses the epoch of an image run; set it to false, or selection.held_out to 0",
            ));
        }
        selection
            .check()
            .map_err(|error| Refusal::of_parameter("selection", &error))?;
        if evaluation.every == 0 || training.epochs == 0 {
            let key = if training.epochs == 0 {
                "training.epochs"
            } else {
                "evaluation.every"
            };
            return Err(Refusal::new(
                key,
                "is 0, but selection.held_out needs epochs that are evaluated to choose from",
            ));
        }
        match training.patience {
            Some(patience) if patience < evaluation.every => Err(Refusal::new(
                "training.patience",
                format!(
                    "is {patience} epochs, but the encoder is evaluated every {} epochs; set it to {0} or more, or evaluation.every to {patience} or less",
                    evaluation.every
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Checks that views and batches are those that the method needs.
    fn check_needs(&self) -> Result<(), Refusal> {
        let (method, needs) = (self.method.name(), self.method.settings().needs());
        if self.views.count != needs.views {
            let remedy = match self.method {
                MethodConfig::SimClr(_) => "; set method.views to the same number",
                _ => "",
            };
            return Err(Refusal::new(
                "views.count",
                format!(
                    "is {}, but method \"{method}\" needs {}{remedy}",
                    self.views.count, needs.views
                ),
            ));
        }
        if self.views.local.is_some() && !needs.local_views {
            return Err(Refusal::new(
                "views.local",
                format!("does not apply to method \"{method}\", which uses global views only; leave the table out"),
            ));
        }
        if needs.split_encoder && self.views.colour == ColourSpace::Rgb {
            return Err(Refusal::new(
                "views.colour",
                format!("is \"rgb\", but method \"{method}\" compares lightness with colour; set it to \"lab\" or \"ycbcr\""),
            ));
        }
        if needs.split_encoder && self.encoder.config().split_channels.is_none() {
            return Err(Refusal::new(
                "encoder.split_channels",
                format!(
                    "is missing, but method \"{method}\" trains one network per view; set it to 1, which splits lightness from the two channels of colour"
                ),
            ));
        }
        if self.training.sync_batch_norm && needs.group > 1 {
            return Err(Refusal::new(
                "training.sync_batch_norm",
                format!(
                    "is true, but method.norm_groups = {} keeps images apart that it would normalise together; set one of them to its default, \
                     false or 1",
                    needs.group
                ),
            ));
        }
        self.check_loss_of(&needs)?;
        self.check_groups(needs.group)
    }

    /// Checks that the loss is one that the method can use.
    fn check_loss_of(&self, needs: &Needs) -> Result<(), Refusal> {
        let Some(loss) = &self.loss else { return Ok(()) };
        if let Some(only) = needs.only_loss
            && loss.name() != only
        {
            return Err(Refusal::new(
                "loss.kind",
                format!(
                    "is \"{}\", but method.labels = \"supcon\" needs \"{only}\", whose denominator has the negatives alone; or set method.labels to \
                     \"positives\"",
                    loss.name()
                ),
            ));
        }
        if needs.positives != Positives::One && loss.without_data().parameter("running").is_some() {
            return Err(Refusal::new(
                "loss.running",
                "needs anchors with one positive; remove it to draw at the rate of the batch, or set method.views to 2 and remove method.labels",
            ));
        }
        Ok(())
    }

    /// Checks that batches, and their parts with gradient caching, can be divided into groups of batch normalisation.
    fn check_groups(&self, groups: usize) -> Result<(), Refusal> {
        let batch_size = self.training.batch_size;
        // Batch normalisation needs two values, and features of an image may be a single pixel.
        let divides = |size: usize| groups == 1 || (size.is_multiple_of(groups) && size >= 2 * groups);
        let key = match self.training.gradient_cache {
            _ if !divides(batch_size) => "training.batch_size",
            // Parts have equal sizes only if they divide the batch.
            Some(part) if part < batch_size && groups > 1 && !(divides(part) && batch_size.is_multiple_of(part)) => {
                "training.gradient_cache"
            }
            _ => return Ok(()),
        };
        Err(Refusal::new(
            key,
            format!(
                "does not fit method.norm_groups = {groups}: batches, and their parts with gradient caching, are divided into groups of two \
                 or more images; use multiples of {groups} from {} on, and parts that divide the batch, or set method.norm_groups = 1",
                2 * groups
            ),
        ))
    }

    fn check_loss(&self) -> Result<(), Refusal> {
        let method = self.method.name();
        match (&self.loss, self.method.settings().num_negatives(self.training.batch_size)) {
            (None, None) if self.alpha_schedule == AlphaSchedule::default() => Ok(()),
            (None, None) => Err(Refusal::new(
                "alpha_schedule",
                format!("does not apply to method \"{method}\", which has no loss with an alpha; leave the table out"),
            )),
            (None, Some(_)) => Err(Refusal::new(
                "loss.kind",
                format!(
                    "is missing: method \"{method}\" compares with negatives; say how to weight them, such as loss.kind = \"bayesian\""
                ),
            )),
            (Some(_), None) => Err(Refusal::new(
                "loss",
                format!(
                    "does not apply to method \"{method}\", which has no negatives to weight; leave the table out, or start from quickstart-methods/{method}"
                ),
            )),
            (Some(loss), Some(_)) => {
                loss.check(self.training.epochs)?;
                loss.check_words(false)?;
                check_blocks(loss, &self.training)
            }
        }
    }
}
