//! The modules of a crate form no circles, at any depth.
//!
//! Modules beside each other are compared: what a file uses counts for all folders that contain it. A module and those below it may use
//! each other, because a parent lists its children and holds what they share.

use super::finding::Finding;
use super::purity::lines_outside_tests;
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The path of a module below the root of its crate.
type Module = Vec<String>;
/// Numbered lines.
type Code<'a> = Vec<(usize, &'a str)>;

/// Which modules use which, with the first place where they do; both are in the same parent.
#[derive(Default)]
struct Uses(BTreeMap<Module, BTreeMap<Module, (PathBuf, usize)>>);

/// Checks the modules of each crate, tests aside.
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
        .flat_map(|(source, files)| Sources::of_crate(source, files).uses().circles())
        .collect())
}

/// The code of a crate.
struct Sources<'a> {
    /// The code of each module, by numbered lines, with its file.
    code: BTreeMap<Module, (&'a Path, Code<'a>)>,
    /// The names that each module imports, with their paths.
    imports: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl<'a> Sources<'a> {
    fn of_crate(source: &Path, files: &'a [(PathBuf, String)]) -> Self {
        let mut sources = Self {
            code: BTreeMap::new(),
            imports: BTreeMap::new(),
        };
        for (file, text) in files {
            let below = file.strip_prefix(source).unwrap_or(file).with_extension("");
            let mut module: Module = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            module.retain(|part| !matches!(part.as_str(), "mod" | "lib"));
            // Programs use their library, which cannot use them.
            if module.iter().any(|part| part == "tests") || module == ["main"] {
                continue;
            }
            let code: Code = lines_outside_tests(text).collect();
            sources.imports.insert(module.clone(), imports(&code));
            sources.code.insert(module, (file, code));
        }
        sources
    }

    fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        for (module, (file, code)) in &self.code {
            for (path, line) in paths(code) {
                let used = self.module_of(module, &path, 0);
                let shared = module.iter().zip(&used).take_while(|(one, other)| one == other).count();
                if shared == module.len() || shared == used.len() {
                    continue;
                }
                let of_module = uses.0.entry(module[..=shared].to_vec()).or_default();
                let place = || (file.to_path_buf(), line);
                of_module.entry(used[..=shared].to_vec()).or_insert_with(place);
            }
        }
        uses
    }

    /// Whether there is such a module.
    fn has(&self, module: &Module) -> bool {
        let first = self.code.range(module.clone()..).next();
        first.is_some_and(|(known, _)| known.starts_with(module))
    }

    /// The module that defines what `path` names in the code of `module`.
    fn module_of(&self, module: &[String], path: &[String], hops: usize) -> Module {
        let mut found = module.to_vec();
        for name in path {
            match name.as_str() {
                "crate" => found.clear(),
                "self" => {}
                "super" => drop(found.pop()),
                name => {
                    found.push(name.to_owned());
                    if self.has(&found) {
                        continue;
                    }
                    found.pop();
                    let import = self.imports.get(&found).and_then(|imports| imports.get(name));
                    // Imports may lead to each other.
                    return match import.filter(|_| hops < 8) {
                        Some(import) => self.module_of(&found, import, hops + 1),
                        None => found,
                    };
                }
            }
        }
        found
    }
}

impl Uses {
    /// A finding per use that closes a circle.
    fn circles(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (module, used) in &self.0 {
            for (other, (file, line)) in used {
                if self.leads(other, module) {
                    let [module, other] = [module, other].map(|path| path.join("::"));
                    let what = format!("{module} uses {other}, which leads back to {module}");
                    let remedy = "move what both need into a module below both, or turn one of the uses round";
                    findings.push(Finding::new(file, *line, what, remedy));
                }
            }
        }
        findings
    }

    /// Whether one module uses the other, directly or through others.
    fn leads(&self, from: &Module, to: &Module) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            if module == to {
                return true;
            }
            if seen.insert(module) {
                open.extend(self.0.get(module).into_iter().flat_map(BTreeMap::keys));
            }
        }
        false
    }
}

