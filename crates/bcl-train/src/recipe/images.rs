//! Recipes of image encoders, and what must hold between their tables beyond the range of each value.

use super::{
    ImageDataConfig, ImageEvaluationConfig, ImageOptimizerConfig, ImageTrainingConfig, LossConfig, RecipeKind, Refusal,
    check::{check_header, check_schedule},
};
use bcl_core::{parameter::MOST_EPOCHS, schedule::AlphaSchedule};
use bcl_images::ViewsConfig;
use bcl_models::vision::{ImageEncoderConfig, ProjectionHeadConfig, ResNetConfig};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Everything that determines the run of an image encoder, apart from where it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageRecipe {
    /// Name of the run's folder; by default that of the file.
    #[serde(default)]
    pub name: String,
    /// The seed from which every random choice derives.
    #[serde(default)]
    pub seed: u64,
    /// Which images.
    pub data: ImageDataConfig,
    /// Which views of an image count as the same.
    #[serde(default)]
    pub views: ViewsConfig,
    /// How images become vectors.
    pub encoder: ImageEncoderKind,
    /// How negatives are weighed.
    pub loss: LossConfig,
    /// How the loss's α moves.
    #[serde(default)]
    pub alpha_schedule: AlphaSchedule,
    /// How the gradient moves the weights.
    #[serde(default)]
    pub optimizer: ImageOptimizerConfig,
    /// How long to train.
    #[serde(default)]
    pub training: ImageTrainingConfig,
    /// What is measured.
    #[serde(default)]
    pub evaluation: ImageEvaluationConfig,
    /// Folder of the file it was read from, where files that it names are looked for first. Absent from a built-in recipe, and no part
    /// of what is written or hashed.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

/// Encoders of images, by the kind that recipes name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ImageEncoderKind {
    /// A residual network with a projection head.
    #[serde(rename = "resnet")]
    ResNet(ResNetEncoderConfig),
}

/// A residual network with a projection head, and what it starts from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResNetEncoderConfig {
    /// File of the weights it starts from, beside the recipe or in `--data`: safetensors or PyTorch's `.pth`, under torchvision's names or those of
    /// the released codes. Drawn from the seed where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<PathBuf>,
    /// The residual network.
    pub trunk: ResNetConfig,
    /// The head on top of it.
    pub head: ProjectionHeadConfig,
}

impl ImageEncoderKind {
    /// The kinds: a recipe with one of them trains on images.
    pub const KINDS: [&str; 1] = ["resnet"];

    /// The kind, as in recipes.
    pub fn name(&self) -> &'static str {
        let Self::ResNet(_) = self;
        Self::KINDS[0]
    }

    /// The parameters.
    pub fn config(&self) -> ImageEncoderConfig {
        let Self::ResNet(config) = self;
        ImageEncoderConfig {
            trunk: config.trunk.clone(),
            head: config.head.clone(),
        }
    }

    /// The file of the weights it starts from, as in the recipe.
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
        Vec::new()
    }

    fn check(&self) -> Result<(), Refusal> {
        check_header(&self.name, self.seed)?;
        self.data.check()?;
        self.views.check().map_err(|error| Refusal::of_text(&error.to_string()))?;
        self.encoder
            .config()
            .check()
            .map_err(|message| Refusal::of_message("encoder", &message))?;
        let parameter = |table| move |error| Refusal::of_parameter(table, &error);
        self.loss.without_data().check().map_err(parameter("loss"))?;
        self.alpha_schedule.check().map_err(parameter("alpha_schedule"))?;
        // Without training there is no step that a warm-up could be too long for.
        let epochs = if self.training.epochs == 0 {
            MOST_EPOCHS
        } else {
            self.training.epochs
        };
        self.optimizer.check(epochs)?;
        self.training.check().map_err(parameter("training"))?;
        self.evaluation.check()?;
        check_schedule(&self.loss, self.alpha_schedule)?;
        self.check_prior()
    }

    fn resolve(&mut self) {
        self.data.resolve();
    }
}

impl ImageRecipe {
    /// Images have no density of interactions.
    fn check_prior(&self) -> Result<(), Refusal> {
        if !self.loss.tau_plus_is_density() {
            return Ok(());
        }
        Err(Refusal::new(
            "loss.tau_plus",
            "is \"density\", which only interactions have; give the share of samples that have the anchor's class, such as 0.1 for ten \
             classes of equal size",
        ))
    }
}
