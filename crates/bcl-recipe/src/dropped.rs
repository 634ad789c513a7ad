//! Drops keys that a table loses when its kind changes: `--set loss.kind=info_nce` on a recipe with `loss.alpha`, or a recipe whose
//! `loss.kind` differs from its parent's.

use crate::{Document, Origin, RecipeKind, read_error::ReadErrorKind, value};
use std::{fmt, mem};
use toml::{Table, Value};

/// Keys of one table that are dropped because a flag changed the table's kind, and the new kind does not have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedKeys {
    recipe: String,
    /// The flag, such as `--set loss.kind=info_nce`.
    flag: String,
    table: String,
    kind: String,
    keys: Vec<String>,
}

impl DroppedKeys {
    /// The keys in full, such as `loss.alpha`.
    pub fn keys(&self) -> Vec<String> {
        self.keys.iter().map(|key| format!("{}.{key}", self.table)).collect()
    }
}

impl fmt::Display for DroppedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            recipe,
            flag,
            table,
            kind,
            ..
        } = self;
        let keys = self.keys().join(", ");
        write!(
            f,
            "{flag} leaves out {keys} of {recipe}: {table}.kind \"{kind}\" has no such key"
        )
    }
}

impl Document {
    /// Drops keys of the parent that the child's kinds do not have. `child` has just been [merged](Self::overlay).
    pub(crate) fn drop_for_child<R: RecipeKind>(&mut self, child: &Self) {
        self.drop_outdated::<R>(|_, key| child.value(key).is_some());
    }

    /// Drops keys whose table has a new kind because of a flag, and returns them.
    pub(crate) fn drop_for_flags<R: RecipeKind>(&mut self) -> Vec<DroppedKeys> {
        let dropped = self.drop_outdated::<R>(|document, key| matches!(document.origin(key), Origin::Flag(_)));
        dropped
            .into_iter()
            .map(|(table, kind, keys)| DroppedKeys {
                recipe: self.recipe.clone(),
                flag: self.origin(&format!("{table}.kind")).to_string(),
                table,
                kind,
                keys,
            })
            .collect()
    }

    /// Removes keys that the former kind of a table has and the new kind lacks, and returns them by table and new kind. A key that
    /// `is_new`, or that neither kind has, is a mistake and stays.
    fn drop_outdated<R: RecipeKind>(&mut self, is_new: impl Fn(&Self, &str) -> bool) -> Vec<(String, String, Vec<String>)> {
        let defaults = R::defaults();
        let default = |table: &str| defaults.get(table)?.get("kind").cloned();
        let mut dropped = Vec::new();
        for (table, former) in mem::take(&mut self.former_kinds) {
            let (Some(former), Some(Value::Table(entries))) = (former.or_else(|| default(&table)), self.value(&table)) else {
                continue;
            };
            let Some(kind) = entries.get("kind").and_then(Value::as_str) else {
                continue;
            };
            let outdated: Vec<String> = entries
                .iter()
                .filter(|(key, value)| {
                    !is_new(self, &format!("{table}.{key}"))
                        && !knows::<R>(&table, &kind.into(), key, value)
                        && knows::<R>(&table, &former, key, value)
                })
                .map(|(key, _)| key.clone())
                .collect();
            if outdated.is_empty() {
                continue;
            }
            dropped.push((table.clone(), kind.to_owned(), outdated.clone()));
            for key in outdated {
                self.remove(&format!("{table}.{key}"));
            }
        }
        dropped
    }
}

/// Whether a table of this kind has the key.
fn knows<R: RecipeKind>(table: &str, kind: &Value, key: &str, value: &Value) -> bool {
    let alone: Table = [("kind".to_owned(), kind.clone()), (key.to_owned(), value.clone())]
        .into_iter()
        .collect();
    let within = |inner, key: &str| [(key.to_owned(), Value::Table(inner))].into_iter().collect();
    let Err(error) = value::read::<R>(&table.rsplit('.').fold(alone, within)) else {
        return true;
    };
    let is_unknown = matches!(&error.kind, ReadErrorKind::UnknownKey { key: unknown, .. } if unknown == key);
    !(is_unknown && error.path.join(".") == table)
}
