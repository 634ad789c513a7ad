//! The verb `bcl-bench scale`: times a recommender's steps and its evaluation on generated interactions of any size.

use crate::{
    bad_input,
    input::at_least_one,
    output::{Output, failure},
};
use bcl_bench::scale::{self, ScalePlan};
use bcl_recipe::{Override, Recipe, RecommenderRecipe, find, from_toml};
use burn::tensor::Device;
use std::{process::ExitCode, thread};

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
    /// Steps to measure, after three warm-up steps.
    #[arg(long, default_value_t = 30, value_parser = at_least_one)]
    steps: usize,
    /// Number of users to rank all items for, at most; 0 for none.
    #[arg(long, default_value_t = 10_000)]
    evaluated_users: usize,
    /// Number of threads, from 1 to 1024 [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    #[command(flatten)]
    output: Output,
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
                "--recipe: {} does not train on interactions; use `bcl-bench step` for images",
                recipe.name()
            )
        })
    }
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    if let Err(code) = arguments.output.prepare() {
        return code;
    }
    let recipe = match arguments.recipe() {
        Ok(recipe) => recipe,
        Err(error) => return bad_input(&error),
    };
    let all_cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.map_or_else(all_cores, |threads| threads as usize);
    if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global() {
        return bad_input(&format!("cannot start {threads} threads: {error}"));
    }
    let plan = ScalePlan {
        recipe,
        users: arguments.users as usize,
        items: arguments.items as usize,
        interactions: arguments.interactions as usize,
        steps: arguments.steps,
        evaluated_users: arguments.evaluated_users,
        threads,
    };
    if let Err(error) = plan.planted().check() {
        return bad_input(&format!("no interactions of this size can be generated: {error}"));
    }
    match scale::run(&plan, &Device::flex().autodiff(), |next| eprintln!("{next}")) {
        Ok(measured) => arguments.output.write(&measured),
        Err(error) => failure(&error),
    }
}
