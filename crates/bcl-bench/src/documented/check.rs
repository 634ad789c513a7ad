//! Checks that a command in a document would run.

use super::cargo::{Cargo, Verb as CargoVerb};
use super::commands::DocumentedCommand;
use crate::{Arguments, Verb};
use bcl_bench::tables::Ranges;
use bcl_data::Manifest;
use bcl_recipe::{Override, Recipe, RecipeSource, built_in};
use bcl_train::cli::{self, Command, Data, Train};
use clap::{Parser, error::ErrorKind};
use std::{env, path::Path, process};

/// Folders of the repository. A word that begins with one of them is a path that must exist.
const FOLDERS: [&str; 5] = ["crates/", "datasets/", "docs/", "tests/", "xtask/"];

/// The data sets of a command, by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Datasets {
    /// Data sets that it downloads.
    pub(super) fetched: Vec<String>,
    /// Data sets that it reads.
    pub(super) needed: Vec<String>,
}

/// Checks programs, verbs, flags, recipes, data sets and files of a command; `root` is the folder of the repository.
///
/// # Errors
/// Says why the command would fail.
pub(super) fn check(command: &DocumentedCommand, root: &Path) -> Result<Datasets, String> {
    for word in &command.words {
        if FOLDERS.iter().any(|folder| word.starts_with(folder)) && !is_placeholder(word) && !root.join(word).exists() {
            return Err(format!("there is no {word}"));
        }
    }
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let checked = match words[0] {
        "cargo" => cargo(&words, root),
        "--set" => train(&words),
        program => ours(program, &words[1..]),
    };
    match checked {
        // In running text, a command may be incomplete.
        Err(Problem::Parser(error)) if command.is_inline && error.kind() == ErrorKind::MissingRequiredArgument => {
            Ok(Datasets::default())
        }
        Err(Problem::Parser(error)) => Err(error.to_string()),
        Err(Problem::Other(problem)) => Err(problem),
        Ok(datasets) => Ok(datasets),
    }
}

/// Why a command would not run.
enum Problem {
    Parser(clap::Error),
    Other(String),
}

impl From<clap::Error> for Problem {
    fn from(error: clap::Error) -> Self {
        Self::Parser(error)
    }
}

impl From<String> for Problem {
    fn from(problem: String) -> Self {
        Self::Other(problem)
    }
}

fn cargo(words: &[&str], root: &Path) -> Result<Datasets, Problem> {
    let package = |name: &str| package(name, root);
    match Cargo::try_parse_from(words)?.verb {
        CargoVerb::Run(run) => {
            let folder = package(&run.package)?;
            features(&folder, &run.features, root)?;
            match run.example {
                Some(example) => exists(&root.join(folder).join("examples").join(example).with_extension("rs"))?,
                None => return ours(&run.package, &run.words.iter().map(String::as_str).collect::<Vec<_>>()),
            }
        }
        CargoVerb::Test(test) => drop(test.package.map(|name| package(&name)).transpose()?),
        CargoVerb::Doc { package: name, .. } => drop(package(&name)?),
        CargoVerb::Install { path, features: named } => features(&path, &named, root)?,
        CargoVerb::Publish { .. } => {}
        CargoVerb::Xtask { words } => xtask(&words)?,
    }
    Ok(Datasets::default())
}

/// The folder of a package of the workspace.
fn package(name: &str, root: &Path) -> Result<String, String> {
    let folder = match name {
        "xtask" => name.to_owned(),
        _ => format!("crates/{name}"),
    };
    exists(&root.join(&folder).join("Cargo.toml"))?;
    Ok(folder)
}

/// Checks that the package in `folder` has these features.
fn features(folder: &str, named: &[String], root: &Path) -> Result<(), String> {
    let path = root.join(folder).join("Cargo.toml");
    let manifest = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    match named.iter().find(|feature| !manifest.contains(&format!("\n{feature} = ["))) {
        Some(feature) => Err(format!("{folder} has no feature {feature}")),
        None => Ok(()),
    }
}

