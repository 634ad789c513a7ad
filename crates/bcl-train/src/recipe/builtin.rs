//! The recipes that come with the program, and how a recipe is found by name or path.

use super::{RecipeError, suggest::nearest};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A recipe that is part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name: the path below `recipes/`, without the ending.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! builtin {
    ($($name:literal)*) => {
        &[$(Builtin {
            name: $name,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../recipes/", $name, ".toml")),
        }),*]
    };
}

/// All of them, by name. A test compares the list with the folder.
const BUILTIN: &[Builtin] = builtin! {
    "cpu/cifar10-frog-truck/bayesian"
    "cpu/cifar10-frog-truck/debiased"
    "cpu/cifar10-frog-truck/debiased-tau-0.1"
    "cpu/cifar10-frog-truck/hard"
    "cpu/cifar10-frog-truck/infonce"
    "cpu/cifar10-tiny/bayesian"
    "cpu/cifar10-tiny/debiased"
    "cpu/cifar10-tiny/hard"
    "cpu/cifar10-tiny/infonce"
    "cpu/planted/bayesian"
    "cpu/planted/debiased"
    "cpu/planted/hard"
    "cpu/planted/infonce"
    "quickstart/bayesian"
    "quickstart/infonce"
    "quickstart-images/bayesian"
    "quickstart-images/infonce"
    "sensitivity/ml-100k/mf-bayesian-t03"
    "sensitivity/ml-100k/mf-infonce-t03"
    "table10/gowalla/lightgcn-bayesian"
    "table10/gowalla/lightgcn-debiased"
    "table10/gowalla/lightgcn-hard"
    "table10/gowalla/lightgcn-infonce"
    "table10/gowalla/mf-bayesian"
    "table10/gowalla/mf-debiased"
    "table10/gowalla/mf-hard"
    "table10/gowalla/mf-infonce"
    "table10/ml-100k/lightgcn-bayesian"
    "table10/ml-100k/lightgcn-debiased"
    "table10/ml-100k/lightgcn-hard"
    "table10/ml-100k/lightgcn-infonce"
    "table10/ml-100k/mf-bayesian"
    "table10/ml-100k/mf-debiased"
    "table10/ml-100k/mf-hard"
    "table10/ml-100k/mf-infonce"
    "table10/ml-1m/lightgcn-bayesian"
    "table10/ml-1m/lightgcn-debiased"
    "table10/ml-1m/lightgcn-hard"
    "table10/ml-1m/lightgcn-infonce"
    "table10/ml-1m/mf-bayesian"
    "table10/ml-1m/mf-debiased"
    "table10/ml-1m/mf-hard"
    "table10/ml-1m/mf-infonce"
    "table2/cifar10/bayesian"
    "table2/cifar10/debiased"
    "table2/cifar10/hard"
    "table2/cifar10/infonce"
    "table2/cifar10-frog-truck/bayesian"
    "table2/cifar10-frog-truck/debiased"
    "table2/cifar10-frog-truck/hard"
    "table2/cifar10-frog-truck/infonce"
    "table2/cifar100/bayesian"
    "table2/cifar100/debiased"
    "table2/cifar100/hard"
    "table2/cifar100/infonce"
    "table2/planted/bayesian"
    "table2/planted/debiased"
    "table2/planted/hard"
    "table2/planted/infonce"
    "table2/stl10/bayesian"
    "table2/stl10/debiased"
    "table2/stl10/hard"
    "table2/stl10/infonce"
    "table2/tiny-imagenet/bayesian"
    "table2/tiny-imagenet/debiased"
    "table2/tiny-imagenet/hard"
    "table2/tiny-imagenet/infonce"
    "table3/cifar10/bayesian"
    "table3/cifar10/bayesian-measured"
    "table3/cifar10/debiased"
    "table3/cifar10/hard"
    "table3/cifar10/infonce"
    "table3/cifar100/bayesian"
    "table3/cifar100/debiased"
    "table3/cifar100/hard"
    "table3/cifar100/infonce"
    "table3/stl10/bayesian"
    "table3/stl10/debiased"
    "table3/stl10/hard"
    "table3/stl10/infonce"
    "table3/tiny-imagenet/bayesian"
    "table3/tiny-imagenet/debiased"
    "table3/tiny-imagenet/hard"
    "table3/tiny-imagenet/infonce"
    "table4/cifar10/bayesian-n126"
    "table4/cifar10/bayesian-n254"
    "table4/cifar10/bayesian-n30"
    "table4/cifar10/bayesian-n510"
    "table4/cifar10/bayesian-n62"
    "table4/cifar10/infonce-n126"
    "table4/cifar10/infonce-n254"
    "table4/cifar10/infonce-n30"
    "table4/cifar10/infonce-n510"
    "table4/cifar10/infonce-n62"
    "table4/stl10/bayesian-n126"
    "table4/stl10/bayesian-n254"
    "table4/stl10/bayesian-n30"
    "table4/stl10/bayesian-n510"
    "table4/stl10/bayesian-n62"
    "table4/stl10/infonce-n126"
    "table4/stl10/infonce-n254"
    "table4/stl10/infonce-n30"
    "table4/stl10/infonce-n510"
    "table4/stl10/infonce-n62"
    "table5/cifar10/bayesian-b05"
    "table5/cifar10/bayesian-b06"
    "table5/cifar10/bayesian-b07"
    "table5/cifar10/bayesian-b08"
    "table5/cifar10/bayesian-b09"
    "table5/cifar10/bayesian-b10"
    "table5/cifar10-frog-truck/bayesian-b05"
    "table5/cifar10-frog-truck/bayesian-b06"
    "table5/cifar10-frog-truck/bayesian-b07"
    "table5/cifar10-frog-truck/bayesian-b08"
    "table5/cifar10-frog-truck/bayesian-b09"
    "table5/cifar10-frog-truck/bayesian-b10"
    "table5/planted/bayesian-b05"
    "table5/planted/bayesian-b06"
    "table5/planted/bayesian-b07"
    "table5/planted/bayesian-b08"
    "table5/planted/bayesian-b09"
    "table5/planted/bayesian-b10"
    "table5/stl10/bayesian-b05"
    "table5/stl10/bayesian-b06"
    "table5/stl10/bayesian-b07"
    "table5/stl10/bayesian-b08"
    "table5/stl10/bayesian-b09"
    "table5/stl10/bayesian-b10"
    "table8/tiny-imagenet/bayesian-tau0001"
    "table8/tiny-imagenet/bayesian-tau0005"
    "table8/tiny-imagenet/bayesian-tau0010"
};

