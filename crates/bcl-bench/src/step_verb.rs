//! The verb `bcl-bench step`: times the parts of an image encoder's training step.

use crate::{
    Done,
    device_arguments::DeviceArguments,
    input::{at_least_one, at_least_two, image_side},
    timing_verb,
};
use bcl_bench::{
    steps::{Timing, describe, image_step},
    timing::Plan,
};
use bcl_core::{EstimatorConfig, gradient_cache::blocks};
use bcl_images::ViewsConfig;
use bcl_models::vision::{ResNetConfig, ResNetDepth, Stem};
use bcl_recipe::{
    ImageEncoderKind, ImageRecipe, LossConfig, Override, Precision, Recipe, RecipeError, ResNetEncoderConfig, TrainingConfig,
    find, from_toml,
};
use clap::ValueEnum;

/// The recipe in which flags replace values.
const SIMCLR: &str = "
[data]
dataset = 'planted'
[encoder]
kind = 'resnet'
[loss]
kind = 'info_nce'
";

/// Flags of a step of SimCLR, which a recipe replaces.
const FLAGS: [&str; 9] = [
    "depth",
    "stem",
    "width",
    "batch",
    "gradient_cache",
    "precision",
    "side",
    "loss",
    "step_graph",
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Recipes to measure, each with its method, encoder, views, loss and optimizer, on planted images: a file, a folder, or a name from
    /// `bcl-train recipes`, such as quickstart-methods [default: SimCLR with the flags below].
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with_all = FLAGS)]
    recipe: Vec<String>,
    /// Set a key of all recipes, as in `--set training.batch_size=64`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", requires = "recipe")]
    set: Vec<Override>,
    /// Number of images of the data set, of each of which some methods keep an embedding.
    #[arg(long, default_value_t = 50_000, value_parser = at_least_two)]
    images: usize,
    /// Layers of the ResNet: 18, 34 or 50.
    #[arg(long, default_value = "18", value_parser = depth)]
    depth: ResNetDepth,
    /// Layers before the first stage.
    #[arg(long, value_enum, default_value_t = StemName::Cifar)]
    stem: StemName,
    /// Channels of the first stage.
    #[arg(long, default_value_t = 16, value_parser = at_least_one)]
    width: usize,
    /// Images per batch, with two views each.
    #[arg(long, default_value_t = 256, value_parser = at_least_two)]
    batch: usize,
    /// Gradient caching: number of images encoded, and of anchors compared, at a time [default: all at once].
    #[arg(long, value_parser = at_least_two)]
    gradient_cache: Option<usize>,
    /// Precision of the encoder: f32, tf32, bf16 or f16; weights and loss are always in f32.
    #[arg(long, default_value = "f32", value_parser = precision)]
    precision: Precision,
    /// Height and width of a view in pixels, from 16 to 256.
    #[arg(long, default_value_t = 32, value_parser = image_side)]
    side: usize,
    /// Losses to measure.
    #[arg(long, num_args = 1.., default_values = ["info_nce", "bayesian"], value_parser = loss)]
    loss: Vec<EstimatorConfig>,
    /// Number of rounds; every loss or recipe runs in each.
    #[arg(long, default_value_t = 3, value_parser = at_least_one)]
    rounds: usize,
    /// Steps per round, after one warm-up step.
    #[arg(long, default_value_t = 3, value_parser = at_least_one)]
    steps: usize,
    /// Time each step as a whole, with one wait for the device at its end, as in training, instead of part by part.
    #[arg(long)]
    whole: bool,
    /// Record the launches of a step on the GPU, and time replays of it.
    #[arg(long, requires = "whole")]
    step_graph: bool,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    timing: timing_verb::Arguments,
}

#[derive(Clone, Copy, ValueEnum)]
enum StemName {
    /// 3x3 convolution with stride 1, no pooling.
    Cifar,
    /// 7x7 convolution with stride 2, then pooling.
    Imagenet,
}