fn exists(path: &Path) -> Result<(), String> {
    if path.exists() {
        Ok(())
    } else {
        Err(format!("there is no {}", path.display()))
    }
}

/// Runs xtask with these words and `--help`, which fails on unknown ones.
fn xtask(words: &[String]) -> Result<(), String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = process::Command::new(cargo)
        .args(["run", "--quiet", "--package", "xtask", "--"])
        .args(words)
        .arg("--help")
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn ours(program: &str, words: &[&str]) -> Result<Datasets, Problem> {
    match program {
        "bcl-train" => train(words),
        "bcl-bench" => bench(words),
        other => Err(format!("{other} is not a program of this project").into()),
    }
}

fn train(words: &[&str]) -> Result<Datasets, Problem> {
    let mut datasets = Datasets::default();
    match cli::parse_from([&["bcl-train"], words].concat())? {
        Command::Train(train) if train.resumed().is_none() => datasets.needed = needed(&train)?,
        Command::Data(Data::Fetch(fetch)) => {
            for name in fetch.names.into_iter().filter(|name| !is_placeholder(name)) {
                let manifest = Manifest::find(&name).map_err(|error| error.to_string())?;
                if manifest.sources.is_empty() {
                    return Err(format!("{name} cannot be downloaded").into());
                }
                datasets.fetched.push(name);
            }
        }
        Command::Data(Data::Check(check)) => {
            datasets.needed = check.names.into_iter().filter(|name| !is_placeholder(name)).collect();
        }
        _ => {}
    }
    Ok(datasets)
}

/// The data sets of the recipes that would be trained. If the recipe is a placeholder, some built-in recipe must accept the flags.
fn needed(train: &Train) -> Result<Vec<String>, String> {
    let is_flag_alone = train.recipes.is_empty() && !train.set.is_empty();
    if is_flag_alone || train.recipes.iter().any(|recipe| is_placeholder(recipe)) {
        return some_recipe_accepts(&train.overrides()).map(|()| Vec::new());
    }
    let recipes = train.load().map_err(|error| error.to_string())?;
    if train.print_recipe {
        return Ok(Vec::new());
    }
    Ok(recipes.iter().filter_map(dataset).collect())
}

/// Checks that some built-in recipe accepts these values.
fn some_recipe_accepts(overrides: &[Override]) -> Result<(), String> {
    let mut refusal = String::new();
    for recipe in built_in() {
        match Recipe::read(&RecipeSource::Builtin(*recipe), overrides) {
            Ok(_) => return Ok(()),
            Err(error) => refusal = error.to_string(),
        }
    }
    Err(refusal)
}

fn bench(words: &[&str]) -> Result<Datasets, Problem> {
    let mut datasets = Datasets::default();
    match Arguments::try_parse_from([&["bcl-bench"], words].concat())?.verb {
        Verb::Table(table) if !is_placeholder(&table.table) => {
            let plan = table.plan(&Ranges::builtin()).map_err(|error| error.to_string())?;
            datasets.needed = plan.rows.iter().filter_map(|row| dataset(row.recipe())).collect();
        }
        _ => {}
    }
    Ok(datasets)
}

/// The data set that a recipe reads from disk, if any.
fn dataset(recipe: &Recipe) -> Option<String> {
    recipe.dataset().filter(|name| *name != "planted").map(str::to_owned)
}

/// Whether the reader must replace a word: `NAME`, `runs/NAME-SEED`, `my-recipe.toml`, `recipes/…`.
fn is_placeholder(word: &str) -> bool {
    let is_capital = |part: &str| part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase());
    let mut parts = word.split(|c: char| !c.is_alphanumeric());
    ["my-", "my.", "mine"].iter().any(|own| word.starts_with(own)) || word.contains('…') || parts.any(is_capital)
}
