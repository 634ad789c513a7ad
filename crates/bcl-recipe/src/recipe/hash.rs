//! The hash that identifies runs of one recipe.

use bcl_files::sha256;
use toml::{Table, Value};

/// SHA-256 of a resolved recipe without its seed, and without `[logging]` and `training.step_graph`, which change no result: 64 hexadecimal digits.
///
/// It covers one line `key = value` per key, in alphabetical order. The order of a file, its comments, and defaults that are written out
/// make no difference.
pub(super) fn hash(table: Table) -> String {
    sha256(lines(table).join("\n").as_bytes())
}

/// The lines that a hash covers.
pub(super) fn lines(mut table: Table) -> Vec<String> {
    table.remove("seed");
    table.remove("logging");
    if let Some(Value::Table(training)) = table.get_mut("training") {
        training.remove("step_graph");
    }
    let mut lines = Vec::new();
    flatten(&Value::Table(table), "", &mut lines);
    lines.sort();
    lines
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
