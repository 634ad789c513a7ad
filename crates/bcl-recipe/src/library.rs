//! Built-in recipes, and finding a recipe by name or path.

use crate::{Document, RecipeError, nearest};
use bcl_files::is_run_or_table;
use include_dir::Dir;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A built-in recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name: the path in the folder of recipes, without the extension.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Whether a file only exists to be extended, because its name begins with `_`.
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
    /// The purpose of the recipe, from the comment in its first line.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
    }
}

/// A file or a built-in recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecipeSource {
    /// A file.
    File(PathBuf),
    /// A built-in recipe.
    Builtin(Builtin),
}

impl RecipeSource {
    /// The folder of the file; a built-in recipe has none.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::File(path) => path.parent(),
            Self::Builtin(_) => None,
        }
    }
}

/// Messages and rules of a program for its recipes.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// End of the error for an unknown name, which says how to list the built-in recipes: "; `program recipes` lists them".
    pub listed: &'static str,
    /// End of the error for a missing required key, which says what to write; may be empty.
    pub hint: fn(key: &str) -> String,
    /// Removes keys of a parent that contradict the child's keys, before the child is merged into it. For example, the child's
    /// `data.file` replaces an inherited `data.dataset`.
    pub make_way: fn(parent: &mut Document, child: &Document),
    /// The text of a recipe that trains on the data in a file or folder; `None` if the program cannot train on them.
    pub recipe_for: fn(data: &Path) -> Option<String>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            listed: "",
            hint: |_| String::new(),
            make_way: |_, _| (),
            recipe_for: |_| None,
        }
    }
}

/// The recipes that come with a program.
///
/// A file whose name begins with `_` is a base for other recipes. It is found only by its full name.
#[derive(Debug, Default)]
pub struct Library {
    recipes: Vec<Builtin>,
    bases: Vec<Builtin>,
    pub(crate) rules: Rules,
}

impl Library {
    /// Creates a library of the `.toml` files of an embedded folder.
    pub fn of_folder(folder: &'static Dir<'static>, rules: Rules) -> Self {
        let mut files = Vec::new();
        collect_builtin(folder, &mut files);
        Self::new(files, rules)
    }

    /// Creates a library of these files.
    pub fn new(mut files: Vec<Builtin>, rules: Rules) -> Self {
        // Compare paths, not strings, to keep the recipes of a folder together: `a/b` before `a-c`.
        files.sort_by_key(|file| Path::new(file.name));
        let (bases, recipes) = files.into_iter().partition(|file| is_base(Path::new(file.name)));
        Self { recipes, bases, rules }
    }

    /// All built-in recipes, by name, without the bases that they extend.
    pub fn all(&self) -> &[Builtin] {
        &self.recipes
    }

    /// The built-in recipe or base called `name`.
    pub fn named(&self, name: &str) -> Option<Builtin> {
        self.recipes.iter().chain(&self.bases).find(|file| file.name == name).copied()
    }

    /// The built-in recipe whose name is most similar.
    pub(crate) fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.recipes.iter().map(|recipe| recipe.name))
    }

    /// The error for a path that is no recipe: what to do if it is data, or `otherwise`.
    pub(crate) fn refuse_data(&self, path: &Path, otherwise: RecipeError) -> RecipeError {
        match (self.rules.recipe_for)(path) {
            Some(recipe) => RecipeError::Data {
                path: path.to_owned(),
                recipe,
            },
            None => otherwise,
        }
    }

    /// Finds recipes: a file, all `.toml` files below a folder (without the folders of runs and tables in it), a built-in recipe by name, or
    /// all whose names begin with `name/`. A built-in recipe may also be given by its path: `recipes/quickstart.toml` is `quickstart` if there is no such file.
    ///
    /// # Errors
    /// Returns an error if there is no such recipe, or the folder cannot be read or has none.
    pub fn find(&self, name: &str) -> Result<Vec<RecipeSource>, RecipeError> {
        let path = Path::new(name);
        if path.is_dir() {
            let mut files = Vec::new();
            collect(path, &mut files)?;
            files.sort();
            if files.is_empty() {
                return Err(self.refuse_data(path, RecipeError::EmptyFolder { path: path.to_owned() }));
            }
            return Ok(files.into_iter().map(RecipeSource::File).collect());
        }
        if path.exists() {
            return Ok(vec![RecipeSource::File(path.to_owned())]);
        }
        let bare = name.strip_prefix("recipes/").unwrap_or(name);
        let bare = bare.strip_suffix(".toml").unwrap_or(bare).trim_end_matches('/');
        let group = format!("{bare}/");
        let found: Vec<RecipeSource> = match self.named(bare) {
            Some(recipe) => vec![RecipeSource::Builtin(recipe)],
            None => self
                .recipes
                .iter()
                .filter(|recipe| recipe.name.starts_with(&group))
                .map(|recipe| RecipeSource::Builtin(*recipe))
                .collect(),
        };
        if found.is_empty() {
            return Err(RecipeError::Missing {
                name: name.to_owned(),
                meant: self.nearest(bare).map(str::to_owned),
                listed: self.rules.listed,
            });
        }
        Ok(found)
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), RecipeError> {
    let unreadable = |source| RecipeError::Io {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // Links to folders are not followed: they may form a circle. The recipes in the folders of runs and tables are records.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            if !is_run_or_table(&path) {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "toml") && !is_base(&path) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::library;

    fn find(name: &str) -> Result<Vec<RecipeSource>, String> {
        library().find(name).map_err(|error| error.to_string())
    }

    #[test]
    fn recipes_are_found_by_name_group_file_and_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::create_dir_all(folder.path().join("runs/b-0")).unwrap();
        for name in [
            "b.toml",
            "inner/a.toml",
            "_base.toml",
            "notes.txt",
            // A run keeps its own recipe, which is no recipe to train.
            "runs/b-0/recipe.toml",
            "runs/b-0/run.json",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let files = find(folder.path().to_str().unwrap()).unwrap();
        assert_eq!(
            files,
            [
                RecipeSource::File(folder.path().join("b.toml")),
                RecipeSource::File(folder.path().join("inner/a.toml"))
            ]
        );
        assert_eq!(find(folder.path().join("b.toml").to_str().unwrap()).unwrap(), files[..1]);
        assert_eq!(find(folder.path().join("runs/b-0").to_str().unwrap()).unwrap().len(), 1);
        for group in ["quickstart", "quickstart/", "recipes/quickstart.toml"] {
            assert_eq!(find(group).unwrap().len(), 2, "{group}");
        }
        assert_eq!(find("quickstart/_base").unwrap().len(), 1);
    }

    #[test]
    fn an_unknown_name_gives_a_suggestion() {
        let folder = tempfile::tempdir().unwrap();
        let text = |name: &str| find(name).unwrap_err();
        assert!(text("quickstart/bayes").contains("did you mean quickstart/bayesian?"));
        assert_eq!(text("nonsense"), "nonsense: no such recipe file, folder or built-in recipe");
        assert!(text(folder.path().to_str().unwrap()).contains("has no recipe"));
        let gone = RecipeSource::File(folder.path().join("gone.toml"));
        let gone = crate::Chain::open(&gone, library()).unwrap_err().to_string();
        assert!(gone.contains("gone.toml: cannot be read"), "{gone}");
    }

    #[test]
    fn recipes_are_ordered_by_path_and_have_a_summary() {
        let names: Vec<&str> = library().all().iter().map(|recipe| recipe.name).collect();
        assert_eq!(names, ["quickstart/bayesian", "quickstart/infonce", "quickstart-images"]);
        assert_eq!(library().all()[0].summary(), "Bayesian weights.");
    }
}
