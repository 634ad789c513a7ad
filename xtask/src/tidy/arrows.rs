//! Which crate may depend on which: the list in `ARCHITECTURE.md`, as a table.

use super::finding::Finding;
use super::metadata::{Metadata, Package};

/// Each crate of the workspace with the workspace crates it may depend on, dev-dependencies included.
const ARROWS: &[(&str, &[&str])] = &[
    ("bcl-clusters", &[]),
    ("bcl-collective", &[]),
    ("bcl-kernels", &["bcl-collective"]),
    ("bcl-core", &["bcl-kernels", "bcl-posterior"]),
    ("bcl-models", &["bcl-collective", "bcl-files", "bcl-kernels"]),
    ("bcl-optim", &["bcl-kernels"]),
    (
        "bcl-methods",
        &[
            "bcl-collective",
            "bcl-core",
            "bcl-data",
            "bcl-images",
            "bcl-kernels",
            "bcl-models",
            "bcl-optim",
        ],
    ),
    ("bcl-posterior", &[]),
    ("bcl-files", &[]),
    ("bcl-data", &["bcl-files"]),
    ("bcl-golden", &["bcl-files"]),
    ("bcl-images", &["bcl-data", "bcl-files"]),
    (
        "bcl-recipe",
        &[
            "bcl-core",
            "bcl-data",
            "bcl-eval",
            "bcl-files",
            "bcl-images",
            "bcl-methods",
            "bcl-models",
            "bcl-optim",
        ],
    ),
    ("bcl-report", &["bcl-data", "bcl-files"]),
    ("bcl-backend", &["bcl-files"]),
    ("bcl-explorer", &["bcl-posterior"]),
    (
        "bcl-eval",
        &[
            "bcl-collective",
            "bcl-core",
            "bcl-data",
            "bcl-images",
            "bcl-models",
            "bcl-report",
        ],
    ),
    (
        "bcl-train",
        &[
            "bcl-backend",
            "bcl-clusters",
            "bcl-collective",
            "bcl-core",
            "bcl-data",
            "bcl-eval",
            "bcl-files",
            "bcl-golden",
            "bcl-images",
            "bcl-kernels",
            "bcl-methods",
            "bcl-models",
            "bcl-optim",
            "bcl-recipe",
            "bcl-report",
            "workspace-hack",
        ],
    ),
    (
        "bcl-bench",
        &[
            "bcl-backend",
            "bcl-clusters",
            "bcl-collective",
            "bcl-core",
            "bcl-data",
            "bcl-eval",
            "bcl-explorer",
            "bcl-files",
            "bcl-golden",
            "bcl-images",
            "bcl-kernels",
            "bcl-methods",
            "bcl-models",
            "bcl-optim",
            "bcl-recipe",
            "bcl-report",
            "bcl-train",
        ],
    ),
    ("workspace-hack", &[]),
    ("xtask", &["fake-vulkan"]),
    ("fake-cuda", &[]),
    ("fake-vulkan", &[]),
    (
        "whole-program-tests",
        &[
            "bcl-data",
            "bcl-images",
            "bcl-report",
            "bcl-train",
            "fake-cuda",
            "fake-vulkan",
        ],
    ),
];

/// The only crate that opens network connections, its HTTP client, and the only crate that enables its downloads.
const DOWNLOADER: &str = "bcl-data";
const HTTP: &str = "ureq";
const DOWNLOADS_FOR: &str = "bcl-train";

/// Crates that stay quick to build: they must not depend on Burn, not even indirectly.
const WITHOUT_BURN: &[&str] = &[
    "bcl-clusters",
    "bcl-collective",
    "bcl-data",
    "bcl-explorer",
    "bcl-files",
    "bcl-golden",
    "bcl-images",
    "bcl-posterior",
    "bcl-report",
    "fake-cuda",
    "fake-vulkan",
    "xtask",
];

/// Third-party crates that the `bcl-core` library may use: none of them opens files, reads clocks or seeds itself.
const CORE_MAY_USE: &[&str] = &["burn", "libm", "rand", "rand_distr", "serde", "thiserror"];

/// Crates of command lines and terminals. Only programs need them: a library may depend on them behind a feature for programs.
const FOR_PROGRAMS: &[&str] = &["clap", "clap_complete", "ctrlc", "indicatif"];

/// Packages that are programs for the people who work on this one.
const TOOLS: &[&str] = &["bcl-bench", "xtask"];

/// Checks the dependencies of every workspace crate.
pub(crate) fn check(metadata: &Metadata) -> Vec<Finding> {
    metadata
        .members()
        .flat_map(|package| check_crate(metadata, package))
        .collect()
}

