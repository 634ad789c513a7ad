//! The hash by which runs of one recipe are recognised.

use bcl_report::files::checksums::sha256;
use serde::Serialize;
use toml::{Table, Value};

/// SHA-256 of a resolved recipe without its seed, 64 hexadecimal digits.
///
/// What is hashed is one line `key = value` for each key, in alphabetical order, so neither the order of a file, its comments, nor values
/// that are written out though they are the default make a difference.
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
