//! Misspelt verbs.

use super::Arguments;
use bcl_recipe::nearest;
use bcl_recipe::{RecipeError, built_in, find};
use clap::{CommandFactory, error::ErrorKind};

/// The error for a first word that is neither a verb nor a recipe, but closer to a verb than to a built-in recipe.
pub(super) fn misspelt(word: &str) -> Option<clap::Error> {
    let mut command = Arguments::command();
    let is_plain = word.chars().all(|char| char.is_ascii_alphanumeric() || char == '-') && !word.starts_with('-');
    if !is_plain || command.find_subcommand(word).is_some() || !matches!(find(word), Err(RecipeError::Missing { .. })) {
        return None;
    }
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let recipes = built_in().iter().map(|recipe| recipe.name);
    let meant = nearest(word, verbs.iter().map(String::as_str).chain(recipes))?;
    verbs.iter().any(|verb| verb == meant).then(|| {
        let message = format!("`{word}` is neither a verb nor a recipe; did you mean `bcl-train {meant}`?");
        command.error(ErrorKind::InvalidSubcommand, message)
    })
}