/// The names that `use` brings into a module, with the path of each.
fn imports(code: &[(usize, &str)]) -> BTreeMap<String, Module> {
    let text: String = code.iter().flat_map(|(_, line)| [*line, "\n"]).collect();
    let mut found = BTreeMap::new();
    for (start, word) in text.match_indices("use ") {
        let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
        // Imports of functions and of inline modules are their own.
        if text[line_start..].starts_with(|c: char| c.is_alphabetic()) {
            leaves(&text[start + word.len()..], &mut Vec::new(), &mut |path, alias| {
                let name = alias.or(path.last().map(String::as_str)).unwrap_or_default().to_owned();
                found.insert(name, path.to_vec());
            });
        }
    }
    found
}

/// The paths that begin with `crate::` or `super::`, with their lines.
fn paths(code: &[(usize, &str)]) -> Vec<(Module, usize)> {
    let text: String = code.iter().flat_map(|(_, line)| [*line, "\n"]).collect();
    let mut found = Vec::new();
    for (start, _) in ["crate::", "super::"].iter().flat_map(|root| text.match_indices(root)) {
        let before = text[..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let line = code[text[..start].matches('\n').count()].0;
        leaves(&text[start..], &mut Vec::new(), &mut |path, _| {
            found.push((path.to_vec(), line));
        });
    }
    found
}

/// Calls `each` with every path of `a::b`, or `a::{b::c, d as e}`, and the name that it gets. Returns the text behind them.
fn leaves<'t>(text: &'t str, path: &mut Module, each: &mut impl FnMut(&[String], Option<&str>)) -> &'t str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            let depth = path.len();
            rest = leaves(rest, path, each).trim_start();
            path.truncate(depth);
            match rest.strip_prefix(',') {
                Some(more) if !more.trim_start().starts_with('}') => rest = more,
                other => {
                    let rest = other.unwrap_or(rest).trim_start();
                    return rest.strip_prefix('}').unwrap_or(rest);
                }
            }
        }
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if !name.is_empty() {
        path.push(name.to_owned());
    }
    if let Some(rest) = rest
        .strip_prefix("::")
        .filter(|rest| rest.starts_with(|c: char| c == '{' || c == '_' || c.is_alphabetic()))
    {
        return leaves(rest, path, each);
    }
    if let Some(rest) = rest.strip_prefix(" as ") {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        each(path, Some(&rest[..end]));
        return &rest[end..];
    }
    if !path.is_empty() {
        each(path, None);
    }
    rest
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
    fn a_circle_below_the_top_level_is_found_through_what_the_parent_exports() {
        let found = found(&[
            (
                "crates/x/src/a/mod.rs",
                "//! A.\nmod one;\nmod two;\npub use two::{Other, Two as Second};\n",
            ),
            ("crates/x/src/a/one.rs", "//! One.\nuse super::Second;\n"),
            ("crates/x/src/a/two/mod.rs", "//! Two.\nmod deep;\n"),
            ("crates/x/src/a/two/deep.rs", "//! Deep.\nuse crate::{a::one::One, b};\n"),
            ("crates/x/src/b.rs", "//! B.\n"),
        ]);
        let expected = [
            "crates/x/src/a/one.rs:2: a::one uses a::two, which leads back to a::one",
            "crates/x/src/a/two/deep.rs:2: a::two uses a::one, which leads back to a::two",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_parent_with_its_children_tests_and_comments_are_not_checked() {
        let found = found(&[
            (
                "crates/x/src/a/mod.rs",
                "//! A, see [`crate::b`].\nmod one;\nuse super::b::B;\nuse one::One;\npub struct A;\n",
            ),
            ("crates/x/src/a/one.rs", "//! One.\nuse super::A;\nuse crate::a::A as Same;\n"),
            (
                "crates/x/src/b.rs",
                "//! B.\n// crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
            ),
            ("crates/y/src/b.rs", "//! Another crate.\nuse crate::a::A;\n"),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }
}
