//! `cargo run`, with and without its optional features, and `cargo test` give each dependency the same features, so that they share one
//! compiled Burn.

use super::finding::Finding;
use crate::root;
use std::collections::BTreeSet;
use std::path::Path;

/// What `cargo run` builds.
const PROGRAM: &str = "bcl-train";
/// Features of the program that users and CI turn on later, when Burn is compiled.
const OPTIONAL: [&str; 2] = ["mpi", "parquet"];
/// The crate that asks for the features which only another build would turn on.
const SHARED: &str = "crates/workspace-hack/Cargo.toml";

/// Compares the program's dependencies with the whole workspace and its tests, and with the program's optional features.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let program = packages(root, &["--package", PROGRAM, "--edges", "normal,build"])?;
    let tests = packages(root, &["--workspace", "--edges", "normal,build,dev"])?;
    let mut findings = differences(&program, &tests, "tests build");
    for feature in OPTIONAL {
        let optional = packages(
            root,
            &["--package", PROGRAM, "--edges", "normal,build", "--features", feature],
        )?;
        findings.extend(differences(&program, &optional, &format!("`--features {feature}` builds")));
    }
    Ok(findings)
}

/// The dependencies of the program that the other build does not have with the same features.
fn differences(program: &BTreeSet<String>, others: &BTreeSet<String>, who: &str) -> Vec<Finding> {
    // The feature is one of our own crates, which are compiled again in no time.
    let outside = program
        .difference(others)
        .filter(|package| !name(package).starts_with("bcl-"));
    let finding = |package: &String| {
        let what = format!("{who} `{}` with other features than `cargo run`", name(package));
        let there: Vec<_> = others
            .iter()
            .filter(|other| name(other) == name(package))
            .map(|p| features(p))
            .collect();
        let remedy = format!(
            "add it here with the features that are turned on there: {}",
            there.join(" or ")
        );
        Finding::new(Path::new(SHARED), 1, what, remedy)
    };
    outside.map(finding).collect()
}

/// The packages of `cargo tree` as lines `NAME VERSION [PLACE]|FEATURES`.
fn packages(root: &Path, selection: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    let mut tree = root::cargo();
    tree.current_dir(root)
        .args(["tree", "--prefix", "none", "--format", "{p}|{f}"]);
    let text = String::from_utf8(root::stdout_of(tree.args(selection))?)?;
    // A package that was listed before ends with ` (*)`.
    Ok(text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect())
}

fn name(package: &str) -> &str {
    package.split_whitespace().next().unwrap_or_default()
}

fn features(package: &str) -> &str {
    package.rsplit('|').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::Fixture;
    use std::fs;

    /// A program with a dependency, and a test crate and an optional feature that ask for one more feature of it.
    fn workspace(of_program: &str) -> Fixture {
        let fixture = Fixture::workspace(&[("shared", &[]), ("bcl-train", &[]), ("whole-program-tests", &[])]);
        let append = |file: &str, text: &str| {
            let path = fixture.path(file);
            fs::write(&path, fs::read_to_string(&path).unwrap() + text).unwrap();
        };
        let shared = |features: &str| format!("shared = {{ path = \"../../vendor/shared\", features = [{features}] }}\n");
        append("vendor/shared/Cargo.toml", "[features]\nless = []\nmore = []\n");
        append("crates/bcl-train/Cargo.toml", &shared(of_program));
        append(
            "crates/bcl-train/Cargo.toml",
            "[features]\nmpi = []\nparquet = [\"shared/more\"]\n",
        );
        let tests = format!("[dev-dependencies]\n{}", shared("\"less\", \"more\""));
        append("crates/whole-program-tests/Cargo.toml", &tests);
        fixture
    }

    #[test]
    fn a_feature_that_only_another_build_turns_on_is_found_with_its_remedy() {
        let fixture = workspace("\"less\"");
        let expected = ["tests build", "`--features parquet` builds"].map(|who| {
            format!(
                "crates/workspace-hack/Cargo.toml:1: {who} `shared` with other features than `cargo run`\n    \
                 remedy: add it here with the features that are turned on there: less,more"
            )
        });
        let findings = check(&fixture.path("")).unwrap();
        assert_eq!(findings.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_same_features_pass() {
        assert_eq!(check(&workspace("\"less\", \"more\"").path("")).unwrap(), []);
    }
}
