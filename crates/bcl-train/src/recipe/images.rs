//! Recipes of image encoders, and what must hold between their tables beyond the range of each value.

use super::{
    ImageDataConfig, ImageEvaluationConfig, ImageOptimizerConfig, ImageTrainingConfig, LossConfig, RecipeKind, Refusal,
    check::check_schedule,
};
use crate::methods::MethodConfig;
use bcl_core::{EstimatorConfig, parameter::MOST_EPOCHS, schedule::AlphaSchedule};
use bcl_images::ViewsConfig;
use bcl_models::vision::{ImageEncoderConfig, ProjectionHeadConfig, ResNetConfig};
use bcl_recipe::check_header;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Everything that determines the run of an image encoder, apart from the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageRecipe {
    /// Name of the run, and of its folder; by default that of the file.
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
    pub optimizer: ImageOptimizerConfig,
    /// Batch size and number of epochs.
    #[serde(default)]
    pub training: ImageTrainingConfig,
    /// How features are evaluated.
    #[serde(default)]
    pub evaluation: ImageEvaluationConfig,
    /// Folder of the recipe file, where the files it names are looked for first. Built-in recipes have none. It is neither written nor
    /// hashed.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
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
    /// File of initial weights, beside the recipe or in `--data`: safetensors or PyTorch's `.pth`, under torchvision's names or those of the
    /// released codes. Drawn from the seed if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<PathBuf>,
    /// The residual network.
    pub trunk: ResNetConfig,
    /// The head on top of it.
    pub head: ProjectionHeadConfig,
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
        }
    }

    /// The file of initial weights, as in the recipe.
    pub fn weights(&self) -> Option<&Path> {
        let Self::ResNet(config) = self;
        config.weights.as_deref()
    }
}

impl RecipeKind for ImageRecipe {
    fn name_mut(&mut self) -> &mut String {
        &mut self.name
    }

    fn default_kinds() -> Vec<(&'static str, &'static str)> {
        vec![("method", MethodConfig::DEFAULT)]
    }

    fn check(&self) -> Result<(), Refusal> {
        check_header(&self.name, self.seed)?;
        self.data.check()?;
        self.views.check().map_err(|error| Refusal::of_text(&error.to_string()))?;
        self.encoder
            .config()
            .check()
            .map_err(|message| Refusal::of_parameter("encoder", &message))?;
        let parameter = |table| move |error| Refusal::of_parameter(table, &error);
        self.method.check().map_err(parameter("method"))?;
        self.check_loss()?;
        self.alpha_schedule.check().map_err(parameter("alpha_schedule"))?;
        // Without training, no warm-up is too long.
        let epochs = if self.training.epochs == 0 {
            MOST_EPOCHS
        } else {
            self.training.epochs
        };
        self.optimizer.check(epochs)?;
        self.training.check().map_err(parameter("training"))?;
        self.evaluation
            .check()
            .map_err(|message| Refusal::of_parameter("evaluation", &message))?;
        match &self.loss {
            Some(loss) => check_schedule(loss, self.alpha_schedule),
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

    /// What is minimised, in one word: the estimator, or the method if it has a loss of its own.
    pub fn loss_name(&self) -> &'static str {
        self.estimator().map_or(self.method.name(), EstimatorConfig::name)
    }

    fn check_loss(&self) -> Result<(), Refusal> {
        let method = self.method.name();
        match (&self.loss, self.method.num_negatives(self.training.batch_size)) {
            (None, None) if self.alpha_schedule == AlphaSchedule::default() => Ok(()),
            (None, None) => Err(Refusal::new(
                "alpha_schedule",
                format!("has no meaning for method \"{method}\", which has no loss with an alpha; leave the table out"),
            )),
            (None, Some(_)) => Err(Refusal::new(
                "loss.kind",
                format!(
                    "is missing: method \"{method}\" compares with negatives; say how they are weighted, such as loss.kind = \"bayesian\""
                ),
            )),
            (Some(_), None) => Err(Refusal::new(
                "loss",
                format!("has no meaning for method \"{method}\", which has no negatives to weight; leave the table out"),
            )),
            (Some(loss), Some(_)) => {
                let parameter = |error| Refusal::of_parameter("loss", &error);
                loss.without_data().check().map_err(parameter)?;
                Self::check_prior(loss)
            }
        }
    }

    /// Refuses `tau_plus = "density"`: images have no interactions.
    fn check_prior(loss: &LossConfig) -> Result<(), Refusal> {
        if !loss.tau_plus_is_density() {
            return Ok(());
        }
        Err(Refusal::new(
            "loss.tau_plus",
            "is \"density\", which only interactions have; give the share of samples that have the anchor's class, such as 0.1 for ten \
             classes of equal size",
        ))
    }
}
