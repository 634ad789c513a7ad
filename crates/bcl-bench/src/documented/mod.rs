//! Tests that the commands and recipes in the documents work: programs, verbs and flags parse, recipes, files and packages exist, and a
//! command of the same document downloads each data set that a recipe needs.

mod cargo;
mod check;
mod commands;

use bcl_train::cli::{self, Command};
use check::check;
use std::fs;
use std::path::Path;

/// Lists the problems in a document.
fn problems(markdown: &str, root: &Path) -> Vec<String> {
    let commands = match commands::commands(markdown) {
        Ok(commands) => commands,
        Err(problem) => return vec![problem],
    };
    let mut problems = Vec::new();
    let mut checked = Vec::new();
    for command in &commands {
        match check(command, root) {
            Ok(datasets) => checked.push((command, datasets)),
            Err(problem) => problems.push(format!("line {}: {}: {problem}", command.line, command.words.join(" "))),
        }
    }
    for (index, (command, datasets)) in checked.iter().enumerate() {
        // Blocks are run from top to bottom; running text has no order.
        let before = if command.is_inline { &checked[..] } else { &checked[..index] };
        for name in &datasets.needed {
            if !before.iter().any(|(_, earlier)| earlier.fetched.contains(name)) {
                let command_line = command.words.join(" ");
                problems.push(format!(
                    "line {}: {command_line}: it needs the data set {name}, which no command before it fetches",
                    command.line
                ));
            }
        }
    }
    problems.dedup();
    problems
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The documents for users, and the fewest commands that each shows.
fn documents() -> Vec<(String, usize)> {
    let guide = fs::read_dir(root().join("docs/guide")).unwrap();
    let pages = guide.map(|entry| entry.unwrap().path());
    let pages = pages.filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    let name = |page: &Path| format!("docs/guide/{}", page.file_name().unwrap().display());
    let mut documents: Vec<_> = pages.map(|page| (name(&page), 1)).collect();
    assert!(documents.len() > 5, "{documents:?}");
    documents
        .extend(["README.md", "CONTRIBUTING.md", "recipes/README.md", "datasets/README.md"].map(|name| (name.to_owned(), 3)));
    documents
}

#[test]
fn every_command_of_the_documents_would_run() {
    let mut wrong = Vec::new();
    for (document, fewest) in documents() {
        let text = fs::read_to_string(root().join(&document)).unwrap();
        wrong.extend(problems(&text, root()).iter().map(|problem| format!("{document}: {problem}")));
        let found = commands::commands(&text).unwrap_or_default().len();
        if found < fewest {
            wrong.push(format!("{document} has {found} commands, expected at least {fewest}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_recipe_of_the_documents_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my-recipe.toml");
    let mut read = 0;
    for (document, _) in documents() {
        let text = fs::read_to_string(root().join(&document)).unwrap();
        let blocks = text.split("```toml\n").skip(1).filter_map(|block| block.split("```").next());
        // Other blocks are excerpts or not recipes.
        let is_recipe = |block: &&str| {
            let minimises = block.contains("[loss]") || block.contains("[method]");
            minimises && (block.contains("[data]") || block.contains("extends"))
        };
        for recipe in blocks.filter(is_recipe) {
            fs::write(&path, recipe).unwrap();
            let Command::Train(train) = cli::parse_from(["bcl-train", path.to_str().unwrap()]).unwrap() else {
                panic!("a recipe is trained");
            };
            if let Err(error) = train.load() {
                panic!("{document}: {error}\n{recipe}");
            }
            read += 1;
        }
    }
    assert!(read >= 4, "only {read} recipes found");
}

#[test]
fn every_command_of_the_papers_would_run() {
    let papers = bcl_bench::papers::Papers::builtin();
    let mut wrong = Vec::new();
    for entry in papers.each().into_iter().flat_map(|(_, entries)| entries) {
        let fetched = entry.data.iter().map(|name| format!("bcl-train data fetch {name}\n"));
        let document: String = std::iter::once("```sh\n".to_owned())
            .chain(fetched)
            .chain(entry.command.iter().map(|command| format!("{command}\n```\n")))
            .collect();
        let problems = problems(&document, root());
        let is_known = |problem: &String| {
            entry
                .requested
                .iter()
                .any(|name| problem.contains(&format!("needs the data set {name}")))
        };
        let unknown = problems.iter().filter(|problem| !is_known(problem));
        wrong.extend(unknown.map(|problem| format!("{}: {problem}", entry.item)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_that_would_not_run_are_reported() {
    for (command, problem) in [
        ("cargo run -p bcl-train -- quickstart --sed 3", "unexpected argument '--sed'"),
        ("cargo run -p bcl-train -- table10/ml-100k/mf", "no such recipe"),
        ("cargo run -p bcl-train --features parkett -- my.toml", "no feature parkett"),
        (
            "cargo run -p bcl-train -- quickstart --set loss.bta=1",
            "unknown key loss.bta",
        ),
        ("cargo run -p bcl-train -- my.toml --set loss.bta=1", "unknown key loss.bta"),
        ("bcl-train data fetch ml-10k", "did you mean `ml-100k`"),
        ("bcl-train data fetch cifar10-2class", "cannot be downloaded"),
        ("bcl-bench tables 10", "unrecognized subcommand 'tables'"),
        ("bcl-bench table 10", "choose one with --dataset"),
        ("bcl-bench report docs/result", "there is no docs/result"),
        ("cargo run -p bcl-core --example loop", "examples/loop.rs"),
        ("cargo doc -p bcl-cores", "there is no"),
        ("cargo install --path crates/bcl-train --features opencl", "no feature opencl"),
        ("cargo test --workspace --every", "unexpected argument '--every'"),
        ("cargo xtask datasets list", "unrecognized subcommand 'datasets'"),
    ] {
        let problems = problems(&format!("    {command}\n"), root());
        assert!(
            problems.len() == 1 && problems[0].contains(problem),
            "{command}: {problem}: {problems:?}"
        );
    }
}

/// The README of version 0.1 fetched one data set and trained on another.
#[test]
fn a_data_set_that_no_command_fetches_is_reported() {
    let document = |dataset: &str| {
        format!(
            "```sh\nbcl-train data fetch {dataset}\nbcl-train table10/ml-100k/mf-bayesian\n\
             bcl-bench table 10 --dataset ml-100k --encoder mf\n```\n"
        )
    };
    assert_eq!(problems(&document("ml-100k-authors"), root()), [""; 0]);
    let printed = "    bcl-train table10/ml-100k/mf-hard --print-recipe\n";
    assert_eq!(problems(printed, root()), [""; 0], "printing a recipe reads no data");
    let found = problems(&document("ml-100k"), root());
    let words = "it needs the data set ml-100k-authors, which no command before it fetches";
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|problem| problem.ends_with(words)), "{found:?}");
}
