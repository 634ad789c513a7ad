//! How to read files of interactions.

use crate::{CoreOptions, Format, InteractionColumns};
use serde::{Deserialize, Serialize};

/// How to read files, and which of their interactions to keep.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Format of the files.
    pub format: Format,
    /// Their columns.
    #[serde(skip_serializing_if = "is_default")]
    pub columns: InteractionColumns,
    /// Minimum rating: interactions with a lower one are left out. Without it, all are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rating: Option<f64>,
    /// Which users and items have too few interactions to be kept.
    #[serde(skip_serializing_if = "is_default")]
    pub core: CoreOptions,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_recipes_are_names_in_errors() {
        for format in Format::ALL.into_iter().chain([Format::Auto]) {
            let options: ReadOptions = toml::from_str(&format!("format = \"{format}\"")).unwrap();
            assert_eq!(options.format, format);
        }
    }
}
