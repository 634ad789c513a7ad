//! The modules of a crate form no circles.

use super::finding::Finding;
use super::purity::lines_outside_tests;
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Which top-level modules of a crate use which, and the first line where they do.
#[derive(Default)]
struct Uses(BTreeMap<String, BTreeMap<String, (PathBuf, usize)>>);

/// Checks the top-level modules of each crate, tests aside. Modules below the same top-level module may use each other.
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut crates: BTreeMap<PathBuf, Vec<(PathBuf, String)>> = BTreeMap::new();
    for file in tree.with_extension("rs") {
        let Some(source) = file.ancestors().find(|folder| folder.ends_with("src")) else {
            continue;
        };
        let text = tree.text(file)?.unwrap_or_default();
        crates
            .entry(source.to_path_buf())
            .or_default()
            .push((file.to_path_buf(), text));
    }
    Ok(crates
        .iter()
        .flat_map(|(source, files)| Uses::of_crate(source, files).circles())
        .collect())
}

impl Uses {
    fn of_crate(source: &Path, files: &[(PathBuf, String)]) -> Self {
        let module_of = |file: &Path| {
            let below = file.strip_prefix(source).ok()?.with_extension("");
            let module = below.iter().next()?.to_str()?.to_owned();
            (!matches!(&*module, "lib" | "main" | "tests")).then_some(module)
        };
        let modules: BTreeSet<String> = files.iter().filter_map(|(file, _)| module_of(file)).collect();
        let root = files.iter().find(|(file, _)| file == &source.join("lib.rs"));
        let exports = root.map(|(_, text)| exports(text)).unwrap_or_default();
        let mut uses = Self::default();
        for (file, text) in files {
            let Some(module) = module_of(file).filter(|_| !file.ends_with("tests.rs")) else {
                continue;
            };
            let code: Vec<(usize, &str)> = lines_outside_tests(text).collect();
            for (name, line) in names_below_root(&code, depth(source, file)) {
                let used = if modules.contains(&name) {
                    Some(&name)
                } else {
                    exports.get(&name)
                };
                if let Some(used) = used.filter(|used| **used != module) {
                    let of_module = uses.0.entry(module.clone()).or_default();
                    of_module.entry(used.clone()).or_insert_with(|| (file.clone(), line));
                }
            }
        }
        uses
    }

    /// A finding per use that closes a circle.
    fn circles(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (module, used) in &self.0 {
            for (other, (file, line)) in used {
                if self.leads(other, module) {
                    let what = format!("{module} uses {other}, which leads back to {module}");
                    let remedy = "move what both need into a module below both, or turn one of the uses round";
                    findings.push(Finding::new(file, *line, what, remedy));
                }
            }
        }
        findings
    }

    /// Whether one module uses the other, directly or through others.
    fn leads(&self, from: &str, to: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            if module == to {
                return true;
            }
            if seen.insert(module) {
                open.extend(self.0.get(module).into_iter().flat_map(BTreeMap::keys).map(String::as_str));
            }
        }
        false
    }
}

/// How many modules a file is below the root of its crate.
fn depth(source: &Path, file: &Path) -> usize {
    let below = file.strip_prefix(source).unwrap_or(file);
    below.iter().count() - usize::from(file.ends_with("mod.rs"))
}

/// The items that `lib.rs` exports from its modules, with the module of each.
fn exports(text: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    for statement in code.split("pub use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or_default();
        let mut names = words(statement).map(str::to_owned);
        let module = names.next().unwrap_or_default();
        exports.extend(names.map(|name| (name, module.clone())));
    }
    exports
}

/// The names right below `crate::`, or below as many `super::` as lead there, with their lines.
fn names_below_root(code: &[(usize, &str)], depth: usize) -> Vec<(String, usize)> {
    let text: String = code.iter().flat_map(|(_, line)| [*line, "\n"]).collect();
    let roots = ["crate::".to_owned(), "super::".repeat(depth)];
    let mut names = Vec::new();
    for (start, root) in roots.iter().flat_map(|root| text.match_indices(root.as_str())) {
        let before = text[..start].chars().next_back();
        let is_whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
        let rest = &text[start + root.len()..];
        if !is_whole || rest.starts_with("super::") {
            continue;
        }
        let line = code[text[..start].matches('\n').count()].0;
        let firsts = match rest.strip_prefix('{') {
            Some(group) => firsts_of_group(group),
            None => words(rest).take(1).collect(),
        };
        names.extend(firsts.into_iter().map(|name| (name.to_owned(), line)));
    }
    names
}

/// The first word of each path of `a::b, c::{d, e}}…`, up to the brace that closes the group.
fn firsts_of_group(group: &str) -> Vec<&str> {
    let mut firsts = Vec::new();
    let (mut open, mut start) = (0, 0);
    for (index, c) in group.char_indices() {
        match c {
            '{' => open += 1,
            '}' if open == 0 => {
                firsts.extend(words(&group[start..index]).next());
                break;
            }
            '}' => open -= 1,
            ',' if open == 0 => {
                firsts.extend(words(&group[start..index]).next());
                start = index + 1;
            }
            _ => {}
        }
    }
    firsts
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !is_word(c)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::{Fixture, lines};

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        lines(&check(&Fixture::new(files).tree()).unwrap())
    }

    #[test]
    fn circular_modules_are_found_for_every_form_of_use() {
        let back = "//! B.\n\nuse std::fmt;\nuse crate::a::Thing;\n";
        for there in [
            "use crate::b::Other;",
            "use crate::{\n    b::{Other, More},\n    c,\n};",
            "use super::{c, b};",
            "fn f() -> crate::b::Other {}",
            "use crate::Other;",
        ] {
            let found = found(&[
                (
                    "crates/x/src/lib.rs",
                    "//! X.\npub mod a;\npub mod b;\npub use b::{Other, More};\n",
                ),
                ("crates/x/src/a.rs", &format!("//! A.\n{there}\n")),
                ("crates/x/src/b/mod.rs", back),
                ("crates/x/src/c.rs", "//! C.\n"),
            ]);
            let expected = [
                "crates/x/src/a.rs:2: a uses b, which leads back to a",
                "crates/x/src/b/mod.rs:4: b uses a, which leads back to b",
            ];
            assert_eq!(found, expected, "{there}");
        }
    }

    #[test]
    fn a_circle_over_three_modules_is_found() {
        let found = found(&[
            ("crates/x/src/a/deep.rs", "//! A.\nuse super::super::b::B;\n"),
            ("crates/x/src/b.rs", "//! B.\nuse crate::c::C;\n"),
            ("crates/x/src/c.rs", "//! C.\nuse crate::a::A;\n"),
        ]);
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn sibling_modules_tests_and_comments_are_not_checked() {
        let found = found(&[
            ("crates/x/src/a/mod.rs", "//! A, see [`crate::b`].\nuse super::b::B;\n"),
            ("crates/x/src/a/one.rs", "//! One.\nuse super::two::Two;\n"),
            ("crates/x/src/a/two.rs", "//! Two.\nuse super::one::One;\n"),
            (
                "crates/x/src/b.rs",
                "//! B.\n// crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
            ),
            ("crates/y/src/b.rs", "//! Another crate.\nuse crate::a::A;\n"),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }
}
