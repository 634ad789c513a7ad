//! The origin of a value.

use std::fmt;

/// The origin of a value: the place where its key was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A line of a recipe, from 1.
    Line {
        /// The recipe: the path of a file, or the name of a built-in recipe.
        recipe: String,
        /// The line.
        line: usize,
    },
    /// A flag of the command line, such as `--set loss.beta=0.8`.
    Flag(String),
    /// A recipe as a whole, for keys that are missing.
    Recipe(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { recipe, line } => write!(f, "{recipe}:{line}"),
            Self::Flag(flag) => f.write_str(flag),
            Self::Recipe(recipe) => f.write_str(recipe),
        }
    }
}
