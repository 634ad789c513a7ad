//! The README's program is an example that `cargo test` compiles and runs, and its dependencies match the workspace.

use std::{fs, path::Path};

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The README's code blocks in one language.
fn blocks(language: &str) -> Vec<String> {
    let readme = file("README.md");
    let fence = format!("```{language}\n");
    let blocks = readme.split(&fence).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn every_program_in_the_readme_is_an_example_that_is_tested() {
    let example = file("crates/bcl-core/examples/two_views.rs");
    let programs = blocks("rust");
    assert!(!programs.is_empty());
    for program in programs {
        assert!(program.contains("fn main()"), "a reader cannot compile\n{program}");
        assert!(
            example.contains(&program),
            "crates/bcl-core/examples/two_views.rs does not contain\n{program}"
        );
    }
}

#[test]
fn the_dependencies_in_the_readme_are_complete_and_of_the_right_version() {
    let dependencies = blocks("toml").into_iter().find(|block| block.starts_with("[dependencies]"));
    let dependencies = dependencies.expect("the README shows the dependencies of its program");
    for program in blocks("rust") {
        for line in program.lines().filter_map(|line| line.strip_prefix("use ")) {
            let package = line.split("::").next().unwrap_or_default().replace('_', "-");
            assert!(
                dependencies.contains(&format!("\n{package} = ")),
                "{package} is missing in\n{dependencies}"
            );
        }
    }
    let workspace = file("Cargo.toml");
    let line = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("burn = "))
            .map(str::to_owned)
            .expect("burn is named")
    };
    let quoted = |line: &str| line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let (ours, theirs) = (quoted(&line(&workspace)), quoted(&line(&dependencies)));
    assert_eq!(ours[0], theirs[0], "the versions of burn differ");
    assert!(
        theirs.iter().all(|part| ours.contains(part)),
        "{theirs:?} is not among {ours:?}"
    );
    assert!(file("crates/bcl-core/Cargo.toml").contains("name = \"bcl-core\""));
}
