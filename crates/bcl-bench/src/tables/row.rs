//! The rows of a table: recipes, and the parameters that are searched for each.

use super::space::{Entry, Ranges, Space, overrides};
use bcl_core::schedule::AlphaMeasurement;
use bcl_recipe::{DroppedKeys, ImageRecipe, Override, Recipe, RecipeError, RecipeSource, RecommenderRecipe, find};
use bcl_train::error::Error;
use serde_json::Value;
use std::mem;

/// Loss that others are compared with.
pub(super) const REFERENCE: &str = "info_nce";

/// Loss that knows the classes. It is no candidate: it shows how much a loss could gain.
pub(super) const ORACLE: &str = "supervised";

/// The key of the Bayesian loss's α.
pub(super) const ALPHA: &str = "loss.alpha";

/// A row of a table.
#[derive(Debug, Clone)]
pub struct Row {
    /// The last part of the recipe's name.
    pub name: String,
    /// The parameters that are searched.
    pub space: Space,
    /// Keys of the recipe that a flag made meaningless.
    pub dropped: Vec<DroppedKeys>,
    /// Whether the row was added to show how much a loss could gain.
    pub is_oracle: bool,
    found: RecipeSource,
    /// Flags that apply to every run of the row.
    set: Vec<Override>,
    recipe: Recipe,
}

