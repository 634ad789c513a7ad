//! The hash that identifies runs of one recipe.

use bcl_report::files::checksums::sha256;
use serde::Serialize;
use toml::{Table, Value};

/// SHA-256 of a resolved recipe without its seed, 64 hexadecimal digits.
///
/// It covers one line `key = value` per key, in alphabetical order. The order of a file, its comments, and defaults that are written out
/// make no difference.
pub(super) fn hash(recipe: &impl Serialize) -> String {
    let mut table = Table::try_from(recipe).expect("a recipe is plain data");
    table.remove("seed");
    let mut lines = Vec::new();
    flatten(&Value::Table(table), "", &mut lines);
    lines.sort();
    sha256(lines.join("\n").as_bytes())
}

fn flatten(value: &Value, key: &str, lines: &mut Vec<String>) {
    match value {
        Value::Table(table) => {
            for (inner, value) in table {
                let key = if key.is_empty() {
                    inner.clone()
                } else {
                    format!("{key}.{inner}")
                };
                flatten(value, &key, lines);
            }
        }
        value => lines.push(format!("{key} = {value}")),
    }
}