impl Builtin {
    /// All built-in recipes, by name.
    pub fn all() -> &'static [Builtin] {
        BUILTIN
    }

    /// What the recipe is for: its first line, a comment.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
    }
}

/// A recipe that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A file.
    File(PathBuf),
    /// A built-in recipe.
    Builtin(Builtin),
}

/// Finds recipes: a file, all `.toml` files below a folder, a built-in recipe by name, or all whose names begin with `name/`.
/// Built-in ones may be written as their path too: where there is no such file, `recipes/quickstart.toml` is `quickstart`.
///
/// ```
/// use bcl_train::recipe::find;
///
/// assert_eq!(find("quickstart/bayesian")?.len(), 1);
/// assert_eq!(find("table10/ml-100k")?.len(), 8);
/// assert_eq!(find("recipes/quickstart.toml")?.len(), 2);
/// # Ok::<(), bcl_train::recipe::RecipeError>(())
/// ```
///
/// # Errors
/// When there is no such recipe, or the folder cannot be read or holds none.
pub fn find(name: &str) -> Result<Vec<Found>, RecipeError> {
    let path = Path::new(name);
    if path.is_dir() {
        let mut files = Vec::new();
        collect(path, &mut files)?;
        files.sort();
        if files.is_empty() {
            return Err(RecipeError::EmptyFolder { path: path.to_owned() });
        }
        return Ok(files.into_iter().map(Found::File).collect());
    }
    if path.exists() {
        return Ok(vec![Found::File(path.to_owned())]);
    }
    let bare = name.strip_prefix("recipes/").unwrap_or(name);
    let bare = bare.strip_suffix(".toml").unwrap_or(bare).trim_end_matches('/');
    let group = format!("{bare}/");
    let found: Vec<Found> = BUILTIN
        .iter()
        .filter(|recipe| recipe.name == bare || recipe.name.starts_with(&group))
        .map(|recipe| Found::Builtin(*recipe))
        .collect();
    if found.is_empty() {
        return Err(RecipeError::Missing {
            name: name.to_owned(),
            meant: nearest(bare, BUILTIN.iter().map(|recipe| recipe.name)).map(str::to_owned),
        });
    }
    Ok(found)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), RecipeError> {
    let unreadable = |source| RecipeError::Io {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // A link to a folder is not followed: it may lead in a circle.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
