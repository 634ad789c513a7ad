//! The arguments of `train`.

use super::{ComputeArguments, Output, Seeds, seeds::single_seed};
use bcl_recipe::{DroppedKeys, Origin, Origins, Override, Recipe, RecipeError, find};
use clap::Args;
use std::path::{Path, PathBuf};

/// The recipes to run if none is named.
const QUICKSTART: &str = "quickstart";

/// Train recipes, evaluate them, and write a report.
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct Train {
    /// Recipes to train: files, folders of files, or names and folders from `bcl-train recipes` [default: quickstart]. A file
    /// that a recipe names is searched for beside the recipe, then in --data.
    #[arg(value_name = "RECIPE")]
    pub recipes: Vec<String>,

    /// Set a key of the recipe, as in `--set loss.beta=0.8`; may be repeated. Changing a kind, as in `--set
    /// loss.kind=info_nce`, keeps the keys that the new kind has.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Override>,

    /// Seed of all random choices, in place of the recipe's.
    #[arg(long, value_name = "N", value_parser = single_seed, conflicts_with = "seeds")]
    pub seed: Option<u64>,

    /// Run every recipe once per seed: `0,1,2` or `0..3`. Finished runs in --out with the same recipe and data are not trained again, but
    /// shown in the comparison.
    #[arg(long, value_name = "LIST")]
    pub seeds: Option<Seeds>,

    /// Maximum number of epochs per training phase; 0 evaluates an encoder of images or graphs without training it.
    #[arg(long, value_name = "N")]
    pub epochs: Option<u32>,

    /// Folder for runs; each run goes into its own subfolder, `NAME-SEED`. Several runs are compared in report.html there, or
    /// in report.2.html, … if report.html shows other results.
    /// [default: runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Continue the interrupted run in DIR; the result is the same as without the interruption. With a larger --epochs, extend a finished run
    /// into a folder beside it; the result is the same as if it had been trained for so many epochs from the start. Without DIR, continue or extend the
    /// runs of RECIPE in --out, for all --seeds. The data, and RECIPE if given, must not have changed since the run was started.
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    #[allow(clippy::option_option)] // without the flag, with it alone, and with a folder
    pub resume: Option<Option<PathBuf>>,

    /// Print the resolved recipe with all defaults instead of training. A comment after each value names its origin: the line of a
    /// recipe, a flag, or `default`. The output is itself a recipe.
    #[arg(long)]
    pub print_recipe: bool,

    /// Draw views to FILE as a PNG image instead of training: each row shows an image and its views in the first epoch.
    /// Needs exactly one recipe, on images.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "print_recipe"])]
    pub dump_views: Option<PathBuf>,

    /// Train in N processes on this machine, through MPI. They split every batch; the result is the same as with one process, up to rounding; of image encoders only with `training.sync_batch_norm`.
    /// Each process uses its part of the cores, or its own GPU.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), conflicts_with_all = ["print_recipe", "dump_views"])]
    pub processes: Option<u16>,

    /// Where it runs.
    #[command(flatten)]
    pub compute: ComputeArguments,

    /// What is printed.
    #[command(flatten)]
    pub output: Output,
}

impl Train {
    /// Folder for runs.
    pub(crate) fn out(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new("runs"))
    }

    /// The run to continue, if its folder is given.
    pub(crate) fn resumed(&self) -> Option<&Path> {
        self.resume.as_ref().and_then(Option::as_deref)
    }

    /// The keys that flags set in place of the recipe's values. `--set` comes first, so that flags with a name of their own
    /// win.
    pub(crate) fn overrides(&self) -> Vec<Override> {
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

    /// The requested runs: every recipe with every seed.
    ///
    /// # Errors
    /// Returns an error if a recipe cannot be found, read or used, or two runs would share a folder.
    #[cfg(test)]
    pub(crate) fn load(&self) -> Result<Vec<Recipe>, RecipeError> {
        let runs = self.load_with_origins(&mut Vec::new())?;
        Ok(runs.into_iter().map(|(recipe, _)| recipe).collect())
    }

    /// The recipes: the ones that are named, or the recipe of the run to continue, or the quickstart.
    fn names(&self) -> Vec<String> {
        match self.resumed() {
            _ if !self.recipes.is_empty() => self.recipes.clone(),
            Some(run) => vec![run.join("recipe.toml").display().to_string()],
            None => vec![QUICKSTART.to_owned()],
        }
    }

    /// As [`load`](Self::load), with the origin of each value; adds keys that a flag made meaningless to `dropped`.
    ///
    /// # Errors
    /// Returns the same errors as [`load`](Self::load).
    pub(crate) fn load_with_origins(&self, dropped: &mut Vec<DroppedKeys>) -> Result<Vec<(Recipe, Origins)>, RecipeError> {
        let names = self.names();
        let overrides = self.overrides();
        let mut runs: Vec<(Recipe, Origins)> = Vec::new();
        for name in &names {
            for found in find(name)? {
                let (recipe, mut origins) = Recipe::read_with_origins(&found, &overrides, dropped)?;
                let Some(Seeds(seeds)) = &self.seeds else {
                    runs.push((recipe, origins));
                    continue;
                };
                origins.set("seed", Origin::Flag("--seeds".to_owned()));
                runs.extend(seeds.iter().map(|&seed| (recipe.clone().with_seed(seed), origins.clone())));
            }
        }
        for (i, (run, _)) in runs.iter().enumerate() {
            if runs[..i]
                .iter()
                .any(|(other, _)| (other.name(), other.seed()) == (run.name(), run.seed()))
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