fn check_crate(metadata: &Metadata, package: &Package) -> Vec<Finding> {
    let at = |line, what: String, remedy: &str| Finding::new(metadata.manifest(package), line, what, remedy);
    let name = package.name.as_str();
    let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
        let remedy = "add it and its allowed dependencies to ARROWS in xtask/src/tidy/arrows.rs and to ARCHITECTURE.md";
        return vec![at(
            1,
            format!("the crate {name} is missing from the table of allowed dependencies"),
            remedy,
        )];
    };

    let mut findings = Vec::new();
    for dependency in &package.dependencies {
        let target = dependency.name.as_str();
        let line = package.line_of(target);
        if is_ours(target) && !allowed.contains(&target) {
            let what = format!("{name} must not depend on {target}");
            findings.push(at(line, what, "move the shared code into a crate that both may depend on"));
        }
        if target == HTTP && name != DOWNLOADER {
            let what = format!("{name} depends on {HTTP}: only {DOWNLOADER} opens network connections");
            findings.push(at(
                line,
                what,
                "download through bcl_data::download; extend it if something is missing",
            ));
        }
        if target == DOWNLOADER && name != DOWNLOADS_FOR && dependency.asks_for("download") {
            let what = format!("{name} enables feature `download` of {DOWNLOADER}, which only {DOWNLOADS_FOR} needs");
            let remedy = "remove the feature: it brings in a TLS stack and needs a C compiler";
            findings.push(at(line, what, remedy));
        }
        if FOR_PROGRAMS.contains(&target) && !TOOLS.contains(&name) && dependency.is_normal() && !dependency.is_optional() {
            let what = format!("{name} depends on {target}, which only programs need");
            let remedy = "return values and take plain options; or make the dependency optional, behind the feature `program`";
            findings.push(at(line, what, remedy));
        }
        if name == "bcl-core" && dependency.is_normal() && !is_ours(target) && !CORE_MAY_USE.contains(&target) {
            let what = format!("bcl-core depends on {target}, and may only use {}", CORE_MAY_USE.join(", "));
            let remedy = "pass in what it would provide; or, if it uses no files, clocks or random source, \
                          add it to CORE_MAY_USE in xtask/src/tidy/arrows.rs";
            findings.push(at(line, what, remedy));
        }
    }
    if WITHOUT_BURN.contains(&name)
        && let Some(way) = metadata.path_to(package, is_burn)
    {
        let what = format!("{name} depends on Burn: {}", way.join(" -> "));
        findings.push(at(
            package.line_of(way[1]),
            what,
            "keep tensors out of this crate: it must build in seconds",
        ));
    }
    findings
}

fn is_ours(name: &str) -> bool {
    ARROWS.iter().any(|(ours, _)| *ours == name)
}

fn is_burn(name: &str) -> bool {
    name == "burn" || name.starts_with("burn-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::{Fixture, lines};

    fn findings(crates: &[(&str, &[&str])]) -> Vec<String> {
        lines(&check(&Fixture::workspace(crates).metadata()))
    }

    #[test]
    fn arrows_of_the_table_pass() {
        let crates: &[(&str, &[&str])] = &[
            ("burn", &[]),
            ("bcl-kernels", &["burn"]),
            ("bcl-core", &["bcl-kernels", "burn"]),
            ("bcl-data", &[]),
            ("bcl-train", &["bcl-core", "bcl-data", "bcl-kernels"]),
            ("xtask", &[]),
        ];
        assert_eq!(findings(crates), [""; 0]);
    }

    #[test]
    fn an_upward_arrow_is_found_on_its_line() {
        let found = findings(&[("bcl-core", &["bcl-data"]), ("bcl-data", &[])]);
        let expected = "crates/bcl-core/Cargo.toml:6: bcl-core must not depend on bcl-data";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn burn_is_found_behind_another_crate() {
        let crates: &[(&str, &[&str])] = &[
            ("burn-tensor", &[]),
            ("tables", &["burn-tensor"]),
            ("bcl-data", &["tables"]),
            ("bcl-images", &["bcl-data"]),
        ];
        let expected = [
            "crates/bcl-data/Cargo.toml:6: bcl-data depends on Burn: bcl-data -> tables -> burn-tensor",
            "crates/bcl-images/Cargo.toml:6: bcl-images depends on Burn: bcl-images -> bcl-data -> tables -> burn-tensor",
        ];
        assert_eq!(findings(crates), expected);
    }

    #[test]
    fn a_command_line_in_a_library_is_found() {
        let found = findings(&[("clap", &[]), ("bcl-eval", &["clap"]), ("xtask", &["clap"])]);
        let expected = "crates/bcl-eval/Cargo.toml:6: bcl-eval depends on clap, which only programs need";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn a_stranger_in_the_core_is_found() {
        let found = findings(&[("chrono", &[]), ("bcl-core", &["chrono"])]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("crates/bcl-core/Cargo.toml:6: bcl-core depends on chrono"),
            "{found:?}"
        );
    }

    #[test]
    fn a_second_way_into_the_network_is_found() {
        let found = findings(&[("ureq", &[]), ("bcl-data", &["ureq"]), ("bcl-train", &["bcl-data", "ureq"])]);
        let expected = "crates/bcl-train/Cargo.toml:7: bcl-train depends on ureq: only bcl-data opens network connections";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn downloads_are_for_the_program_alone() {
        let with_downloads = "{ path = \"../bcl-data\", features = [\"download\"] }";
        let fixture = Fixture::workspace(&[("bcl-data", &[]), ("bcl-train", &[]), ("bcl-images", &[])]);
        for name in ["bcl-data", "bcl-train", "bcl-images"] {
            let path = fixture.path(&format!("crates/{name}/Cargo.toml"));
            let more = match name {
                "bcl-data" => "[features]\ndownload = []\n".to_owned(),
                _ => format!("bcl-data = {with_downloads}\n"),
            };
            std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + &more).unwrap();
        }
        let expected =
            "crates/bcl-images/Cargo.toml:6: bcl-images enables feature `download` of bcl-data, which only bcl-train needs";
        assert_eq!(lines(&check(&fixture.metadata())), [expected]);
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        let expected = "crates/bcl-extra/Cargo.toml:1: the crate bcl-extra is missing from the table of allowed dependencies";
        assert_eq!(findings(&[("bcl-extra", &[])]), [expected]);
    }
}
