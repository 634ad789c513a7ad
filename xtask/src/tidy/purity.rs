//! `bcl-core` and `bcl-posterior` never touch a file, a clock or a random source of their own, and the library of `bcl-train` knows no command line.

use super::finding::Finding;
use super::tree::Tree;

/// The sources that must not.
const FOLDERS: [&str; 2] = ["crates/bcl-core/src", "crates/bcl-posterior/src"];

/// Names that give access to files, clocks and self-seeded random sources.
const IMPURE: &[&str] = &[
    "fs",
    "File",
    "OpenOptions",
    "Instant",
    "SystemTime",
    "thread_rng",
    "OsRng",
    "SysRng",
    "ThreadRng",
    "getrandom",
];

/// A self-seeded source of `rand`; its last segment, `rng`, is too common a name to search for.
const OWN_RNG: &str = "rand::rng(";

/// The library of a package whose program is in the folder `bin`, and the crates that only the program uses.
const LIBRARY: &str = "crates/bcl-train/src";
const PROGRAM: &str = "crates/bcl-train/src/bin";
const FOR_PROGRAMS: &[&str] = &["clap", "ctrlc", "indicatif"];

/// Checks the code of these crates, except tests, docs and comments.
pub(crate) fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in tree
        .with_extension("rs")
        .filter(|file| file.starts_with(LIBRARY) && !file.starts_with(PROGRAM))
    {
        let text = tree.text(file)?.unwrap_or_default();
        for (line, code) in lines_outside_tests(&text) {
            if let Some(name) = word_of(code, FOR_PROGRAMS) {
                let what = format!("the library uses `{name}`, which belongs to the program in {PROGRAM}");
                findings.push(Finding::new(
                    file,
                    line,
                    what,
                    "return values, and take plain options or a closure",
                ));
            }
        }
    }
    for file in tree
        .with_extension("rs")
        .filter(|file| FOLDERS.iter().any(|folder| file.starts_with(folder)))
    {
        if file.ends_with("tests.rs") {
            continue;
        }
        let text = tree.text(file)?.unwrap_or_default();
        for (line, code) in lines_outside_tests(&text) {
            if let Some(name) = impure_name(code) {
                let what = format!("this crate uses `{name}`, but must not touch files, clocks or its own random sources");
                let remedy = "take the value, the seed or the `Rng` as an argument";
                findings.push(Finding::new(file, line, what, remedy));
            }
        }
    }
    Ok(findings)
}

fn impure_name(code: &str) -> Option<&'static str> {
    word_of(code, IMPURE).or_else(|| code.contains(OWN_RNG).then_some("rand::rng"))
}

/// The first of some names that stands in the code as a word.
fn word_of(code: &str, names: &[&'static str]) -> Option<&'static str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = code.split(|c| !is_word(c));
    words.find_map(|word| names.iter().find(|name| **name == word).copied())
}

/// The numbered (1-based) lines of code outside tests, without comment lines.
///
/// Relies on rustfmt's layout, which CI checks: a closing brace has the indentation of the line that opens the item.
pub(super) fn lines_outside_tests(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut test_item: Option<TestItem> = None;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        match &mut test_item {
            Some(item) => {
                let ends_header = code.ends_with(';') && !item.is_open;
                item.is_open |= code.ends_with('{');
                let closes = item.is_open && line.strip_prefix(&*item.indent).is_some_and(|rest| rest.starts_with('}'));
                if ends_header || closes {
                    test_item = None;
                }
                None
            }
            None if code.starts_with("#[cfg(test)]") => {
                test_item = Some(TestItem {
                    indent: indent.to_owned(),
                    is_open: false,
                });
                None
            }
            None => (!code.starts_with("//")).then_some((number, line)),
        }
    })
}

/// An item under `#[cfg(test)]` whose end has not been reached yet.
struct TestItem {
    indent: String,
    is_open: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::{Fixture, lines};

    #[test]
    fn tests_comments_and_other_crates_may_use_them() {
        let tested = "//! Reads no std::fs.\nuse rand::Rng;\n\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        let fixture = Fixture::new(&[
            ("crates/bcl-core/src/lib.rs", tested),
            ("crates/bcl-core/src/auc/tests.rs", "use std::fs;\n"),
            ("crates/bcl-train/src/lib.rs", "use std::time::Instant;\n"),
        ]);
        assert_eq!(check(&fixture.tree()).unwrap(), []);
    }

    #[test]
    fn each_impure_name_is_found_however_it_is_imported() {
        for code in [
            "use std::fs;",
            "use std::{fmt, fs};",
            "    std::fs::read(path)",
            "use std::time::{Duration, Instant};",
            "let now = std::time::SystemTime::now();",
            "let mut rng = rand::rng();",
            "let mut rng = rand::thread_rng();",
        ] {
            let fixture = Fixture::new(&[("crates/bcl-core/src/lib.rs", &format!("//! Docs.\n{code}\n"))]);
            let found = lines(&check(&fixture.tree()).unwrap());
            assert_eq!(found.len(), 1, "{code}: {found:?}");
            assert!(
                found[0].starts_with("crates/bcl-core/src/lib.rs:2: this crate uses"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_command_line_in_the_training_library_is_found() {
        let fixture = Fixture::new(&[
            ("crates/bcl-train/src/kinds/mod.rs", "use clap::Args;\n"),
            ("crates/bcl-train/src/bin/bcl-train/main.rs", "use clap::Parser;\n"),
        ]);
        let found = lines(&check(&fixture.tree()).unwrap());
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("crates/bcl-train/src/kinds/mod.rs:1: the library uses `clap`"),
            "{found:?}"
        );
    }

    #[test]
    fn code_after_a_test_item_counts_again() {
        let text = "#[cfg(test)]\nmod tests;\nlet a;\n#[cfg(test)]\nmod more {\n    fn f() {\n    }\n}\nlet b;\n";
        assert_eq!(lines_outside_tests(text).collect::<Vec<_>>(), [(3, "let a;"), (9, "let b;")]);
    }
}
