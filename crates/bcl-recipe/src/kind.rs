//! The trait of types that can be read as recipes.

use crate::Refusal;
use serde::{Serialize, de::DeserializeOwned};
use toml::Table;

/// A kind of recipe: its tables, and the checks between them.
pub trait RecipeKind: Serialize + DeserializeOwned {
    /// Keys that the type has and that mean nothing for this kind, with the rest of the sentence that refuses them.
    const MEANINGLESS: &'static [(&'static str, &'static str)] = &[];

    /// Values of keys that a recipe leaves out, where this kind has another default than the type, or the `kind` of a table is optional.
    fn defaults() -> Table {
        Table::new()
    }

    /// The name of the recipe.
    fn name_mut(&mut self) -> &mut String;

    /// Checks all tables, and that they are consistent.
    ///
    /// # Errors
    /// Returns an error that names the first refused key, its value, and what would be accepted.
    fn check(&self) -> Result<(), Refusal>;

    /// Fills in defaults that depend on other keys.
    fn resolve(&mut self) {}
}
