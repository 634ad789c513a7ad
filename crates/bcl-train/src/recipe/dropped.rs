//! Keys of a recipe that a flag made meaningless: `--set loss.kind=info_nce` on a recipe that gives `loss.alpha`.

use super::{
    document::{Document, Place},
    fault::{Fault, FaultKind},
    value,
};
use serde::de::DeserializeOwned;
use std::fmt;
use toml::Value;

/// Keys of one table that were left out because a flag changed the table's kind, and the new kind does not have them.
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
    /// Reads a `T`. Where a flag changed the kind of a table, keys that the recipe gave for the kind it had before are left out; what
    /// neither kind knows, or a flag set, stays a mistake.
    pub(super) fn read<T: DeserializeOwned>(&mut self, dropped: &mut Vec<DroppedKeys>) -> Result<T, Fault> {
        loop {
            let fault = match value::read(&self.table) {
                Ok(read) => return Ok(read),
                Err(fault) => fault,
            };
            let Some((table, key, flag)) = self.outdated::<T>(&fault) else {
                return Err(fault);
            };
            let Some(Value::Table(entries)) = self.table.get_mut(&table) else {
                return Err(fault);
            };
            entries.remove(&key);
            let kind = entries.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
            match dropped
                .iter_mut()
                .find(|dropped| dropped.table == table && dropped.recipe == self.recipe)
            {
                Some(dropped) => dropped.keys.push(key),
                None => dropped.push(DroppedKeys {
                    recipe: self.recipe.clone(),
                    flag,
                    table,
                    kind,
                    keys: vec![key],
                }),
            }
        }
    }

    /// The table and the key behind a fault, and the flag that changed the kind, if the key had a meaning before.
    fn outdated<T: DeserializeOwned>(&self, fault: &Fault) -> Option<(String, String, String)> {
        let ([table], FaultKind::UnknownKey { key, .. }) = (&fault.path[..], &fault.kind) else {
            return None;
        };
        let former = self.former_kinds.get(table)?.as_ref()?;
        let Place::Flag(flag) = self.place(&format!("{table}.kind")) else {
            return None;
        };
        let value = self.value(&format!("{table}.{key}"))?;
        if matches!(self.place(&format!("{table}.{key}")), Place::Flag(_)) {
            return None;
        }
        // Alone with the former kind, the key of a misprint is as unknown as before.
        let mut before = self.table.clone();
        let alone = [("kind".to_owned(), former.clone()), (key.clone(), value.clone())];
        before.insert(table.clone(), Value::Table(alone.into_iter().collect()));
        let misprint = value::read::<T>(&before).is_err_and(|other| other == *fault || is_unknown(&other, table, key));
        (!misprint).then(|| (table.clone(), key.clone(), flag))
    }
}

fn is_unknown(fault: &Fault, table: &str, key: &str) -> bool {
    matches!(&fault.kind, FaultKind::UnknownKey { key: unknown, .. } if unknown == key) && fault.path == [table]
}
