//! The trait of types that can be read as recipes.

use crate::Refusal;
use serde::{Serialize, de::DeserializeOwned};

/// A kind of recipe: its tables, and the checks between them.
pub trait RecipeKind: Serialize + DeserializeOwned {
    /// The name of the recipe.
    fn name_mut(&mut self) -> &mut String;

    /// Tables whose `kind` is optional, with the default kind.
    fn default_kinds() -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// Checks all tables, and that they are consistent.
    ///
    /// # Errors
    /// Returns an error that names the first refused key, its value, and what would be accepted.
    fn check(&self) -> Result<(), Refusal>;

    /// Fills in defaults that depend on other keys.
    fn resolve(&mut self) {}
}
