//! The verb `bcl-bench scale`: times a recommender's steps and its evaluation on generated interactions of any size.

use crate::{Done, device_arguments::DeviceArguments, input::at_least_one, timing_verb};
use bcl_bench::{
    steps::{Interactions, planted},
    timing::Plan,
};
use bcl_files::notice;
use bcl_recipe::{Override, Recipe, RecommenderRecipe, find, from_toml};

/// The recipe by default: a large matrix factorisation.
const MATRIX_FACTORISATION: &str = "
[data]
dataset = 'planted'
[encoder]
kind = 'mf'
dim = 64
[negatives]
kind = 'uniform'
count = 64
[loss]
kind = 'info_nce'
temperature = 0.2
[training]
batch_size = 4096
";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Recipe of a recommender, whose data are replaced: a file, or a name from `bcl-train recipes` [default: matrix factorisation with InfoNCE, 64
    /// uniform negatives and batches of 4,096].
    #[arg(long, value_name = "NAME")]
    recipe: Option<String>,
    /// Set a key of the recipe, as in `--set negatives.count=128`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
    /// Number of users.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    users: u32,
    /// Number of items.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(24..=10_000_000))]
    items: u32,
    /// Number of training interactions, about.
    #[arg(long, default_value_t = 5_000_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    interactions: u32,
    /// Steps to measure, after a warm-up step.
    #[arg(long, default_value_t = 30, value_parser = at_least_one)]
    steps: usize,
    /// Number of users to rank all items for, at most; 0 for none.
    #[arg(long, default_value_t = 10_000)]
    evaluated_users: usize,
    #[command(flatten)]
    timing: timing_verb::Arguments,
}

impl Arguments {
    fn recipe(&self) -> Result<RecommenderRecipe, String> {
        let Some(name) = &self.recipe else {
            return from_toml(MATRIX_FACTORISATION, "scale", &self.set).map_err(|error| error.to_string());
        };
        let found = find(name).map_err(|error| error.to_string())?;
        let [found] = &*found else {
            return Err(format!("--recipe: {name} names {} recipes, but must name one", found.len()));
        };
        let recipe = Recipe::read(found, &self.set).map_err(|error| error.to_string())?;
        recipe.as_kind::<RecommenderRecipe>().cloned().ok_or_else(|| {
            format!(
                "--recipe: {} does not train on interactions; for images, use `bcl-bench step`",
                recipe.name()
            )
        })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    let recipe = arguments.recipe()?;
    let sizes = [arguments.users, arguments.items, arguments.interactions].map(|size| size as usize);
    let [users, items, interactions] = sizes;
    let generator = planted(users, items, interactions);
    let refused = |error| format!("no interactions of this size can be generated: {error}");
    generator.check().map_err(refused)?;
    let mut session = arguments.timing.start("scale", &DeviceArguments::CPU)?;
    for (name, value) in ["users", "items", "interactions"].into_iter().zip(sizes) {
        session.benchmark.settings.insert(name.to_owned(), value.into());
    }
    let settings = serde_json::to_value(&recipe).expect("a recipe is plain data");
    session.benchmark.settings.insert("recipe".to_owned(), settings);
    notice::line("generating interactions");
    let data = generator.generate();
    let mut training = Interactions::new(&recipe, &data, &session.backend.training_device())?;
    session.add(vec![training.step()], &Plan::of_turns(1, arguments.steps));
    let batch_size = recipe.training.batch_size.min(training.num_interactions());
    let negatives = recipe.negatives.count().unwrap_or(batch_size - 1);
    if let Some(seconds) = session.benchmark.measurements[0].seconds {
        let per_interaction = 1e6 * seconds.median / batch_size as f64;
        session.benchmark.notes.push(format!(
            "{}, {users} users, {items} items, {} interactions. Steps have {batch_size} interactions with {negatives} negatives each: \
             {per_interaction:.2} us per interaction, {:.1} ns per negative.",
            recipe.encoder.name(),
            training.num_interactions(),
            1e3 * per_interaction / negatives as f64
        ));
    }
    if arguments.evaluated_users > 0 {
        session.add(
            training.evaluation(data, arguments.evaluated_users).into(),
            &Plan::of_turns(1, 1),
        );
    }
    session.finish()
}
