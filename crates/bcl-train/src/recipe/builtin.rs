//! The recipes that come with the program, and finding a recipe by name or path.

use super::{RecipeError, suggest::nearest};
use include_dir::{Dir, include_dir};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// A recipe that is part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name: the path below `recipes/`, without the ending.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The folder `recipes`, built into the program.
static FOLDER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../recipes");

/// Its files, by name.
static TREE: LazyLock<Tree> = LazyLock::new(|| {
    let mut files = Vec::new();
    collect_builtin(&FOLDER, &mut files);
    // As paths, so that the recipes of one folder stand together: `a/b` before `a-c`.
    files.sort_by_key(|file| Path::new(file.name));
    let (bases, recipes) = files.into_iter().partition(|file| is_base(Path::new(file.name)));
    Tree { recipes, bases }
});

struct Tree {
    recipes: Vec<Builtin>,
    bases: Vec<Builtin>,
}

/// Whether a file is only there to be extended: its name begins with `_`.
fn is_base(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_'))
}

fn collect_builtin(folder: &'static Dir<'static>, found: &mut Vec<Builtin>) {
    for file in folder.files() {
        let name = file.path().to_str().and_then(|path| path.strip_suffix(".toml"));
        if let (Some(name), Some(text)) = (name, file.contents_utf8()) {
            found.push(Builtin { name, text });
        }
    }
    for inner in folder.dirs() {
        collect_builtin(inner, found);
    }
}

impl Builtin {
    /// All built-in recipes, by name, without the bases that they extend.
    pub fn all() -> &'static [Builtin] {
        &TREE.recipes
    }

    /// The built-in recipe or base called `name`.
    pub(super) fn named(name: &str) -> Option<Self> {
        TREE.recipes.iter().chain(&TREE.bases).find(|file| file.name == name).copied()
    }

    /// What the recipe is for: the comment in its first line.
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
/// Built-in ones may be written as their path too: without such a file, `recipes/quickstart.toml` is `quickstart`. A file whose name
/// begins with `_` is a base that others extend, and found only by its own name.
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
/// Returns an error if there is no such recipe, or the folder cannot be read or has none.
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
    let found: Vec<Found> = match Builtin::named(bare) {
        Some(recipe) => vec![Found::Builtin(recipe)],
        None => Builtin::all()
            .iter()
            .filter(|recipe| recipe.name.starts_with(&group))
            .map(|recipe| Found::Builtin(*recipe))
            .collect(),
    };
    if found.is_empty() {
        return Err(RecipeError::Missing {
            name: name.to_owned(),
            meant: nearest(bare, Builtin::all().iter().map(|recipe| recipe.name)).map(str::to_owned),
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
        // Links to folders are not followed: they may form a circle.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") && !is_base(&path) {
            files.push(path);
        }
    }
    Ok(())
}
