//! The hash that identifies runs of one recipe.

use super::library::RENAMED;
use bcl_files::sha256;
use toml::{Table, Value};

/// Lines of defaults that have become longer, with their first form. What they add is measured beside a run and does not change it.
const EXTENDED: [(&str, &str); 1] = [(
    "evaluation.baselines = [\"random\", \"popularity\", \"item_knn\", \"ease\"]",
    "evaluation.baselines = [\"popularity\", \"ease\"]",
)];

/// SHA-256 of a resolved recipe without its seed and without `[logging]`, which changes no result: 64 hexadecimal digits.
///
/// It covers one line `key = value` per key, in alphabetical order. The order of a file, its comments, and defaults that are written out
/// make no difference. So that a run keeps its hash, a renamed key is covered under its first name, and a line of `added` keys, whose
/// value is what runs did before the key was there, is left out. A list of baselines that is the default is covered as the first default.
pub(super) fn hash(table: Table, added: &[&str]) -> String {
    sha256(lines(table, added).join("\n").as_bytes())
}

/// The lines that a hash covers.
pub(super) fn lines(mut table: Table, added: &[&str]) -> Vec<String> {
    table.remove("seed");
    table.remove("logging");
    let mut lines = Vec::new();
    flatten(&Value::Table(table), "", &mut lines);
    lines.retain(|line| !added.contains(&&**line));
    for line in &mut lines {
        if let Some((_, former)) = EXTENDED.iter().find(|(extended, _)| line == extended) {
            (*former).clone_into(line);
        }
        for (former, key) in RENAMED {
            if let Some(value) = line.strip_prefix(&format!("{key} = ")) {
                *line = format!("{former} = {value}");
                break;
            }
        }
    }
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
