//! Errors of recipes.

use crate::{Origin, Refusal};
use std::{io, path::PathBuf};

/// Why a recipe cannot be used: the line, the key and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// Neither a file nor a built-in recipe.
    #[error("{name}: no such recipe file, folder or built-in recipe{}{listed}", did_you_mean(meant.as_deref()))]
    Missing {
        /// The name that was given.
        name: String,
        /// A built-in recipe of a similar name.
        meant: Option<String>,
        /// What lists the built-in recipes, as [`Rules::listed`](crate::Rules::listed).
        listed: &'static str,
    },
    /// A file or folder that cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A folder without recipes.
    #[error("{}: has no recipe; recipes are files that end in .toml", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// Data in place of a recipe.
    #[error(
        "{}: is no recipe. If it is the data to train on, save these lines as my-recipe.toml, and name that file instead:\n\n{recipe}",
        path.display()
    )]
    Data {
        /// The file or folder.
        path: PathBuf,
        /// The text of a recipe that trains on it.
        recipe: String,
    },
    /// Not TOML.
    #[error("{at}: not TOML: {problem}")]
    Syntax {
        /// The line.
        at: Origin,
        /// The message of the parser.
        problem: String,
    },
    /// A parent that cannot be used.
    #[error("{at}: extends \"{parent}\", {problem}{chain}")]
    Extends {
        /// The line of `extends`.
        at: Origin,
        /// The value of `extends`.
        parent: String,
        /// What is wrong with it.
        problem: String,
        /// The chain from the requested recipe to this one, in parentheses; empty for the requested recipe itself.
        chain: String,
    },
    /// An unknown key.
    #[error("{at}: unknown key {key}{}; {known}", did_you_mean(meant.as_deref()))]
    UnknownKey {
        /// Where it was set.
        at: Origin,
        /// The key, in full.
        key: String,
        /// A known key of a similar name.
        meant: Option<String>,
        /// The keys of the table around it, as a sentence.
        known: String,
    },
    /// A word that is none of the choices.
    #[error("{at}: {key} is \"{word}\", but must be one of {known}")]
    UnknownWord {
        /// Where it was set.
        at: Origin,
        /// The key, in full.
        key: String,
        /// The word.
        word: String,
        /// The choices, and the one that was probably meant.
        known: String,
    },
    /// A value of the wrong type.
    #[error("{at}: {key} is {found}, but must be {expected}")]
    WrongValue {
        /// Where it was set.
        at: Origin,
        /// The key, in full.
        key: String,
        /// The value.
        found: String,
        /// What is accepted.
        expected: String,
    },
    /// A required key that is absent.
    #[error("{at}: {key} is missing{}{hint}", meant.as_ref().map_or_else(String::new, |there| format!("; did you misspell it as {there}?")))]
    MissingKey {
        /// The table it belongs to.
        at: Origin,
        /// The key, in full.
        key: String,
        /// A present key of a similar name.
        meant: Option<String>,
        /// What to write; may be empty.
        hint: String,
    },
    /// A key below something that is not a table.
    #[error("{at}: {key} is not a table, so it has no keys")]
    NotATable {
        /// The flag that sets a key in it.
        at: Origin,
        /// What is not a table.
        key: String,
    },
    /// A value out of range, or one that contradicts another.
    #[error("{at}: {refusal}")]
    Refused {
        /// Where it was set.
        at: Origin,
        /// The key and the reason.
        refusal: Refusal,
    },
    /// Two runs with the same name and seed.
    #[error("two runs would be called {name}-{seed} and share a folder; give their recipes different names or drop one")]
    SameRun {
        /// Their name.
        name: String,
        /// Their seed.
        seed: u64,
    },
    /// An argument of `--set` that is not `key=value`.
    #[error("`{text}` {problem}; write it as key=value, such as loss.beta=0.8 or encoder.kind=light_gcn")]
    BadOverride {
        /// The argument.
        text: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// Any other error of serde.
    #[error("{at}: {key}: {problem}")]
    Other {
        /// Where it was set.
        at: Origin,
        /// The key, in full.
        key: String,
        /// The message of serde.
        problem: String,
    },
}

pub(crate) fn did_you_mean(meant: Option<&str>) -> String {
    meant.map_or(String::new(), |meant| format!("; did you mean {meant}?"))
}