impl Arguments {
    /// The recipes to measure.
    fn recipes(&self) -> Result<Vec<ImageRecipe>, String> {
        if self.recipe.is_empty() {
            return self.of_flags();
        }
        let read = |name: &String| {
            let found = find(name).map_err(|error| error.to_string())?;
            let recipes = found.iter().map(|found| Recipe::read(found, &self.set));
            let recipes = recipes
                .collect::<Result<Vec<_>, RecipeError>>()
                .map_err(|error| error.to_string())?;
            let of_images = recipes.iter().map(|recipe| {
                let not_images = || format!("{} does not train on images, whose steps this measures", recipe.name());
                recipe.as_kind::<ImageRecipe>().cloned().ok_or_else(not_images)
            });
            of_images.collect::<Result<Vec<_>, String>>()
        };
        let recipes = self.recipe.iter().map(read).collect::<Result<Vec<_>, String>>()?.concat();
        let mut names: Vec<&str> = recipes.iter().map(|recipe| &*recipe.name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("--recipe: two recipes are called {}; leave one out", pair[0])),
            None => Ok(recipes),
        }
    }

    /// SimCLR with each loss.
    fn of_flags(&self) -> Result<Vec<ImageRecipe>, String> {
        let (batch, cache) = (self.batch, self.gradient_cache);
        let suits = |&cache: &usize| cache <= batch && blocks(batch, cache).all(|part| part.len() > 1);
        if let Some(cache) = cache.filter(|cache| !suits(cache)) {
            return Err(format!(
                "--gradient-cache is {cache}, but must divide --batch, {batch}, into parts of at least 2 images"
            ));
        }
        let trunk = ResNetConfig {
            depth: self.depth,
            stem: match self.stem {
                StemName::Cifar => Stem::Cifar,
                StemName::Imagenet => Stem::Imagenet,
            },
            width: self.width,
        };
        trunk.check()?;
        let simclr: ImageRecipe = from_toml(SIMCLR, "step", &[]).map_err(|error| error.to_string())?;
        let of_loss = |loss: &EstimatorConfig| ImageRecipe {
            name: loss.name().to_owned(),
            views: ViewsConfig {
                side: self.side,
                ..ViewsConfig::default()
            },
            encoder: ImageEncoderKind::ResNet(ResNetEncoderConfig {
                trunk: trunk.clone(),
                ..ResNetEncoderConfig::default()
            }),
            training: TrainingConfig {
                batch_size: batch,
                gradient_cache: cache,
                precision: self.precision,
                step_graph: self.step_graph,
                ..TrainingConfig::default()
            },
            loss: Some(LossConfig::new(loss.clone())),
            ..simclr.clone()
        };
        Ok(self.loss.iter().map(of_loss).collect())
    }
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    let recipes = arguments.recipes()?;
    let mut session = arguments.timing.start("step", &arguments.device)?;
    let device = session.backend.training_device();
    for recipe in &recipes {
        bcl_recipe::check_precision(recipe.training.precision, &session.backend.device())?;
        let settings = serde_json::to_value(recipe).expect("a recipe is plain data");
        session.benchmark.settings.insert(recipe.name.clone(), settings);
    }
    let settings = [("images", arguments.images.into()), ("whole", arguments.whole.into())];
    let settings = settings.map(|(key, value)| (key.to_owned(), value));
    session.benchmark.settings.extend(settings);
    let sizes: Vec<String> = recipes.iter().map(describe).collect();
    session.benchmark.notes = if sizes.iter().all(|size| *size == sizes[0]) {
        sizes[..1].to_vec()
    } else {
        let named = recipes.iter().zip(sizes);
        named.map(|(recipe, size)| format!("{}: {size}", recipe.name)).collect()
    };
    let plan = Plan::of_turns(arguments.rounds, arguments.steps);
    let timing = if arguments.whole { Timing::Whole } else { Timing::Parts };
    let cases = recipes
        .iter()
        .map(|recipe| image_step(recipe, arguments.images, arguments.steps, timing, &device));
    session.add(cases.collect(), &plan);
    session.finish()
}

fn depth(text: &str) -> Result<ResNetDepth, String> {
    let number: u64 = text.parse().map_err(|_| "must be 18, 34 or 50".to_owned())?;
    ResNetDepth::try_from(number)
}

/// A loss that needs no classes, because the images of a step are unlabelled.
fn loss(name: &str) -> Result<EstimatorConfig, String> {
    let losses = EstimatorConfig::all();
    let usable = |config: &EstimatorConfig| !config.init().requirements().truth;
    let found = losses.iter().find(|config| config.name() == name && usable(config));
    found.cloned().ok_or_else(|| {
        let names: Vec<_> = losses
            .iter()
            .filter(|config| usable(config))
            .map(EstimatorConfig::name)
            .collect();
        format!("must be one of {}", names.join(", "))
    })
}

fn precision(name: &str) -> Result<Precision, String> {
    serde_json::from_value(name.into()).map_err(|_| "must be f32, tf32, bf16 or f16".to_owned())
}
