//! `extends = "…"`: a recipe that contains only its differences from another.
//!
//! The parent is a file beside the recipe or a built-in recipe, and may extend another one in turn. Tables are merged key by key, the
//! child's values win, and keys that the child's kinds do not know are left out.

use crate::{Builtin, Document, DroppedKeys, Library, Origins, Override, RecipeError, RecipeKind, RecipeSource, Refusal, value};
use bcl_files::input::{self, MOST_TEXT};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Maximum length of a chain.
const LONGEST: usize = 32;

/// The source of a recipe's text, which determines what its `extends` may name.
#[derive(Debug, Clone)]
enum Source {
    /// A file: `extends` is a path relative to it, or a built-in recipe.
    File(PathBuf),
    /// A built-in recipe: `extends` is a path relative to it, or its name.
    Builtin(Builtin),
    /// A text without a file: `extends` is a built-in recipe.
    Text,
}

impl Source {
    /// The name in error messages.
    fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Builtin(recipe) => recipe.name.to_owned(),
            Self::Text => "recipe".to_owned(),
        }
    }

    /// Whether both are the same file or built-in recipe.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => real(one) == real(other),
            (Self::Builtin(one), Self::Builtin(other)) => one == other,
            _ => false,
        }
    }

    /// The recipe that this one names in `extends`.
    fn parent(&self, wanted: &str, library: &Library) -> Option<Self> {
        let beside = match self {
            Self::File(path) => {
                let path = path.parent().unwrap_or(Path::new("")).join(wanted);
                // If the check fails, assume that the file exists: reading it gives the reason.
                path.try_exists().unwrap_or(true).then(|| Self::File(shortest(path)))
            }
            Self::Builtin(recipe) => wanted
                .strip_suffix(".toml")
                .and_then(|path| library.named(&relative_to(recipe.name, path)?))
                .map(Self::Builtin),
            Self::Text => None,
        };
        beside.or_else(|| library.named(wanted).map(Self::Builtin))
    }

    fn text(&self) -> Result<String, RecipeError> {
        match self {
            Self::File(path) => text_of(path),
            Self::Builtin(recipe) => Ok(recipe.text.to_owned()),
            Self::Text => unreachable!("nothing extends a text without a file"),
        }
    }
}

/// A recipe and all recipes that it extends, in order.
#[derive(Debug)]
pub struct Chain<'a> {
    documents: Vec<Document>,
    library: &'a Library,
}

impl<'a> Chain<'a> {
    /// Reads a recipe that [`Library::find`] returned, and all that it extends.
    ///
    /// # Errors
    /// Returns an error if a recipe of the chain is missing, cannot be read or is not TOML, or if the chain is a circle or too long.
    pub fn open(found: &RecipeSource, library: &'a Library) -> Result<Self, RecipeError> {
        match found {
            RecipeSource::File(path) => {
                let name = path.display().to_string();
                let chain = text_of(path).and_then(|text| Self::of(&text, &name, Source::File(path.clone()), library));
                chain.map_err(|error| match error {
                    RecipeError::Io { .. } | RecipeError::Syntax { .. }
                        if path.extension().is_none_or(|ending| ending != "toml") =>
                    {
                        library.refuse_data(path, error)
                    }
                    error => error,
                })
            }
            RecipeSource::Builtin(recipe) => Self::of(recipe.text, recipe.name, Source::Builtin(*recipe), library),
        }
    }

