//! What differs between two recipes.

use super::{Recipe, RunRecipe, hash, of_kind};
use std::{collections::BTreeMap, fmt};

/// A key that two recipes set to different values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The key, such as `loss.alpha`.
    pub key: String,
    /// The value in the first recipe; `None` if it has no such key, or a value that changes nothing.
    pub first: Option<String>,
    /// The value in the second recipe.
    pub second: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "unset".to_owned());
        write!(f, "{}: {} there, {} here", self.key, shown(&self.first), shown(&self.second))
    }
}

impl Recipe {
    /// The keys that another recipe sets to other values, in alphabetical order. There are none if the [hashes](Self::hash) are equal: seeds and
    /// `[logging]` are not compared.
    ///
    /// ```
    /// use bcl_recipe::{Recipe, find};
    ///
    /// let found = &find("quickstart/bayesian")?[0];
    /// let [short, long] = [["training.epochs=5".parse()?], ["training.epochs=9".parse()?]].map(|flag| Recipe::read(found, &flag));
    /// let differences = short?.differences(&long?);
    /// assert_eq!(differences.len(), 1);
    /// assert_eq!(differences[0].to_string(), "training.epochs: 5 there, 9 here");
    /// # Ok::<(), bcl_recipe::RecipeError>(())
    /// ```
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let (first, second) = (self.covered(), other.covered());
        let differs = |key: &&String| first.get(*key) != second.get(*key);
        let mut keys: Vec<&String> = first.keys().chain(second.keys()).filter(differs).collect();
        keys.sort();
        keys.dedup();
        keys.into_iter()
            .map(|key| Difference {
                key: key.clone(),
                first: first.get(key).cloned(),
                second: second.get(key).cloned(),
            })
            .collect()
    }

    /// The keys that the hash covers, with their values.
    fn covered(&self) -> BTreeMap<String, String> {
        let lines = of_kind!(self, recipe => hash::lines(recipe.to_table()));
        let lines = lines.iter().filter_map(|line| line.split_once(" = "));
        lines.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }
}
