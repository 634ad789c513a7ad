//! The Rust code that the README and the guide show is part of an example that `cargo test` compiles, with the dependencies that
//! the README names.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn file(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The blocks of a document in one language.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let text = file(document);
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

/// The lines of code without indentation and comments: what an excerpt in running text shares with the program it is from.
fn code_lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_program_in_the_readme_is_an_example_that_is_tested() {
    let example = file("crates/bcl-core/examples/two_views.rs");
    let programs = blocks("README.md", "rust");
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
fn rust_code_in_the_guide_is_part_of_an_example() {
    let examples = fs::read_dir(path("crates/bcl-core/examples")).unwrap();
    let examples: Vec<_> = examples
        .map(|entry| code_lines(&fs::read_to_string(entry.unwrap().path()).unwrap()))
        .collect();
    let pages = fs::read_dir(path("docs/guide")).unwrap();
    let pages = pages.map(|entry| entry.unwrap().path());
    let pages = pages.filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    let pages: Vec<_> = pages
        .map(|page| format!("docs/guide/{}", page.file_name().unwrap().display()))
        .collect();
    assert!(pages.iter().any(|page| !blocks(page, "rust").is_empty()), "{pages:?}");
    for page in &pages {
        for code in blocks(page, "rust") {
            assert!(
                examples.iter().any(|example| example.contains(&code_lines(&code))),
                "{page}: no example of bcl-core contains\n{code}"
            );
        }
    }
}

/// The READMEs of the project and of the crates that can be published.
const READMES: [&str; 6] = [
    "README.md",
    "crates/bcl-core/README.md",
    "crates/bcl-data/README.md",
    "crates/bcl-kernels/README.md",
    "crates/bcl-methods/README.md",
    "crates/bcl-models/README.md",
];

#[test]
fn the_dependencies_in_each_readme_are_complete_and_of_the_right_version() {
    let workspace = file("Cargo.toml");
    for readme in READMES {
        let dependencies = blocks(readme, "toml")
            .into_iter()
            .find(|block| block.starts_with("[dependencies]"));
        let dependencies = dependencies.unwrap_or_else(|| panic!("{readme} does not name what its program depends on"));
        for program in blocks(readme, "rust") {
            for line in program.lines().filter_map(|line| line.strip_prefix("use ")) {
                let package = line.split("::").next().unwrap_or_default().replace('_', "-");
                assert!(
                    dependencies.contains(&format!("\n{package} = ")),
                    "{readme}: {package} is missing in\n{dependencies}"
                );
            }
        }
        let line = |text: &str| text.lines().find(|line| line.starts_with("burn = ")).map(str::to_owned);
        let quoted = |line: String| line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let Some(theirs) = line(&dependencies).map(quoted) else {
            continue;
        };
        let ours = line(&workspace).map(quoted).expect("the workspace names burn");
        assert_eq!(ours[0], theirs[0], "{readme}: the versions of burn differ");
        assert!(
            theirs.iter().all(|part| ours.contains(part)),
            "{readme}: {theirs:?} is not among {ours:?}"
        );
    }
}

#[test]
fn the_front_page_of_each_crate_says_how_to_depend_on_it_and_names_the_oldest_rust() {
    let workspace: Vec<_> = file("Cargo.toml").lines().map(str::to_owned).collect();
    let value = |key: &str| {
        let line = workspace.iter().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        line.expect("the workspace sets it").trim_end_matches('"').to_owned()
    };
    let rust = value("rust-version");
    for readme in &READMES[1..] {
        let name = readme.split('/').nth(1).expect("a crate has a folder");
        let dependencies = blocks(readme, "toml").remove(0);
        let path = format!("\n{name} = {{ path = \"../bcl/crates/{name}\" }}\n");
        assert!(dependencies.contains(&path), "{readme}");
        let documentation = file(&readme.replace("README.md", "src/lib.rs"));
        let is_documented = |line: &str| documentation.contains(&format!("\n//! {line}\n"));
        assert!(
            dependencies.lines().all(is_documented),
            "{name}: the documentation differs from the README"
        );
        assert!(
            file(readme).contains(&format!("The oldest supported Rust is {rust}.")),
            "{readme}"
        );
    }
}
