//! What a type must say about itself to be read as a recipe.

use crate::Refusal;
use serde::{Serialize, de::DeserializeOwned};

/// A kind of recipe: the tables that it has, and what must hold between them.
pub trait RecipeKind: Serialize + DeserializeOwned {
    /// The name of the recipe.
    fn name_mut(&mut self) -> &mut String;

    /// Tables with a `kind` that is optional, and their default kind.
    fn default_kinds() -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// Checks all tables, and that they fit together.
    ///
    /// # Errors
    /// Returns an error that names the first refused key, its value, and what would be accepted.
    fn check(&self) -> Result<(), Refusal>;

    /// Fills in defaults that depend on other keys.
    fn resolve(&mut self) {}
}