    /// Parses the text of a recipe and reads all that it extends. `origin` is its path or name, for errors and as the default name. The text
    /// has no folder, so it can only extend built-in recipes.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn parse(text: &str, origin: &str, library: &'a Library) -> Result<Self, RecipeError> {
        Self::of(text, origin, Source::Text, library)
    }

    fn of(text: &str, name: &str, source: Source, library: &'a Library) -> Result<Self, RecipeError> {
        let mut documents = vec![Document::parse(text, name)?];
        let mut sources = vec![source];
        while let (Some(document), Some(source)) = (documents.last_mut(), sources.last()) {
            let Some((wanted, at)) = document.take_extends()? else {
                break;
            };
            let refuse = |problem: String| RecipeError::Extends {
                at: at.clone(),
                chain: chain(name, &sources[1..], &wanted),
                parent: wanted.clone(),
                problem,
            };
            let parent = source
                .parent(&wanted, library)
                .ok_or_else(|| refuse(missing(source, &wanted, library)))?;
            if sources.iter().any(|source| source.is(&parent)) {
                let problem = if source.is(&parent) {
                    "which is the recipe itself"
                } else {
                    "which closes a circle"
                };
                return Err(refuse(problem.to_owned()));
            }
            if sources.len() == LONGEST {
                return Err(refuse(format!("but a chain may have {LONGEST} recipes at most")));
            }
            let text = parent.text().map_err(|error| match error {
                RecipeError::Io { source, .. } => refuse(format!("which cannot be read: {source}")),
                other => other,
            })?;
            documents.push(Document::parse(&text, &parent.name())?);
            sources.push(parent);
        }
        Ok(Self { documents, library })
    }

    /// Merges the chain and applies the flags, before the kind of recipe is known.
    ///
    /// # Errors
    /// Returns an error if a flag sets a key of something that is not a table.
    pub fn document(&self, overrides: &[Override]) -> Result<Document, RecipeError> {
        self.with_flags(self.merged(|_, _| ()), overrides)
    }

    /// Reads the chain as a recipe of type `R`, with the values of flags on top. Keys that a flag's new kind lacks go to `dropped`.
    ///
    /// # Errors
    /// Returns an error if `R` does not have a key or refuses its value; the error names the line, the key and the remedy.
    pub fn read<R: RecipeKind>(
        &self,
        overrides: &[Override],
        dropped: &mut Vec<DroppedKeys>,
    ) -> Result<(R, Origins), RecipeError> {
        let mut document = self.with_flags(self.merged(Document::drop_for_child::<R>), overrides)?;
        dropped.extend(document.drop_for_flags::<R>());
        if let Some((key, problem)) = R::MEANINGLESS.iter().find(|(key, _)| document.value(key).is_some()) {
            return Err(document.refuse(Refusal::new(*key, *problem)));
        }
        let origins = Origins::of(&document);
        document.fill(&R::defaults());
        let mut recipe: R = value::read(&document.table).map_err(|error| document.explain(error, self.library.rules.hint))?;
        // A seed beyond TOML's integers cannot be written, and goes without this check.
        let list = toml::Table::try_from(&recipe)
            .ok()
            .and_then(|read| value::list_for_a_table(&document.table, &read));
        if let Some(key) = list {
            return Err(document.refuse(Refusal::new(key, "is a list, but must be a table")));
        }
        if document.value("name").is_none() {
            *recipe.name_mut() = name_from(&document.recipe);
        }
        recipe.check().map_err(|refusal| document.refuse(refusal))?;
        recipe.resolve();
        Ok((recipe, origins))
    }

    /// Applies flags. What makes way for a child makes way for them, too.
    fn with_flags(&self, mut document: Document, flags: &[Override]) -> Result<Document, RecipeError> {
        let mut alone = Document::parse("", "")?;
        flags.iter().try_for_each(|change| alone.set(change))?;
        (self.library.rules.make_way)(&mut document, &alone);
        flags.iter().try_for_each(|change| document.set(change))?;
        Ok(document)
    }

    fn merged(&self, mut merged_with: impl FnMut(&mut Document, &Document)) -> Document {
        let mut documents = self.documents.iter().rev();
        let mut whole = documents.next().expect("a chain has a recipe").clone();
        for child in documents {
            (self.library.rules.make_way)(&mut whole, child);
            whole.overlay(child);
            merged_with(&mut whole, child);
        }
        // Only flags are still to be applied.
        whole.former_kinds.clear();
        whole
    }
}

/// Describes the chain up to the refused recipe. A chain of two adds nothing to the message.
fn chain(first: &str, parents: &[Source], wanted: &str) -> String {
    if parents.is_empty() {
        return String::new();
    }
    let mut names = vec![first.to_owned()];
    names.extend(parents.iter().map(Source::name));
    // Of a long chain, only both ends are listed.
    if names.len() > 6 {
        names.splice(3..names.len() - 2, ["…".to_owned()]);
    }
    names.push(wanted.to_owned());
    format!(" ({})", names.join(" extends "))
}

/// Why there is no such parent.
fn missing(source: &Source, wanted: &str, library: &Library) -> String {
    let what = match source {
        Source::File(_) => "which is neither a file beside it nor a built-in recipe",
        Source::Builtin(_) | Source::Text => "which is no built-in recipe",
    };
    let with_ending = format!("{wanted}.toml");
    let meant = match source.parent(&with_ending, library) {
        Some(_) => Some(&*with_ending),
        None => library.nearest(wanted),
    };
    what.to_owned() + &meant.map_or(String::new(), |meant| format!("; did you mean \"{meant}\"?"))
}

/// A path relative to a built-in recipe, as a name. `None` if it leaves the tree.
fn relative_to(recipe: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = recipe.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn text_of(path: &Path) -> Result<String, RecipeError> {
    input::read_text(path, MOST_TEXT).map_err(|source| RecipeError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Names a recipe that has no name after its file, with `_` in place of characters that a folder name should not have.
fn name_from(origin: &str) -> String {
    let origin = origin.strip_suffix(".toml").unwrap_or(origin);
    let stem = Path::new(origin)
        .file_name()
        .map_or("recipe".into(), |name| name.to_string_lossy());
    stem.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect()
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// `a/../b` as `b`, if that is the same file: with links it may be another.
fn shortest(path: PathBuf) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if short.file_name().is_some() => drop(short.pop()),
            part => short.push(part),
        }
    }
    if real(&short) == real(&path) { short } else { path }
}

#[cfg(test)]
mod tests;