impl Row {
    /// The rows for a name: the recipes that [`find`] finds, restricted to one encoder if given, with the values that flags
    /// set.
    ///
    /// # Errors
    /// Returns an error if there are none, one cannot be read, two have the same name, or a flag sets what the table itself sets.
    pub fn find(name: &str, encoder: Option<&str>, set: &[Override], ranges: &Ranges) -> Result<Vec<Self>, Error> {
        for key in set.iter().map(Override::key) {
            if let Some(problem) = why_not_set(&key) {
                return Err(Error::Input(format!("--set {key}: {problem}")));
            }
        }
        let read = |found| Self::read(found, set, ranges);
        let mut rows = find(name)?.into_iter().map(read).collect::<Result<Vec<Self>, Error>>()?;
        for entry in ranges.entries() {
            check(entry, name, &rows).map_err(Error::Input)?;
        }
        let mut encoders: Vec<String> = rows.iter().map(Self::encoder).collect();
        encoders.sort();
        encoders.dedup();
        rows.retain(|row| encoder.is_none_or(|asked| plain(asked) == plain(&row.encoder())));
        if rows.is_empty() {
            return Err(Error::Input(format!(
                "--encoder {}: no recipe of {name} has this encoder; they have {}",
                encoder.unwrap_or_default(),
                encoders.join(", ")
            )));
        }
        rows.sort_by_key(Self::place);
        if let Some(pair) = rows.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(Error::Input(format!(
                "two recipes of {name} are called {}; name a folder in which they differ",
                pair[0].name
            )));
        }
        forget_what_rows_differ_in(&mut rows);
        Ok(rows)
    }

    fn read(found: RecipeSource, set: &[Override], ranges: &Ranges) -> Result<Self, Error> {
        let mut dropped = Vec::new();
        let recipe = Recipe::read_noting(&found, set, &mut dropped)?;
        let whole = recipe.name().to_owned();
        let mut row = Self {
            name: whole.rsplit('/').next().unwrap_or(&whole).to_owned(),
            space: Space::default(),
            dropped,
            is_oracle: false,
            found,
            set: set.to_vec(),
            recipe,
        };
        row.space = match row.recipe {
            // Settings of graph encoders cannot be chosen on a part of the graphs.
            Recipe::Graphs(_) => Space::default(),
            _ => ranges.of(row.is_recommender(), &row.loss_kind()),
        };
        // A schedule gives way to given ranges only.
        row.narrow(|row, key| !(ranges.are_built_in() && row.has_schedule(key)));
        Ok(row)
    }

    /// Removes the keys from the search that a flag sets, that the recipe does not have or use, or that are not to be kept.
    fn narrow(&mut self, keep: impl Fn(&Self, &str) -> bool) {
        let mut space = mem::take(&mut self.space);
        space.0.retain(|key, range| {
            let is_set = self.set.iter().any(|flag| flag.key() == *key);
            !is_set && !self.ignores(key) && keep(self, key) && self.takes(&[(key.clone(), range.at(0.0))])
        });
        self.space = space;
    }

    /// The recipe without tuned settings.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// For each row of InfoNCE, the same with the supervised loss, which leaves out all false negatives; none if some row has that loss already, or the data
    /// of the recipes have no classes.
    pub fn oracles(rows: &[Self]) -> Vec<Self> {
        if rows.iter().any(|row| row.loss_name() == ORACLE) {
            return Vec::new();
        }
        let references: Vec<&Self> = rows.iter().filter(|row| row.loss_name() == REFERENCE).collect();
        references.into_iter().filter_map(Self::oracle).collect()
    }

    fn oracle(&self) -> Option<Self> {
        let name = if self.name.contains("infonce") {
            self.name.replace("infonce", ORACLE)
        } else {
            format!("{}-{ORACLE}", self.name)
        };
        let whole = self.recipe.name();
        let folder = whole.strip_suffix(&self.name).unwrap_or_default();
        let values = [
            ("loss.kind".to_owned(), ORACLE.into()),
            ("name".to_owned(), format!("{folder}{name}").into()),
        ];
        let mut set = self.set.clone();
        set.extend(overrides(&values));
        let recipe = Recipe::read(&self.found, &set).ok()?;
        let mut oracle = Self {
            name,
            dropped: Vec::new(),
            is_oracle: true,
            set,
            recipe,
            ..self.clone()
        };
        oracle.narrow(|_, _| true);
        Some(oracle)
    }

    /// The recipe with some values replaced.
    ///
    /// # Errors
    /// Returns an error if the recipe refuses one of them.
    pub fn with(&self, values: &[(String, toml::Value)]) -> Result<Recipe, RecipeError> {
        let mut set = self.set.clone();
        set.extend(overrides(values));
        Recipe::read(&self.found, &set)
    }

    /// The same row with more flags, whose keys are then not searched.
    ///
    /// # Errors
    /// Returns an error if the recipe refuses one of them.
    pub fn set(&self, flags: &[Override]) -> Result<Self, RecipeError> {
        let mut row = self.clone();
        row.set.extend_from_slice(flags);
        row.recipe = Recipe::read(&row.found, &row.set)?;
        row.narrow(|_, _| true);
        Ok(row)
    }

    /// Whether the recipe has a key, with defaults written out.
    pub fn has(&self, key: &str) -> bool {
        at(&self.json(), key).is_some()
    }

    /// Whether a key of the loss has a schedule.
    fn has_schedule(&self, key: &str) -> bool {
        key.starts_with("loss.") && at(&self.json(), key).is_some_and(Value::is_object)
    }

    /// Whether a key of the recipe has no effect: a linear α schedule replaces the α of the loss in every epoch.
    pub(super) fn ignores(&self, key: &str) -> bool {
        key == ALPHA && self.text("alpha_schedule.kind") == "linear"
    }

    /// The key of a flag of the row that sets a key, or a part of its table.
    pub(super) fn flag_within(&self, key: &str) -> Option<String> {
        let is_within = |set: &String| {
            let rest = set.strip_prefix(key);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.set.iter().map(Override::key).find(is_within)
    }

    /// The number of negatives that an anchor has in a batch of images or graphs; `None` for recommenders, and for methods without negatives.
    pub(super) fn negatives_in_batch(&self, batch_size: usize) -> Option<usize> {
        match &self.recipe {
            Recipe::Recommender(_) => None,
            Recipe::Images(recipe) => recipe.method.settings().num_negatives(batch_size),
            Recipe::Graphs(recipe) => Some(recipe.method.settings().num_negatives(batch_size)),
        }
    }

    /// Whether training reads evaluations: to choose the epoch on held-out images, or to set α.
    pub(super) fn learns_from_evaluations(&self) -> bool {
        self.recipe.as_kind::<ImageRecipe>().is_some_and(|recipe| {
            recipe.selection.held_out > 0.0 || recipe.alpha_schedule.measures() == Some(AlphaMeasurement::Training)
        })
    }

    /// Whether the recipe has the keys of these values, whatever it thinks of the values.
    pub(super) fn takes(&self, values: &[(String, toml::Value)]) -> bool {
        let is_there = |(key, _): &(String, toml::Value)| self.has(key);
        // A method with a loss of its own has no table of the loss, and takes none.
        if !self.has("loss") && values.iter().any(|(key, _)| key.starts_with("loss.")) {
            return false;
        }
        values.iter().all(is_there)
            || !matches!(
                self.with(values),
                Err(RecipeError::UnknownKey { .. } | RecipeError::NotATable { .. })
            )
    }

    /// Whether the row trains a recommender.
    pub fn is_recommender(&self) -> bool {
        self.recipe.as_kind::<RecommenderRecipe>().is_some()
    }

    /// The kind of the loss, or the method if that has a loss of its own.
    pub fn loss_kind(&self) -> String {
        if self.has("loss") {
            self.text("loss.kind")
        } else {
            self.method()
        }
    }

    /// The kind of the loss and what it does with detected false negatives, such as `info_nce, eliminate`.
    pub fn loss_name(&self) -> String {
        let recovery = self
            .recipe
            .as_kind::<ImageRecipe>()
            .and_then(|recipe| recipe.recovery.as_ref());
        match recovery {
            Some(recovery) => format!("{}, {}", self.loss_kind(), recovery.name()),
            None => self.loss_kind(),
        }
    }

    /// The method of an image encoder; empty for the default, which recipes need not name, and for recommenders.
    pub fn method(&self) -> String {
        self.text("method.kind")
    }

    /// The kind of the encoder.
    pub fn encoder(&self) -> String {
        self.text("encoder.kind")
    }

    /// The maximum number of epochs.
    pub fn epochs(&self) -> usize {
        at(&self.json(), "training.epochs").and_then(Value::as_u64).unwrap_or(1) as usize
    }

    /// The resolved recipe.
    pub(super) fn json(&self) -> Value {
        serde_json::to_value(&self.recipe).expect("a recipe is plain data")
    }

    fn text(&self, key: &str) -> String {
        at(&self.json(), key).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// The sort key: estimators in the order of the papers' tables, then names, with numbers in names compared by value.
    fn place(&self) -> (usize, Vec<(String, u64)>) {
        const ORDER: [&str; 6] = ["info_nce", "debiased", "hard", "bayesian", "ring", "positive_unlabelled"];
        let loss = self.loss_name();
        let place = ORDER.iter().position(|name| *name == loss).unwrap_or(ORDER.len());
        (place, natural(&self.name))
    }
}

/// Checks that an entry of a file of ranges is of use: for the rows of a table, or for an estimator that it does not have.
fn check(entry: &Entry, table: &str, rows: &[Row]) -> Result<(), String> {
    entry.check_name()?;
    let is_meant = |row: &&Row| row.is_recommender() == entry.is_recommender && entry.is_for(&row.loss_kind());
    let meant: Vec<&Row> = rows.iter().filter(is_meant).collect();
    let value = [(entry.key.clone(), entry.range.at(0.0))];
    match meant.first() {
        Some(first) if !meant.iter().any(|row| row.takes(&value)) => {
            let remedy = match first.with(&value) {
                Err(RecipeError::UnknownKey { meant: Some(meant), .. }) => format!("did you mean {meant}?"),
                _ => "remove it".to_owned(),
            };
            Err(entry.problem(&format!("is a key that no recipe of {table} has; {remedy}")))
        }
        _ => Ok(()),
    }
}

/// Why no flag may set a key for all runs of a table; `None` if one may.
pub(super) fn why_not_set(key: &str) -> Option<&'static str> {
    match key {
        "seed" => Some("a table trains each row with the seeds 0, 1, …; choose their number with --seeds"),
        "name" => Some("the rows of a table are called after their recipes; leave it out"),
        _ => None,
    }
}

/// The value at a key such as `loss.beta`.
pub(super) fn at<'a>(json: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(json, |json, part| json.get(part))
}

/// Splits a name into alternating text and numbers, so that `n62` sorts before `n126`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let (text, tail) = rest.split_at(rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len()));
        let (digits, tail) = tail.split_at(tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len()));
        parts.push((text.to_owned(), digits.parse().unwrap_or(0)));
        rest = tail;
    }
    parts
}

/// Normalises the spelling of a name: `lightgcn` is `light_gcn`.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', '-'], "")
}

/// A parameter in which rows of the same method and loss differ, such as β in Table 5, is what the table compares, so it is not searched.
fn forget_what_rows_differ_in(rows: &mut [Row]) {
    let compared = |row: &Row| ((row.method(), row.loss_name()), row.json());
    let values: Vec<_> = rows.iter().map(compared).collect();
    for (row, (kind, json)) in rows.iter_mut().zip(&values) {
        row.space.0.retain(|key, _| {
            values
                .iter()
                .filter(|(other, _)| other == kind)
                .all(|(_, other)| at(other, key) == at(json, key))
        });
    }
}

#[cfg(test)]
mod tests;
