//! The arguments of `train`.

use super::{Output, Place, Seeds, seeds::single_seed};
use crate::recipe::{DroppedKeys, Override, Recipe, RecipeError, find};
use clap::Args;
use std::path::PathBuf;

/// What runs when no recipe is named.
const QUICKSTART: &str = "quickstart";

/// Trains recipes, evaluates them, and writes a report.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Train {
    /// Recipes: files, folders of them, or names and folders that `bcl-train recipes` lists [default: quickstart]. A file that a recipe
    /// names is looked for beside the recipe, then in --data.
    #[arg(value_name = "RECIPE")]
    pub recipes: Vec<String>,

    /// Set a key of the recipe, as in `--set loss.beta=0.8`; may be repeated. Another kind, as in `--set loss.kind=info_nce`, keeps the
    /// keys that it knows.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Override>,

    /// Seed from which every random choice derives.
    #[arg(long, value_name = "N", value_parser = single_seed, conflicts_with = "seeds")]
    pub seed: Option<u64>,

    /// Run every recipe once a seed: `0,1,2` or `0..3`.
    #[arg(long, value_name = "LIST")]
    pub seeds: Option<Seeds>,

    /// The most epochs a phase of training has; 0 judges an encoder of images as it is.
    #[arg(long, value_name = "N")]
    pub epochs: Option<u32>,

    /// Folder for runs; each gets one of its own, `NAME-SEED`. Several runs are compared in report.html there, or in report.2.html, … beside
    /// a page of other results.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub out: PathBuf,

    /// Go on with the interrupted run in DIR, to the same result as if it had not been interrupted. Its data, and a
    /// RECIPE given as well, must be those that it was started with.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["seeds", "out", "print_recipe"])]
    pub resume: Option<PathBuf>,

    /// Print the resolved recipe, defaults written out, and do not train.
    #[arg(long)]
    pub print_recipe: bool,

    /// Draw views to FILE, a PNG picture, and do not train: each row holds an image and its two views of the first epoch. For one recipe
    /// on images.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "print_recipe"])]
    pub dump_views: Option<PathBuf>,

    /// Where it runs.
    #[command(flatten)]
    pub place: Place,

    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

impl Train {
    /// What flags set in the place of the recipe's own values; `--set` first, so that the flags with a name of their own win.
    pub fn overrides(&self) -> Vec<Override> {
        let mut overrides = self.set.clone();
        if let Some(seed) = self.seed {
            overrides.push(Override::new("seed", seed as i64, format!("--seed {seed}")));
        }
        if let Some(epochs) = self.epochs {
            overrides.push(Override::new(
                "training.epochs",
                i64::from(epochs),
                format!("--epochs {epochs}"),
            ));
        }
        overrides
    }

    /// The runs that were asked for: every recipe, with every seed.
    ///
    /// # Errors
    /// When a recipe cannot be found, read or used, or two runs would share a folder.
    pub fn load(&self) -> Result<Vec<Recipe>, RecipeError> {
        self.load_noting(&mut Vec::new())
    }

    /// As [`load`](Self::load); keys that a flag made meaningless are added to `dropped`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_noting(&self, dropped: &mut Vec<DroppedKeys>) -> Result<Vec<Recipe>, RecipeError> {
        let quickstart = [QUICKSTART.to_owned()];
        let names = if self.recipes.is_empty() {
            &quickstart[..]
        } else {
            &self.recipes
        };
        let overrides = self.overrides();
        let mut runs: Vec<Recipe> = Vec::new();
        for name in names {
            for found in find(name)? {
                let recipe = Recipe::read_noting(&found, &overrides, dropped)?;
                match &self.seeds {
                    Some(Seeds(seeds)) => runs.extend(seeds.iter().map(|&seed| recipe.clone().with_seed(seed))),
                    None => runs.push(recipe),
                }
            }
        }
        for (i, run) in runs.iter().enumerate() {
            if runs[..i]
                .iter()
                .any(|other| (other.name(), other.seed()) == (run.name(), run.seed()))
            {
                return Err(RecipeError::SameRun {
                    name: run.name().to_owned(),
                    seed: run.seed(),
                });
            }
        }
        Ok(runs)
    }
}
